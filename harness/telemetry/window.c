/* What happened to a GPU between two readings: energy, temperature, what held its clocks back. */
#include "harness/telemetry/nvml.h"

#include <math.h>
#include <string.h>

#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/telemetry/nvml_abi.h"

struct reason {
	uint64_t bit;
	const char *name;
};

static const struct reason reasons[] = {
	{CEIL_NV_REASON_APP_CLOCKS, "app_clocks"},
	{CEIL_NV_REASON_SW_POWER_CAP, "sw_power_cap"},
	{CEIL_NV_REASON_HW_SLOWDOWN, "hw_slowdown"},
	{CEIL_NV_REASON_SYNC_BOOST, "sync_boost"},
	{CEIL_NV_REASON_SW_THERMAL, "sw_thermal"},
	{CEIL_NV_REASON_HW_THERMAL, "hw_thermal"},
	{CEIL_NV_REASON_HW_BRAKE, "hw_power_brake"},
	{CEIL_NV_REASON_DISPLAY_CLOCKS, "display_clocks"},
};

/* Appends a whole name or nothing, so that a full buffer holds no half of one. */
static void add_name(char *text, size_t size, const char *name)
{
	if (strlen(text) + strlen(name) + 2 > size)
		return;
	ceil_append(text, size, "%s%s", *text ? "+" : "", name);
}

void ceil_throttle_text(uint64_t bits, char *ret_text, size_t size)
{
	char unknown[24] = "";
	size_t i;

	ceil_copy(ret_text, size, "");
	bits &= ~(uint64_t)CEIL_NV_REASON_IDLE;
	if (bits == 0) {
		ceil_copy(ret_text, size, "none");
		return;
	}
	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (bits & reasons[i].bit)
			add_name(ret_text, size, reasons[i].name);
		bits &= ~reasons[i].bit;
	}
	if (bits == 0)
		return;
	ceil_append(unknown, sizeof(unknown), "0x%llx", (unsigned long long)bits);
	add_name(ret_text, size, unknown);
}

/* How far a counter came; NAN if it is not there or was reset in between. */
static double grown(double from, double to)
{
	return to >= from ? to - from : (double)NAN;
}

static uint64_t bits_of(double bits)
{
	return isnan(bits) ? 0 : (uint64_t)bits;
}

bool ceil_nvml_hot(const struct ceil_nvml_state *start, const struct ceil_nvml_state *now,
                   double max_sm_mhz)
{
	/* Not hw_slowdown: a mere change of clocks may raise it. */
	const uint64_t held = CEIL_NV_REASON_SW_POWER_CAP | CEIL_NV_REASON_SW_THERMAL |
	                      CEIL_NV_REASON_HW_THERMAL | CEIL_NV_REASON_HW_BRAKE;
	/* A H200 names the power cap for 0.4 s after a burst, at 1965 of 1980 MHz for 0.3 of them.
	 */
	const bool up = max_sm_mhz > 0.0 && now->sm_mhz >= 0.99 * max_sm_mhz;

	return now->temp_c > start->temp_c + 3.0 ||
	       (!up && (bits_of(now->throttle_bits) & ~bits_of(start->throttle_bits) & held) != 0);
}

/* What the time counters prove. */
static uint64_t counted_bits(double power_ns, double thermal_ns, double hardware_ns)
{
	uint64_t bits = 0;

	if (power_ns > 0)
		bits |= CEIL_NV_REASON_SW_POWER_CAP;
	if (thermal_ns > 0)
		bits |= CEIL_NV_REASON_SW_THERMAL;
	if (hardware_ns > 0)
		bits |= CEIL_NV_REASON_HW_SLOWDOWN;
	return bits;
}

static void find_throttle(const struct ceil_nvml_state *from, const struct ceil_nvml_state *to,
                          struct ceil_window *w)
{
	const double power_ns = grown(from->power_cap_ns, to->power_cap_ns);
	const double thermal_ns = grown(from->thermal_ns, to->thermal_ns);
	const double hardware_ns = grown(from->hw_slowdown_ns, to->hw_slowdown_ns);
	const bool counted = !isnan(power_ns) || !isnan(thermal_ns) || !isnan(hardware_ns);
	const uint64_t start = bits_of(from->throttle_bits), end = bits_of(to->throttle_bits);
	uint64_t bits = end | counted_bits(power_ns, thermal_ns, hardware_ns);
	uint64_t severe = CEIL_NV_REASON_SW_THERMAL | CEIL_NV_REASON_HW_THERMAL |
	                  CEIL_NV_REASON_HW_BRAKE | CEIL_NV_REASON_HW_SLOWDOWN;

	if (!counted)
		bits |= start;
	if (!counted && isnan(from->throttle_bits) && isnan(to->throttle_bits))
		return;
	ceil_throttle_text(bits, w->throttle, sizeof(w->throttle));
	if (hardware_ns == 0 && !(start & end & CEIL_NV_REASON_HW_SLOWDOWN))
		severe &= ~(uint64_t)CEIL_NV_REASON_HW_SLOWDOWN;
	w->thermal = (bits & severe) != 0;
	w->power_capped = (bits & CEIL_NV_REASON_SW_POWER_CAP) != 0;
}

/* The counters move in steps of their own, so a short window may seem more than full. */
static double share(double from_ns, double to_ns, const struct ceil_window *w)
{
	const double ratio = grown(from_ns, to_ns) / (w->seconds * CEIL_NS_PER_S);

	return w->seconds > 0.0 ? (ratio > 1.0 ? 1.0 : ratio) : (double)NAN;
}

void ceil_window_of(const struct ceil_nvml_state *from, const struct ceil_nvml_state *to,
                    struct ceil_window *ret_w)
{
	*ret_w = (struct ceil_window){
		.seconds = ((double)to->at_ns - (double)from->at_ns) / CEIL_NS_PER_S,
		.power_w = (double)NAN,
		.energy_j = grown(from->energy_j, to->energy_j),
		.temp_start_c = from->temp_c,
		.temp_end_c = to->temp_c,
		.ecc_uncorrected = grown(from->ecc_uncorrected, to->ecc_uncorrected),
		.snapshot_mhz = (double)NAN,
		.sm_active = (double)NAN,
		.tensor_active = (double)NAN,
		.dram_active = (double)NAN,
	};
	/* The energy counter moves in steps of about 100 ms: a mean over less than 1 s is noise. */
	if (ret_w->seconds >= 1.0)
		ret_w->power_w = ret_w->energy_j / ret_w->seconds;
	ret_w->power_cap_ratio = share(from->power_cap_ns, to->power_cap_ns, ret_w);
	ret_w->thermal_ratio = share(from->thermal_ns, to->thermal_ns, ret_w);
	ret_w->hw_slowdown_ratio = share(from->hw_slowdown_ns, to->hw_slowdown_ns, ret_w);
	find_throttle(from, to, ret_w);
}
