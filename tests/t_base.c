/* Status texts, allocation with faults, the clock, the signal flag. */
#include "harness/base/alloc.h"
#include "harness/base/cancel.h"
#include "harness/base/clock.h"
#include "harness/base/status.h"
#include "tests/tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void failures_carry_their_text(void)
{
	struct ceil_error err = {0};
	char big[600];

	is_int(ceil_fail(&err, CEIL_E_IO, "open(%s): %d", "x", 7), CEIL_E_IO,
	       "fail gives the status");
	is_int(err.status, CEIL_E_IO, "and writes it");
	is_text(err.text, "open(x): 7", "with the text");
	is_int(ceil_context(&err, "run %d", 3), CEIL_E_IO, "context keeps the status");
	is_text(err.text, "run 3: open(x): 7", "and puts words in front");
	(void)ceil_fail(&err, CEIL_E_DEVICE, "again: %s", err.text);
	is_text(err.text, "again: run 3: open(x): 7", "the old text may be an argument");
	is_int(ceil_fail(NULL, CEIL_E_NOMEM, "nobody reads this"), CEIL_E_NOMEM, "no error struct");
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	(void)ceil_fail(&err, CEIL_E_IO, "%s", big);
	is_int((long long)strlen(err.text), (long long)sizeof(err.text) - 1, "a long text is cut");
	(void)ceil_context(&err, "%s", "front");
	ok(strncmp(err.text, "front: aaa", 10) == 0, "and a prefix still fits");
	(void)ceil_fail(&err, CEIL_E_IO, "%.254s\xc3\xa4", big);
	is_int((long long)strlen(err.text), 254, "never inside a UTF-8 character");
}

static void every_status_has_a_name(void)
{
	for (int s = 0; s < CEIL_STATUS_COUNT; s++) {
		const char *name = ceil_status_name((enum ceil_status)s);

		ok(name && name[0], "status %d is called %s", s, name ? name : "(null)");
	}
	is_text(ceil_status_name((enum ceil_status)99), "unknown", "a status that is none");
}

static void memory_is_zeroed_and_bounded(void)
{
	struct ceil_error err = {0};
	int *p = ceil_alloc(100, sizeof(*p), &err);
	bool zero = p != NULL;
	void *none;

	for (int i = 0; p && i < 100; i++)
		zero = zero && p[i] == 0;
	ok(zero, "alloc gives zeroes");
	free(p);
	none = ceil_alloc(0, 8, &err);
	ok(none != NULL, "no elements are no failure");
	free(none);
	ok(ceil_alloc(SIZE_MAX / 2, 16, &err) == NULL, "a product that overflows fails");
	is_int(err.status, CEIL_E_NOMEM, "with nomem");
	has_text(err.text, "16 bytes", "and the size");
	ok(ceil_alloc(SIZE_MAX / 2, 16, NULL) == NULL, "without an error struct too");
}

static void growing_doubles_and_keeps(void)
{
	struct ceil_error err = {0};
	void *v = NULL;
	size_t cap = 0, before;
	int *n;

	is_int(ceil_grow(&v, &cap, 1, sizeof(int), &err), CEIL_OK, "grow from nothing");
	ok(cap >= 1, "there is room");
	n = v;
	n[0] = 42;
	is_int(ceil_grow(&v, &cap, 1000, sizeof(int), &err), CEIL_OK, "grow by much");
	n = v;
	ok(cap >= 1000 && n[0] == 42, "what was there stays");
	before = cap;
	is_int(ceil_grow(&v, &cap, 10, sizeof(int), &err), CEIL_OK, "grow to less is a no-op");
	is_u64(cap, before, "and keeps the capacity");
	is_int(ceil_grow(&v, &cap, SIZE_MAX, sizeof(int), &err), CEIL_E_NOMEM, "too much fails");
	ceil_alloc_fail_at(1);
	is_int(ceil_grow(&v, &cap, before + 1, sizeof(int), &err), CEIL_E_NOMEM,
	       "the hook fails it");
	ok(v == n && cap == before, "and nothing has changed");
	free(v);
}

static void the_kth_allocation_fails_once(void)
{
	struct ceil_error err = {0};
	char *a, *b, *c;

	ceil_alloc_fail_at(2);
	a = ceil_alloc(1, 1, &err);
	b = ceil_alloc(4, 1, &err);
	c = ceil_alloc(4, 1, &err);
	ok(a && !b && c, "the second of three fails");
	is_int(err.status, CEIL_E_NOMEM, "with nomem");
	free(a);
	free(c);
	ceil_alloc_fail_at(1);
	ok(ceil_realloc(NULL, 8) == NULL, "realloc has the hook too");
	ceil_alloc_fail_at(1);
	ceil_alloc_fail_at(0);
	a = ceil_alloc(1, 1, &err);
	ok(a != NULL, "0 switches it off");
	free(a);
}

static atomic_int failures;

static void *allocate_many(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++) {
		void *p = ceil_alloc(1, 1, NULL);

		if (!p)
			atomic_fetch_add(&failures, 1);
		free(p);
	}
	return NULL;
}

static void exactly_one_thread_sees_the_fault(void)
{
	pthread_t threads[4];

	for (int round = 0; round < 20; round++) {
		ceil_alloc_fail_at(1 + round * 150);
		for (int i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, allocate_many, NULL))
				exit(1);
		for (int i = 0; i < 4; i++)
			(void)pthread_join(threads[i], NULL);
	}
	is_int(atomic_load(&failures), 20, "one failure in each of 20 rounds of 4 threads");
}

static void the_clock_goes_forward(void)
{
	const uint64_t from = ceil_now_ns();
	char utc[24] = "", cut[5] = "";
	struct tm parts = {0};

	ceil_sleep_ns(2 * CEIL_NS_PER_MS);
	ok(ceil_now_ns() - from >= 2 * CEIL_NS_PER_MS, "a sleep of 2 ms takes at least 2 ms");
	ceil_utc(utc, sizeof(utc));
	ok(strlen(utc) == 20 && strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &parts), "time stamp %s", utc);
	ceil_utc(cut, sizeof(cut));
	is_text(cut, "", "one that does not fit is empty");
	ceil_utc(NULL, 0);
}

static void the_first_signal_is_noted(void)
{
	struct ceil_error err = {CEIL_OK, ""};

	is_int(ceil_cancel_signal(), 0, "no signal at first");
	ceil_cancel_install();
	(void)raise(SIGTERM);
	is_int(ceil_cancel_signal(), SIGTERM, "a signal is noted, and the process lives");
	ceil_cancel_set(0);
	is_int(ceil_cancel_signal(), 0, "the flag can be cleared");
	ceil_cancel_set(SIGINT);
	is_int(ceil_cancel_signal(), SIGINT, "and set");
	is_int(ceil_cancel_check(&err), CEIL_E_CANCELLED, "a check says so");
	is_text(err.text, "stopped by signal 2", "with the signal");
	ceil_cancel_set(0);
	is_int(ceil_cancel_check(&err), CEIL_OK, "and is fine without one");
}

/* Runs raise_them in a child. Return: the signal that ended it, or 0. */
static int signal_that_ends(void (*raise_them)(void))
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		raise_them();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void int_then_hup(void)
{
	ceil_cancel_install();
	(void)raise(SIGINT);
	ceil_sleep_ns(550 * (uint64_t)CEIL_NS_PER_MS);
	(void)raise(SIGPIPE);
	(void)raise(SIGHUP);
}

/* timeout(1) signals its child, and then the group with the child in it. */
static void term_twice_at_once(void)
{
	ceil_cancel_install();
	(void)raise(SIGTERM);
	(void)raise(SIGTERM);
}

static void many_broken_pipes(void)
{
	ceil_cancel_install();
	(void)raise(SIGPIPE);
	ceil_sleep_ns(550 * (uint64_t)CEIL_NS_PER_MS);
	(void)raise(SIGPIPE);
	if (ceil_cancel_signal() != SIGPIPE)
		abort();
}

static void ignored_hup(void)
{
	(void)signal(SIGHUP, SIG_IGN);
	ceil_cancel_install();
	(void)raise(SIGHUP);
	(void)raise(SIGHUP);
	if (ceil_cancel_signal() != 0)
		abort();
}

int main(void)
{
	failures_carry_their_text();
	every_status_has_a_name();
	memory_is_zeroed_and_bounded();
	growing_doubles_and_keeps();
	the_kth_allocation_fails_once();
	exactly_one_thread_sees_the_fault();
	the_clock_goes_forward();
	the_first_signal_is_noted();
	is_int(signal_that_ends(int_then_hup), SIGHUP, "a second signal ends the process by it");
	is_int(signal_that_ends(term_twice_at_once), 0, "two at once are one");
	is_int(signal_that_ends(many_broken_pipes), 0, "a broken pipe never ends it");
	is_int(signal_that_ends(ignored_hup), 0, "a hang-up that nohup ignores stays ignored");
	return done_testing();
}
