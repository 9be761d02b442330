/* What it means that CUDA gives no GPU: there is none, or it is broken, and what helps. Pure. */
#include "harness/device/world.h"

#include <stdarg.h>
#include <string.h>

#include "harness/base/text.h"

/* Error codes of cudart, as driver_types.h of CUDA 13.0 has them. */
enum {
	STUB_LIBRARY = 34,
	INSUFFICIENT_DRIVER = 35,
	DEVICES_UNAVAILABLE = 46,
	NO_DEVICE = 100,
	SYSTEM_NOT_READY = 802,
	DRIVER_MISMATCH = 803,
	COMPAT_NOT_SUPPORTED = 804,
	MPS_FIRST = 805,
	MPS_LAST = 810
};

struct question {
	const struct ceil_world *w;
	const struct ceil_cuda_answer *cuda;
	int error;
};

struct answer {
	enum ceil_world_verdict verdict;
	char *text;
	size_t size;
};

/* A rule that knows the case says so and answers; any other leaves it to the next. */
typedef bool (*rule_fn)(const struct question *q, struct answer *a);

static bool none(struct answer *a, const char *format, ...) CEIL_PRINTF(2, 3);
static bool broken(struct answer *a, const char *format, ...) CEIL_PRINTF(2, 3);

static bool none(struct answer *a, const char *format, ...)
{
	va_list ap;

	a->verdict = CEIL_WORLD_NONE;
	va_start(ap, format);
	ceil_vappend(a->text, a->size, format, ap);
	va_end(ap);
	return true;
}

static bool broken(struct answer *a, const char *format, ...)
{
	va_list ap;

	a->verdict = CEIL_WORLD_BROKEN;
	va_start(ap, format);
	ceil_vappend(a->text, a->size, format, ap);
	va_end(ap);
	return true;
}

static const char *words(const struct question *q)
{
	return q->cuda->text ? q->cuda->text : "no words";
}

static bool rule_fine(const struct question *q, struct answer *a)
{
	a->verdict = CEIL_WORLD_OK;
	return q->error == 0;
}

static bool rule_hidden(const struct question *q, struct answer *a)
{
	if (!q->w->hidden)
		return false;
	return none(a, "CUDA_VISIBLE_DEVICES=\"%s\" hides every GPU: unset it to measure them",
	            q->w->visible);
}

/*
 * The oldest driver branch for all releases of a CUDA major version; 0: not known here.
 * Source: CUDA Toolkit release notes 13.0, table "CUDA Toolkit and minimum required driver
 * version for CUDA minor version compatibility", read 2026-11-30.
 */
static int driver_for(int cuda_major)
{
	return cuda_major == 13 ? 580 : cuda_major == 12 ? 525 : cuda_major == 11 ? 450 : 0;
}

static bool rule_too_old(const struct question *q, struct answer *a)
{
	const int has = q->cuda->driver_version, wants = q->cuda->runtime_version;

	if (q->error != INSUFFICIENT_DRIVER || has == 0)
		return false;
	(void)broken(
		a,
		"the NVIDIA driver %s%stoo old: it supports CUDA %d.%d, this program needs %d.%d; ",
		q->w->module_version, *q->w->module_version ? " is " : "is ", has / 1000,
		has % 1000 / 10, wants / 1000, wants % 1000 / 10);
	if (driver_for(wants / 1000))
		(void)broken(a, "install driver %d or newer, or build with CUDA %d",
		             driver_for(wants / 1000), has / 1000);
	else
		(void)broken(a, "install a newer driver, or build with CUDA %d", has / 1000);
	return true;
}

static bool rule_stub(const struct question *q, struct answer *a)
{
	if (q->error != STUB_LIBRARY)
		return false;
	return broken(a,
	              "libcuda.so.1 is the toolkit's stub, which has no driver behind it: take the "
	              "folder .../stubs out of LD_LIBRARY_PATH");
}

/* The kernel's /proc shows the host's module in every container: nodes decide. */
static bool rule_not_given(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (!w->container || w->dev_nodes || w->wsl || (!w->pci_gpus && !w->module_loaded))
		return false;
	return none(a,
	            "this container was given no GPU (no /dev/nvidia0): start it with --gpus all "
	            "(docker), --device nvidia.com/gpu=all (podman), --nv (Apptainer), or a limit "
	            "nvidia.com/gpu (Kubernetes)");
}

static bool rule_none_in_pci(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (w->pci_gpus || w->dev_nodes || w->wsl || w->module_loaded)
		return false;
	return none(a, "no NVIDIA GPU in this machine: PCI shows none (vendor 10de, class 0300 or "
	               "0302) and there is no /dev/nvidia0");
}

static bool rule_foreign(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (!w->pci_gpus || w->pci_foreign < w->pci_gpus || w->dev_nodes)
		return false;
	if (strncmp(w->foreign_driver, "vfio", 4) == 0)
		return none(a,
		            "the GPU %s is bound to %s, for a virtual machine: measure inside that "
		            "machine, or bind the GPU to the nvidia driver",
		            w->first_bus_id, w->foreign_driver);
	return none(a,
	            "the GPU %s is bound to the driver %s, under which CUDA does not work: install "
	            "NVIDIA's driver and reboot",
	            w->first_bus_id, w->foreign_driver);
}

/* Windows shows /dev/dxg for GPUs of any maker. */
static bool rule_wsl_without(const struct question *q, struct answer *a)
{
	if (!q->w->wsl || q->w->dev_nodes || q->cuda->driver_version)
		return false;
	return none(
		a,
		"WSL without libcuda.so.1: if there is an NVIDIA GPU, install NVIDIA's driver in "
		"Windows (never inside WSL), then run wsl --shutdown");
}

static bool rule_wsl(const struct question *q, struct answer *a)
{
	if (!q->w->wsl || q->w->dev_nodes)
		return false;
	return broken(
		a,
		"CUDA fails in WSL: %s (error %d); update NVIDIA's driver in Windows, then run "
		"wsl --shutdown",
		words(q), q->error);
}

static bool rule_no_driver(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (q->cuda->driver_version || w->module_loaded || w->dev_nodes)
		return false;
	return broken(a,
	              "PCI shows an NVIDIA GPU (%s) but no NVIDIA driver is installed: install it "
	              "(Ubuntu: ubuntu-drivers install; Debian: apt install nvidia-driver) and "
	              "reboot",
	              w->first_bus_id);
}

static bool rule_no_libcuda(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (q->cuda->driver_version)
		return false;
	if (w->container)
		return broken(a,
		              "this container has a GPU but not libcuda.so.1: start it with "
		              "NVIDIA_DRIVER_CAPABILITIES=compute,utility (docker, Kubernetes) or "
		              "--nv (Apptainer)");
	return broken(a,
	              "the nvidia module %s is loaded but libcuda.so.1 is not found: install the "
	              "driver's libraries of the same version, or put their folder into "
	              "LD_LIBRARY_PATH",
	              w->module_version);
}

static bool rule_mismatch(const struct question *q, struct answer *a)
{
	if (q->error != DRIVER_MISMATCH)
		return false;
	return broken(
		a,
		"libcuda.so.1 and the loaded nvidia module %s differ in version (error 803), as "
		"after an update: reboot, or unload and load the module; in a container, "
		"restart it",
		q->w->module_version);
}

static bool rule_compat(const struct question *q, struct answer *a)
{
	if (q->error != COMPAT_NOT_SUPPORTED)
		return false;
	return broken(
		a, "libcuda.so.1 is of a cuda-compat package that this GPU does not support (error "
		   "804): take it out of LD_LIBRARY_PATH, or install a newer driver");
}

static bool rule_fabric(const struct question *q, struct answer *a)
{
	if (q->error != SYSTEM_NOT_READY)
		return false;
	return broken(a,
	              "the NVSwitch fabric is not set up (error 802): see systemctl status "
	              "nvidia-fabricmanager; its version must be the driver's%s%s",
	              *q->w->module_version ? ", " : "", q->w->module_version);
}

static bool rule_mps(const struct question *q, struct answer *a)
{
	if (q->error < MPS_FIRST || q->error > MPS_LAST)
		return false;
	return broken(
		a,
		"the MPS service does not answer: %s (error %d); restart it, or end it by: echo "
		"quit | nvidia-cuda-mps-control",
		words(q), q->error);
}

/* access() asks the device cgroup too: EPERM is its answer. */
static bool rule_withheld(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (!w->dev_nodes || w->dev_withheld < w->dev_nodes)
		return false;
	if (w->container)
		return broken(
			a, "this container may not use /dev/nvidia* (its device cgroup forbids it, "
			   "as after systemctl daemon-reload): restart the container");
	return none(a,
	            "this job was given no GPU (its device cgroup forbids /dev/nvidia*): ask the "
	            "scheduler for one (Slurm: --gpus 1)");
}

static bool rule_denied(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (!w->dev_nodes || w->dev_denied < w->dev_nodes)
		return false;
	return broken(a,
	              "this user may not open /dev/nvidia*: join the group that ls -l /dev/nvidia0 "
	              "shows (often video), or run in a job that was given a GPU");
}

static bool rule_no_uvm(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (!w->dev_nodes || w->uvm_node)
		return false;
	return broken(a,
	              "/dev/nvidia-uvm is missing, which CUDA needs (error %d): run sudo "
	              "nvidia-modprobe -u -c 0%s",
	              q->error, w->container ? " on the host, then restart the container" : "");
}

static bool rule_no_nodes(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (w->dev_nodes)
		return false;
	if (w->module_loaded)
		return broken(
			a,
			"the nvidia module %s is loaded but drives no GPU (no /dev/nvidia0): run "
			"nvidia-smi as root; if it finds none, see dmesg | grep -i -e nvrm "
			"-e xid",
			w->module_version);
	return broken(
		a,
		"the nvidia module is not loaded, though PCI shows a GPU (%s): run sudo modprobe "
		"nvidia; if that fails, dmesg says why (Secure Boot, a kernel update)",
		w->first_bus_id);
}

static bool rule_unavailable(const struct question *q, struct answer *a)
{
	if (q->error != DEVICES_UNAVAILABLE)
		return false;
	return broken(
		a,
		"the GPU takes no work (error 46): another process holds it in exclusive mode, or "
		"it was lost; see nvidia-smi -q -d COMPUTE and dmesg | grep -i xid");
}

static bool rule_not_visible(const struct question *q, struct answer *a)
{
	if (q->error != NO_DEVICE || !*q->w->visible)
		return false;
	return broken(a,
	              "CUDA finds none of the GPUs in CUDA_VISIBLE_DEVICES=\"%s\": compare with "
	              "nvidia-smi -L; if it is right, see dmesg | grep -i xid",
	              q->w->visible);
}

static bool rule_no_device(const struct question *q, struct answer *a)
{
	const struct ceil_world *w = q->w;

	if (q->error != NO_DEVICE)
		return false;
	if (w->container)
		return broken(
			a,
			"/dev/nvidia* is there but CUDA finds no GPU: restart the container if it "
			"lost the right to it, make instances if MIG is on, else see dmesg "
			"| grep -i xid on the host");
	return broken(
		a,
		"/dev/nvidia* is there but CUDA finds no GPU: make instances if MIG is on "
		"(nvidia-smi mig -lgi), else it fell off the bus (dmesg | grep -i xid shows 79): "
		"reboot");
}

static bool rule_other(const struct question *q, struct answer *a)
{
	return broken(a,
	              "the NVIDIA driver fails: %s (error %d); see dmesg | grep -i -e nvrm -e xid "
	              "(79: the "
	              "GPU fell off the bus), then reset the GPU or reboot",
	              words(q), q->error);
}

/* The first rule that knows the case wins: causes stand before what they lead to. */
static const rule_fn rules[] = {
	rule_fine,        rule_hidden,    rule_too_old,     rule_stub,   rule_not_given,
	rule_none_in_pci, rule_foreign,   rule_wsl_without, rule_wsl,    rule_no_driver,
	rule_no_libcuda,  rule_mismatch,  rule_compat,      rule_fabric, rule_mps,
	rule_withheld,    rule_denied,    rule_no_nodes,    rule_no_uvm, rule_unavailable,
	rule_not_visible, rule_no_device, rule_other,
};

enum ceil_world_verdict ceil_world_judge(const struct ceil_world *w,
                                         const struct ceil_cuda_answer *cuda, char *ret_reason,
                                         size_t size)
{
	struct question q = {.w = w, .cuda = cuda, .error = cuda->error};
	struct answer a = {.text = ret_reason, .size = size};
	size_t i = 0;

	ceil_copy(ret_reason, size, "");
	/* Some drivers count zero devices instead of failing. */
	if (q.error == 0 && cuda->device_count <= 0)
		q.error = NO_DEVICE;
	while (!rules[i](&q, &a))
		i++;
	return a.verdict;
}
