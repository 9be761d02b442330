/* The inside of reading a config.json, shared by its files; nobody else includes it. */
#ifndef CEIL_HF_INSIDE_H
#define CEIL_HF_INSIDE_H

#include "harness/output/hf_config.h"
#include "harness/output/hf_types.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

/* What is being read. */
struct ceil_hf_reader {
	const char *name;           /* of the file */
	const json_t *text, *outer; /* the text part, and the whole file */
	const struct ceil_hf_type *type;
	bool nested;
	const char *architecture; /* the first of `architectures`, or NULL */
	uint32_t flags;
	uint64_t value[CEIL_HF_KEY_COUNT];
	char defaults[200]; /* "heads 8, ..." taken from the class */
	char missing[160];
};

/*
 * ceil_hf_model_make - the model of a file whose type, numbers and switches are read.
 * @r: of an encoder-decoder its heads become those of the decoder.
 * Return: CEIL_E_USAGE where its numbers do not fit together.
 */
CEIL_MUST_CHECK enum ceil_status ceil_hf_model_make(struct ceil_hf_reader *r,
                                                    struct ceil_model *ret_m,
                                                    struct ceil_error *err);

#endif
