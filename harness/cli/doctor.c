/* gpuceil doctor: what this node has, what is missing or broken, and what a bench will skip. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "harness/base/alloc.h"
#include "harness/base/text.h"
#include "harness/base/version.h"
#include "harness/cli/commands.h"
#include "harness/cli/inventory.h"
#include "harness/cli/report.h"
#include "harness/device/cblas.h"
#ifdef CEIL_HAVE_CUDA
#include "harness/device/cublaslt.h"
#endif
#include "harness/device/limits.h"
#include "harness/device/mpi.h"
#include "harness/device/nccl.h"
#include "harness/device/sysfs.h"
#include "harness/device/topology.h"
#include "harness/device/world.h"
#include "harness/output/text.h"

struct doctor {
	struct ceil_report r;
	struct ceil_inventory inv;
	struct ceil_world world;
	unsigned threads;                             /* of the host; 0 unknown */
	char cublaslt_reason[256], cblas_reason[256]; /* why it cannot be used, or "" */
};

/* ---- System */

static void say_os(struct ceil_report *r)
{
	char line[256], name[128] = "unknown";
	struct utsname u;
	FILE *f = ceil_sysfs_open("/etc/os-release");

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "PRETTY_NAME=\"", 13) != 0)
			continue;
		line[13 + strcspn(line + 13, "\"\n")] = '\0';
		ceil_copy(name, sizeof(name), line + 13);
	}
	if (f)
		(void)fclose(f); /* only read */
	if (uname(&u) == 0)
		ceil_append(name, sizeof(name), ", kernel %s, %s", u.release, u.machine);
	ceil_report_line(r, CEIL_MARK_NONE, "system", "%s", name);
}

static void say_cores(struct ceil_report *r, const struct ceil_topology *t)
{
	const bool quota = t->all.count < t->all.allowed;

	ceil_report_line(r, CEIL_MARK_NONE, "cpu", "%s", *t->cpu_name ? t->cpu_name : "unknown");
	if (quota)
		ceil_report_line(
			r, CEIL_MARK_NOTE, "cores",
			"%u of %u allowed cores are used: the control group grants %.3g CPUs",
			t->all.count, t->all.allowed, t->quota_cpus);
	else
		ceil_report_line(r, CEIL_MARK_OK, "cores",
		                 "%u, all that this process may use, one thread each",
		                 t->all.count);
	if (t->node_count > 1)
		ceil_report_line(r, CEIL_MARK_NONE, "", "%zu NUMA nodes", t->node_count);
}

static void say_memory(struct ceil_report *r, const struct ceil_topology *t)
{
	const uint64_t grouped = ceil_limits_memory_bytes(), usable = ceil_limits_free_bytes();
	char total[32], rest[32];
	uint64_t kib = 0;

	if (!ceil_sysfs_field(&kib, "MemTotal:", "/proc/meminfo"))
		kib = t->all.memory_bytes / 1024;
	ceil_human_bytes(total, sizeof(total), kib * 1024);
	ceil_human_bytes(rest, sizeof(rest), usable);
	ceil_report_line(r, CEIL_MARK_NONE, "memory", "%s, of which %s can be used%s", total, rest,
	                 grouped == usable && usable ? " (limit of the control group)" : "");
}

static void say_system(struct doctor *d)
{
	struct ceil_topology *t = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	ceil_report_title(&d->r, "System");
	say_os(&d->r);
	if (d->world.container)
		ceil_report_line(&d->r, CEIL_MARK_NONE, "container", "yes");
	if (ceil_topology_open(&t, &err) != CEIL_OK) {
		ceil_report_line(&d->r, CEIL_MARK_BAD, "cpu", "%s", err.text);
		return;
	}
	d->threads = t->all.count;
	say_cores(&d->r, t);
	say_memory(&d->r, t);
	ceil_topology_close(t);
}

/* ---- Driver and CUDA */

static const struct ceil_missing *missing_cuda(const struct doctor *d)
{
	for (size_t i = 0; i < d->inv.missing_count; i++) {
		if (strcmp(d->inv.missing[i].backend->name, "cuda") == 0)
			return &d->inv.missing[i];
	}
	return NULL;
}

static bool is_gpu(const struct ceil_found *f)
{
	return strcmp(f->backend->name, "host") != 0;
}

static int count_gpus(const struct doctor *d)
{
	int count = 0;

	for (size_t i = 0; i < d->inv.found_count; i++)
		count += is_gpu(&d->inv.found[i]);
	return count;
}

static void say_driver(struct doctor *d)
{
	const struct ceil_missing *m = missing_cuda(d);
	const int cuda = d->inv.nvml ? ceil_nvml_cuda(d->inv.nvml) : 0;
	const char *toolkit = ceil_cuda_toolkit();
	char supports[48] = "";

	ceil_report_title(&d->r, "Driver");
	if (cuda)
		ceil_append(supports, sizeof(supports), ", supports CUDA %d.%d", cuda / 1000,
		            cuda % 1000 / 10);
	if (d->world.module_loaded)
		ceil_report_line(&d->r, CEIL_MARK_OK, "module", "nvidia %s is loaded%s",
		                 d->world.module_version, supports);
	else
		ceil_report_line(&d->r, CEIL_MARK_NONE, "module", "nvidia is not loaded%s",
		                 d->world.wsl ? ": WSL has no module of its own" : "");
	if (*toolkit)
		ceil_report_line(&d->r, CEIL_MARK_NONE, "runtime",
		                 "CUDA %s, inside this program; kernels for %s", toolkit,
		                 ceil_cuda_targets());
	else
		ceil_report_line(&d->r, CEIL_MARK_NONE, "runtime",
		                 "none: this is a build without CUDA");
	if (m)
		ceil_report_line(&d->r,
		                 m->status == CEIL_E_UNSUPPORTED ? CEIL_MARK_SKIP : CEIL_MARK_BAD,
		                 "cuda", "%s", m->reason);
	else
		ceil_report_line(&d->r, CEIL_MARK_OK, "cuda", "gives %d GPU%s", count_gpus(d),
		                 count_gpus(d) == 1 ? "" : "s");
}

/* ---- Libraries */

static void say_nvml(struct doctor *d)
{
	if (d->inv.nvml)
		ceil_report_line(&d->r, CEIL_MARK_OK, "NVML", "%s, %s",
		                 ceil_nvml_version(d->inv.nvml), ceil_nvml_path(d->inv.nvml));
	else
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "NVML", "%s", d->inv.nvml_reason);
}

static void say_cublaslt(struct doctor *d)
{
#ifdef CEIL_HAVE_CUDA
	struct ceil_lt_info info;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_lt_info_read(&info, &err) == CEIL_OK) {
		ceil_report_line(&d->r, CEIL_MARK_OK, "cuBLASLt", "%s, %s", info.version,
		                 info.path);
		return;
	}
	ceil_copy(d->cublaslt_reason, sizeof(d->cublaslt_reason), err.text);
#else
	ceil_copy(d->cublaslt_reason, sizeof(d->cublaslt_reason), "this build has no CUDA");
#endif
	ceil_report_line(&d->r, CEIL_MARK_SKIP, "cuBLASLt", "%s", d->cublaslt_reason);
}

static void say_cblas(struct doctor *d)
{
	struct ceil_cblas *c = NULL;
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_cblas_open(d->threads ? d->threads : 1, &c, &err) != CEIL_OK) {
		ceil_copy(d->cblas_reason, sizeof(d->cblas_reason), err.text);
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "CBLAS", "%s", err.text);
		return;
	}
	ceil_report_line(&d->r, CEIL_MARK_OK, "CBLAS", "%s, %s", ceil_cblas_name(c),
	                 ceil_cblas_path(c));
	ceil_cblas_close(c);
}

static void say_nccl(struct doctor *d)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_nccl_info info;

	if (ceil_nccl_info_read(&info, &err) == CEIL_OK)
		ceil_report_line(&d->r, CEIL_MARK_OK, "NCCL", "%s, %s", info.version, info.path);
	else
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "NCCL", "%s", err.text);
}

/* Not loaded: MPI starts things of its own, and only with --mpi. */
static void say_mpi(struct doctor *d)
{
	char path[512];

	if (ceil_mpi_plugin_path(path, sizeof(path)))
		ceil_report_line(&d->r, CEIL_MARK_OK, "MPI", "%s, for bench --mpi", path);
	else
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "MPI",
		                 "no %s: install an MPI with mpicc (apt: libopenmpi-dev) and "
		                 "build again for bench --mpi",
		                 path);
}

static void say_libraries(struct doctor *d)
{
	ceil_report_title(&d->r, "Libraries");
	say_nvml(d);
	say_cublaslt(d);
	say_nccl(d);
	say_mpi(d);
	say_cblas(d);
}

/* ---- GPUs */

static const char *on_off(int mode)
{
	return mode < 0 ? "unknown" : mode ? "on" : "off";
}

static void add_watts(char *text, size_t size, const struct ceil_nvml_info *i)
{
	if (isnan(i->power_limit_w))
		return;
	ceil_append(text, size, ", power limit %.0f W", i->power_limit_w);
	if (!isnan(i->power_default_w) && i->power_default_w != i->power_limit_w)
		ceil_append(text, size, " (default %.0f W)", i->power_default_w);
}

static void say_state(struct ceil_report *r, const struct ceil_nvml_info *i)
{
	char text[256] = "", used[32], total[32];

	ceil_append(text, sizeof(text), "ECC %s, MIG %s", on_off(i->ecc), on_off(i->mig));
	add_watts(text, sizeof(text), i);
	if (i->pcie_max_gen > 0)
		ceil_append(text, sizeof(text), ", PCIe gen %d x%d now, gen %d x%d at most",
		            i->pcie_gen, i->pcie_width, i->pcie_max_gen, i->pcie_max_width);
	if (i->nvlink_count > 0)
		ceil_append(text, sizeof(text), ", %d NVLinks", i->nvlink_count);
	ceil_report_line(r, CEIL_MARK_NONE, "", "%s", text);
	if (isnan(i->memory_used_bytes) || isnan(i->memory_total_bytes))
		return;
	ceil_human_bytes(used, sizeof(used), (uint64_t)i->memory_used_bytes);
	ceil_human_bytes(total, sizeof(total), (uint64_t)i->memory_total_bytes);
	text[0] = '\0';
	if (i->processes > 0)
		ceil_append(text, sizeof(text), ", %d process%s", i->processes,
		            i->processes == 1 ? "" : "es");
	ceil_report_line(r, CEIL_MARK_NONE, "", "%s of %s in use%s", used, total, text);
}

static const struct ceil_found *found_by_cuda(const struct doctor *d,
                                              const struct ceil_nvml_gpu *gpu)
{
	for (size_t i = 0; i < d->inv.found_count; i++) {
		if (d->inv.found[i].gpu == gpu)
			return &d->inv.found[i];
	}
	return NULL;
}

/* Marks in the order in which they matter: lost, closed, not CUDA's, someone else's. */
static void say_use(struct doctor *d, const struct ceil_nvml_info *i, const struct ceil_found *f)
{
	if (i->compute_mode == 2)
		ceil_report_line(&d->r, CEIL_MARK_BAD, "",
		                 "compute mode is prohibited: sudo nvidia-smi -i %d -c 0",
		                 i->index);
	else if (!f && !missing_cuda(d))
		ceil_report_line(&d->r, CEIL_MARK_NOTE, "",
		                 "CUDA does not give this one%s%s: it will not be measured",
		                 *d->world.visible ? ", see CUDA_VISIBLE_DEVICES=" : "",
		                 d->world.visible);
	else if (f && f->skipped)
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "", "%s", f->reason);
	else if (f)
		ceil_report_line(&d->r, CEIL_MARK_OK, "", "nobody else works on it");
}

static void say_nvml_gpu(struct doctor *d, int index)
{
	struct ceil_nvml_gpu *gpu = ceil_nvml_at(d->inv.nvml, index);
	const struct ceil_found *f = found_by_cuda(d, gpu);
	struct ceil_nvml_info i;
	char label[16];

	ceil_nvml_info(gpu, &i);
	(void)snprintf(label, sizeof(label), "gpu%d", index);
	if (!*i.name) {
		ceil_report_line(
			&d->r, CEIL_MARK_BAD, label,
			"does not answer%s%s: see dmesg | grep -i xid (79: it fell off the "
			"bus), then reset it or reboot",
			*i.pci_bus_id ? ", PCI " : "", i.pci_bus_id);
		return;
	}
	ceil_report_line(&d->r, CEIL_MARK_NONE, label, "%s, PCI %s, %s", i.name, i.pci_bus_id,
	                 i.uuid);
	say_state(&d->r, &i);
	say_use(d, &i, f);
}

/* Where NVML is missing, CUDA's own words must do. */
static void say_cuda_gpus(struct doctor *d)
{
	for (size_t i = 0; i < d->inv.found_count; i++) {
		const struct ceil_found *f = &d->inv.found[i];

		if (!is_gpu(f) || f->gpu)
			continue;
		ceil_report_line(
			&d->r, CEIL_MARK_NOTE, f->props.label,
			"%s, PCI %s, %s; NVML does not know it: other users cannot be seen",
			f->props.name, f->props.pci_bus_id, f->props.uuid);
	}
}

static void say_gpus(struct doctor *d)
{
	const int count = d->inv.nvml ? ceil_nvml_count(d->inv.nvml) : 0;

	if (count == 0 && count_gpus(d) == 0)
		return;
	ceil_report_title(&d->r, "GPUs");
	for (int i = 0; i < count; i++)
		say_nvml_gpu(d, i);
	say_cuda_gpus(d);
}

/* ---- Rights */

/* linux/capability.h */
enum { CAP_SYS_ADMIN = 21, CAP_PERFMON = 38 };

static bool has_capability(int which)
{
	char line[128], *at = NULL;
	FILE *f = ceil_sysfs_open("/proc/self/status");

	while (f && !at && fgets(line, sizeof(line), f))
		at = strncmp(line, "CapEff:", 7) == 0 ? line + 7 : NULL;
	if (f)
		(void)fclose(f); /* only read */
	return at && (strtoull(at, NULL, 16) >> which & 1);
}

/*
 * Source: nvidia module option NVreg_RestrictProfilingToAdminUsers, which params shows as
 * RmProfilingAdminOnly; newer drivers (seen: 595) ask for CAP_PERFMON, older for CAP_SYS_ADMIN.
 */
static void say_rights(struct doctor *d)
{
	uint64_t admin_only = 0;

	if (!ceil_sysfs_field(&admin_only, "RmProfilingAdminOnly:", "/proc/driver/nvidia/params"))
		return;
	ceil_report_title(&d->r, "Rights");
	if (!admin_only)
		ceil_report_line(&d->r, CEIL_MARK_OK, "counters", "open to every user");
	else if (has_capability(CAP_SYS_ADMIN))
		ceil_report_line(&d->r, CEIL_MARK_OK, "counters", "this process has CAP_SYS_ADMIN");
	else if (has_capability(CAP_PERFMON))
		ceil_report_line(&d->r, CEIL_MARK_OK, "counters",
		                 "this process has CAP_PERFMON, which newer drivers ask for");
	else
		ceil_report_line(
			&d->r, CEIL_MARK_NOTE, "counters",
			"for administrators only: run as root, give the container "
			"--cap-add=PERFMON (older drivers: SYS_ADMIN), or load the module "
			"with NVreg_RestrictProfilingToAdminUsers=0; no ceiling needs them");
}

/* ---- What surprises in the environment */

struct variable {
	const char *name, *effect;
};

static const struct variable variables[] = {
	{"CUDA_LAUNCH_BLOCKING", "launches wait for their end: launch and small rows are slower"},
	{"CUDA_INJECTION64_PATH", "a profiler is loaded into the program: rows may be slower"},
	{"NVIDIA_TF32_OVERRIDE", "changes in which type matrix products compute"},
	{"LD_PRELOAD", "code is put before the system's libraries"},
	{"CUDA_VISIBLE_DEVICES", "hides and reorders GPUs"},
};

static void say_environment(struct doctor *d)
{
	bool titled = false;

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i].name);

		if (!value)
			continue;
		if (!titled)
			ceil_report_title(&d->r, "Environment");
		titled = true;
		ceil_report_line(&d->r, CEIL_MARK_NOTE, "set", "%s=%s: %s", variables[i].name,
		                 value, variables[i].effect);
	}
}

/* ---- The forecast */

static void say_measured(struct doctor *d)
{
	char list[256] = "";

	for (size_t i = 0; i < d->inv.found_count; i++) {
		if (!d->inv.found[i].skipped)
			ceil_append(list, sizeof(list), "%s%s", *list ? ", " : "",
			            d->inv.found[i].props.label);
	}
	ceil_report_line(&d->r, *list ? CEIL_MARK_OK : CEIL_MARK_SKIP, "measures", "%s",
	                 *list ? list : "nothing");
}

static void say_forecast(struct doctor *d)
{
	ceil_report_title(&d->r, "gpuceil bench");
	say_measured(d);
	for (size_t i = 0; i < d->inv.missing_count; i++) {
		const bool fine = d->inv.missing[i].status == CEIL_E_UNSUPPORTED;

		ceil_report_line(&d->r, CEIL_MARK_SKIP, fine ? "skips" : "fails",
		                 "%s rows: see above", d->inv.missing[i].backend->name);
	}
	for (size_t i = 0; i < d->inv.found_count; i++) {
		if (d->inv.found[i].skipped)
			ceil_report_line(&d->r, CEIL_MARK_SKIP, "skips", "%s: see above",
			                 d->inv.found[i].props.label);
	}
	if (count_gpus(d) && *d->cublaslt_reason)
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "skips", "gemm of GPUs: no cuBLASLt");
	if (count_gpus(d) && !d->inv.nvml)
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "skips",
		                 "power, temperature and throttle columns: no NVML");
	if (*d->cblas_reason)
		ceil_report_line(&d->r, CEIL_MARK_SKIP, "skips", "host.gemm: no CBLAS");
}

static void say_verdict(struct doctor *d)
{
	if (d->r.bad_count)
		fprintf(d->r.f, "\n%d thing%s broken: see BAD above. Exit status 1.\n",
		        d->r.bad_count, d->r.bad_count == 1 ? " is" : "s are");
	else
		fprintf(d->r.f, "\nNothing is broken here. Exit status 0.\n");
}

static void examine(struct doctor *d)
{
	struct ceil_text_style style;

	ceil_text_style_of(stdout, &style);
	d->r.f = stdout;
	d->r.colour = style.colour;
	ceil_world_read(&d->world);
	printf("gpuceil %s (%s), built with %s\n", ceil_version(), ceil_git_commit(),
	       ceil_compiler());
	say_system(d);
	say_driver(d);
	say_libraries(d);
	say_gpus(d);
	say_rights(d);
	say_environment(d);
	say_forecast(d);
	say_verdict(d);
}

static int run_doctor(int argc, char **argv)
{
	const struct ceil_inventory_options everything = {.look_for_others = true};
	struct ceil_error err = {CEIL_OK, ""};
	struct doctor *d = NULL;
	char none;
	int status = CEIL_EXIT_OK;

	if (!ceil_cli_parse(&ceil_command_doctor, argc, argv, &none, &argc, &status))
		return status;
	if (argc > 0) {
		(void)ceil_fail(&err, CEIL_E_USAGE, "doctor takes no argument, but '%s' was given",
		                argv[1]);
		return ceil_cli_error(&err);
	}
	d = ceil_alloc(1, sizeof(*d), &err);
	if (!d)
		return ceil_cli_error(&err);
	if (ceil_inventory_open(&everything, &d->inv, &err) != CEIL_OK) {
		status = ceil_cli_error(&err);
		goto out_free;
	}
	examine(d);
	status = d->r.bad_count ? CEIL_EXIT_BAD : CEIL_EXIT_OK;
	ceil_inventory_close(&d->inv);
out_free:
	free(d);
	return status;
}

const struct ceil_command ceil_command_doctor = {
	.name = "doctor",
	.arguments = "",
	.summary = "says what this node has, what is broken, and what a bench will skip and why",
	.doc = "Looks at the system, the NVIDIA driver, libraries, rights, and who else works on\n"
	       "the GPUs. It starts nothing on a GPU and takes about two seconds.\n"
	       "Exit status: 0 when nothing is broken (a missing GPU or library is not), else 1.",
	.examples = "gpuceil doctor\tthe first thing to run on a new node\n",
	.run = run_doctor,
};
