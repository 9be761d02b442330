/* How much of a GPU a load used: the columns of the series, and the means of a scenario. */
#include "harness/analysis/usage.h"

#include <math.h>
#include <string.h>

#include "harness/base/text.h"

/* GPU-Util is a mean over the last second or less (nvml.h: 1 s to 1/6 s), GPM over 0.2 s. */
#define SETTLE_S 1.2
#define LAST_S   0.1
/* Some sixty blocks of 10 ms, whose mean is steady to a hundredth of a point. */
#define TELL_S 0.6

/* ---- columns */

#define ROW(member, unit, doc) CEIL_FIELD(struct ceil_usage_row, member, unit, 1, doc)
#define SUM(member, unit, doc) CEIL_FIELD(struct ceil_usage, member, unit, 1, doc)

/* The figures that both files have, by ROW or SUM. */
#define FIGURES(F)                                                                                 \
	F(gpu_util, "ratio", "NVML's GPU-Util: time in which any kernel or copy ran"),             \
		F(gpu_util_samples, "ratio", "the same from the driver's own samples"),            \
		F(memory_util, "ratio", "NVML: time in which device memory was read or written"),  \
		F(sm_active, "ratio", "SMs with a warp, mean over SMs and time (GPM)"),            \
		F(sm_occupancy, "ratio", "resident warps over possible ones (GPM)"),               \
		F(tensor_active, "ratio", "time in which tensor pipes worked (GPM)"),              \
		F(dram_active, "ratio", "time in which device memory moved data (GPM)"),           \
		F(fp64_active, "ratio", "time in which the fp64 pipe worked (GPM)"),               \
		F(fp32_active, "ratio", "time in which the fp32 pipe worked (GPM)"),               \
		F(fp16_active, "ratio", "time in which the fp16 pipe worked (GPM)"),               \
		F(pm_sm_active, "ratio", "SMs with a warp (CUPTI PM sampling)"),                   \
		F(pm_sm_occupancy, "ratio", "resident warps over possible ones (CUPTI, no GPM)"),  \
		F(pm_tensor_active, "ratio", "time in which tensor pipes worked (CUPTI, no GPM)"), \
		F(pm_dram_active, "ratio", "use of device memory's peak (CUPTI, no GPM)"),         \
		F(pm_sm_mhz, "MHz", "SM clock held: cycles over time (CUPTI)"),                    \
		F(self_sm_active, "ratio", "SMs with a block, as the kernels tell themselves"),    \
		F(tflops, "TFLOP/s", "achieved: operations done over time"),                       \
		F(gb_s, "GB/s", "achieved: bytes read and written, or copied one way"),            \
		F(launches_per_s, "1/s", "kernels, graph nodes too"),                              \
		F(tflops_ceiling, "TFLOP/s", "flops_ceiling as measured on this card before"),     \
		F(gb_s_ceiling, "GB/s", "bytes_ceiling as measured on this card before"),          \
		F(flops_ceiling, "", "name of the ceiling beside tflops"),                         \
		F(bytes_ceiling, "", "name of the ceiling beside gb_s")

#define OWNER(F)                                                                                   \
	F(status, "", "ok, unsupported, cancelled (cut short), failed"),                           \
		F(reason, "", "why, when not ok"), F(device, "", "gpu0 by nvidia-smi's index"),    \
		F(gpu_name, "", "name of the device as its driver gives it"),                      \
		F(driver, "", "version of the NVIDIA driver"),                                     \
		F(recorded_utc, "", "when the recording began"),                                   \
		F(tool_version, "", "version and commit of gpuceil"),                              \
		F(sm_count, "", "multiprocessors of the GPU"),                                     \
		F(format_version, "", "of the columns")

static const struct ceil_field series_fields[] = {
	ROW(scenario, "", "what played; the point of a sweep behind the dot"),
	ROW(event, "", "tick: a reading; end: the scenario's last row"),
	ROW(seconds, "s", "since the recording began"),
	ROW(scenario_s, "s", "since the scenario's first step"),
	ROW(steady, "", "1: counts in the means of utilization.csv"),
	FIGURES(ROW),
	ROW(power_w, "W", "mean over a second on most parts"),
	ROW(power_instant_w, "W", "at this instant"),
	ROW(sm_mhz, "MHz", "NVML's snapshot of the SM clock"),
	ROW(memory_mhz, "MHz", "NVML's snapshot of the memory clock"),
	ROW(temp_c, "C", "of the GPU"),
	ROW(throttle_bits, "", "NVML's clocks event reasons"),
	ROW(pcie_tx_gb_s, "GB/s", "sent by the GPU over PCIe"),
	ROW(pcie_rx_gb_s, "GB/s", "received by the GPU over PCIe"),
	OWNER(ROW),
};

const struct ceil_table ceil_usage_series_table = {
	.name = "utilization-series.csv",
	.doc = "of a demo: one row a reading of the counters, ten a second",
	.fields = series_fields,
	.field_count = sizeof(series_fields) / sizeof(series_fields[0]),
	.row_bytes = sizeof(struct ceil_usage_row),
};

static const struct ceil_field usage_fields[] = {
	SUM(scenario, "", "what played; the point of a sweep behind the dot"),
	SUM(steady_s, "s", "from the first to the last reading that counts"),
	SUM(readings, "", "how many readings count"),
	FIGURES(SUM),
	SUM(of_flops_ceiling, "ratio", "tflops over tflops_ceiling"),
	SUM(of_bytes_ceiling, "ratio", "gb_s over gb_s_ceiling"),
	SUM(power_w, "W", "mean of NVML's one-second means"),
	SUM(sm_mhz, "MHz", "mean of NVML's snapshots; the clock held is pm_sm_mhz"),
	SUM(memory_mhz, "MHz", "mean of NVML's snapshots of the memory clock"),
	SUM(temp_c, "C", "of the GPU"),
	SUM(pcie_tx_gb_s, "GB/s", "sent by the GPU over PCIe"),
	SUM(pcie_rx_gb_s, "GB/s", "received by the GPU over PCIe"),
	SUM(verdict, "", "what the figures say"),
	SUM(expected, "", "yes or no: whether counters and verdict are those of this scenario"),
	SUM(unexpected, "", "what is not as expected"),
	OWNER(SUM),
};

const struct ceil_table ceil_usage_table = {
	.name = "utilization.csv",
	.doc = "of a demo: one row a scenario, means over its steady part",
	.fields = usage_fields,
	.field_count = sizeof(usage_fields) / sizeof(usage_fields[0]),
	.row_bytes = sizeof(struct ceil_usage),
};

/* ---- which readings count */

double ceil_usage_settle_s(double planned_s)
{
	return planned_s >= 2.0 * SETTLE_S ? SETTLE_S : planned_s / 2.0;
}

double ceil_usage_tell_s(double planned_s)
{
	return fmax(ceil_usage_settle_s(planned_s), planned_s - TELL_S);
}

bool ceil_usage_steady(double at_s, double planned_s)
{
	return at_s >= ceil_usage_settle_s(planned_s) && at_s <= planned_s - LAST_S;
}

/* ---- means */

static double double_of(const struct ceil_field *f, const void *row)
{
	double x;

	memcpy(&x, (const char *)row + f->offset, sizeof(x));
	return x;
}

/* Over the steady rows that have the value; of the end row, which alone has it, that one. */
static double mean_of(const struct ceil_usage_row *rows, size_t count, const struct ceil_field *f)
{
	double sum = 0;
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const double x = double_of(f, &rows[i]);

		if (isnan(x) || (!rows[i].steady && strcmp(rows[i].event, CEIL_USAGE_END) != 0))
			continue;
		sum += x;
		used++;
	}
	return used ? sum / (double)used : (double)NAN;
}

/* A field of the means that the series has too, by its name. */
static void take_field(const struct ceil_field *to, const struct ceil_usage_row *rows, size_t count,
                       struct ceil_usage *u)
{
	const struct ceil_field *from = ceil_table_find(&ceil_usage_series_table, to->name);
	const struct ceil_usage_row *last = &rows[count - 1];
	char *at = (char *)u + to->offset;

	if (!from || from->type != to->type)
		return;
	if (to->type == CEIL_F_DOUBLE) {
		const double mean = mean_of(rows, count, from);

		memcpy(at, &mean, sizeof(mean));
	} else if (to->type == CEIL_F_TEXT) {
		ceil_copy(at, to->size, (const char *)last + from->offset);
	} else {
		memcpy(at, (const char *)last + from->offset, sizeof(uint64_t));
	}
}

static void count_steady(const struct ceil_usage_row *rows, size_t count, struct ceil_usage *u)
{
	double from_s = 0, to_s = 0;

	u->readings = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].steady != 1)
			continue;
		if (u->readings++ == 0)
			from_s = rows[i].seconds;
		to_s = rows[i].seconds;
	}
	u->steady_s = u->readings ? to_s - from_s : (double)NAN;
}

double ceil_usage_sm_active(const struct ceil_usage *u)
{
	if (!isnan(u->sm_active))
		return u->sm_active;
	return isnan(u->pm_sm_active) ? u->self_sm_active : u->pm_sm_active;
}

/* ---- what was expected */

static void check_range(const char *what, double value, struct ceil_expected e,
                        struct ceil_usage *u)
{
	if (e.lo > e.hi || isnan(value))
		return;
	if (!*u->expected)
		ceil_copy(u->expected, sizeof(u->expected), "yes");
	/* A counter may pass a bound by its own noise. */
	if (value >= e.lo - 0.005 && value <= e.hi + 0.005)
		return;
	ceil_copy(u->expected, sizeof(u->expected), "no");
	ceil_append(u->unexpected, sizeof(u->unexpected), "%s%s %.3g, not %.3g to %.3g",
	            *u->unexpected ? "; " : "", what, value, e.lo, e.hi);
}

static void check_expected(const struct ceil_scenario *sc, struct ceil_usage *u)
{
	check_range("GPU-Util", u->gpu_util, sc->gpu_util, u);
	check_range("SM-active", ceil_usage_sm_active(u), sc->sm_active, u);
	check_range("tensor-active", u->tensor_active, sc->tensor_active, u);
	check_range("dram-active", u->dram_active, sc->dram_active, u);
	if (!sc->verdict || strcmp(sc->verdict, u->verdict) == 0)
		return;
	/* The rules need both: without one the verdict is another, and nobody's fault. */
	if (isnan(u->gpu_util) || isnan(ceil_usage_sm_active(u)))
		return;
	ceil_copy(u->expected, sizeof(u->expected), "no");
	ceil_append(u->unexpected, sizeof(u->unexpected), "%sverdict %s, not %s",
	            *u->unexpected ? "; " : "", u->verdict, sc->verdict);
}

void ceil_usage_of(const struct ceil_usage_row *rows, size_t count, const struct ceil_scenario *sc,
                   struct ceil_usage *ret_u)
{
	struct ceil_usage u;

	ceil_table_clear(&ceil_usage_table, &u);
	for (size_t i = 0; i < ceil_usage_table.field_count; i++)
		take_field(&ceil_usage_table.fields[i], rows, count, &u);
	count_steady(rows, count, &u);
	u.of_flops_ceiling = u.tflops / u.tflops_ceiling;
	u.of_bytes_ceiling = u.gb_s / u.gb_s_ceiling;
	if (strcmp(rows[count - 1].event, CEIL_USAGE_END) != 0) {
		ceil_copy(u.status, sizeof(u.status), "cancelled");
		ceil_copy(u.reason, sizeof(u.reason), "its end was not seen");
	}
	if (u.readings > 0) {
		ceil_copy(u.verdict, sizeof(u.verdict), ceil_verdict_of(&u)->name);
		if (sc)
			check_expected(sc, &u);
	}
	*ret_u = u;
}

const struct ceil_scenario *ceil_usage_scenario(const char *name)
{
	char base[sizeof(((struct ceil_usage_row *)0)->scenario)];

	ceil_copy(base, sizeof(base), name);
	base[strcspn(base, ".")] = '\0';
	return ceil_scenario_find(base);
}

/* ---- a straight line */

double ceil_usage_line(const double *x, const double *y, size_t count)
{
	double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;

	if (count < 3)
		return (double)NAN;
	for (size_t i = 0; i < count; i++) {
		mx += x[i] / (double)count;
		my += y[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (y[i] - my);
		yy += (y[i] - my) * (y[i] - my);
	}
	return xx > 0 && yy > 0 ? xy * xy / (xx * yy) : (double)NAN;
}
