/* A device with a virtual clock: launches cost what the test says, and every call is written down.
 */
#ifndef CEIL_RECORDED_BACKEND_H
#define CEIL_RECORDED_BACKEND_H

#include "harness/device/backend.h"
#include "harness/measure/bench.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECORDED_CANDIDATES = 16 };

struct recorded {
	struct ceil_device base;
	double now_ns;                       /* virtual */
	double cost_ns[RECORDED_CANDIDATES]; /* of a launch, by candidate */
	double drift;                        /* each launch makes the next dearer by this ratio */
	double marks[CEIL_MAX_SLOTS];
	double clock_mhz;                  /* what the core clock reads */
	bool wrong;                        /* check() finds a wrong result */
	bool hangs;                        /* sync times out */
	int hangs_after, calls_after_hang; /* launches until it hangs; 0: never */
	bool gate_closed;
	uint64_t launches[RECORDED_CANDIDATES];
	uint64_t launches_behind_gate, most_behind_gate;
	uint64_t fills[CEIL_PATTERN_COUNT];
	int allocated; /* buffers that are not freed yet */
	int flushes;   /* of the cache */
	void *held[32];
	char log[4096]; /* one letter a call, see recorded_backend.c */
};

/* recorded_close - frees what a device that hangs still holds. */
void recorded_close(struct recorded *r);

/* recorded_open - a device whose launches all cost cost_ns. */
void recorded_open(struct recorded *r, double cost_ns);

extern const struct ceil_backend recorded_backend;
/* A bench of one operation "fake.op", 1e9 bytes a launch, one with 16 candidates
 * "fake.pick", and one that is measured on all devices at once.
 */
extern const struct ceil_bench recorded_bench, recorded_search_bench, recorded_concurrent_bench;
extern const struct ceil_bench *const recorded_benches[];

#endif
