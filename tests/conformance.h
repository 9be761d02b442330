/* What every backend must do, checked against value.h on the CPU. */
#ifndef CEIL_CONFORMANCE_H
#define CEIL_CONFORMANCE_H

struct ceil_backend;

/*
 * conformance_run - checks the contract of backend.h on device 0 of a backend, one line of TAP a
 * check. Needs some 64 MiB of its memory and a second or two.
 */
void conformance_run(const struct ceil_backend *b);

#endif
