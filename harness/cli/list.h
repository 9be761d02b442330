/* What the files of gpuceil list share. */
#ifndef CEIL_LIST_H
#define CEIL_LIST_H

#include "harness/base/status.h"
#include "harness/base/types.h"

#include <stddef.h>

/* ceil_list_types - element types of a product or a kernel as rows show them: "bf16/fp32". */
void ceil_list_types(const struct ceil_types *t, char *ret_text, size_t size);

/* ---- list_here.c: nothing is measured, and no GPU gets a context */

/*
 * ceil_list_devices - prints GPUs and CPUs here, or why there are none.
 * Return: a broken backend's failure, after everything was listed; CEIL_E_NOMEM.
 */
CEIL_MUST_CHECK enum ceil_status ceil_list_devices(struct ceil_error *err);

/* ceil_list_peaks - prints peaks of the devices here, then published ones of all known parts. */
CEIL_MUST_CHECK enum ceil_status ceil_list_peaks(struct ceil_error *err);

#endif
