/* What NCCL says that it ran: its own log, switched on for untimed calls and read back. */
#include "harness/device/nccl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/alloc.h"
#include "harness/base/text.h"

struct ceil_nccl_log {
	char path[256]; /* "": there is none */
	char why[80];   /* there is none */
};

/* NCCL's own names and, in older versions, numbers. Source: NCCL 2.18, src/include/nccl_common.h.
 */
static const char *const algorithms[] = {"tree",          "ring", "collnet direct",
                                         "collnet chain", "NVLS", "NVLS tree"};
static const char *const protocols[] = {"LL", "LL128", "simple"};
enum {
	ALGORITHMS = sizeof(algorithms) / sizeof(algorithms[0]),
	PROTOCOLS = sizeof(protocols) / sizeof(protocols[0])
};

/* "NVLS_TREE" -> "NVLS tree", "RING" -> "ring": the table's spelling, else as it came. */
static void spell(const char *word, const char *const *known, int count, char *ret_text,
                  size_t size)
{
	char *end;
	const long number = strtol(word, &end, 10);

	ceil_copy(ret_text, size, word);
	if (end != word && *end == '\0') {
		if (number >= 0 && number < count)
			ceil_copy(ret_text, size, known[number]);
		return;
	}
	for (char *c = ret_text; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	for (int i = 0; i < count; i++) {
		if (strcasecmp(ret_text, known[i]) == 0)
			ceil_copy(ret_text, size, known[i]);
	}
}

bool ceil_nccl_log_parse(const char *line, char *ret_text, size_t size)
{
	const char *at = strstr(line, "Bytes -> Algo ");
	const char *channels = strstr(line, "channel{Lo..Hi}={");
	char word[2][32];
	char algorithm[40];
	char protocol[40];
	int from = 0;
	int to = 0;

	if (!at || sscanf(at, "Bytes -> Algo %31s proto %31s", word[0], word[1]) != 2)
		return false;
	spell(word[0], algorithms, ALGORITHMS, algorithm, sizeof(algorithm));
	spell(word[1], protocols, PROTOCOLS, protocol, sizeof(protocol));
	ceil_copy(ret_text, size, "");
	ceil_append(ret_text, size, "%s, %s", algorithm, protocol);
	if (channels && sscanf(channels, "channel{Lo..Hi}={%d..%d}", &from, &to) == 2)
		ceil_append(ret_text, size, ", %d channel%s", to - from + 1, to == from ? "" : "s");
	ceil_append(ret_text, size, ", NVLS %s", strncmp(algorithm, "NVLS", 4) == 0 ? "on" : "off");
	return true;
}

/* Names are made here, once; later only their values change, which readers survive. */
static bool point_at(const char *path)
{
	return setenv("NCCL_DEBUG_FILE", path, 1) == 0 &&
	       setenv("NCCL_DEBUG_SUBSYS", "TUNING", 1) == 0 &&
	       setenv("NCCL_DEBUG", "WARN", 1) == 0;
}

static void point_nowhere(void)
{
	(void)unsetenv("NCCL_DEBUG");
	(void)unsetenv("NCCL_DEBUG_SUBSYS");
	(void)unsetenv("NCCL_DEBUG_FILE");
}

struct ceil_nccl_log *ceil_nccl_log_open(void)
{
	const char *own = getenv("TMPDIR");
	const char *folder = own && own[0] ? own : "/tmp";
	struct ceil_nccl_log *log = ceil_alloc(1, sizeof(*log), /* err= */ NULL);
	int fd;

	if (!log)
		return NULL;
	if (getenv("NCCL_DEBUG") || getenv("NCCL_DEBUG_FILE")) {
		ceil_copy(log->why, sizeof(log->why), "NCCL_DEBUG is set, its log is not ours");
		return log;
	}
	ceil_append(log->path, sizeof(log->path), "%s/gpuceil-nccl-XXXXXX", folder);
	fd = mkstemp(log->path);
	if (fd >= 0)
		(void)close(fd); /* nothing was written */
	if (fd >= 0 && point_at(log->path))
		return log;
	ceil_append(log->why, sizeof(log->why), "no file for NCCL's log in %.24s: %.32s", folder,
	            strerror(errno));
	if (fd >= 0) {
		(void)unlink(log->path);
		point_nowhere();
	}
	ceil_copy(log->path, sizeof(log->path), "");
	return log;
}

void ceil_nccl_log_close(struct ceil_nccl_log *log)
{
	if (log && log->path[0]) {
		(void)unlink(log->path);
		point_nowhere();
	}
	free(log);
}

void ceil_nccl_log_begin(struct ceil_nccl_log *log, struct ceil_nccl_comm *comm)
{
	/* What is there is of an earlier call, and this one may log nothing. */
	if (log && log->path[0] && truncate(log->path, 0) == 0 &&
	    setenv("NCCL_DEBUG", "INFO", 1) == 0)
		(void)ceil_nccl_log_reset(comm); /* false: no line comes, and the text says so */
}

void ceil_nccl_log_end(struct ceil_nccl_log *log, struct ceil_nccl_comm *comm, char *ret_text,
                       size_t size)
{
	char line[1024];
	FILE *f;

	ceil_copy(ret_text, size, "");
	if (!log || !log->path[0]) {
		ceil_append(ret_text, size, "unknown: %s", log ? log->why : "no memory for a log");
		return;
	}
	f = fopen(log->path, "r");
	while (f && fgets(line, sizeof(line), f))
		(void)ceil_nccl_log_parse(line, ret_text, size); /* the last one that says it */
	if (f)
		(void)fclose(f);
	if (!ret_text[0])
		ceil_copy(ret_text, size, "unknown: NCCL logs nothing of this call");
	if (setenv("NCCL_DEBUG", "WARN", 1) == 0)
		(void)ceil_nccl_log_reset(comm);
}
