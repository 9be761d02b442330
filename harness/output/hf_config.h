/* Reads a Hugging Face config.json, as it is downloaded, into a model that can be counted. */
#ifndef CEIL_HF_CONFIG_H
#define CEIL_HF_CONFIG_H

#include "harness/analysis/model.h"
#include "harness/base/status.h"

#include <stddef.h>

/*
 * ceil_hf_read - the model of a config.json.
 * Fields that the file leaves out take the default of the model's class, and ret_m->note says so;
 * the sizes that a file always has (layers, hidden, heads, ...) must be there, but in a nested
 * text_config, which is written without its defaults.
 * Return: CEIL_E_IO if the file cannot be read; CEIL_E_USAGE if it is no JSON, lacks fields
 * (named) or holds a wrong value; CEIL_E_UNSUPPORTED, by name and with the reason, for an
 * architecture that cannot be counted.
 */
CEIL_MUST_CHECK enum ceil_status ceil_hf_read(const char *path, struct ceil_model *ret_m,
                                              struct ceil_error *err);

/* ceil_hf_parse - the same from length bytes of text; name is for messages and ret_m->source. */
CEIL_MUST_CHECK enum ceil_status ceil_hf_parse(const char *text, size_t length, const char *name,
                                               struct ceil_model *ret_m, struct ceil_error *err);

#endif
