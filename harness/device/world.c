/* What a machine shows of its NVIDIA GPUs without CUDA. */
#include "harness/device/world.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/device/sysfs.h"

enum { PATH_SIZE = 4096, LINE_SIZE = 4096 };

static const char *root(void)
{
	const char *dir = getenv("GPUCEIL_SYSROOT");

	return dir ? dir : "";
}

static bool is_there(const char *path, int mode)
{
	char full[PATH_SIZE];
	const int n = snprintf(full, sizeof(full), "%s%s", root(), path);

	return n > 0 && n < PATH_SIZE && access(full, mode) == 0;
}

/* The name of the kernel driver that a PCI function is bound to, or "". */
static void read_driver(const char *bus_id, char *ret_name, size_t size)
{
	char path[PATH_SIZE], target[PATH_SIZE];
	const char *slash;
	ssize_t length;

	ceil_copy(ret_name, size, "");
	(void)snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/driver", root(), bus_id);
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return;
	target[length] = '\0';
	slash = strrchr(target, '/');
	ceil_copy(ret_name, size, slash ? slash + 1 : target);
}

/* Vendor 10de, class 0300 (display) or 0302 (3D): its audio and USB functions are no GPUs. */
static bool is_gpu(const char *bus_id)
{
	char vendor[16] = "", class[16] = "";

	if (!ceil_sysfs_line(vendor, sizeof(vendor), "/sys/bus/pci/devices/%s/vendor", bus_id) ||
	    !ceil_sysfs_line(class, sizeof(class), "/sys/bus/pci/devices/%s/class", bus_id))
		return false;
	return strtoul(vendor, NULL, 16) == 0x10de &&
	       (strncmp(class, "0x0300", 6) == 0 || strncmp(class, "0x0302", 6) == 0);
}

static bool is_foreign(const char *driver)
{
	return *driver && strcmp(driver, "nvidia") != 0;
}

/* Called in the order of bus ids. */
static void add_function(struct ceil_world *w, const char *bus_id)
{
	char driver[32];

	read_driver(bus_id, driver, sizeof(driver));
	if (w->pci_gpus == 0 || (w->pci_gpus == w->pci_foreign && !is_foreign(driver)))
		ceil_copy(w->first_bus_id, sizeof(w->first_bus_id), bus_id);
	w->pci_gpus++;
	if (!is_foreign(driver))
		return;
	if (w->pci_foreign++ == 0)
		ceil_copy(w->foreign_driver, sizeof(w->foreign_driver), driver);
}

/* "Model: \t\t NVIDIA H200" of the driver's own folder. */
static void read_model(struct ceil_world *w)
{
	char line[LINE_SIZE];
	FILE *f = ceil_sysfs_open("/proc/driver/nvidia/gpus/%s/information", w->first_bus_id);

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "Model:", 6) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		ceil_copy(w->first_name, sizeof(w->first_name), line + 6 + strspn(line + 6, " \t"));
	}
	(void)fclose(f); /* only read */
}

static void read_pci(struct ceil_world *w)
{
	char path[PATH_SIZE];
	struct dirent **v = NULL;
	int count, i;

	(void)snprintf(path, sizeof(path), "%s/sys/bus/pci/devices", root());
	count = scandir(path, &v, NULL, alphasort);
	for (i = 0; i < count; i++) {
		if (v[i]->d_name[0] != '.' && is_gpu(v[i]->d_name))
			add_function(w, v[i]->d_name);
		free(v[i]);
	}
	free(v);
	if (w->pci_gpus)
		read_model(w);
}

static void read_nodes(struct ceil_world *w)
{
	char path[PATH_SIZE];
	const struct dirent *e;
	DIR *dir;

	w->wsl = is_there("/dev/dxg", F_OK);
	w->uvm_node = is_there("/dev/nvidia-uvm", F_OK);
	(void)snprintf(path, sizeof(path), "%s/dev", root());
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir))) {
		if (strncmp(e->d_name, "nvidia", 6) != 0 || !isdigit((unsigned char)e->d_name[6]))
			continue;
		(void)snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		w->dev_nodes++;
		if (is_there(path, R_OK | W_OK))
			continue;
		w->dev_denied++;
		w->dev_withheld += errno == EPERM; /* a mode that forbids gives EACCES */
	}
	(void)closedir(dir);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  ...": the first dotted number. */
static void read_module(struct ceil_world *w)
{
	char line[LINE_SIZE];
	const char *at = line;

	if (!ceil_sysfs_line(line, sizeof(line), "/proc/driver/nvidia/version"))
		return;
	w->module_loaded = true;
	while (*at) {
		const size_t word = strcspn(at, " \t");
		const size_t number = strspn(at, "0123456789.");

		if (word && number == word && memchr(at, '.', word)) {
			(void)snprintf(w->module_version, sizeof(w->module_version), "%.*s",
			               (int)(word < 32 ? word : 32), at);
			return;
		}
		at += word;
		at += strspn(at, " \t");
	}
}

static bool file_mentions(const char *path, const char *const *words)
{
	char line[LINE_SIZE];
	bool found = false;
	FILE *f = ceil_sysfs_open("%s", path);
	size_t i;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		for (i = 0; words[i]; i++)
			found = found || strstr(line, words[i]);
	}
	(void)fclose(f); /* only read */
	return found;
}

/*
 * Marks that runtimes leave: files of docker, podman and Kubernetes, groups of version 1, the
 * hosts file that docker, containerd and Kubernetes mount from their own folders, and variables
 * of podman, LXC, Apptainer and Kubernetes. The variables are ours, not those of another root.
 */
static bool in_container(void)
{
	static const char *const files[] = {"/.dockerenv", "/run/.containerenv",
	                                    "/run/secrets/kubernetes.io", "/.singularity.d", NULL};
	static const char *const groups[] = {"docker", "kubepods", "containerd",
	                                     "libpod", "/lxc",     NULL};
	static const char *const mounts[] = {"/hosts /etc/hosts ", "/etc-hosts /etc/hosts ", NULL};
	static const char *const variables[] = {"container", "APPTAINER_CONTAINER",
	                                        "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST",
	                                        NULL};
	size_t i;

	for (i = 0; files[i]; i++) {
		if (is_there(files[i], F_OK))
			return true;
	}
	for (i = 0; !*root() && variables[i]; i++) {
		if (getenv(variables[i]))
			return true;
	}
	return file_mentions("/proc/self/cgroup", groups) ||
	       file_mentions("/proc/self/mountinfo", mounts);
}

/* Whether the first entry can name no GPU: CUDA stops reading there. */
static bool hides_all(const char *visible, int gpus)
{
	const char *first = visible + strspn(visible, " ");

	if (strncmp(first, "GPU-", 4) == 0 || strncmp(first, "MIG-", 4) == 0)
		return false;
	if (!isdigit((unsigned char)*first))
		return true;
	return gpus > 0 && strtoul(first, NULL, 10) >= (unsigned long)gpus;
}

void ceil_world_read(struct ceil_world *ret_world)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	struct ceil_world *w = ret_world;

	memset(w, 0, sizeof(*w));
	read_pci(w);
	read_nodes(w);
	read_module(w);
	w->container = in_container();
	ceil_copy(w->visible, sizeof(w->visible), visible);
	w->hidden = visible && hides_all(visible, w->dev_nodes);
}
