/* What a launcher keeps between launches, closed by whoever made it. */
#include "harness/device/cuda_launch.h"

#include <stddef.h>

void ceil_launch_state_close(struct ceil_launch_state *s)
{
	if (s)
		s->close(s);
}
