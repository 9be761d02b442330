/* Who has which GPU, what bounds the way between them, and what the launcher and sysfs tell. */
#include "harness/base/clock.h"
#include "harness/cli/ranks.h"
#include "harness/cli/rescue.h"
#include "harness/device/network.h"
#include "tests/fakes.h"
#include "tests/sysroot.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ceil_rank rank_of(const char *host, const char *uuid, unsigned local_size)
{
	struct ceil_rank r = {.local_size = local_size};

	snprintf(r.host, sizeof(r.host), "%s", host);
	snprintf(r.gpu_uuid, sizeof(r.gpu_uuid), "%s", uuid);
	return r;
}

static void test_judge(void)
{
	struct ceil_rank all[4] = {rank_of("a", "GPU-1", 2), rank_of("a", "GPU-2", 2),
	                           rank_of("b", "GPU-3", 2), rank_of("b", "GPU-4", 2)};
	struct ceil_error err;
	bool functional = true;

	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_OK, "two machines of two GPUs");
	is_int(functional, false, "are a measurement");
	all[3].gpu_uuid[0] = '\0';
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_E_USAGE, "a rank without a GPU");
	has_text(err.text, "rank 0 on a has a GPU to measure and rank 3 on b has none",
	         "is named beside one that has");
	snprintf(all[3].no_gpu, sizeof(all[3].no_gpu), "the driver is too old");
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_E_USAGE, "as before");
	has_text(err.text, "all ranks need them: the driver is too old", "with its reason");
	all[3] = rank_of("b", "GPU-3", 2);
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_E_USAGE, "the same GPU twice");
	has_text(err.text, "ranks 2 and 3 on b have the same GPU GPU-3", "both are named");
	snprintf(all[2].host_id, sizeof(all[2].host_id), "x");
	snprintf(all[3].host_id, sizeof(all[3].host_id), "y");
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_OK, "with own NCCL_HOSTIDs");
	is_int(functional, true, "it is a functional test");
	all[3] = rank_of("c", "GPU-4", 1);
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_E_USAGE, "uneven machines");
	has_text(err.text, "a has 2 ranks and c has 1", "both numbers are shown");
	for (int i = 0; i < 4; i++)
		all[i] = rank_of(i ? "b" : "a", "", i ? 3 : 1);
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_OK, "hosts need not be even");
	all[2].has_host = true;
	is_int(ceil_ranks_judge(all, 4, &functional, &err), CEIL_E_USAGE,
	       "but all are measured, or none");
	has_text(err.text, "rank 2 on b has CPUs to measure and rank 0 on a has none",
	         "and both are named");
}

static void test_fabric(void)
{
	struct ceil_rank all[2] = {rank_of("a", "GPU-1", 2), rank_of("a", "GPU-2", 2)};
	char text[32];
	double gb_s = -1.0;

	for (int i = 0; i < 2; i++) {
		all[i].link_gb_s = 450.0;
		all[i].network_gb_s = 50.0;
		snprintf(all[i].link, sizeof(all[i].link), "NVLink, 18 links");
		snprintf(all[i].network, sizeof(all[i].network), "InfiniBand");
	}
	ceil_ranks_fabric(all, 2, &gb_s, text, sizeof(text));
	is_close(gb_s, 450.0, 0.0, "within a machine the links");
	is_text(text, "NVLink, 18 links", "by name");
	all[1].link_gb_s = 400.0;
	snprintf(all[1].link, sizeof(all[1].link), "NVLink, 16 links");
	ceil_ranks_fabric(all, 2, &gb_s, text, sizeof(text));
	is_text(text, "NVLink, 16 links", "the slowest of them");
	all[0].local_size = 0;
	ceil_ranks_fabric(all, 2, &gb_s, text, sizeof(text));
	is_text(text, "NVLink, 16 links", "GPUs of one process are of one machine");
	all[0].local_size = all[1].local_size = 1;
	ceil_ranks_fabric(all, 2, &gb_s, text, sizeof(text));
	is_close(gb_s, 50.0, 0.0, "between machines the network");
	is_text(text, "InfiniBand", "by name");
	all[0].network_gb_s = 0.0;
	ceil_ranks_fabric(all, 2, &gb_s, text, sizeof(text));
	is_close(gb_s, 0.0, 0.0, "an unknown one leaves it unknown");
	ceil_ranks_fabric(all, 1, &gb_s, text, sizeof(text));
	is_close(gb_s, 0.0, 0.0, "one rank has no way");
}

static void set(const char *name, const char *value)
{
	if (value ? setenv(name, value, 1) : unsetenv(name))
		exit(1);
}

static void test_launcher(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
		"SLURM_PROCID",         "SLURM_STEP_NUM_TASKS"};
	struct ceil_launcher l;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		set(names[i], NULL);
	ceil_launcher_read(&l);
	ok(!l.name && l.rank == 0 && l.size == 1, "no launcher");
	set("SLURM_PROCID", "3");
	ceil_launcher_read(&l);
	ok(!l.name, "a rank without a size is none");
	set("SLURM_STEP_NUM_TASKS", "8");
	ceil_launcher_read(&l);
	is_text(l.name, "srun", "srun");
	ok(l.rank == 3 && l.size == 8, "its rank and size");
	set("OMPI_COMM_WORLD_RANK", "1");
	set("OMPI_COMM_WORLD_SIZE", "2");
	ceil_launcher_read(&l);
	is_text(l.name, "mpirun", "mpirun inside of it");
	ok(l.rank == 1 && l.size == 2, "counts");
	set("OMPI_COMM_WORLD_SIZE", "two");
	ceil_launcher_read(&l);
	is_text(l.name, "srun", "what is no number is left out");
}

static void test_network(void)
{
	struct ceil_network n;

	sysroot_file("/sys/class/net/lo/operstate", "unknown\n");
	ceil_network_read(&n);
	ok(n.ports == 0 && n.gb_s == 0.0, "no network");
	sysroot_file("/sys/class/net/eth0/device/uevent", "DRIVER=mlx5_core\n");
	sysroot_file("/sys/class/net/eth0/operstate", "up\n");
	sysroot_file("/sys/class/net/eth0/speed", "25000\n");
	sysroot_file("/sys/class/net/eth1/device/uevent", "DRIVER=mlx5_core\n");
	sysroot_file("/sys/class/net/eth1/operstate", "down\n");
	sysroot_file("/sys/class/net/eth1/speed", "-1\n");
	sysroot_file("/sys/class/net/bond0/operstate", "up\n");
	sysroot_file("/sys/class/net/bond0/speed", "25000\n");
	ceil_network_read(&n);
	is_close(n.gb_s, 3.125, 0.0, "25 Gb/s, once");
	is_text(n.name, "Ethernet", "Ethernet");
	sysroot_file("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	sysroot_file("/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	sysroot_file("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
	sysroot_file("/sys/class/infiniband/mlx5_1/ports/1/state", "4: ACTIVE\n");
	sysroot_file("/sys/class/infiniband/mlx5_1/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	sysroot_file("/sys/class/infiniband/mlx5_2/ports/1/state", "1: DOWN\n");
	sysroot_file("/sys/class/infiniband/mlx5_2/ports/1/rate", "10 Gb/sec (4X SDR)\n");
	ceil_network_read(&n);
	is_int(n.ports, 2, "RDMA ports that are active");
	is_close(n.gb_s, 100.0, 0.0, "add up, and count instead of interfaces");
}

/* ---- a rank that hangs: no launcher ends the others then */

static void no_row(void *user, const struct ceil_record *r, bool is_ceiling,
                   const struct ceil_sample_row *samples, size_t count)
{
	(void)user, (void)r, (void)is_ceiling, (void)samples, (void)count;
}

static void test_lost(void)
{
	struct ceil_ranks r = {0};
	struct ceil_error err = {CEIL_OK, ""};
	const struct ceil_error none = {CEIL_OK, ""};
	uint64_t from_ns;
	int same = 7;

	is_int(ceil_ranks_open(&r, &err), CEIL_OK, "two ranks");
	ceil_ranks_listen(&r, no_row, NULL);
	r.mpi->team.timeout_ns = 20 * CEIL_NS_PER_MS;
	is_int(ceil_team_follow(&r.mpi->team, &same, sizeof(same), &err), CEIL_OK, "meet");
	set("FAKE_MPI_GONE", "1");
	is_int(ceil_team_follow(&r.mpi->team, &same, sizeof(same), &err), CEIL_E_DEVICE,
	       "one does not come");
	has_text(err.text, "another rank did not come within", "which is said");
	set("FAKE_MPI_GONE", NULL);
	is_int(ceil_team_follow(&r.mpi->team, &same, sizeof(same), &err), CEIL_E_DEVICE,
	       "and is not waited for again, though it is late only");
	has_text(err.text, "did not come before", "since what it sends belongs to the past");
	from_ns = ceil_now_ns();
	is_int(ceil_ranks_finish(&r, /* bad= */ false, &none, &err), CEIL_E_DEVICE,
	       "nor for its last rows");
	has_text(err.text, "1 ranks had not sent all rows", "which are missed");
	ok(ceil_now_ns() - from_ns < 30 * (uint64_t)CEIL_NS_PER_S, "within seconds");
	r.mpi->lost = false;
	set("FAKE_MPI_BAD", "1");
	is_int(ceil_ranks_finish(&r, /* bad= */ false, &none, &err), CEIL_E_DEVICE,
	       "nor where MPI itself is broken");
	has_text(err.text, "MPI_Improbe: broken", "in its words");
	set("FAKE_MPI_BAD", NULL);
	ceil_ranks_close(&r);
}

static void test_lost_at_the_end(void)
{
	struct ceil_ranks r = {0};
	struct ceil_error err = {CEIL_OK, ""};
	int same = 7;

	is_int(ceil_ranks_open(&r, &err), CEIL_OK, "two ranks");
	r.mpi->team.timeout_ns = 20 * CEIL_NS_PER_MS;
	set("FAKE_MPI_GONE", "1");
	is_int(ceil_team_follow(&r.mpi->team, &same, sizeof(same), &err), CEIL_E_DEVICE,
	       "one does not come");
	fflush(stdout);
	ceil_ranks_close(&r);
	ok(!r.mpi, "and MPI, which would wait for it, is not asked to end");
	set("FAKE_MPI_GONE", NULL);
}

static bool stuck(void *user)
{
	return ceil_mpi_stuck(user, /* spare_ns= */ 0);
}

static int save(void *user)
{
	(void)user;
	return 42;
}

static enum ceil_status reduce(struct ceil_ranks *r)
{
	struct ceil_error err;
	float x[2] = {0};

	return ceil_mpi_all_reduce(r->mpi, x, &x[1], 1, CEIL_FP32, /* max= */ false,
	                           50 * CEIL_NS_PER_MS, &err);
}

/* In a process of its own, which such a call takes with it. */
static void reduce_without_end(void)
{
	struct ceil_ranks r = {0};
	struct ceil_rescue rescue = {.watching = false};
	struct ceil_error err;

	if (ceil_ranks_open(&r, &err) != CEIL_OK)
		_exit(1);
	const struct ceil_rescue_plan plan = {.stuck = stuck, .save = save, .user = r.mpi};

	set("FAKE_MPI_GONE", "1");
	ceil_rescue_begin(&rescue, &plan);
	(void)reduce(&r); /* does not come back */
	_exit(2);
}

static void test_stuck(void)
{
	struct ceil_ranks r = {0};
	struct ceil_rescue rescue = {.watching = false};
	struct ceil_error err;
	int status = 0;

	is_int(ceil_ranks_open(&r, &err), CEIL_OK, "two ranks");
	const struct ceil_rescue_plan plan = {.stuck = stuck, .save = save, .user = r.mpi};

	ceil_rescue_begin(&rescue, &plan);
	is_int(reduce(&r), CEIL_OK, "a call that comes back");
	ceil_sleep_ns(150 * CEIL_NS_PER_MS);
	ceil_rescue_end(&rescue);
	ok(!ceil_mpi_stuck(r.mpi, 0), "is not stuck, however long ago it was");
	ceil_ranks_close(&r);
	fflush(stdout);
	const pid_t child = fork();

	if (child == 0)
		reduce_without_end();
	ok(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status),
	   "one that does not is left");
	is_int(WEXITSTATUS(status), 42, "after the files are saved");
}

static void test_hangs(void)
{
	char path[FAKE_PATH_MAX];

	if (!ok(fake_path("mpi", path), "the stand-in is built"))
		return;
	set("GPUCEIL_LIB_MPI", path);
	set("OMPI_COMM_WORLD_SIZE", NULL);
	set("SLURM_STEP_NUM_TASKS", NULL);
	test_lost();
	test_lost_at_the_end();
	test_stuck();
	set("GPUCEIL_LIB_MPI", NULL);
}

int main(void)
{
	test_judge();
	test_fabric();
	test_launcher();
	test_hangs();
	sysroot_new();
	test_network();
	return done_testing();
}
