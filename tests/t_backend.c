/* The host backend against the contract, and the backend that makes others fail. */
#include "harness/device/backend.h"

#include <stdlib.h>
#include <string.h>

#include "harness/device/host.h"
#include "tests/conformance.h"
#include "tests/fault_backend.h"
#include "tests/tap.h"

enum { N = 1000 };

static void test_list(void)
{
	size_t count = 0;

	while (ceil_backends[count]) {
		for (size_t i = 0; i < count; i++)
			ok(strcmp(ceil_backends[i]->name, ceil_backends[count]->name) != 0,
			   "backend names differ");
		count++;
	}
	ok(count >= 1, "there is a backend");
	ok(ceil_backends[count - 1] == &ceil_host_backend, "the host is the last");
	ok(ceil_backend_find("host") == &ceil_host_backend, "the host is found");
	ok(!ceil_backend_find("hots"), "what is not there is not");
}

/* Everything that a measurement does with a device, cleaned up whatever happens. */
static enum ceil_status use_device(const struct ceil_backend *b, struct ceil_error *err)
{
	const struct ceil_buffer buf = {CEIL_MEM_DEVICE, CEIL_INPUT, CEIL_FP32, -1, 4 * N};
	struct ceil_device_props props;
	struct ceil_device *dev = NULL;
	struct ceil_matrix m = {NULL, CEIL_FP32, 1, N, N, 1};
	struct ceil_launch l = {0};
	int64_t x[N] = {0}, y = 0;
	uint64_t hash = 0;
	void *ptr = NULL;
	double ns = 0.0;
	float first = 0.0f;
	int count = 0;
	enum ceil_status st = b->count(&count, err);

	if (st == CEIL_OK)
		st = b->peek(0, &props, err);
	if (st == CEIL_OK)
		st = b->open(0, &dev, err);
	if (st == CEIL_OK)
		st = b->bind(dev, &l, err);
	if (st == CEIL_OK)
		st = b->alloc(dev, &buf, &ptr, err);
	m.ptr = ptr;
	if (st == CEIL_OK)
		st = b->fill(dev, &buf, ptr, 0, CEIL_INTEGERS, 1, err);
	if (st == CEIL_OK)
		st = b->mark(dev, 0, 0, err);
	if (st == CEIL_OK)
		st = b->wait(dev, 0, 1000000000u, err);
	if (st == CEIL_OK)
		st = b->sync(dev, 1000000000u, err);
	if (st == CEIL_OK)
		st = b->elapsed_ns(dev, 0, 0, &ns, err);
	if (st == CEIL_OK)
		st = b->hash(dev, &buf, ptr, &hash, err);
	if (st == CEIL_OK)
		st = b->project(dev, &m, x, &y, err);
	if (st == CEIL_OK)
		st = b->read(dev, &first, ptr, sizeof(first), err);
	if (ptr)
		b->free(dev, &buf, ptr);
	if (dev)
		b->close(dev);
	return st;
}

static void test_faults(void)
{
	const struct ceil_backend *b = fault_backend(&ceil_host_backend);
	struct ceil_error err = {CEIL_OK, ""};
	long calls;

	is_int(use_device(b, &err), CEIL_OK, "without a fault all goes through");
	calls = fault_calls();
	is_int(calls, 13, "and every call was counted");
	for (long k = 1; k <= calls; k++) {
		fault_at(k, k % 2 ? CEIL_E_DEVICE : CEIL_E_NOMEM);
		is_int(use_device(b, &err), k % 2 ? CEIL_E_DEVICE : CEIL_E_NOMEM,
		       "the fault comes through");
		ok(fault_last()[0] && strstr(err.text, fault_last()), "call %ld: %s", k, err.text);
		is_int(fault_calls(), k, "and nothing was called after it");
		is_int(fault_live(), 0, "nothing is left behind");
	}
	fault_at(0, CEIL_OK);
	is_int(use_device(b, &err), CEIL_OK, "it can be switched off");
	is_text(fault_last(), "", "and then no call failed");
}

static void test_hang(void)
{
	const struct ceil_backend *b = fault_backend(&ceil_host_backend);
	struct ceil_error err = {CEIL_OK, ""};

	fault_hang(2);
	is_int(use_device(b, &err), CEIL_E_TIMEOUT, "the second wait hangs");
	has_text(err.text, "sync: made to hang", "which is a sync");
	is_int(fault_calls_after_hang(), 2, "free and close after it are seen");
}

int main(void)
{
	test_list();
	conformance_run(&ceil_host_backend);
	test_faults();
	test_hang();
	return done_testing();
}
