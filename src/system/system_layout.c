// What every later stage relies on without asking: each index of a built system lies inside of what it points into, and
// what lies in one block one after the other fills it. An assertion here is a mistake of Yoke, never of a system file.
#include <assert.h>

#include "system/system.h"

static void check_units(const yoke_system* system) {
  size_t n_u = 0, n_y = 0, tap = 0;
  for (size_t i = 0; i < system->n_units; i++) {
    const yoke_system_unit* unit = &system->units[i];
    assert(unit->u == n_u && unit->y == n_y && unit->first_tap == tap);
    assert(unit->thread >= 0 && unit->thread < system->n_threads);
    assert(unit->first_group + unit->n_groups <= system->n_groups || unit->n_groups == 0);
    assert(unit->image + unit->image_size <= system->n_image_bytes || unit->image_size == 0);
    for (size_t k = 0; k < unit->n_typed_outputs; k++) {
      assert(unit->typed_outputs[k].at + unit->typed_outputs[k].size <= system->n_typed_out);
    }
    for (size_t k = 0; k < unit->n_typed_inputs; k++) {
      assert(unit->typed_inputs[k].at + unit->typed_inputs[k].size <= system->n_typed_in);
    }
    n_u += unit->unit.n_u;
    n_y += unit->unit.n_y;
    tap += unit->n_taps;
  }
  assert(n_u == system->n_u && n_y == system->n_y && tap == system->n_taps);
}

static void check_taps(const yoke_system* system) {
  size_t n_fifo = 0;
  for (size_t i = 0; i < system->n_taps; i++) {
    const yoke_tap* tap = &system->taps[i];
    assert(tap->from < system->n_y && tap->to < system->n_u && tap->link < system->n_links);
    assert(tap->every > 0 && tap->delay >= 0 && tap->fifo + (size_t)tap->delay <= system->n_fifo);
    n_fifo += (size_t)tap->delay;
  }
  assert(n_fifo == system->n_fifo);
}

static void check_flows(const yoke_system* system) {
  size_t n_lags = 0;
  for (size_t i = 0; i < system->n_flows; i++) {
    const yoke_system_flow* flow = &system->flows[i];
    const yoke_system_unit* from = &system->units[system->links[flow->link].from_unit];
    assert(i >= from->first_flow && i - from->first_flow < from->n_flows);
    assert(flow->from < system->n_y && flow->to < system->n_u && flow->every > 0);
    assert(flow->lag == n_lags && system->inflows[i] < system->n_flows);
    assert(flow->integral == YOKE_NOT_FOUND || flow->integral < from->n_integrals);
    n_lags += (size_t)flow->delay + 1;
  }
  assert(n_lags == system->n_lags);
}

static void check_throughs(const yoke_system* system) {
  for (size_t k = 0; k < system->n_throughs; k++) {
    const yoke_system_through* t = &system->throughs[k];
    assert(t->y < system->n_y && t->first + t->n <= system->n_through_terms);
    for (size_t i = t->first; i < t->first + t->n; i++) {
      const yoke_through_term* term = &system->through_terms[i];
      assert(term->tap < system->n_taps && system->taps[term->tap].to == term->u);
      assert(term->source <= k || t->loop > 0);
      assert(term->source <= system->n_throughs);
    }
  }
}

static void check_intakes(const yoke_system* system) {
  for (size_t i = 0; i < system->n_intakes; i++) {
    const yoke_intake* intake = &system->intakes[i];
    assert(intake->every > 0);
    for (size_t k = 0; k < intake->n_copies; k++) {
      assert(intake->from[k] < system->n_y && intake->to[k] < system->n_u);
    }
    for (size_t k = 0; k < intake->n_moves; k++) {
      assert(intake->moves[k].unit < system->n_units);
    }
    for (size_t k = 0; k < intake->n_groups; k++) {
      assert(intake->groups[k] < system->n_groups);
    }
  }
}

static void check_sources(const yoke_system* system) {
  for (size_t i = 0; i < system->n_sources; i++) {
    const yoke_system_source* source = &system->sources[i];
    assert(source->unit == YOKE_NOT_FOUND || source->unit < system->n_units);
    assert(source->every > 0 && source->ring + (size_t)source->delay <= system->n_source_ring);
  }
}

static void check_groups(const yoke_system* system) {
  size_t n_signals = 0;
  for (size_t i = 0; i < system->n_groups; i++) {
    const yoke_group* group = &system->groups[i];
    assert(group->sampler < system->n_groups && group->unit < system->n_units);
    assert(group->method < system->n_methods);
    assert(group->first_signal + group->setup.n_signals <= system->n_signals);
    assert(group->self + group->self_size <= system->n_group_bytes);
    assert(group->derivatives + group->setup.n_signals <= system->n_group_numbers);
    for (size_t k = 0; k < group->setup.n_probes; k++) {
      assert(group->probes[k] < system->n_y + system->n_linear);
    }
    n_signals += group->role == YOKE_GROUP_MEMBER ? 0 : group->setup.n_signals;
  }
  assert(n_signals == system->n_signals);
}

static void check_columns(const yoke_system* system) {
  for (size_t i = 0; i < system->n_columns; i++) {
    const yoke_system_column* column = &system->column_sources[i];
    assert(column->source != YOKE_COLUMN_Y || column->index < system->n_y + system->n_linear);
    assert(column->source != YOKE_COLUMN_U || column->index < system->n_u);
    assert(column->source != YOKE_COLUMN_TYPED || column->index < system->n_typed_out);
    assert(column->source != YOKE_COLUMN_TRACE || column->element < system->n_groups);
  }
}

static void check_signals(const yoke_system* system) {
  for (size_t i = 0; i < system->n_judged; i++) {
    const yoke_system_signal* signal = &system->judged[i];
    assert(signal->y < system->n_y && (i == 0 || system->judged[i - 1].y < signal->y));
    assert(signal->every > 0 && signal->unit < system->n_units);
    assert(signal->loop == YOKE_NOT_FOUND || signal->loop < system->n_unit_loops);
  }
}

yoke_status yoke__system_check_layout(yoke_system* system) {
  check_units(system);
  check_taps(system);
  check_flows(system);
  check_throughs(system);
  check_intakes(system);
  check_sources(system);
  check_groups(system);
  check_columns(system);
  check_signals(system);
  return YOKE_OK;
}
