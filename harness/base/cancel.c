/* The signal flag: the one thing that a signal handler of ours may touch. */
#include "harness/base/cancel.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/base/clock.h"

/* Lock-free, so that a handler may write them and any thread read them. */
static atomic_int pending;
static atomic_ullong asked_ns; /* when the first one came; 0: none did */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
               "atomics in a signal handler must not lock");

static void on_signal(int number)
{
	const uint64_t now_ns = ceil_now_ns(); /* clock_gettime is safe here */
	unsigned long long none = 0;

	if (atomic_compare_exchange_strong(&asked_ns, &none, now_ns)) {
		atomic_store(&pending, number);
		return;
	}
	/*
	 * Each write to a broken pipe asks again. And one wish may come twice at once: timeout,
	 * shells and job managers signal a process and then its group.
	 */
	if (number == SIGPIPE || now_ns - none < CEIL_NS_PER_S / 2)
		return;
	/* Asked twice: die by it as soon as this handler returns, so that the shell sees why. */
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

void ceil_cancel_install(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;

	(void)sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		/* What the parent ignores stays ignored: nohup, a shell's background job. */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue;
		(void)sigaction(numbers[i], &act, NULL); /* valid numbers: cannot fail */
	}
}

int ceil_cancel_signal(void)
{
	return atomic_load(&pending);
}

enum ceil_status ceil_cancel_check(struct ceil_error *err)
{
	const int number = ceil_cancel_signal();

	return number ? ceil_fail(err, CEIL_E_CANCELLED, "stopped by signal %d", number) : CEIL_OK;
}

void ceil_cancel_set(int signal_number)
{
	atomic_store(&asked_ns, signal_number ? ceil_now_ns() : 0);
	atomic_store(&pending, signal_number);
}
