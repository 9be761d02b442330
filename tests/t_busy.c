/* Whether someone else works on a GPU: the rule, and the check with a stand-in NVML. */
#include "harness/telemetry/busy.h"

#include <math.h>
#include <stdlib.h>

#include "harness/telemetry/nvml.h"
#include "tests/fakes.h"
#include "tests/tap.h"

#define MIB  1048576.0
#define H200 (143771.0 * MIB)

static void judge(double used_mib, double total_bytes, double util, int processes, bool want,
                  const char *words)
{
	const struct ceil_busy_signs s = {
		.used_bytes = used_mib * MIB,
		.total_bytes = total_bytes,
		.util_ratio = util,
		.processes = processes,
		.first_pid = 4242,
	};
	struct ceil_busy b;

	ceil_busy_judge(&s, &b);
	ok(b.busy == want, "%g MiB of %g GiB, utilisation %g, %d processes", used_mib,
	   total_bytes / MIB / 1024, util, processes);
	is_text(b.reason, words, "in words");
}

static void test_rule(void)
{
	judge(4, H200, 0, 0, false, "");
	judge(1437.7, H200, 0.05, 1, false, ""); /* 1 % of an H200 is 1437.71 MiB */
	judge(1438, H200, 0, 1, true, "1.4 GiB in use by 1 process (pid 4242)");
	judge(500, 8192 * MIB, 0, 0, false, ""); /* 1 % would be 82 MiB */
	judge(501, 8192 * MIB, 0, 3, true, "501 MiB in use by 3 processes (pid 4242 and others)");
	judge(2150, H200, 0, 0, true, "2.1 GiB in use by processes that cannot be seen from here");
	judge(2150, H200, 0, -1, true, "2.1 GiB in use by processes that cannot be seen from here");
	judge(4, H200, 0.06, 1, true, "utilisation 6 % by 1 process (pid 4242)");
	judge(2150, H200, 1, 1, true, "2.1 GiB in use, utilisation 100 % by 1 process (pid 4242)");
}

static void test_unknown(void)
{
	judge((double)NAN, (double)NAN, (double)NAN, -1, false, "");
	judge((double)NAN, (double)NAN, 0.5, -1, true,
	      "utilisation 50 % by processes that cannot be seen from here");
	judge(501, (double)NAN, (double)NAN, 1, true, "501 MiB in use by 1 process (pid 4242)");
}

static void check(struct ceil_nvml *n, bool want, const char *words, const char *name)
{
	struct ceil_nvml_gpu *const gpus[2] = {ceil_nvml_at(n, 0), NULL};
	struct ceil_busy b[2];

	ceil_busy_check(gpus, 2, b);
	ok(b[0].busy == want, "%s", name);
	has_text(b[0].reason, words, name);
	ok(!b[1].busy && !*b[1].reason, "%s: a GPU without NVML is not called busy", name);
}

static void test_check(void)
{
	struct ceil_error err = {0};
	struct ceil_nvml *n = NULL;

	if (ceil_nvml_open(&n, &err) != CEIL_OK) {
		ok(false, "the stand-in opens: %s", err.text);
		return;
	}
	check(n, false, "", "idle");
	(void)setenv("FAKE_NVML_USED_MIB", "2150", 1);
	check(n, true, "2.1 GiB in use by processes that cannot be seen",
	      "memory of hidden owners");
	(void)setenv("FAKE_NVML_PIDS", "77,78", 1);
	check(n, true, "by 2 processes (pid 77 and others)", "memory of visible owners");
	(void)setenv("FAKE_NVML_FAIL", "nvmlDevice*=15", 1);
	check(n, false, "", "a lost GPU is not busy: CUDA will say what it is");
	(void)unsetenv("FAKE_NVML_FAIL");
	(void)unsetenv("FAKE_NVML_USED_MIB");
	(void)setenv("FAKE_NVML_UTIL", "37", 1);
	check(n, true, "utilisation 37 % by 2 processes", "utilisation that stays");
	(void)unsetenv("FAKE_NVML_UTIL");
	ceil_nvml_close(n);
}

int main(void)
{
	char fake[FAKE_PATH_MAX];

	test_rule();
	test_unknown();
	if (!fake_path("nvml", fake)) {
		skip("the check", "the stand-in library is not built");
		return done_testing();
	}
	(void)setenv("GPUCEIL_LIB_NVML", fake, 1);
	test_check();
	return done_testing();
}
