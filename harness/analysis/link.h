/* What the link between a GPU and its host can carry, by what it is while it works. Pure. */
#ifndef CEIL_ANALYSIS_LINK_H
#define CEIL_ANALYSIS_LINK_H

#include "harness/device/backend.h"
#include "harness/measure/loop.h"

#include <stddef.h>

/* A generation of PCIe. */
struct ceil_pcie {
	int gen;
	double gt_s;          /* transfers (bits) a second and lane, 1e9 */
	double line_ratio;    /* of the bits, those that are no line code or error correction */
	double payload_ratio; /* of the rest, the data of packets with the largest payload */
	const char *source;
};

/* Every generation that has been published, the oldest first. */
extern const struct ceil_pcie ceil_pcies[];
extern const size_t ceil_pcie_count;

/*
 * ceil_link_gb_s - data in one direction, in 1e9 bytes a second: NVLink-C2C where the device has
 * it, else lanes x transfers x line code x payload of PCIe.
 * Return: NAN if the link is unknown.
 */
double ceil_link_gb_s(const struct ceil_link *link, const struct ceil_device_props *d);

/* ceil_link_name - "PCIe 5.0 x16", "NVLink-C2C", or "" if it is unknown. */
void ceil_link_name(const struct ceil_link *link, const struct ceil_device_props *d, char *ret_text,
                    size_t size);

#endif
