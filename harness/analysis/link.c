/* What the link between a GPU and its host can carry: the table of PCIe generations. */
#include "harness/analysis/link.h"

#include <math.h>

#include "harness/base/text.h"

/*
 * A packet carries at most 256 bytes of data, the largest payload that NVIDIA's GPUs offer (lspci:
 * "DevCap: MaxPayload 256 bytes"). A write of them has a header of 16 bytes (64-bit address), a
 * sequence number and framing of 4 (1.0 and 2.0: 2 + 2) and a check sum of 4 around it: 256 of 280
 * bytes. A read's completion has a header of 12: 1.5 % better, which the margin of 1.03 for suspect
 * rows covers. From 6.0 on packets lie in flits of 256 bytes, of which 236 are theirs, with no
 * framing or check sum of their own: 256 of 272. Acknowledgements, credits and read requests cost a
 * few per cent more, which are not counted.
 */
#define LINE_8B10B    (8.0 / 10.0)
#define LINE_128B130B (128.0 / 130.0)
#define LINE_FLIT     (236.0 / 256.0)
#define PACKET        (256.0 / (256 + 16 + 4 + 4))
#define PACKET_FLIT   (256.0 / (256 + 16))
#define SPECIFICATION "PCI Express Base Specification 5.0, 2.2 and 4.2; 256 bytes a packet"
#define SPECIFICATION_FLIT                                                                         \
	"PCI Express Base Specification 6.0, 2.2.1.2 and 4.2.3.4; 256 bytes a packet"

const struct ceil_pcie ceil_pcies[] = {
	{1, 2.5, LINE_8B10B, PACKET, SPECIFICATION},
	{2, 5.0, LINE_8B10B, PACKET, SPECIFICATION},
	{3, 8.0, LINE_128B130B, PACKET, SPECIFICATION},
	{4, 16.0, LINE_128B130B, PACKET, SPECIFICATION},
	{5, 32.0, LINE_128B130B, PACKET, SPECIFICATION},
	{6, 64.0, LINE_FLIT, PACKET_FLIT, SPECIFICATION_FLIT},
};
const size_t ceil_pcie_count = sizeof(ceil_pcies) / sizeof(ceil_pcies[0]);

static const struct ceil_pcie *pcie_of(const struct ceil_link *link)
{
	for (size_t i = 0; i < ceil_pcie_count; i++) {
		if (ceil_pcies[i].gen == link->pcie_gen && link->pcie_width > 0)
			return &ceil_pcies[i];
	}
	return NULL;
}

double ceil_link_gb_s(const struct ceil_link *link, const struct ceil_device_props *d)
{
	const struct ceil_pcie *pcie = pcie_of(link);

	if (d->c2c_gb_s > 0.0)
		return d->c2c_gb_s;
	if (!pcie)
		return (double)NAN;
	return link->pcie_width * pcie->gt_s / 8.0 * pcie->line_ratio * pcie->payload_ratio;
}

void ceil_link_name(const struct ceil_link *link, const struct ceil_device_props *d, char *ret_text,
                    size_t size)
{
	ceil_copy(ret_text, size, "");
	if (d->c2c_gb_s > 0.0)
		ceil_copy(ret_text, size, "NVLink-C2C");
	else if (pcie_of(link))
		ceil_append(ret_text, size, "PCIe %d.0 x%d", link->pcie_gen, link->pcie_width);
}
