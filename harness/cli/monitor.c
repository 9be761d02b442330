/* What watches the GPUs of a run: the sampler with its file, and their health. */
#include "harness/cli/monitor.h"

#include "harness/output/health.h"
#include "harness/output/json.h"

void ceil_monitor_begin(struct ceil_monitor *m, const struct ceil_inventory *inv)
{
	ceil_health_init(&m->health);
	for (size_t i = 0; i < inv->found_count; i++) {
		if (!inv->found[i].skipped)
			ceil_health_add(&m->health, inv->found[i].props.label, inv->found[i].gpu);
	}
	ceil_health_begin(&m->health, inv->nvml);
}

static void on_row(void *user, const struct ceil_telemetry_row *row)
{
	struct ceil_monitor *m = user;

	ceil_health_saw(&m->health, row);
	ceil_run_add_telemetry(m->run, row);
}

static void add_info(const struct ceil_monitor *m, const struct ceil_error *err, json_t *info)
{
	json_t *sampler = json_object();

	if (!m->sampler) {
		json_object_set_new(sampler, "off", ceil_json_text(err->text));
	} else {
		json_object_set_new(sampler, "interval_s",
		                    json_real((double)CEIL_SAMPLER_INTERVAL_NS * 1e-9));
		for (size_t i = 0; ceil_sources[i]; i++) {
			const char *reason = ceil_sampler_reason(m->sampler, i);

			json_object_set_new(sampler, ceil_sources[i]->name,
			                    *reason ? ceil_json_text(reason) : json_true());
		}
	}
	json_object_set_new(info, "sampler", sampler);
}

enum ceil_status ceil_monitor_watch(struct ceil_monitor *m, struct ceil_lane *lanes, size_t count,
                                    struct ceil_run *run, json_t *info, struct ceil_error *err)
{
	const struct ceil_sampler_options options = {.row = on_row, .user = m};
	struct ceil_source_target targets[CEIL_MAX_DEVICES];
	struct ceil_lane *watched[CEIL_MAX_DEVICES];
	struct ceil_error own = {CEIL_OK, ""};
	size_t gpus = 0;
	enum ceil_status st;

	for (size_t i = 0; i < count; i++) {
		const struct ceil_device_props *p = &lanes[i].dev->props;

		if (!lanes[i].gpu)
			continue;
		watched[gpus] = &lanes[i];
		targets[gpus++] = (struct ceil_source_target){.device = p->label,
		                                              .uuid = p->uuid,
		                                              .pci_bus_id = p->pci_bus_id,
		                                              .nvml = lanes[i].gpu};
	}
	m->run = run;
	ceil_telemetry_table_init(&m->table);
	st = gpus ? ceil_run_open_telemetry(run, &m->table.table, err) : CEIL_OK;
	if (st != CEIL_OK)
		return st;
	st = ceil_sampler_open(targets, gpus, &options, &m->sampler, &own);
	for (size_t i = 0; i < gpus; i++)
		watched[i]->watch = ceil_sampler_watch(m->sampler, i);
	add_info(m, &own, info);
	return st == CEIL_E_NOMEM ? ceil_fail(err, st, "%s", own.text) : CEIL_OK;
}

bool ceil_monitor_end(struct ceil_monitor *m, json_t *info)
{
	const bool ended = ceil_sampler_close(m->sampler);

	m->sampler = NULL;
	ceil_health_end(&m->health);
	if (m->health.gpu_count > 0)
		json_object_set_new(info, "health", ceil_health_json(&m->health));
	return ended;
}

void ceil_monitor_close(struct ceil_monitor *m)
{
	ceil_health_done(&m->health);
}
