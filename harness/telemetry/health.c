/* Health of the GPUs over a run: reads twice, listens for Xid errors, and says what changed. */
#include "harness/telemetry/health.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/text.h"
#include "harness/telemetry/nvml_abi.h"

#define COUNTER(member, title_, group_)                                                            \
	{                                                                                          \
		.name = #member, .title = (title_), .group = (group_),                             \
		.offset = offsetof(struct ceil_nvml_health, member)                                \
	}

const struct ceil_health_counter ceil_health_counters[] = {
	COUNTER(ecc_corrected, "corrected ECC errors", "ECC"),
	COUNTER(ecc_uncorrected, "uncorrected ECC errors", "ECC"),
	COUNTER(rows_corrected, "rows remapped, corrected", "row remaps"),
	COUNTER(rows_uncorrected, "rows remapped, uncorrected", "row remaps"),
	COUNTER(remap_pending, "row remap pending", "row remaps"),
	COUNTER(remap_failed, "row remap failed", "row remaps"),
	COUNTER(nvlink_replay, "NVLink replays", "NVLink"),
	COUNTER(nvlink_recovery, "NVLink recoveries", "NVLink"),
	COUNTER(nvlink_crc, "NVLink CRC errors", "NVLink"),
	COUNTER(pcie_replay, "PCIe replays", "PCIe replays"),
};
const size_t ceil_health_counter_count =
	sizeof(ceil_health_counters) / sizeof(ceil_health_counters[0]);

/* What the documentation of Xid errors says in a word, of those seen most. */
static const struct xid_word {
	unsigned xid;
	const char *word;
} xid_words[] = {
	{13, "a kernel's fault"},
	{31, "a page fault"},
	{43, "a kernel was stopped"},
	{48, "a double-bit ECC error"},
	{63, "a row remap was recorded"},
	{64, "a row remap failed"},
	{74, "an NVLink error"},
	{79, "it fell off the bus"},
	{92, "many single-bit ECC errors"},
	{94, "a contained ECC error"},
	{95, "an uncontained ECC error"},
	{119, "the GSP does not answer"},
};

/* ---- judging */

struct findings {
	const struct ceil_health_gpu *gpu;
	struct ceil_health_finding *v;
	size_t count, cap;
};

/* One more, where there is room. */
static void add(struct findings *f, const char *what, double before, double after,
                enum ceil_health_grade grade, const char *text)
{
	struct ceil_health_finding *x;

	if (f->count == f->cap)
		return;
	x = &f->v[f->count++];
	ceil_copy(x->device, sizeof(x->device), f->gpu->device);
	x->what = what;
	x->before = before;
	x->after = after;
	x->grade = grade;
	ceil_copy(x->text, sizeof(x->text), text);
}

static double value_of(const struct ceil_nvml_health *h, const struct ceil_health_counter *c)
{
	double value;

	memcpy(&value, (const char *)h + c->offset, sizeof(value));
	return value;
}

static void judge_counters(struct findings *f)
{
	for (size_t i = 0; i < ceil_health_counter_count; i++) {
		const struct ceil_health_counter *c = &ceil_health_counters[i];
		const double before = value_of(&f->gpu->before, c);
		const double after = value_of(&f->gpu->after, c);
		char text[64] = "";

		if (!(after > before))
			continue;
		ceil_append(text, sizeof(text), "grew by %.0f during this run", after - before);
		add(f, c->title, before, after, CEIL_HEALTH_SUSPECT, text);
	}
}

/* A card that answered before and tells nothing now. */
static void judge_lost(struct findings *f)
{
	const struct ceil_nvml_health *b = &f->gpu->before, *a = &f->gpu->after;

	if (!isnan(b->throttle_bits) && isnan(a->throttle_bits) && isnan(a->power_limit_w))
		add(f, "NVML", (double)NAN, (double)NAN, CEIL_HEALTH_SUSPECT,
		    "the GPU no longer answers");
}

static const char *xid_word(unsigned xid)
{
	for (size_t i = 0; i < sizeof(xid_words) / sizeof(xid_words[0]); i++) {
		if (xid_words[i].xid == xid)
			return xid_words[i].word;
	}
	return "";
}

static void judge_xids(struct findings *f)
{
	const struct ceil_health_gpu *g = f->gpu;
	const size_t kept = g->xid_count < CEIL_HEALTH_XIDS ? g->xid_count : CEIL_HEALTH_XIDS;
	const char *word = xid_word(g->xid[0]);
	char text[112] = "";

	if (g->xid_count == 0)
		return;
	for (size_t i = 0; i < kept; i++)
		ceil_append(text, sizeof(text), "%s%u", i ? ", " : "", g->xid[i]);
	ceil_append(text, sizeof(text), "%s%s", *word ? ": " : "", word);
	add(f, "Xid errors", 0.0, (double)g->xid_count, CEIL_HEALTH_SUSPECT, text);
}

/* What was so before: nobody's fault in this run, and part of its figures. */
static void judge_settings(struct findings *f)
{
	const struct ceil_nvml_health *b = &f->gpu->before, *a = &f->gpu->after;
	const uint64_t end_bits = isnan(a->throttle_bits) ? 0 : (uint64_t)a->throttle_bits;
	const bool held = ((end_bits | f->gpu->seen_bits) & CEIL_NV_REASON_APP_CLOCKS) != 0;
	char text[64] = "";

	if (b->power_limit_w < b->power_default_w - 0.5) {
		ceil_append(text, sizeof(text), "below the default of %.0f W", b->power_default_w);
		add(f, "power limit, W", b->power_limit_w, a->power_limit_w, CEIL_HEALTH_NOTE,
		    text);
	}
	if (b->remap_failed > 0)
		add(f, "row remap failed", (double)NAN, (double)NAN, CEIL_HEALTH_NOTE,
		    "before this run: have the card looked at");
	if (b->remap_pending > 0)
		add(f, "row remap pending", (double)NAN, (double)NAN, CEIL_HEALTH_NOTE,
		    "since before this run: reset the GPU");
	if (held || b->app_sm_mhz < b->app_default_sm_mhz)
		add(f, "application clock, MHz", b->app_sm_mhz, a->app_sm_mhz, CEIL_HEALTH_NOTE,
		    held ? "application or locked clocks hold it down" : "set below the default");
}

size_t ceil_health_judge(const struct ceil_health_gpu *g, struct ceil_health_finding *ret_f,
                         size_t cap)
{
	struct findings f = {.gpu = g, .v = ret_f, .cap = cap};

	judge_counters(&f);
	judge_xids(&f);
	judge_lost(&f);
	judge_settings(&f);
	return f.count;
}

bool ceil_health_bad(const struct ceil_health *h)
{
	for (size_t i = 0; i < h->finding_count; i++) {
		if (h->finding[i].grade == CEIL_HEALTH_SUSPECT)
			return true;
	}
	return false;
}

/* ---- Xid errors in the kernel's log */

bool ceil_health_parse_xid(const char *line, const char *pci_bus_id, unsigned *ret_xid)
{
	const char *at = strstr(line, "NVRM: Xid (PCI:");
	unsigned domain, bus, device, xid;
	unsigned want_domain, want_bus, want_device;

	if (!at || sscanf(at, "NVRM: Xid (PCI:%x:%x:%x): %u", &domain, &bus, &device, &xid) != 4 ||
	    sscanf(pci_bus_id, "%x:%x:%x", &want_domain, &want_bus, &want_device) != 3)
		return false;
	if (domain != want_domain || bus != want_bus || device != want_device)
		return false;
	*ret_xid = xid;
	return true;
}

static void note_xid(struct ceil_health_gpu *g, unsigned xid)
{
	if (g->xid_count < CEIL_HEALTH_XIDS)
		g->xid[g->xid_count] = xid;
	g->xid_count++;
}

static void take_line(struct ceil_health *h, const char *line)
{
	for (size_t i = 0; i < h->gpu_count; i++) {
		unsigned xid;

		if (ceil_health_parse_xid(line, h->gpu[i].pci_bus_id, &xid))
			note_xid(&h->gpu[i], xid);
	}
}

/* A read gives one record, of the real log; records that were overwritten meanwhile are EPIPE. */
static void drain_kmsg(struct ceil_health *h)
{
	enum { RECORD = 8192, MOST = 100000 };
	char text[RECORD + 1];
	char *line, *rest;

	for (int i = 0; i < MOST; i++) {
		const ssize_t n = read(h->kmsg, text, RECORD);

		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (n <= 0)
			return;
		text[n] = '\0';
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			if (strstr(line, "NVRM: Xid"))
				take_line(h, line);
		}
	}
}

static void open_kmsg(struct ceil_health *h)
{
	const char *root = getenv("GPUCEIL_SYSROOT");
	char path[1024] = "";

	ceil_append(path, sizeof(path), "%s/dev/kmsg", root ? root : "");
	h->kmsg = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	h->kmsg_open = h->kmsg >= 0 && lseek(h->kmsg, 0, SEEK_END) >= 0;
	if (h->kmsg_open)
		h->xid_source = "/dev/kmsg";
	else
		ceil_append(h->xid_reason, sizeof(h->xid_reason), "/dev/kmsg: %s", strerror(errno));
	if (!h->kmsg_open && h->kmsg >= 0)
		(void)close(h->kmsg); /* only read */
}

static void open_events(struct ceil_health *h, struct ceil_nvml *nvml)
{
	struct ceil_error err = {CEIL_OK, ""};

	if (ceil_nvml_xids_open(nvml, &h->xids, &err) == CEIL_OK)
		h->xid_source = "NVML events";
	else
		ceil_append(h->xid_reason, sizeof(h->xid_reason), "; %s", err.text);
}

static void drain_events(struct ceil_health *h)
{
	enum { MOST = 1024 };
	struct ceil_nvml_gpu *gpu;
	unsigned xid;

	for (int n = 0; n < MOST && ceil_nvml_xids_next(h->xids, &gpu, &xid); n++) {
		for (size_t i = 0; i < h->gpu_count; i++) {
			if (h->gpu[i].nvml == gpu)
				note_xid(&h->gpu[i], xid);
		}
	}
}

/* ---- a run */

void ceil_health_init(struct ceil_health *h)
{
	memset(h, 0, sizeof(*h));
}

void ceil_health_add(struct ceil_health *h, const char *device, struct ceil_nvml_gpu *nvml)
{
	struct ceil_health_gpu *g;
	struct ceil_nvml_info info;

	if (!nvml || h->gpu_count == CEIL_MAX_DEVICES)
		return;
	ceil_nvml_info(nvml, &info);
	g = &h->gpu[h->gpu_count++];
	ceil_copy(g->device, sizeof(g->device), device);
	ceil_copy(g->pci_bus_id, sizeof(g->pci_bus_id), info.pci_bus_id);
	g->nvml = nvml;
}

void ceil_health_begin(struct ceil_health *h, struct ceil_nvml *nvml)
{
	if (!nvml || h->gpu_count == 0)
		return;
	open_kmsg(h);
	if (!h->xid_source)
		open_events(h, nvml);
	for (size_t i = 0; i < h->gpu_count; i++)
		ceil_nvml_health(h->gpu[i].nvml, &h->gpu[i].before);
}

void ceil_health_saw(struct ceil_health *h, const struct ceil_telemetry_row *row)
{
	const int index = ceil_source_value_index("throttle_bits");

	if (index < 0 || isnan(row->value[index]))
		return;
	for (size_t i = 0; i < h->gpu_count; i++) {
		if (strcmp(h->gpu[i].device, row->device) == 0)
			h->gpu[i].seen_bits |= (uint64_t)row->value[index];
	}
}

void ceil_health_end(struct ceil_health *h)
{
	if (h->kmsg_open)
		drain_kmsg(h);
	if (h->xids)
		drain_events(h);
	h->finding_count = 0;
	for (size_t i = 0; i < h->gpu_count; i++) {
		ceil_nvml_health(h->gpu[i].nvml, &h->gpu[i].after);
		h->finding_count += ceil_health_judge(&h->gpu[i], h->finding + h->finding_count,
		                                      CEIL_HEALTH_FINDINGS - h->finding_count);
	}
}

void ceil_health_done(struct ceil_health *h)
{
	ceil_nvml_xids_close(h->xids);
	h->xids = NULL;
	if (h->kmsg_open)
		(void)close(h->kmsg); /* only read */
	h->kmsg_open = false;
}
