/* What the network interfaces of this machine promise, by the kernel's own files. */
#include "harness/device/network.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/base/text.h"
#include "harness/device/sysfs.h"

/* Calls fn for every entry of a folder that is no dot file. */
static void each(const char *folder, void (*fn)(const char *name, struct ceil_network *n),
                 struct ceil_network *n)
{
	const char *root = getenv("GPUCEIL_SYSROOT");
	char path[512] = "";
	struct dirent *entry;
	DIR *dir;

	ceil_append(path, sizeof(path), "%s%s", root ? root : "", folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.')
			fn(entry->d_name, n);
	}
	if (dir)
		(void)closedir(dir); /* it was only read */
}

static void add(struct ceil_network *n, double gigabits_per_s, const char *name)
{
	if (!(gigabits_per_s > 0.0))
		return;
	n->ports++;
	n->gb_s += gigabits_per_s / 8.0;
	ceil_copy(n->name, sizeof(n->name), name);
}

/* "4: ACTIVE", "400 Gb/sec (4X NDR)", "InfiniBand" or "Ethernet". Ports count from 1. */
static void add_rdma(const char *device, struct ceil_network *n)
{
	enum { MAX_PORTS = 8 };
	char state[32], rate[48], layer[32];

	for (int port = 1; port <= MAX_PORTS; port++) {
		if (!ceil_sysfs_line(state, sizeof(state),
		                     "/sys/class/infiniband/%s/ports/%d/state", device, port))
			return;
		if (!strstr(state, "ACTIVE") ||
		    !ceil_sysfs_line(rate, sizeof(rate), "/sys/class/infiniband/%s/ports/%d/rate",
		                     device, port))
			continue;
		ceil_copy(layer, sizeof(layer), "");
		(void)ceil_sysfs_line(layer, sizeof(layer),
		                      "/sys/class/infiniband/%s/ports/%d/link_layer", device, port);
		add(n, strtod(rate, NULL), strcmp(layer, "Ethernet") == 0 ? "RoCE" : "InfiniBand");
	}
}

/* Bridges, bonds and the loop have no device behind them: they would count twice. Mb/s. */
static void add_interface(const char *name, struct ceil_network *n)
{
	char line[48];
	FILE *device = ceil_sysfs_open("/sys/class/net/%s/device/uevent", name);

	if (!device)
		return;
	(void)fclose(device); /* it is there: that is all */
	if (!ceil_sysfs_line(line, sizeof(line), "/sys/class/net/%s/operstate", name) ||
	    strcmp(line, "up") != 0)
		return;
	if (ceil_sysfs_line(line, sizeof(line), "/sys/class/net/%s/speed", name))
		add(n, strtod(line, NULL) / 1000.0, "Ethernet");
}

void ceil_network_read(struct ceil_network *ret_network)
{
	*ret_network = (struct ceil_network){0};
	each("/sys/class/infiniband", add_rdma, ret_network);
	if (ret_network->ports == 0)
		each("/sys/class/net", add_interface, ret_network);
}
