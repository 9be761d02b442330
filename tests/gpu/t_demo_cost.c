/* What watching costs: a loop of matrix products with all counters and the view on, and without. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/base/clock.h"
#include "harness/cli/demo.h"
#include "harness/cli/inventory.h"
#include "harness/device/cublaslt.h"
#include "harness/device/cuda.h"
#include "harness/telemetry/sampler.h"
#include "tests/tap.h"

/*
 * Eight stretches of some 70 ms, the four in the midst watched, make four pairs: one sampler does
 * for them, which takes a third of a second to start and to stop. Each stretch begins with products
 * that are not timed, since the GPU idled meanwhile. They are fp32, of zeros: at full power the
 * clock wanders by 1 % whoever watches, and 100 pairs of bf16 products could not tell 0.2 %.
 */
enum { PAIRS = 100, GROUP = 4, WARM_UP = 3, PRODUCTS = 25, N = 4096 };
#define LIMIT   0.002
#define WAIT_NS UINT64_C(20000000000)

struct rig {
	struct ceil_inventory inv;
	struct ceil_device *dev;
	struct ceil_launch l;
	struct ceil_lt_plan *plan;
	struct ceil_demo_view view;
	struct ceil_demo_plain plain;
	struct ceil_demo_screen *screen;
	struct ceil_sampler *sampler; /* NULL: nothing watches */
	uint64_t rows;
	char failed[256]; /* the first that failed, told when the terminal is given back */
};

static void fail(struct rig *r, const char *what, const char *why)
{
	if (!*r->failed)
		(void)snprintf(r->failed, sizeof(r->failed), "%s: %s", what, why);
}

/* ---- a terminal for the view: whatever is drawn is read, and thrown away */

struct terminal {
	int master, in, out; /* the process's own stdin and stdout, kept */
	pthread_t reader;
};

static void *throw_away(void *arg)
{
	const struct terminal *t = arg;
	char bytes[4096];

	while (read(t->master, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

static bool take_terminal(struct terminal *t)
{
	const struct winsize size = {.ws_row = 24, .ws_col = 80};
	int slave;

	t->master = posix_openpt(O_RDWR | O_NOCTTY);
	if (t->master < 0 || grantpt(t->master) != 0 || unlockpt(t->master) != 0)
		return false;
	slave = open(ptsname(t->master), O_RDWR | O_NOCTTY);
	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) != 0 ||
	    pthread_create(&t->reader, /* attributes= */ NULL, throw_away, t) != 0)
		return false;
	fflush(stdout);
	t->in = dup(STDIN_FILENO);
	t->out = dup(STDOUT_FILENO);
	(void)setenv("TERM", "xterm", /* overwrite= */ 1);
	return dup2(slave, STDIN_FILENO) >= 0 && dup2(slave, STDOUT_FILENO) >= 0 &&
	       close(slave) == 0;
}

/* The reader ends when nobody has the terminal any more. */
static void give_terminal_back(const struct terminal *t)
{
	fflush(stdout);
	(void)dup2(t->in, STDIN_FILENO);
	(void)dup2(t->out, STDOUT_FILENO);
	(void)pthread_join(t->reader, /* result= */ NULL);
	(void)close(t->master);
}

/* ---- what watches */

static void no_words(struct ceil_show *show, char *ret_text, size_t size)
{
	(void)show;
	ceil_copy(ret_text, size, "");
}

static void on_row(void *user, const struct ceil_telemetry_row *t)
{
	struct rig *r = user;
	struct ceil_show show = {.notes = no_words, .say = no_words};
	struct ceil_usage_row row;
	struct ceil_error err = {CEIL_OK, ""};
	bool finished = false;

	ceil_table_clear(&ceil_usage_series_table, &row);
	ceil_copy(row.scenario, sizeof(row.scenario), "gemm");
	ceil_copy(row.event, sizeof(row.event), CEIL_USAGE_TICK);
	row.seconds = t->seconds;
	row.scenario_s = t->seconds;
	row.gpu_util = t->value[ceil_source_value_index("gpu_util")];
	row.sm_active = t->value[ceil_source_value_index("sm_active")];
	row.pm_sm_active = t->value[ceil_source_value_index("pm_sm_active")];
	if (ceil_demo_view_add(&r->view, &row, &finished, &err) == CEIL_OK) {
		ceil_demo_plain_row(&r->plain, &show, &row);
		ceil_demo_screen_draw(r->screen, &show, &r->view, /* held= */ false);
	}
	r->rows++;
}

static struct ceil_sampler *watch(struct rig *r)
{
	const struct ceil_source_target t = {
		.device = "gpu0",
		.uuid = r->dev->props.uuid,
		.pci_bus_id = r->dev->props.pci_bus_id,
		.nvml = r->inv.found[0].gpu,
		.counters = true,
	};
	const struct ceil_sampler_options o = {.row = on_row, .user = r};
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_sampler *s = NULL;

	if (ceil_sampler_open(&t, 1, &o, &s, &err) != CEIL_OK)
		fail(r, "the sampler", err.text);
	for (size_t i = 0; s && ceil_sources[i]; i++) {
		if (*ceil_sampler_reason(s, i))
			fail(r, ceil_sources[i]->name, ceil_sampler_reason(s, i));
	}
	return s;
}

/* ---- the loop */

static bool set_up(struct rig *r, struct ceil_error *err)
{
	const struct ceil_lt_desc d = {
		.types = {CEIL_FP32, CEIL_FP32, CEIL_FP32, CEIL_FP32},
		.trans_a = true,
		.m = N,
		.n = N,
		.k = N,
		.workspace_bytes = 64 << 20,
	};
	struct ceil_buffer b = {.memory = CEIL_MEM_DEVICE,
	                        .dtype = CEIL_FP32,
	                        .numa_node = -1,
	                        .bytes = (uint64_t)N * N * sizeof(float)};
	uint32_t candidates;

	if (r->dev->backend->bind(r->dev, &r->l, err) != CEIL_OK)
		return false;
	for (int i = 0; i < 4; i++) {
		if (r->dev->backend->alloc(r->dev, &b, &r->l.buf[i], err) != CEIL_OK ||
		    r->dev->backend->fill(r->dev, &b, r->l.buf[i], i, CEIL_ZEROS, 1, err) !=
		            CEIL_OK)
			return false;
	}
	r->l.m = N;
	r->l.n = N;
	r->l.k = N;
	if (ceil_lt_plan_open(&d, &r->plan, &candidates, err) != CEIL_OK)
		return false;
	r->l.state = r->plan;
	return true;
}

static enum ceil_status launch(struct rig *r, int count, struct ceil_error *err)
{
	enum ceil_status st = CEIL_OK;

	for (int i = 0; i < count && st == CEIL_OK; i++)
		st = ceil_lt_launch(&r->l, err);
	return st;
}

static double products_ns(struct rig *r)
{
	const struct ceil_backend *b = r->dev->backend;
	struct ceil_error err = {CEIL_OK, ""};
	enum ceil_status st = launch(r, WARM_UP, &err);
	double ns = (double)NAN;

	if (st == CEIL_OK)
		st = b->mark(r->dev, 0, 0, &err);
	if (st == CEIL_OK)
		st = launch(r, PRODUCTS, &err);
	if (st == CEIL_OK)
		st = b->mark(r->dev, 0, 1, &err);
	if (st == CEIL_OK)
		st = b->sync(r->dev, WAIT_NS, &err);
	if (st == CEIL_OK)
		st = b->elapsed_ns(r->dev, 0, 1, &ns, &err);
	if (st != CEIL_OK)
		fail(r, "products", err.text);
	return ns;
}

static void unwatch(struct rig *r)
{
	if (!ceil_sampler_close(r->sampler))
		fail(r, "the sampler", "does not end");
	r->sampler = NULL;
}

/* Return: what watching cost in each of GROUP pairs, as a ratio. */
static void one_group(struct rig *r, double ret_cost[GROUP])
{
	double plain[GROUP], watched[GROUP];

	for (int i = 0; i < GROUP / 2; i++)
		plain[i] = products_ns(r);
	r->sampler = watch(r);
	for (int i = 0; i < GROUP; i++)
		watched[i] = products_ns(r);
	unwatch(r);
	for (int i = GROUP / 2; i < GROUP; i++)
		plain[i] = products_ns(r);
	for (int i = 0; i < GROUP; i++)
		ret_cost[i] = watched[i] / plain[i] - 1;
}

static void compare(struct rig *r, double *ret_mean, double *ret_error)
{
	double sum = 0, squares = 0;

	(void)products_ns(r);
	(void)products_ns(r);
	for (int i = 0; i < PAIRS / GROUP; i++) {
		double cost[GROUP];

		one_group(r, cost);
		for (int k = 0; k < GROUP; k++) {
			sum += cost[k];
			squares += cost[k] * cost[k];
		}
	}
	*ret_mean = sum / PAIRS;
	*ret_error = sqrt((squares / PAIRS - *ret_mean * *ret_mean) / (PAIRS - 1));
}

static void measure(struct rig *r)
{
	struct terminal t = {.master = -1};
	struct ceil_error err = {CEIL_OK, ""};
	double mean = (double)NAN, error = (double)NAN;

	if (!take_terminal(&t)) {
		ok(false, "a terminal of our own");
		return;
	}
	if (ceil_demo_screen_open(&r->screen, &err) == CEIL_OK)
		compare(r, &mean, &error);
	ceil_demo_screen_close(r->screen);
	give_terminal_back(&t);
	if (!ok(r->screen != NULL, "the view has a screen: %s", err.text))
		return;
	ok(!*r->failed, "everything watched: %s", r->failed);
	printf("# %d pairs: watched %+.4f %% (standard error %.4f %%), upper 95 %% bound %.4f %%; "
	       "%llu rows\n",
	       PAIRS, 100 * mean, 100 * error, 100 * (mean + 1.645 * error),
	       (unsigned long long)r->rows);
	ok(mean + 1.645 * error < LIMIT, "watching costs less than 0.2 %%");
	ok(r->rows >= PAIRS / 2, "and it did watch");
}

int main(void)
{
	const struct ceil_inventory_options o = {.backend = "cuda", .busy = CEIL_BUSY_RUN};
	static struct rig r;
	struct ceil_error err = {CEIL_OK, ""};

	if (getenv("GPUCEIL_TEST_SMALL"))
		skip_all("a sanitizer slows what is to be measured");
	if (ceil_inventory_open(&o, &r.inv, &err) != CEIL_OK || r.inv.found_count == 0)
		skip_all("no GPU");
	r.plain.f = fopen("/dev/null", "w");
	if (ceil_inventory_device(&r.inv.found[0], &r.dev, &err) != CEIL_OK || !set_up(&r, &err) ||
	    !r.plain.f)
		ok(false, "set-up: %s", err.text);
	else
		measure(&r);
	ceil_lt_plan_close(r.plan);
	if (r.dev)
		r.dev->backend->close(r.dev);
	ceil_demo_view_done(&r.view);
	ceil_inventory_close(&r.inv);
	return done_testing();
}
