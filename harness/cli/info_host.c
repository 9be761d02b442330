/* run.json's account of the host: what of its cores and memory this process may use. */
#include "harness/cli/info.h"

#include "harness/device/limits.h"
#include "harness/device/topology.h"
#include "harness/output/json.h"

#include <math.h>
#include <stdint.h>

/* Unknown and unlimited are null. */
static json_t *count_of(uint64_t n)
{
	return n == UINT64_MAX ? json_null() : json_integer((json_int_t)n);
}

static json_t *cores_json(const struct ceil_topology *t, const struct ceil_cores *c)
{
	json_t *o = json_object();

	if (c->node >= 0)
		json_object_set_new(o, "numa_node", json_integer(c->node));
	json_object_set_new(o, "cores_allowed", json_integer(c->allowed));
	json_object_set_new(o, "threads", json_integer(c->count));
	json_object_set_new(o, "memory_bytes", count_of(c->memory_bytes));
	json_object_set_new(o, "free_bytes", count_of(ceil_topology_free_bytes(t, c->node)));
	json_object_set_new(o, "last_level_cache_bytes",
	                    c->llc_bytes ? count_of(c->llc_bytes) : json_null());
	return o;
}

json_t *ceil_info_host(void)
{
	struct ceil_error err = {CEIL_OK, ""};
	struct ceil_topology *t = NULL;
	json_t *o = json_object(), *nodes = json_array();
	const double quota = ceil_limits_cpus();

	json_object_set_new(o, "cpu_quota", isnan(quota) ? json_null() : json_real(quota));
	json_object_set_new(o, "cgroup_memory_left_bytes", count_of(ceil_limits_memory_bytes()));
	json_object_set_new(o, "numa_nodes", nodes);
	if (ceil_topology_open(&t, &err) != CEIL_OK) {
		json_object_set_new(o, "reason", ceil_json_text(err.text));
		return o;
	}
	json_object_set_new(o, "cpu", ceil_json_text(t->cpu_name));
	json_object_set_new(o, "all", cores_json(t, &t->all));
	for (size_t i = 0; i < t->node_count; i++)
		json_array_append_new(nodes, cores_json(t, &t->node[i]));
	json_object_set_new(o, "numa_nodes_left_out", count_of(t->left_out));
	ceil_topology_close(t);
	return o;
}
