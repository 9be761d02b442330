/* What a CPU can do a cycle: vectors and FMA pipes, by its own words and a table. */
#include "harness/device/cpu.h"

#include <stddef.h>
#include <string.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#define AMD_ZEN2 "AMD 56305, Software Optimization Guide for Family 17h models 30h and up"
#define AMD_ZEN3 "AMD 56665, Software Optimization Guide for Family 19h"
#define AMD_ZEN4 "AMD 57647, Software Optimization Guide for Zen 4: 512 bits in two passes"
#define AMD_ZEN5 "AMD 58455, Software Optimization Guide for Zen 5"
#define INTEL    "Intel 248966, Optimization Reference Manual: FMA on ports 0 (fused with 1) and 5"
#define ARM      "Arm Software Optimization Guide of the core: FMLA on the V pipes"

/* Skylake-SP and Cascade Lake (model 0x55) are left out: some parts have one pipe, some two. */
static const struct ceil_cpu_kind kinds[] = {
	{{"AuthenticAMD", 0x17, 0x30}, 0x3f, 256, 2, "Zen 2 (Rome)", AMD_ZEN2},
	{{"AuthenticAMD", 0x19, 0x00}, 0x0f, 256, 2, "Zen 3 (Milan)", AMD_ZEN3},
	{{"AuthenticAMD", 0x19, 0x10}, 0x1f, 512, 1, "Zen 4 (Genoa)", AMD_ZEN4},
	{{"AuthenticAMD", 0x19, 0xa0}, 0xaf, 512, 1, "Zen 4c (Bergamo, Siena)", AMD_ZEN4},
	{{"AuthenticAMD", 0x1a, 0x00}, 0x1f, 512, 2, "Zen 5 (Turin)", AMD_ZEN5},
	{{"GenuineIntel", 0x06, 0x6a}, 0x6a, 512, 2, "Ice Lake-SP", INTEL},
	{{"GenuineIntel", 0x06, 0x8f}, 0x8f, 512, 2, "Sapphire Rapids", INTEL},
	{{"GenuineIntel", 0x06, 0xad}, 0xad, 512, 2, "Granite Rapids", INTEL},
	{{"GenuineIntel", 0x06, 0xcf}, 0xcf, 512, 2, "Emerald Rapids", INTEL},
	{{"0x41", 0xd0c, 0}, 0, 128, 2, "Neoverse N1", ARM},
	{{"0x41", 0xd40, 0}, 0, 256, 2, "Neoverse V1", ARM},
	{{"0x41", 0xd49, 0}, 0, 128, 2, "Neoverse N2", ARM},
	{{"0x41", 0xd4f, 0}, 0, 128, 4, "Neoverse V2", ARM},
};

const struct ceil_cpu_kind *ceil_cpu_find(const struct ceil_cpu_id *id)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct ceil_cpu_kind *k = &kinds[i];

		if (!strcmp(id->vendor, k->id.vendor) && id->family == k->id.family &&
		    id->model >= k->id.model && id->model <= k->last_model)
			return k;
	}
	return NULL;
}

int ceil_cpu_vector_bits(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return 512;
	return __builtin_cpu_supports("avx") ? 256 : 128;
#elif defined(__aarch64__)
	int length = 0;

	if (getauxval(AT_HWCAP) & HWCAP_SVE)
		length = prctl(PR_SVE_GET_VL) & PR_SVE_VL_LEN_MASK;
	return length > 0 ? 8 * length : 128;
#else
	return 0;
#endif
}
