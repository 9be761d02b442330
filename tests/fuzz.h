/* Deterministic mutations: the same inputs on every machine, no fuzzing engine needed. */
#ifndef CEIL_FUZZ_H
#define CEIL_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The signature of libFuzzer: -fsanitize=fuzzer finds it if main is left out (-DCEIL_LIBFUZZER). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What inputs are made of. */
struct fuzz_corpus {
	const char *const *seeds;  /* whole inputs, NULL-terminated */
	const char *const *tokens; /* pieces that are put into them, NULL-terminated */
};

typedef int (*fuzz_fn)(const uint8_t *data, size_t size);

/* fuzz_run - feeds fn every seed, then count mutations of them, of at most 4 KiB each. */
void fuzz_run(fuzz_fn fn, const struct fuzz_corpus *corpus, unsigned count, uint64_t seed);

#endif
