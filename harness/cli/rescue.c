/* Saves what was measured when a rank is gone or hangs, and others wait in a call without an end.
 */
#include "harness/cli/rescue.h"

#include "harness/base/cancel.h"
#include "harness/base/clock.h"

#include <stdio.h>
#include <unistd.h>

/* Later than a run that can end by itself takes for it, sooner than the launcher ends all. */
#define PATIENCE_NS (500 * (uint64_t)CEIL_NS_PER_MS)
#define LOOK_NS     (20 * (uint64_t)CEIL_NS_PER_MS)

enum { RUNNING, ENDING, SAVING };

static void *watch(void *arg)
{
	struct ceil_rescue *r = arg;
	uint64_t signal_ns = 0;
	int running = RUNNING;

	while (atomic_load(&r->state) == RUNNING) {
		const uint64_t now_ns = ceil_now_ns();

		if (ceil_cancel_signal() && signal_ns == 0)
			signal_ns = now_ns;
		if (r->plan.after_signal && signal_ns && now_ns - signal_ns > PATIENCE_NS)
			break;
		if (r->plan.stuck(r->plan.user))
			break;
		ceil_sleep_ns(LOOK_NS);
	}
	if (!atomic_compare_exchange_strong(&r->state, &running, SAVING))
		return NULL;
	const int status = r->plan.save(r->plan.user);

	fflush(NULL);
	_exit(status);
}

void ceil_rescue_begin(struct ceil_rescue *r, const struct ceil_rescue_plan *plan)
{
	r->plan = *plan;
	/* Without a thread the launcher's force is all there is: .partial files stay. */
	r->watching = pthread_create(&r->thread, NULL, watch, r) == 0;
}

void ceil_rescue_end(struct ceil_rescue *r)
{
	int running = RUNNING;

	if (!r->watching)
		return;
	if (!atomic_compare_exchange_strong(&r->state, &running, ENDING))
		for (;;)
			(void)pause();       /* the other thread ends the process */
	(void)pthread_join(r->thread, NULL); /* it is there, and ours */
	r->watching = false;
}
