/* Deterministic mutations of seeds. */
#include "tests/fuzz.h"

#include <string.h>

#include "harness/base/value.h"

enum { INPUT_MAX = 4096 };

struct input {
	uint8_t bytes[INPUT_MAX];
	size_t size;
};

static size_t draw(uint64_t *state, size_t below)
{
	*state = ceil_mix(*state + 0x9e3779b97f4a7c15u);
	return below ? (size_t)(*state % below) : 0;
}

static size_t count_of(const char *const *list)
{
	size_t n = 0;

	while (list[n])
		n++;
	return n;
}

static void insert(struct input *in, size_t at, const void *bytes, size_t size)
{
	if (in->size + size > INPUT_MAX)
		return;
	memmove(in->bytes + at + size, in->bytes + at, in->size - at);
	memcpy(in->bytes + at, bytes, size);
	in->size += size;
}

static void cut(struct input *in, size_t at, size_t size)
{
	if (size > in->size - at)
		size = in->size - at;
	memmove(in->bytes + at, in->bytes + at + size, in->size - at - size);
	in->size -= size;
}

/* One change: a byte, a token, a piece cut out, or a piece repeated elsewhere. */
static void mutate(struct input *in, const struct fuzz_corpus *corpus, uint64_t *state)
{
	const size_t at = draw(state, in->size + 1);
	const char *token = corpus->tokens[draw(state, count_of(corpus->tokens))];
	uint8_t piece[64];
	size_t size;

	switch (draw(state, 5)) {
	case 0:
		if (at < in->size)
			in->bytes[at] = (uint8_t)draw(state, 256);
		break;
	case 1:
	case 2:
		insert(in, at, token, strlen(token));
		break;
	case 3:
		cut(in, at, draw(state, 16));
		break;
	default:
		size = draw(state, sizeof(piece));
		size = size < in->size - at ? size : in->size - at;
		memcpy(piece, in->bytes + at, size);
		insert(in, draw(state, in->size + 1), piece, size);
		break;
	}
}

static void load(struct input *in, const char *seed)
{
	in->size = strlen(seed) < INPUT_MAX ? strlen(seed) : INPUT_MAX;
	memcpy(in->bytes, seed, in->size);
}

void fuzz_run(fuzz_fn fn, const struct fuzz_corpus *corpus, unsigned count, uint64_t seed)
{
	const size_t seeds = count_of(corpus->seeds);
	struct input in;
	uint64_t state = seed;

	for (size_t i = 0; i < seeds; i++) {
		load(&in, corpus->seeds[i]);
		(void)fn(in.bytes, in.size);
	}
	for (unsigned i = 0; i < count; i++) {
		load(&in, corpus->seeds[i % seeds]);
		for (size_t changes = 1 + draw(&state, 8); changes; changes--)
			mutate(&in, corpus, &state);
		(void)fn(in.bytes, in.size);
	}
}
