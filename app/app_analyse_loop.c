// The loop that an analysis judges, in the frequency domain: at every cut that was asked for, beside the map of the step.
#include <math.h>
#include <stdlib.h>

#include "app/app_analyse.h"
#include "study/study_cut.h"
#include "study/study_loop_figure.h"

#define DEGREES   57.29577951308232
#define N_LIMIT   240  // steps that are searched for the limit
#define MOST_CUTS 16

typedef struct other_system {
  yoke_system* system;
  yoke_state* state;
  yoke_linear_loops loops;
} other_system;

struct yoke_app_loops {
  yoke_cut cuts[MOST_CUTS];
  yoke_cut_report reports[MOST_CUTS];
  size_t n, best;
  double step;
  bool is_fresh;
  other_system other;  // of --against
  char reason[480];
};

// ---- looking

static int refuse(yoke_messages* messages, yoke_status status) {
  if (messages->n_errors > 0) {
    yoke__messages_print(messages, stderr);
    return YOKE_EXIT_USAGE;
  }
  return yoke__app_analyse_fail(status);
}

static int add_cut(yoke_app_loops* self, yoke_linear_loops* loops, const char* name,
                   const char* shown) {
  yoke_messages messages = {0};
  yoke_cut* cut = &self->cuts[self->n];
  int result = YOKE_EXIT_OK;
  yoke_status status = yoke__cut_open(loops, name, &messages, cut);
  if (status >= 0 && shown != NULL) {
    snprintf(cut->name, sizeof cut->name, "%.90s", shown);
  }
  if (status >= 0) {
    status = yoke__cut_look(cut, loops, self->step, self->is_fresh, 4 * self->step / N_LIMIT,
                            4 * self->step, &self->reports[self->n]);
  }
  if (status == YOKE_SINGULAR) {
    yoke__app_error(YOKE_ANALYSE, "%s: an algebraic loop without solution", cut->name);
    result = YOKE_EXIT_USAGE;
  } else if (status < 0) {
    result = refuse(&messages, status);
  }
  self->n += result == YOKE_EXIT_OK;
  if (result != YOKE_EXIT_OK) {
    yoke__cut_free(cut);
  }
  yoke__messages_free(&messages);
  return result;
}

static int add_other(const yoke_app_analyse* app, yoke_app_loops* self, const char* path) {
  yoke_messages messages = {0};
  other_system* o = &self->other;
  yoke_options options = *app->options;
  const char* operands[] = {path};
  options.operands = operands;
  options.n_operands = 1;
  o->system = yoke__app_analyse_load(&options);
  int status = o->system == NULL ? YOKE_EXIT_USAGE : yoke__app_analyse_start(o->system, &o->state);
  if (status == YOKE_EXIT_OK) {
    const yoke_status opened = yoke__linear_open(o->system, o->state, &messages, &o->loops);
    status = opened < 0 ? refuse(&messages, opened) : add_cut(self, &o->loops, NULL, path);
  }
  yoke__messages_free(&messages);
  return status;
}

// Two units make two sides by themselves.
static bool has_two_sides(const yoke_linear_loops* loops) {
  return loops->n_members == 2 && !loops->is_of_calls && !loops->is_singular &&
         loops->n_x > loops->n_free;
}

// The same joint the other way round: of both it is known which side sends the action.
static bool is_causality(const yoke_app_loops* self, size_t n_named, const char* against) {
  return n_named == 0 && against != NULL && self->n == 2 && !self->cuts[0].is_blurred &&
         !self->cuts[1].is_blurred && self->cuts[0].action_side < 2 &&
         self->cuts[1].action_side < 2;
}

static int compare_causalities(yoke_app_loops* self) {
  const yoke_status status =
      yoke__cut_causality(self->cuts, self->step, self->is_fresh, 4 * self->step / N_LIMIT,
                          4 * self->step, &self->best, self->reason, sizeof self->reason);
  return status < 0 ? yoke__app_analyse_fail(status) : YOKE_EXIT_OK;
}

int yoke__app_loops_open(const yoke_app_analyse* app, yoke_app_analysis* a, yoke_app_loops** out) {
  *out = NULL;
  size_t n_named = 0;
  const char* const* named = yoke__options_values(app->options, "cut", &n_named);
  const char* against = yoke__options_value(app->options, "against");
  if (a->loops->n_members == 0 || (n_named == 0 && against == NULL && !has_two_sides(a->loops))) {
    return YOKE_EXIT_OK;
  }
  if (n_named + 2 > MOST_CUTS) {
    yoke__app_error(YOKE_ANALYSE, "--cut: %zu of them, expected at most %d", n_named,
                    MOST_CUTS - 2);
    return YOKE_EXIT_USAGE;
  }
  yoke_app_loops* self = calloc(1, sizeof *self);
  if (self == NULL) {
    return yoke__app_analyse_fail(YOKE_NO_MEMORY);
  }
  self->step = a->step;
  self->is_fresh = a->loops->is_fresh;
  int status = YOKE_EXIT_OK;
  if (n_named == 0) {
    status = add_cut(self, a->loops, NULL, against == NULL ? NULL : app->options->operands[0]);
  }
  for (size_t i = 0; i < n_named && status == YOKE_EXIT_OK; i++) {
    status = add_cut(self, a->loops, named[i], NULL);
  }
  if (status == YOKE_EXIT_OK && against != NULL) {
    status = add_other(app, self, against);
  }
  if (status == YOKE_EXIT_OK && is_causality(self, n_named, against)) {
    status = compare_causalities(self);
  } else if (status == YOKE_EXIT_OK && self->n > 1) {
    self->best =
        yoke__cut_best(self->cuts, self->reports, self->n, self->reason, sizeof self->reason);
  }
  if (status != YOKE_EXIT_OK) {
    yoke__app_loops_close(&self);
  }
  *out = self;
  return status;
}

void yoke__app_loops_close(yoke_app_loops** loops) {
  if (*loops == NULL) {
    return;
  }
  for (size_t i = 0; i < (*loops)->n; i++) {
    yoke__cut_free(&(*loops)->cuts[i]);
  }
  yoke__linear_free(&(*loops)->other.loops);
  yoke__study_destroy(&(*loops)->other.system, &(*loops)->other.state);
  free(*loops);
  *loops = NULL;
}

// ---- for people

static void print_peak(const char* name, double value, const char* unit, double w,
                       const char* reading) {
  char at[40] = "";
  if (isfinite(w) && w > 0) {
    snprintf(at, sizeof at, "at %.4g rad/s", w);
  }
  printf("  %-28s %10.4g%-4s %-18s %s\n", name, value, unit, at, reading);
}

static void print_one(const yoke_app_loops* self) {
  const yoke_cut* cut = &self->cuts[0];
  const yoke_synth_loop_report* r = &self->reports[0].loop;
  printf("\nloop %s | %s, zero-order hold, %s exchange, %.6g s\n", cut->names[0], cut->names[1],
         self->is_fresh ? "fresh" : "stale", self->step);
  print_peak("gain", r->gain.value, "", r->gain.w,
             "largest |Q1 Q2|; below 1 proves nothing by itself");
  print_peak("gain, sampled", r->sampled_gain.value, "", r->sampled_gain.w,
             r->sampled_gain.value < 1 ? "below 1: stable, proven" : "1 or more: no proof");
  print_peak("distance to +1", r->margin.value, "", r->margin.w, "0 is the edge");
  print_peak("sensitivity", r->sensitivity.value, "", r->sensitivity.w,
             "largest amplification of exchange errors");
  if (isfinite(r->gain_margin.value)) {
    print_peak("gain margin", r->gain_margin.value, "", r->gain_margin.w,
               "factor by which the loop gain may grow");
  }
  if (isfinite(r->phase_margin.value)) {
    print_peak("phase margin", DEGREES * r->phase_margin.value, "deg", r->phase_margin.w, "");
  }
  print_peak("distortion, magnitude", r->distortion_db.value, " dB", r->distortion_db.w,
             "largest change of the response by sampling");
  print_peak("distortion, phase", DEGREES * r->distortion_phase.value, "deg", r->distortion_phase.w,
             "");
  print_peak("mu", r->mu.value, "", r->mu.w,
             r->mu.value < 1 ? "below 1: stable with any errors as large as those of the holds"
                             : "1 or more: no proof");
  for (int i = 0; i < 2 && !isnan(r->passivity[0].value); i++) {
    char name[64];
    snprintf(name, sizeof name, "passivity of %.40s", cut->names[i]);
    print_peak(name, r->passivity[i].value, "", r->passivity[i].w,
               r->passivity[i].value < 0 ? "below 0: its hold creates energy" : "");
  }
  printf("  the radius in the table above decides whether the loop is stable, not these figures\n");
}

static void print_table(const yoke_app_loops* self) {
  printf("\n%-34s %-10s %-10s %-10s %-10s %-12s %s\n", "cut", "gain", "sampled", "mu", "radius",
         "stable up to", "between");
  for (size_t i = 0; i < self->n; i++) {
    const yoke_cut_report* r = &self->reports[i];
    char limit[32];
    if (isnan(r->limit.border)) {
      snprintf(limit, sizeof limit, "-");
    } else if (isinf(r->limit.unstable)) {
      snprintf(limit, sizeof limit, "no limit");
    } else {
      snprintf(limit, sizeof limit, "%.5g s", r->limit.border);
    }
    printf("%-34.34s %-10.4g %-10.4g %-10.4g %-10.6g %-12s %s | %s\n", self->cuts[i].name,
           r->loop.gain.value, r->loop.sampled_gain.value, r->loop.mu.value, r->radius.radius,
           limit, self->cuts[i].names[0], self->cuts[i].names[1]);
  }
  printf(
      "zero-order hold, %s exchange every %.6g s at the cut, everything else coupled exactly\n%s\n",
      self->is_fresh ? "fresh" : "stale", self->step, self->reason);
}

void yoke__app_loops_print(const yoke_app_loops* loops) {
  if (loops != NULL && loops->n == 1) {
    print_one(loops);
  } else if (loops != NULL) {
    print_table(loops);
  }
}

// ---- for programs, and figures

static void json_peak(yoke_json* json, const char* name, const yoke_synth_peak* peak) {
  yoke__json_begin_object(json, name);
  yoke__json_number(json, "value", peak->value);
  yoke__json_number(json, "frequency", peak->w);
  yoke__json_end_object(json);
}

static void json_cut(const yoke_cut* cut, const yoke_cut_report* report, yoke_json* json) {
  const yoke_synth_loop_report* r = &report->loop;
  yoke__json_begin_object(json, NULL);
  yoke__json_string(json, "cut", cut->name);
  yoke__json_begin_array(json, "sides");
  yoke__json_string(json, NULL, cut->names[0]);
  yoke__json_string(json, NULL, cut->names[1]);
  yoke__json_end_array(json);
  json_peak(json, "gain", &r->gain);
  json_peak(json, "held_gain", &r->held_gain);
  json_peak(json, "sampled_gain", &r->sampled_gain);
  json_peak(json, "margin", &r->margin);
  json_peak(json, "sensitivity", &r->sensitivity);
  json_peak(json, "gain_margin", &r->gain_margin);
  json_peak(json, "phase_margin", &r->phase_margin);
  json_peak(json, "distortion_db", &r->distortion_db);
  json_peak(json, "distortion_phase", &r->distortion_phase);
  json_peak(json, "mu", &r->mu);
  json_peak(json, "passivity_1", &r->passivity[0]);
  json_peak(json, "passivity_2", &r->passivity[1]);
  yoke__json_number(json, "radius", report->radius.radius);
  yoke__json_number(json, "largest_stable_step", report->limit.border);
  yoke__json_end_object(json);
}

void yoke__app_loops_json(const yoke_app_loops* loops, yoke_json* json) {
  yoke__json_begin_array(json, "loops");
  for (size_t i = 0; loops != NULL && i < loops->n; i++) {
    json_cut(&loops->cuts[i], &loops->reports[i], json);
  }
  yoke__json_end_array(json);
  yoke__json_string(json, "best_cut", loops == NULL || loops->n < 2 ? NULL : loops->reason);
}

void yoke__app_loops_page(const yoke_app_loops* loops, yoke_text* to) {
  static const char* const figures[] = {"nyquist", "bode"};
  yoke__text_add(to,
                 "<h2>The loop</h2>\n<p>Zero-order hold, %s exchange every %.6g s, everything else "
                 "coupled exactly. The radius decides whether the loop is stable, not the other "
                 "figures.</p>\n<table><tr><th>cut</th><th>gain</th><th>sampled</th><th>distance "
                 "to +1</th><th>G</th><th>mu</th><th>radius</th></tr>\n",
                 loops->is_fresh ? "fresh" : "stale", loops->step);
  for (size_t i = 0; i < loops->n; i++) {
    const yoke_cut_report* r = &loops->reports[i];
    yoke__text_add(to, "<tr><td>");
    yoke__app_analyse_escape(to, loops->cuts[i].name);
    yoke__text_add(to,
                   "</td><td>%.4g</td><td>%.4g</td><td>%.4g</td><td>%.4g dB, %.4g deg</td>"
                   "<td>%.4g</td><td>%.6g</td></tr>\n",
                   r->loop.gain.value, r->loop.sampled_gain.value, r->loop.margin.value,
                   r->loop.distortion_db.value, DEGREES * r->loop.distortion_phase.value,
                   r->loop.mu.value, r->radius.radius);
  }
  yoke__text_add(to, "</table>\n");
  if (loops->n > 1) {
    yoke__text_add(to, "<p>");
    yoke__app_analyse_escape(to, loops->reason);
    yoke__text_add(to, "</p>\n");
  }
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    yoke__text_add(to, "<img src=\"%s.svg\" alt=\"%s\">\n", figures[i], figures[i]);
  }
}

int yoke__app_loops_write(const yoke_app_analyse* app, const yoke_app_loops* loops) {
  static const char* const names[] = {"nyquist.svg", "bode.svg"};
  if (loops == NULL) {
    return YOKE_EXIT_OK;
  }
  const yoke_cut* cut = &loops->cuts[loops->best];
  const yoke_synth_loop loop = yoke__cut_loop(cut, loops->step, loops->is_fresh);
  yoke_text texts[2] = {{0}};
  char title[256];
  snprintf(title, sizeof title, "%s | %s", cut->names[0], cut->names[1]);
  const yoke_status status =
      yoke__figure_loop(&loop, &loops->reports[loops->best].loop, title, &texts[0], &texts[1]);
  if (status < 0) {
    yoke__text_free(&texts[0]);
    yoke__text_free(&texts[1]);
    return yoke__app_analyse_fail(status);
  }
  const int written = yoke__app_analyse_write(app, names, texts, 2);
  if (written == YOKE_EXIT_OK && !app->is_json && !app->is_quiet) {
    printf("the loop at %s in %s: nyquist.svg, bode.svg\n", cut->name, app->out);
  }
  return written;
}
