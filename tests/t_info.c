/* run.json: whether it holds all that is needed to repeat a number. */
#include "harness/cli/info.h"
#include "tests/recorded_backend.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

/* The member at a path such as "tool.git", or NULL. */
static const json_t *at(const json_t *root, const char *path)
{
	const json_t *o = root;

	while (o && *path) {
		const size_t n = strcspn(path, ".");

		o = json_object_getn(o, path, n);
		path += n + (path[n] == '.');
	}
	return o;
}

static void there(const json_t *root, const char *path)
{
	const json_t *o = at(root, path);

	ok(o && !json_is_null(o), "%s is there", path);
}

static struct ceil_found a_gpu(void)
{
	static const struct ceil_backend fake = {.name = "fake"};
	static struct ceil_found f = {.backend = &fake};

	f.gpu = (struct ceil_nvml_gpu *)&f; /* only asked whether it is there */
	f.props = (struct ceil_device_props){
		.label = "gpu0", .name = "A", .uuid = "GPU-1", .driver = "580.1"};
	f.info = (struct ceil_nvml_info){.vbios = "96", .ecc = 1, .mig = 0, .power_limit_w = 700};
	return f;
}

static void what_is_known_at_the_start(void)
{
	static const char *const paths[] = {"tool.version",
	                                    "tool.compiler",
	                                    "tool.flags",
	                                    "started",
	                                    "command",
	                                    "seed",
	                                    "quick",
	                                    "budget_s",
	                                    "policy.search.budget_ns",
	                                    "system.host",
	                                    "system.kernel",
	                                    "policy.cool search.idle_ns",
	                                    "environment",
	                                    "host",
	                                    "policy.final.least_samples",
	                                    "libraries",
	                                    "policy.burst",
	                                    "policy.sustained.max_samples",
	                                    "telemetry",
	                                    "devices",
	                                    "measured",
	                                    "missing.absent",
	                                    "environment.LD_PRELOAD"};
	static const char *const of_gpu[] = {"device", "uuid", "driver", "power_limit_w",
	                                     "ecc",    "mig",  "vbios"};
	static const struct ceil_backend absent = {.name = "absent"};
	char word[] = "bench";
	char folder[] = "o\xff"; /* whatever a file system takes */
	char *argv[] = {word, folder, NULL};
	const struct ceil_run_setup setup = {
		.argc = 2, .argv = argv, .command = "bench", .seed = 7, .budget_s = 60.0};
	static struct ceil_inventory inv;
	json_t *info;

	setenv("LD_PRELOAD", "/none.so", 1);
	setenv("NCCL_SOCKET_IFNAME", "\xe9th0", 1);
	inv.found[inv.found_count++] = a_gpu();
	inv.missing[inv.missing_count++] =
		(struct ceil_missing){.backend = &absent, .reason = "none"};
	info = ceil_info_make(&setup, &inv);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		there(info, paths[i]);
	for (size_t i = 0; i < sizeof(of_gpu) / sizeof(of_gpu[0]); i++)
		there(json_array_get(at(info, "devices"), 0), of_gpu[i]);
	is_text(json_string_value(json_array_get(at(info, "command"), 0)), "gpuceil",
	        "the command line begins with the program");
	is_text(json_string_value(json_array_get(at(info, "command"), 1)), "bench", "as typed");
	is_text(json_string_value(json_array_get(at(info, "command"), 2)), "o?",
	        "what is not UTF-8 is there too");
	is_text(json_string_value(at(info, "environment.NCCL_SOCKET_IFNAME")), "?th0",
	        "in the environment as well");
	ok(json_is_null(at(info, "telemetry.nvml")), "an NVML that is not there is null");
	json_decref(info);
}

static void what_the_measurements_told(void)
{
	const struct ceil_run_setup setup = {.seed = 1};
	static struct ceil_inventory inv;
	struct recorded r;
	struct ceil_lane lane = {0};
	json_t *info = ceil_info_make(&setup, &inv);
	const json_t *measured;

	recorded_open(&r, 1000.0);
	lane.dev = &r.base;
	ceil_copy(lane.plan.coverage, sizeof(lane.plan.coverage), "sustained rows");
	ceil_info_add_lane(info, &lane);
	measured = json_array_get(at(info, "measured"), 0);
	ceil_info_add_timer(info, &lane);
	ok(!at(measured, "timer"), "a timer that nobody measured is not there");
	lane.timer = (struct ceil_timer){.resolution_ns = 32.0, .overhead_ns = 1500.0};
	ceil_info_add_timer(info, &lane);
	is_close(json_number_value(at(measured, "timer.resolution_ns")), 32.0, 0, "resolution");
	is_close(json_number_value(at(measured, "timer.overhead_ns")), 1500.0, 0, "overhead");
	there(measured, "left_out");
	there(measured, "memory_bytes");
	ceil_info_finish(info, 1, 2.5);
	is_int(json_integer_value(at(info, "exit_status")), 1, "exit status");
	is_close(json_number_value(at(info, "seconds")), 2.5, 0, "how long it took");
	json_decref(info);
}

int main(void)
{
	what_is_known_at_the_start();
	what_the_measurements_told();
	return done_testing();
}
