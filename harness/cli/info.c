/* run.json: everything that is needed to repeat a number. */
#include "harness/cli/info.h"

#include "harness/analysis/record.h"
#include "harness/base/clock.h"
#include "harness/base/version.h"
#include "harness/device/cblas.h"
#ifdef CEIL_HAVE_CUDA
#include "harness/device/cublaslt.h"
#endif
#include "harness/output/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Environment that moves figures; recorded where it is set. */
static const char *const recorded_environment[] = {
	"CUDA_VISIBLE_DEVICES",
	"CUDA_LAUNCH_BLOCKING",
	"CUDA_DEVICE_MAX_CONNECTIONS",
	"CUDA_MODULE_LOADING",
	"CUBLAS_EMULATION_STRATEGY",
	"NVIDIA_TF32_OVERRIDE",
	"OMP_NUM_THREADS",
	"OPENBLAS_NUM_THREADS",
	"OPENBLAS_CORETYPE",
	"GPUCEIL_LIB_CBLAS",
	"GPUCEIL_LIB_CUBLAS",
	"GPUCEIL_LIB_CUBLASLT",
	"GPUCEIL_LIB_CUDA",
	"GPUCEIL_LIB_CUPTI",
	"GPUCEIL_LIB_MPI",
	"GPUCEIL_LIB_NCCL",
	"GPUCEIL_LIB_NVML",
	"GPUCEIL_SYSROOT",
	"LD_PRELOAD",
	"NCCL_ALGO",
	"NCCL_CUMEM_ENABLE",
	"NCCL_DEBUG",
	"NCCL_HOSTID",
	"NCCL_IB_DISABLE",
	"NCCL_IB_HCA",
	"NCCL_LOCAL_REGISTER",
	"NCCL_MAX_CTAS",
	"NCCL_MIN_CTAS",
	"NCCL_NVLS_ENABLE",
	"NCCL_P2P_DISABLE",
	"NCCL_PROTO",
	"NCCL_SHM_DISABLE",
	"NCCL_SOCKET_IFNAME",
	"NCCL_WIN_ENABLE",
	NULL,
};

static json_t *text(const char *s)
{
	return *s ? ceil_json_text(s) : json_null();
}

static json_t *number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *tool(void)
{
	json_t *o = json_object();

	json_object_set_new(o, "version", text(ceil_version()));
	json_object_set_new(o, "git", text(ceil_git_commit()));
	json_object_set_new(o, "compiler", text(ceil_compiler()));
	json_object_set_new(o, "flags", text(ceil_build_flags()));
	json_object_set_new(o, "cuda_toolkit", text(ceil_cuda_toolkit()));
	json_object_set_new(o, "cuda_targets", text(ceil_cuda_targets()));
	json_object_set_new(o, "format_version", json_integer(CEIL_FORMAT_VERSION));
	return o;
}

static json_t *system_facts(void)
{
	json_t *o = json_object();
	char host[64] = "";
	struct utsname u;

	(void)gethostname(host, sizeof(host) - 1); /* a host without a name has an empty one */
	json_object_set_new(o, "host", text(host));
	if (uname(&u) == 0) {
		json_object_set_new(o, "system", text(u.sysname));
		json_object_set_new(o, "kernel", text(u.release));
		json_object_set_new(o, "machine", text(u.machine));
	}
	return o;
}

static json_t *environment(void)
{
	json_t *o = json_object();

	for (size_t i = 0; recorded_environment[i]; i++) {
		const char *value = getenv(recorded_environment[i]);

		if (value)
			json_object_set_new(o, recorded_environment[i], ceil_json_text(value));
	}
	return o;
}

void ceil_info_clean(struct ceil_run_setup *setup)
{
#ifdef CEIL_HAVE_CUDA
	ceil_lt_clean_environment(setup->unset, sizeof(setup->unset));
#else
	setup->unset[0] = '\0';
#endif
}

/* What computes on the GPUs: loaded here where there are any, as the benches will. */
static json_t *libraries(const struct ceil_inventory *inv)
{
	json_t *o = json_object();
#ifdef CEIL_HAVE_CUDA
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_lt_info lt;
	bool gpus = false;

	for (size_t i = 0; i < inv->found_count; i++)
		gpus |= strcmp(inv->found[i].backend->name, "cuda") == 0;
	if (!gpus)
		return o;
	if (ceil_lt_info_read(&lt, &err) != CEIL_OK) {
		json_object_set_new(o, "cublaslt", json_null());
		json_object_set_new(o, "cublaslt_reason", text(err.text));
		return o;
	}
	json_object_set_new(o, "cublaslt", text(lt.path));
	json_object_set_new(o, "cublaslt_version", text(lt.version));
#else
	(void)inv;
#endif
	return o;
}

static json_t *command_line(const struct ceil_run_setup *setup)
{
	json_t *a = json_array();

	json_array_append_new(a, json_string("gpuceil"));
	for (int i = 0; i < setup->argc; i++)
		json_array_append_new(a, ceil_json_text(setup->argv[i]));
	return a;
}

static json_t *gpu(const struct ceil_found *f)
{
	const struct ceil_nvml_info *n = &f->info;
	json_t *o = json_object();

	json_object_set_new(o, "device", text(f->props.label));
	json_object_set_new(o, "backend", text(f->backend->name));
	json_object_set_new(o, "name", text(f->props.name));
	json_object_set_new(o, "uuid", text(f->props.uuid));
	json_object_set_new(o, "pci_bus_id", text(f->props.pci_bus_id));
	json_object_set_new(o, "driver", text(f->props.driver));
	json_object_set_new(o, "skipped", f->skipped ? text(f->reason) : json_false());
	if (!f->gpu)
		return o;
	json_object_set_new(o, "vbios", text(n->vbios));
	json_object_set_new(o, "ecc", n->ecc < 0 ? json_null() : json_boolean(n->ecc));
	json_object_set_new(o, "mig", n->mig < 0 ? json_null() : json_boolean(n->mig));
	json_object_set_new(o, "power_limit_w", number(n->power_limit_w));
	json_object_set_new(o, "power_default_w", number(n->power_default_w));
	json_object_set_new(o, "max_sm_mhz", number(n->max_sm_mhz));
	json_object_set_new(o, "max_memory_mhz", number(n->max_memory_mhz));
	json_object_set_new(o, "pcie_max_gen", json_integer(n->pcie_max_gen));
	json_object_set_new(o, "pcie_max_width", json_integer(n->pcie_max_width));
	return o;
}

static json_t *telemetry(const struct ceil_inventory *inv)
{
	json_t *o = json_object();

	if (!inv->nvml) {
		json_object_set_new(o, "nvml", json_null());
		json_object_set_new(o, "reason", text(inv->nvml_reason));
		return o;
	}
	json_object_set_new(o, "nvml", text(ceil_nvml_path(inv->nvml)));
	json_object_set_new(o, "nvml_version", text(ceil_nvml_version(inv->nvml)));
	json_object_set_new(o, "driver", text(ceil_nvml_driver(inv->nvml)));
	return o;
}

static json_t *policy(void)
{
	size_t count = 0;
	const struct ceil_effort *e = ceil_campaign_efforts(&count);
	json_t *all = json_object();

	for (size_t i = 0; i < count; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "least_samples",
		                    json_integer((json_int_t)e[i].least_samples));
		json_object_set_new(o, "min_samples", json_integer((json_int_t)e[i].min_samples));
		json_object_set_new(o, "max_samples", json_integer((json_int_t)e[i].max_samples));
		json_object_set_new(o, "sample_ns", json_integer((json_int_t)e[i].sample_ns));
		json_object_set_new(o, "budget_ns", json_integer((json_int_t)e[i].budget_ns));
		json_object_set_new(o, "idle_ns", json_integer((json_int_t)e[i].idle_ns));
		json_object_set_new(o, "rest_ns", json_integer((json_int_t)e[i].rest_ns));
		json_object_set_new(o, "precision_ratio", number(e[i].precision));
		json_object_set_new(all, e[i].name, o);
	}
	return all;
}

json_t *ceil_info_make(const struct ceil_run_setup *setup, const struct ceil_inventory *inv)
{
	json_t *info = json_object();
	json_t *found = json_array();
	json_t *missing = json_object();
	char utc[24];

	ceil_utc(utc, sizeof(utc));
	for (size_t i = 0; i < inv->found_count; i++)
		json_array_append_new(found, gpu(&inv->found[i]));
	for (size_t i = 0; i < inv->missing_count; i++)
		json_object_set_new(missing, inv->missing[i].backend->name,
		                    text(inv->missing[i].reason));
	json_object_set_new(info, "tool", tool());
	json_object_set_new(info, "started", text(utc));
	json_object_set_new(info, "command", command_line(setup));
	json_object_set_new(info, "seed", json_integer((json_int_t)setup->seed));
	json_object_set_new(info, "quick", json_boolean(setup->quick));
	json_object_set_new(info, "budget_s", number(setup->budget_s));
	json_object_set_new(info, "policy", policy());
	json_object_set_new(info, "system", system_facts());
	json_object_set_new(info, "host", ceil_info_host());
	json_object_set_new(info, "environment", environment());
	json_object_set_new(info, "environment_unset", text(setup->unset));
	json_object_set_new(info, "libraries", libraries(inv));
	json_object_set_new(info, "telemetry", telemetry(inv));
	json_object_set_new(info, "devices", found);
	json_object_set_new(info, "missing", missing);
	json_object_set_new(info, "measured", json_array());
	return info;
}

void ceil_info_add_lane(json_t *info, const struct ceil_lane *lane)
{
	const struct ceil_device_props *p = &lane->dev->props;
	json_t *o = json_object();

	json_object_set_new(o, "device", text(p->label));
	json_object_set_new(o, "name", text(p->name));
	json_object_set_new(o, "multiprocessors_or_threads", json_integer(p->sm_count));
	json_object_set_new(o, "max_sm_mhz", number(p->max_sm_mhz));
	json_object_set_new(o, "max_memory_mhz", number(p->max_memory_mhz));
	json_object_set_new(o, "memory_bus_bits", json_integer(p->memory_bus_bits));
	json_object_set_new(o, "memory_bytes", json_integer((json_int_t)p->memory_bytes));
	json_object_set_new(o, "usable_bytes", json_integer((json_int_t)p->free_bytes));
	json_object_set_new(o, "l2_bytes", json_integer((json_int_t)p->l2_bytes));
	json_object_set_new(o, "last_level_cache_bytes", json_integer((json_int_t)p->llc_bytes));
	json_object_set_new(o, "points", json_integer((json_int_t)lane->plan.count));
	json_object_set_new(o, "left_out", text(lane->plan.coverage));
	json_array_append_new(json_object_get(info, "measured"), o);
}

void ceil_info_add_timer(json_t *info, const struct ceil_lane *lane)
{
	const char *label = lane->dev->props.label;
	json_t *timer = NULL;
	json_t *o = NULL;
	size_t i = 0;

	if (lane->timer.resolution_ns <= 0.0)
		return;
	timer = json_object();
	json_object_set_new(timer, "resolution_ns", number(lane->timer.resolution_ns));
	json_object_set_new(timer, "overhead_ns", number(lane->timer.overhead_ns));
	json_array_foreach(json_object_get(info, "measured"), i, o)
	{
		if (strcmp(json_string_value(json_object_get(o, "device")), label) == 0)
			json_object_set(o, "timer", timer);
	}
	json_decref(timer);
}

void ceil_info_add_cblas(json_t *info, unsigned threads)
{
	json_t *libraries = json_object_get(info, "libraries");
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_cblas *c = NULL;

	if (ceil_cblas_open(threads, &c, &err) != CEIL_OK) {
		json_object_set_new(libraries, "cblas", json_null());
		json_object_set_new(libraries, "cblas_reason", text(err.text));
		return;
	}
	json_object_set_new(libraries, "cblas", text(ceil_cblas_path(c)));
	json_object_set_new(libraries, "cblas_version", text(ceil_cblas_name(c)));
	ceil_cblas_close(c);
}

void ceil_info_finish(json_t *info, int exit_status, double seconds)
{
	char utc[24];

	ceil_utc(utc, sizeof(utc));
	json_object_set_new(info, "ended", text(utc));
	json_object_set_new(info, "seconds", number(seconds));
	json_object_set_new(info, "exit_status", json_integer(exit_status));
}
