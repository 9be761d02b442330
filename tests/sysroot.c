/* Another machine for one test. */
#include "tests/sysroot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/scratch.h"

enum { PATH_SIZE = 1024 };

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

void sysroot_new(void)
{
	static int made;
	char name[32];
	const char *path;

	(void)snprintf(name, sizeof(name), "root%d", made++);
	path = scratch_path(name);
	if (mkdir(path, 0755) || setenv("GPUCEIL_SYSROOT", path, 1))
		die(path);
}

static void full_path(char *ret_path, const char *path)
{
	const char *root = getenv("GPUCEIL_SYSROOT");
	char *slash;

	(void)snprintf(ret_path, PATH_SIZE, "%s%s", root, path);
	for (slash = ret_path + strlen(root); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		(void)mkdir(ret_path, 0755); /* it may be there; if it is not, the file fails */
		*slash = '/';
	}
}

void sysroot_file(const char *path, const char *text)
{
	char full[PATH_SIZE];
	FILE *f;

	full_path(full, path);
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		die(full);
}

static void attribute(const char *bus_id, const char *name, const char *text)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/%s", bus_id, name);
	sysroot_file(path, text);
}

void sysroot_function(const char *bus_id, const char *vendor, const char *class, const char *driver)
{
	char path[PATH_SIZE], full[PATH_SIZE], target[128];

	attribute(bus_id, "vendor", vendor);
	attribute(bus_id, "class", class);
	if (!driver)
		return;
	(void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", bus_id);
	(void)snprintf(target, sizeof(target), "../../../../bus/pci/drivers/%s", driver);
	full_path(full, path);
	if (symlink(target, full))
		die(full);
}

void sysroot_driver(void)
{
	sysroot_file("/proc/driver/nvidia/version",
	             "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  "
	             "Release Build  (root@host)\nGCC version:  gcc version 12.2.0\n");
	sysroot_file("/dev/nvidia0", "");
	sysroot_file("/dev/nvidiactl", "");
	sysroot_file("/dev/nvidia-uvm", "");
}
