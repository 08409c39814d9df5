// What an element does to the loops of a system: the exchange interval as a matrix, with the linear models of the units.
//
// Connections that are not served keep what the system has there: held signals or a straight line.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_status.h"
#include "study/study_linear.h"
#include "study/study_synth.h"

#define MOST_NUMBERS 400  // in the memory of the loop
#define MOST_WORK    4e9  // products that building the matrix may take

static bool is_close(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

static yoke_status say(yoke_synth_study* out, const char** why, const char* format, ...)
    YOKE_PRINTF(3, 4);
static yoke_status say(yoke_synth_study* out, const char** why, const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  *why = yoke__arena_text(&out->arena, text, strlen(text));
  return *why == NULL ? YOKE_NO_MEMORY : YOKE_OK;
}

static const yoke_tap* tap_into(const yoke_system* system, size_t u) {
  for (size_t t = 0; t < system->n_taps; t++) {
    if (system->taps[t].to == u) {
      return &system->taps[t];
    }
  }
  return NULL;
}

static bool is_served(const yoke_synth_maker* maker, size_t link) {
  for (size_t i = 0; i < maker->n_links; i++) {
    if (maker->links[i] == link) {
      return true;
    }
  }
  return false;
}

// ---- what the matrix cannot show

static yoke_status check_members(yoke_synth_maker* maker, const yoke_linear_loops* loops) {
  yoke_synth_study* out = maker->out;
  const double step = out->design.settings.step;
  for (size_t k = 0; k < loops->n_members; k++) {
    const yoke_system_unit* unit = &maker->system->units[loops->members[k]];
    if (!is_close(unit->step, out->system_step)) {
      return say(out, &out->no_loop,
                 "'%s' is in the loop and called every %g s, the ends of the connection every %g s",
                 unit->name, unit->step, out->system_step);
    }
    const double micro = loops->called[k].micro_step;
    if (micro > step * (1 + 1e-9)) {
      return say(out, &out->no_loop, "'%s' steps by %g s inside, which is more than a call",
                 unit->name, micro);
    }
  }
  return YOKE_OK;
}

static yoke_status check_loop(yoke_synth_maker* maker, const yoke_linear_loops* loops) {
  yoke_synth_study* out = maker->out;
  bool is_any = false;
  for (size_t i = 0; i < loops->s; i++) {
    is_any = is_any || is_served(maker, tap_into(maker->system, loops->inputs[i])->link);
  }
  if (!is_any) {
    return say(out, &out->no_loop, "%s is in no closed chain of connections", out->subject);
  }
  if (loops->is_of_calls) {
    return say(out, &out->no_loop, "a unit has no linear model");
  }
  if (!is_close(loops->step, out->system_interval)) {
    return say(out, &out->no_loop, "the loop exchanges every %g s, the connection every %g s",
               loops->step, out->system_interval);
  }
  const yoke_synth_settings* set = &out->design.settings;
  const double late = set->delay / set->interval;
  if (fabs(late - round(late)) > 1e-9 * late || late > MOST_NUMBERS) {
    return say(out, &out->no_loop, "a delay of %g s is not a small multiple of the exchange, %g s",
               set->delay, set->interval);
  }
  return check_members(maker, loops);
}

// ---- the matrix

static yoke_status fill_units(const yoke_linear_loops* loops, double step, yoke_arena* arena,
                              yoke_synth_unit units[]) {
  for (size_t k = 0; k < loops->n_members; k++) {
    const yoke_stability_unit* from = &loops->parts[k];
    double* F = yoke__arena_array(arena, from->n_states * from->n_states + 1, sizeof *F);
    double* G = yoke__arena_array(arena, from->n_states * from->n_inputs + 1, sizeof *G);
    YOKE_TRY_MEMORY(F && G);
    // internal steps of explicit Euler as the unit takes them
    YOKE_TRY(yoke__synth_discretise(from->n_states, from->n_inputs, from->A, from->B, step,
                                    loops->called[k].micro_step, F, G));
    units[k] =
        (yoke_synth_unit){from->n_states, from->n_inputs, from->n_outputs, F, G, from->C, from->D};
  }
  return YOKE_OK;
}

static void choose_paths(const yoke_synth_maker* maker, const yoke_linear_loops* loops,
                         yoke_synth_path path, yoke_synth_path paths[], size_t delays[]) {
  const yoke_synth_settings* set = &maker->out->design.settings;
  for (size_t i = 0; i < loops->s; i++) {
    const yoke_tap* tap = tap_into(maker->system, loops->inputs[i]);
    const bool is_own = is_served(maker, tap->link);
    // `auto` may serve any order: it is judged as held
    const bool is_line = tap->order == 1 && !maker->system->links[tap->link].is_auto;
    paths[i] = is_own ? path : is_line ? YOKE_SYNTH_PATH_LINE : YOKE_SYNTH_PATH_HOLD;
    delays[i] = is_own ? (size_t)llround(set->delay / set->interval) : (size_t)tap->delay;
  }
}

static yoke_status judge_path(yoke_synth_maker* maker, const yoke_linear_loops* loops,
                              yoke_synth_loop* loop, yoke_synth_loop_row* row) {
  yoke_synth_study* out = maker->out;
  const double n = (double)yoke__synth_macro_size(loop), size = (double)(loops->n_x + loops->p);

  // products of building the matrix: columns, calls, sizes of the units
  if (n > MOST_NUMBERS ||
      n * (double)loop->n_calls * size * (size + (double)loops->s) > MOST_WORK) {
    return say(out, &out->no_loop, "it is too large: %.0f numbers, %zu calls in an exchange", n,
               loop->n_calls);
  }

  // stale, then fresh exchange
  for (size_t k = 0; k < 2; k++) {
    loop->is_fresh = k == 1;
    const yoke_status status = yoke__synth_macro_radius(loop, &row->radius[k]);
    row->is_known[k] = status >= 0;
    if (status == YOKE_SINGULAR) {
      YOKE_TRY(say(out, &out->no_fresh, "feedthrough closes an algebraic loop"));
    } else if (status < 0) {
      return yoke__status_is_shortage(status)
                 ? status
                 : say(out, &out->no_loop, "its matrix has no eigenvalues: %s",
                       yoke_status_text(status));
    }
  }
  return YOKE_OK;
}

static yoke_status judge_all(yoke_synth_maker* maker, const yoke_linear_loops* loops) {
  yoke_synth_study* out = maker->out;
  const yoke_synth_settings* set = &out->design.settings;
  yoke_arena arena = {0};
  yoke_synth_unit* units = yoke__arena_array(&arena, loops->n_members, sizeof *units);
  yoke_synth_path* paths = yoke__arena_array(&arena, loops->s, sizeof *paths);
  size_t* delays = yoke__arena_array(&arena, loops->s, sizeof *delays);
  yoke_status status = units == NULL || paths == NULL || delays == NULL
                           ? YOKE_NO_MEMORY
                           : fill_units(loops, set->step, &arena, units);
  yoke_synth_loop loop = {.units = units,
                          .n_units = loops->n_members,
                          .L = loops->L,
                          .paths = paths,
                          .delays = delays,
                          .element = &out->design.element,
                          .n_calls = (size_t)llround(set->interval / set->step)};
  for (int p = 0; p < YOKE_SYNTH_N_PATHS && status >= 0 && out->no_loop == NULL; p++) {
    choose_paths(maker, loops, (yoke_synth_path)p, paths, delays);
    status = judge_path(maker, loops, &loop, &out->loop[p]);
  }
  yoke__arena_free(&arena);
  return status;
}

yoke_status yoke__synth_judge_loop(yoke_synth_maker* maker) {
  yoke_synth_study* out = maker->out;
  if (out->machine != NULL) {
    return say(out, &out->no_loop, "unit '%s' is a real machine", out->machine);
  }
  yoke_messages messages = {0};
  yoke_linear_loops loops;
  yoke_status status = yoke__linear_open(maker->system, maker->state, &messages, &loops);
  if (status < 0 && !yoke__status_is_shortage(status)) {
    const yoke_message* first = messages.n > 0 ? &messages.all[0] : NULL;
    for (size_t i = 0; i < messages.n; i++) {
      if (messages.all[i].severity == YOKE_ERROR) {
        first = &messages.all[i];
        break;
      }
    }
    const char* unit = first != NULL && first->unit != NULL ? first->unit : "";
    status =
        say(out, &out->no_loop, "%s%s%s%s", unit[0] != '\0' ? "unit '" : "", unit,
            unit[0] != '\0' ? "': " : "", first == NULL ? yoke_status_text(status) : first->text);
  } else if (status >= 0 && loops.n_members == 0) {
    status = say(out, &out->no_loop, "the system has no closed chain of connections");
  } else if (status >= 0) {
    status = check_loop(maker, &loops);
    status = status >= 0 && out->no_loop == NULL ? judge_all(maker, &loops) : status;
  }
  yoke__linear_free(&loops);
  yoke__messages_free(&messages);
  return status;
}
