/* What the kernel lets this process use: CPU quota and memory of its control groups. */
#include "harness/device/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/device/sysfs.h"

enum { DIR_SIZE = 1024 };

/* A mounted hierarchy of groups, and the group of this process in it. */
struct hierarchy {
	char mount[DIR_SIZE]; /* where it is mounted */
	char group[DIR_SIZE]; /* below the mount, "" or "/a/b" */
	bool v2;
};

/* Called for a group and each one above it. */
typedef void (*visit_fn)(void *acc, const char *dir, bool v2);

static bool has_word(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length) {
		if ((at == list || at[-1] == ',') && strchr(",\n", at[length]))
			return true;
	}
	return false;
}

/* The path of this process's group: of a v1 controller, or of v2 ("0::/a/b"). */
static bool find_group(const char *controller, bool v2, char *ret_path, size_t size)
{
	FILE *f = ceil_sysfs_open("/proc/self/cgroup");
	char line[DIR_SIZE + 256];
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		found = v2 ? names[1] == '\0' : has_word(names + 1, controller);
		if (found)
			ceil_copy(ret_path, size, path);
	}
	(void)fclose(f); /* only read */
	return found;
}

/* A line of mountinfo as a hierarchy that holds the controller; false if it is another mount. */
static bool parse_mount(const char *line, const char *controller, struct hierarchy *ret_h)
{
	const char *tail = strstr(line, " - ");
	char path[DIR_SIZE], root[DIR_SIZE], type[16], options[512];
	size_t length;

	if (!tail || sscanf(line, "%*s %*s %*s %1023s %1023s", root, ret_h->mount) != 2 ||
	    sscanf(tail, " - %15s %*s %511s", type, options) != 2)
		return false;
	ret_h->v2 = !strcmp(type, "cgroup2");
	if (!ret_h->v2 && (strcmp(type, "cgroup") != 0 || !has_word(options, controller)))
		return false;
	if (!find_group(controller, ret_h->v2, path, sizeof(path)))
		return false;
	/* A container may see its own group as the mount's root, under a path that is not there. */
	length = !strcmp(root, "/") ? 0 : strlen(root);
	if (strncmp(path, root, length) != 0 || path[length] != '/' || strstr(path, "/.."))
		length = strlen(path);
	ceil_copy(ret_h->group, sizeof(ret_h->group), path + length);
	if (!strcmp(ret_h->group, "/"))
		ret_h->group[0] = '\0';
	return true;
}

static void visit_upwards(struct hierarchy *h, visit_fn visit, void *acc)
{
	char dir[2 * DIR_SIZE];

	for (;;) {
		(void)snprintf(dir, sizeof(dir), "%s%s", h->mount, h->group);
		visit(acc, dir, h->v2);
		if (!h->group[0])
			return;
		*strrchr(h->group, '/') = '\0';
	}
}

static void visit_groups(const char *controller, visit_fn visit, void *acc)
{
	FILE *f = ceil_sysfs_open("/proc/self/mountinfo");
	struct hierarchy h;
	size_t size = 0;
	char *line = NULL;

	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		if (parse_mount(line, controller, &h))
			visit_upwards(&h, visit, acc);
	}
	free(line);
	(void)fclose(f); /* only read */
}

static void visit_cpu(void *acc, const char *dir, bool v2)
{
	double *cpus = acc;
	char text[64], period[64];
	double quota = 0.0, per = 0.0, here;

	if (v2) {
		if (!ceil_sysfs_line(text, sizeof(text), "%s/cpu.max", dir) ||
		    sscanf(text, "%lf %lf", &quota, &per) != 2)
			return; /* "max 100000": no quota */
	} else if (!ceil_sysfs_line(text, sizeof(text), "%s/cpu.cfs_quota_us", dir) ||
	           !ceil_sysfs_line(period, sizeof(period), "%s/cpu.cfs_period_us", dir) ||
	           sscanf(text, "%lf", &quota) != 1 || sscanf(period, "%lf", &per) != 1) {
		return;
	}
	if (quota <= 0.0 || per <= 0.0)
		return; /* v1 says -1 for none */
	here = quota / per;
	if (isnan(*cpus) || here < *cpus)
		*cpus = here;
}

double ceil_limits_cpus(void)
{
	double cpus = (double)NAN;

	visit_groups("cpu", visit_cpu, &cpus);
	return cpus;
}

/* A limit file's number; "max" is none, and so is v1's largest page-aligned int64. */
static uint64_t read_limit(const char *dir, const char *file)
{
	uint64_t limit;
	char text[64];

	if (!ceil_sysfs_line(text, sizeof(text), "%s/%s", dir, file) ||
	    sscanf(text, "%" SCNu64, &limit) != 1 || limit >= (uint64_t)1 << 62)
		return UINT64_MAX;
	return limit;
}

static void visit_memory(void *acc, const char *dir, bool v2)
{
	uint64_t *headroom = acc;
	const uint64_t hard = read_limit(dir, v2 ? "memory.max" : "memory.limit_in_bytes");
	/* Above memory.high the kernel throttles: as good as full. */
	const uint64_t high = v2 ? read_limit(dir, "memory.high") : UINT64_MAX;
	const uint64_t limit = hard < high ? hard : high;
	uint64_t used, cache = 0, here;

	if (limit == UINT64_MAX)
		return;
	used = read_limit(dir, v2 ? "memory.current" : "memory.usage_in_bytes");
	if (used == UINT64_MAX)
		used = 0;
	(void)ceil_sysfs_field(&cache, v2 ? "inactive_file" : "total_inactive_file",
	                       "%s/memory.stat", dir); /* none: all of it counts as used */
	used -= cache < used ? cache : used;
	here = used < limit ? limit - used : 0;
	if (here < *headroom)
		*headroom = here;
}

uint64_t ceil_limits_memory_bytes(void)
{
	uint64_t headroom = UINT64_MAX;

	visit_groups("memory", visit_memory, &headroom);
	return headroom;
}

uint64_t ceil_limits_address_bytes(void)
{
	const long page = sysconf(_SC_PAGESIZE);
	unsigned long pages = 0;
	struct rlimit limit;
	FILE *f;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%lu", &pages) != 1)
		pages = 0; /* then the whole limit is left, as far as we know */
	if (f)
		(void)fclose(f);
	const uint64_t used = (uint64_t)pages * (uint64_t)page;

	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

uint64_t ceil_limits_free_bytes(void)
{
	const uint64_t groups = ceil_limits_memory_bytes();
	const uint64_t addresses = ceil_limits_address_bytes();
	const uint64_t headroom = groups < addresses ? groups : addresses;
	uint64_t kib = 0;

	if (!ceil_sysfs_field(&kib, "MemAvailable:", "/proc/meminfo"))
		return headroom;
	return kib * 1024 < headroom ? kib * 1024 : headroom;
}

uint64_t ceil_limits_shared_bytes(uint64_t device_free_bytes)
{
	const uint64_t system_free = ceil_limits_free_bytes();

	return system_free == UINT64_MAX ? device_free_bytes : system_free;
}

uint64_t ceil_limits_plan_bytes(uint64_t free_bytes)
{
	const uint64_t reserve = (uint64_t)2 << 30;
	const uint64_t share = free_bytes / 10 * 6;
	const uint64_t rest = free_bytes > reserve ? free_bytes - reserve : 0;

	if (free_bytes == UINT64_MAX)
		return 0;
	return share < rest ? share : rest;
}
