/* Why CUDA gives no device: machines of every kind, read and judged. */
#include "harness/device/world.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sysroot.h"
#include "tests/tap.h"

#define GPU   "0x10de\n", "0x030200\n"
#define SOUND "0x10de\n", "0x040300\n"

/* ---- Reading */

static struct ceil_world read_world(void)
{
	struct ceil_world w;

	ceil_world_read(&w);
	return w;
}

static void test_empty(void)
{
	struct ceil_world w;

	sysroot_new();
	w = read_world();
	ok(w.pci_gpus == 0 && w.dev_nodes == 0 && !w.module_loaded && !w.container && !w.hidden &&
	           !w.wsl && !w.uvm_node,
	   "an empty root shows nothing");
}

static void test_pci(void)
{
	struct ceil_world w;

	sysroot_new();
	sysroot_function("0000:00:1f.3", "0x8086\n", "0x040300\n", "snd_hda_intel");
	sysroot_function("0000:65:00.0", GPU, NULL);
	sysroot_function("0000:65:00.1", SOUND, "snd_hda_intel");
	sysroot_function("0000:17:00.0", "0x10de\n", "0x030000\n", "nvidia");
	sysroot_function("0000:03:00.0", GPU, "vfio-pci");
	w = read_world();
	is_int(w.pci_gpus, 3, "GPUs by vendor and class; sound is none");
	is_int(w.pci_foreign, 1, "one belongs to another driver");
	is_text(w.foreign_driver, "vfio-pci", "which is vfio-pci");
	is_text(w.first_bus_id, "0000:17:00.0", "the first that is not foreign");
	is_text(w.first_name, "", "no model without the driver's folder");
	sysroot_file("/proc/driver/nvidia/gpus/0000:17:00.0/information",
	             "Model: \t\t NVIDIA H200\nIRQ:   \t\t 42\n");
	w = read_world();
	is_text(w.first_name, "NVIDIA H200", "the model");
}

static void test_module(void)
{
	struct ceil_world w;

	sysroot_new();
	sysroot_driver();
	sysroot_file("/dev/nvidia1", "");
	sysroot_file("/dev/nvidia-modeset", "");
	w = read_world();
	is_int(w.dev_nodes, 2, "nodes of GPUs; ctl, uvm and modeset are none");
	ok(w.uvm_node, "nvidia-uvm");
	ok(w.module_loaded, "module");
	is_text(w.module_version, "580.159.04", "version of the open module");
	sysroot_file("/proc/driver/nvidia/version",
	             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\n");
	w = read_world();
	is_text(w.module_version, "550.54.14", "version of the other one");
	sysroot_file("/proc/driver/nvidia/version", "\n");
	w = read_world();
	ok(w.module_loaded && !*w.module_version, "a version that cannot be read");
	sysroot_file("/dev/dxg", "");
	w = read_world();
	ok(w.wsl, "WSL");
}

static void container_by(const char *path, const char *text)
{
	sysroot_new();
	sysroot_file(path, text);
	ok(read_world().container, "a container by %s", path);
}

static void test_container(void)
{
	container_by("/.dockerenv", "");
	container_by("/run/.containerenv", "");
	container_by("/run/secrets/kubernetes.io/serviceaccount/token", "x");
	container_by("/proc/self/cgroup", "12:cpu:/kubepods/burstable/pod1\n0::/\n");
	container_by(
		"/proc/self/mountinfo",
		"900 800 8:1 /var/lib/docker/containers/f00/hosts /etc/hosts rw - ext4 /dev/sda1 "
		"rw\n");
	container_by(
		"/proc/self/mountinfo",
		"900 800 8:1 /var/lib/kubelet/pods/1-2/etc-hosts /etc/hosts rw - ext4 /dev/sda1 "
		"rw\n");
	sysroot_new();
	sysroot_file("/proc/self/cgroup", "0::/user.slice/user-1000.slice/session-1.scope\n");
	sysroot_file("/proc/self/mountinfo",
	             "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	             "99 30 0:50 / /var/lib/docker/overlay2/aa/merged rw - overlay overlay rw\n");
	ok(!read_world().container, "a host that runs containers is none");
}

static void visible_is(const char *text, bool hidden, const char *name)
{
	struct ceil_world w;

	(void)setenv("CUDA_VISIBLE_DEVICES", text, 1);
	w = read_world();
	ok(w.hidden == hidden, "%s", name);
	is_text(w.visible, text, "its text is kept");
	(void)unsetenv("CUDA_VISIBLE_DEVICES");
}

static void test_hidden(void)
{
	sysroot_new();
	sysroot_driver();
	visible_is("", true, "an empty list hides");
	visible_is("-1", true, "-1 hides");
	visible_is("NoDevFiles", true, "what SLURM sets without GPUs hides");
	visible_is("1", true, "an index that is not there hides");
	visible_is("0,7", false, "the first is there");
	visible_is("GPU-5f2", false, "a UUID may be there");
	visible_is("MIG-1", false, "an instance may be there");
	ok(!read_world().hidden, "unset hides nothing");
	sysroot_new();
	visible_is("3", false, "no nodes, no bound on the index");
}

/* ---- Judging */

/* A machine, CUDA's answer and what shall be said of them. */
struct judged {
	const char *name;
	struct ceil_world w;
	struct ceil_cuda_answer cuda;
	enum ceil_world_verdict verdict;
	const char *words[4]; /* all of them stand in the sentence */
};

#define BARE_GPU    .pci_gpus = 1, .first_bus_id = "0000:65:00.0"
#define WITH_MODULE BARE_GPU, .module_loaded = true, .module_version = "580.159.04"
#define WITH_NODES  WITH_MODULE, .dev_nodes = 1, .uvm_node = true
#define NO_DRIVER                                                                                  \
	{                                                                                          \
		.error = 35, .runtime_version = 13000, .text = "driver insufficient"               \
	}
#define SAYS(code, words)                                                                          \
	{                                                                                          \
		.error = (code), .driver_version = 13000, .runtime_version = 13000,                \
		.text = (words)                                                                    \
	}

static const struct judged cases[] = {
	{"all is well", {WITH_NODES}, {.device_count = 1}, CEIL_WORLD_OK, {""}},
	{"WSL shows no PCI function", {.wsl = true}, {.device_count = 1}, CEIL_WORLD_OK, {""}},
	{"hidden",
         {WITH_NODES, .hidden = true},
         SAYS(100, "no device"),
         CEIL_WORLD_NONE,
         {"CUDA_VISIBLE_DEVICES=\"\"", "unset it"}},
	{"driver too old",
         {WITH_NODES},
         {.error = 35, .driver_version = 12040, .runtime_version = 13000},
         CEIL_WORLD_BROKEN,
         {"580.159.04 is too old", "supports CUDA 12.4", "needs 13.0; install driver 580 or newer",
          "build with CUDA 12"}},
	{"driver too old for a toolkit of tomorrow",
         {WITH_NODES},
         {.error = 35, .driver_version = 13000, .runtime_version = 14010},
         CEIL_WORLD_BROKEN,
         {"needs 14.1; install a newer driver"}},
	{"no GPU", {0}, NO_DRIVER, CEIL_WORLD_NONE, {"no NVIDIA GPU in this machine"}},
	{"no GPU, container",
         {.container = true},
         NO_DRIVER,
         CEIL_WORLD_NONE,
         {"no NVIDIA GPU in this machine"}},
	{"no GPU but libcuda", {0}, SAYS(100, "no device"), CEIL_WORLD_NONE, {"PCI shows none"}},
	{"container without nodes",
         {WITH_MODULE, .container = true},
         NO_DRIVER,
         CEIL_WORLD_NONE,
         {"--gpus all", "nvidia.com/gpu", "--nv"}},
	{"container with libcuda, without nodes",
         {WITH_MODULE, .container = true},
         SAYS(999, "unknown error"),
         CEIL_WORLD_NONE,
         {"was given no GPU"}},
	{"vfio",
         {BARE_GPU, .pci_foreign = 1, .foreign_driver = "vfio-pci"},
         NO_DRIVER,
         CEIL_WORLD_NONE,
         {"0000:65:00.0 is bound to vfio-pci", "virtual machine"}},
	{"vfio beside a loaded module",
         {WITH_MODULE, .pci_foreign = 1, .foreign_driver = "vfio-pci"},
         SAYS(100, "no device"),
         CEIL_WORLD_NONE,
         {"bound to vfio-pci"}},
	{"nouveau",
         {BARE_GPU, .pci_foreign = 1, .foreign_driver = "nouveau"},
         NO_DRIVER,
         CEIL_WORLD_NONE,
         {"driver nouveau", "install NVIDIA's driver"}},
	{"WSL without a driver", {.wsl = true}, NO_DRIVER, CEIL_WORLD_NONE, {"in Windows"}},
	{"WSL with a broken one",
         {.wsl = true},
         SAYS(999, "unknown error"),
         CEIL_WORLD_BROKEN,
         {"fails in WSL: unknown error (error 999)", "wsl --shutdown"}},
	{"bare machine without a driver",
         {BARE_GPU},
         NO_DRIVER,
         CEIL_WORLD_BROKEN,
         {"(0000:65:00.0)", "no NVIDIA driver is installed", "ubuntu-drivers install"}},
	{"half of the GPUs foreign, no driver for the rest",
         {.pci_gpus = 2, .pci_foreign = 1, .foreign_driver = "vfio-pci"},
         NO_DRIVER,
         CEIL_WORLD_BROKEN,
         {"no NVIDIA driver is installed"}},
	{"module without libcuda",
         {WITH_NODES},
         NO_DRIVER,
         CEIL_WORLD_BROKEN,
         {"580.159.04 is loaded but libcuda.so.1 is not found"}},
	{"container with nodes, without libcuda",
         {WITH_NODES, .container = true},
         NO_DRIVER,
         CEIL_WORLD_BROKEN,
         {"NVIDIA_DRIVER_CAPABILITIES=compute,utility"}},
	{"stub of the toolkit",
         {WITH_NODES},
         SAYS(34, "stub"),
         CEIL_WORLD_BROKEN,
         {"stub", "LD_LIBRARY_PATH"}},
	{"mismatch",
         {WITH_NODES},
         SAYS(803, "mismatch"),
         CEIL_WORLD_BROKEN,
         {"580.159.04", "error 803", "reboot"}},
	{"cuda-compat on a GeForce",
         {WITH_NODES},
         SAYS(804, "compat"),
         CEIL_WORLD_BROKEN,
         {"cuda-compat"}},
	{"MPS",
         {WITH_NODES},
         SAYS(807, "MPS server is not ready"),
         CEIL_WORLD_BROKEN,
         {"MPS server is not ready (error 807)"}},
	{"fabric manager",
         {WITH_NODES},
         SAYS(802, "system not yet initialized"),
         CEIL_WORLD_BROKEN,
         {"systemctl status nvidia-fabricmanager", "802", "580.159.04"}},
	{"a job without a GPU",
         {WITH_NODES, .dev_denied = 1, .dev_withheld = 1},
         SAYS(100, "no device"),
         CEIL_WORLD_NONE,
         {"job was given no GPU", "--gpus 1"}},
	{"a container that lost its right",
         {WITH_NODES, .dev_denied = 1, .dev_withheld = 1, .container = true},
         SAYS(999, "unknown error"),
         CEIL_WORLD_BROKEN,
         {"restart the container"}},
	{"no right to the nodes",
         {WITH_NODES, .dev_denied = 1},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"may not open /dev/nvidia*", "group"}},
	{"no nvidia-uvm",
         {WITH_MODULE, .dev_nodes = 1},
         SAYS(999, "unknown error"),
         CEIL_WORLD_BROKEN,
         {"/dev/nvidia-uvm is missing", "nvidia-modprobe -u"}},
	{"libcuda without the module",
         {BARE_GPU},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"modprobe nvidia", "0000:65:00.0"}},
	{"module without nodes",
         {WITH_MODULE},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"drives no GPU", "xid"}},
	{"module without a function",
         {.module_loaded = true, .module_version = "1.2"},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"module 1.2 is loaded but drives no GPU"}},
	{"exclusive mode",
         {WITH_NODES},
         SAYS(46, "busy or unavailable"),
         CEIL_WORLD_BROKEN,
         {"exclusive mode", "-d COMPUTE"}},
	{"a UUID that is not there",
         {WITH_NODES, .visible = "GPU-1"},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"CUDA_VISIBLE_DEVICES=\"GPU-1\"", "nvidia-smi -L"}},
	{"MIG without instances, or off the bus",
         {WITH_NODES},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"nvidia-smi mig", "fell off the bus", "79"}},
	{"CUDA counts 0 without an error",
         {WITH_NODES},
         SAYS(0, "no error"),
         CEIL_WORLD_BROKEN,
         {"nvidia-smi mig"}},
	{"the same in a container",
         {WITH_NODES, .container = true},
         SAYS(100, "no device"),
         CEIL_WORLD_BROKEN,
         {"restart the container"}},
	{"off the bus",
         {WITH_NODES},
         SAYS(999, "unknown error"),
         CEIL_WORLD_BROKEN,
         {"unknown error (error 999)", "fell off the bus", "reboot"}},
	{"an error without words",
         {WITH_NODES},
         SAYS(12345, NULL),
         CEIL_WORLD_BROKEN,
         {"(error 12345)"}},
};

static void check_case(const struct judged *c)
{
	char reason[512] = "not touched";
	size_t i;

	ok(ceil_world_judge(&c->w, &c->cuda, reason, sizeof(reason)) == c->verdict,
	   "%s: the verdict", c->name);
	for (i = 0; i < 4 && c->words[i]; i++)
		has_text(reason, c->words[i], c->name);
	ok(strlen(reason) <= 230 && (c->verdict == CEIL_WORLD_OK) == !*reason,
	   "%s: a sentence of %zu bytes", c->name, strlen(reason));
	ok(!strstr(reason, "  "), "%s: no blank too many", c->name);
}

/* ---- Both */

static void whole_case(int error, int driver, enum ceil_world_verdict want, const char *words)
{
	const struct ceil_cuda_answer cuda = {.error = error,
	                                      .driver_version = driver,
	                                      .runtime_version = 13000,
	                                      .text = "its words"};
	const struct ceil_world w = read_world();
	char reason[256];

	ok(ceil_world_judge(&w, &cuda, reason, sizeof(reason)) == want, "the verdict: %s", reason);
	has_text(reason, words, "and its words");
}

static void test_roots(void)
{
	sysroot_new();
	whole_case(35, 0, CEIL_WORLD_NONE, "no NVIDIA GPU in this machine");
	sysroot_function("0000:65:00.0", GPU, NULL);
	whole_case(35, 0, CEIL_WORLD_BROKEN, "no NVIDIA driver is installed");
	sysroot_file("/.dockerenv", "");
	whole_case(35, 0, CEIL_WORLD_NONE, "was given no GPU");
	sysroot_driver();
	whole_case(35, 0, CEIL_WORLD_BROKEN, "not libcuda.so.1");
	whole_case(802, 13000, CEIL_WORLD_BROKEN, "fabric");
	whole_case(35, 12020, CEIL_WORLD_BROKEN, "supports CUDA 12.2");
	sysroot_new();
	sysroot_function("0000:65:00.0", GPU, "vfio-pci");
	whole_case(35, 0, CEIL_WORLD_NONE, "bound to vfio-pci");
}

int main(void)
{
	size_t i;

	(void)unsetenv("CUDA_VISIBLE_DEVICES");
	test_empty();
	test_pci();
	test_module();
	test_container();
	test_hidden();
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(&cases[i]);
	test_roots();
	return done_testing();
}
