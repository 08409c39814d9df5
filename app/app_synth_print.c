// A study of a coupling element for people.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/app_synth.h"
#include "app/app_table.h"
#include "study/study_advise.h"

// ---- the element

// Of recipe general: gamma on its way from the optimum to what is written, and what the optimum does not ask for.
static void print_optimum(const yoke_synth_design* d) {
  printf("optimum for a model of the hold: gamma %.4g, lowest pole at Re = %.4g rad/s; with %zu "
         "states "
         "and gain 1 at frequency 0: %.4g\n",
         d->optimum.norm, d->optimum.least_real, d->settings.order, d->model_gamma);
  printf("a slow signal arrives %.3g ms %s; the other recipes make this 0\n",
         1e3 * fabs(d->net_delay), d->net_delay < 0 ? "early" : "late");
}

static void print_design(const yoke_synth_study* s) {
  const yoke_synth_settings* set = &s->design.settings;
  printf("%s, %s\n", s->system, s->subject);
  for (size_t i = 0; i < s->n_signals; i++) {
    printf("  %s\n", s->signals[i]);
  }
  printf("exchange every %g s, calls every %g s, delay %g s\n\n", set->interval, set->step,
         set->delay);
  const bool is_general = s->design.model.n > 0;
  printf("element %s: recipe %s, f2 %.4g Hz, %s%.4g rad/s, order %zu, band %.3g Hz\n", s->file,
         yoke__synth_recipe_name(set->recipe), set->smoother_hz,
         is_general ? "poles right of -" : "a ", set->pole, set->order, set->band_hz);
  printf("gamma %.4g (largest weighted error), D1 D2 %.4g%s\n", s->design.gamma,
         s->design.direct_gain,
         set->is_transparent ? " (a jump arrives at once: suits loops with feedthrough)"
                             : " (a jump arrives smoothed: not for loops with feedthrough)");
  if (is_general) {
    print_optimum(&s->design);
  }
  if (s->design.gamma >= 1) {
    printf("within the band the error of the element is up to %.3g times the signal itself: use a "
           "smaller --band, or shorten the delay\n",
           s->design.gamma);
  }
  printf("noise is amplified %.3g times, a sine at most %.3g times\n\n", s->noise_gain,
         s->design.largest_gain);
}

// ---- errors over frequency

static int nearest(const yoke_synth_row* row, bool is_all) {
  int best = 0;
  for (int p = 1; p < YOKE_SYNTH_N_PATHS; p++) {
    const double a = is_all ? row->errors[p].all : row->errors[p].mean;
    best = a < (is_all ? row->errors[best].all : row->errors[best].mean) ? p : best;
  }
  return best;
}

static void print_rows(const yoke_synth_study* s) {
  yoke_app_table table = {.n_columns = 9};
  yoke__app_table_add(&table, "Hz");
  for (int k = 0; k < 2; k++) {
    for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
      yoke__app_table_add(&table, yoke__synth_path_names[p]);
    }
    yoke__app_table_add(&table, "nearest");
  }
  for (size_t i = 0; i < s->n_rows; i++) {
    char cell[40];
    snprintf(cell, sizeof cell, "%.3g%s", s->rows[i].hz,
             s->rows[i].hz <= s->design.settings.band_hz * (1 + 1e-9) ? "" : " *");
    yoke__app_table_add(&table, cell);
    for (int k = 0; k < 2; k++) {
      for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
        const yoke_synth_error e = s->rows[i].errors[p];
        yoke__app_table_number(&table, 3, true, k == 0 ? e.all : e.mean);
      }
      yoke__app_table_add(&table, yoke__synth_path_names[nearest(&s->rows[i], k == 0)]);
    }
  }
  printf("error of a sine relative to its amplitude: first with the steps between exchanges, then "
         "with the\nsteps averaged out, as for a slow receiver; *: above the band of the design\n");
  yoke__app_table_print(&table);
}

static void print_winners(const char* what, const yoke_synth_winner winners[], size_t n) {
  printf("%s: ", what);
  for (size_t i = 0; i < n; i++) {
    if (i + 1 < n) {
      printf("%s up to %.3g Hz, ", yoke__synth_path_names[winners[i].path], winners[i].hz);
    } else {
      printf("%s%s\n", yoke__synth_path_names[winners[i].path],
             n == 1 ? " at all frequencies that an exchange can carry" : " above");
    }
  }
}

// ---- the loop

static void add_radius(yoke_app_table* table, const yoke_synth_loop_row* row, int k) {
  char cell[64] = "-";
  if (row->is_known[k]) {
    const double size = yoke__synth_growth(&row->radius[k]);
    snprintf(cell, sizeof cell, "%.6g %s", size,
             size < YOKE_SYNTH_UNSTABLE ? "stable" : "unstable");
  }
  yoke__app_table_add(table, cell);
}

static void print_loop(const yoke_synth_study* s) {
  if (s->no_loop != NULL) {
    printf("\nthe loop is not judged: %s\n", s->no_loop);
    return;
  }
  bool has_one = false;
  yoke_app_table table = {.n_columns = 3};
  yoke__app_table_add(&table, "loop, radius of an exchange");
  yoke__app_table_add(&table, "stale");
  yoke__app_table_add(&table, "fresh");
  for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
    yoke__app_table_add(&table, yoke__synth_path_names[p]);
    for (int k = 0; k < 2; k++) {
      add_radius(&table, &s->loop[p], k);
      has_one = has_one || (s->loop[p].is_known[k] && s->loop[p].radius[k].has_one);
    }
  }
  putchar('\n');
  yoke__app_table_print(&table);
  if (has_one) {
    printf("an offset that neither grows nor decays (an eigenvalue of 1) is left out\n");
  }
  if (s->no_fresh != NULL) {
    printf("no fresh exchange: %s\n", s->no_fresh);
  }
}

// ---- runs

static void add_error(yoke_app_table* table, const yoke_synth_trial* run) {
  char cell[64] = "-";
  if (run->is_run && run->has_diverged) {
    snprintf(cell, sizeof cell, "diverges");
  } else if (run->is_run && !isnan(run->worst)) {
    snprintf(cell, sizeof cell, "%.3g %%", 100 * run->worst);
  } else if (run->why != NULL) {
    snprintf(cell, sizeof cell, "refused");
  }
  yoke__app_table_add(table, cell);
}

static void print_runs(const yoke_synth_study* s) {
  if (s->no_runs != NULL) {
    return;
  }
  yoke_app_table table = {.n_columns = s->is_fresh ? 2 : 3};
  char head[80];
  snprintf(head, sizeof head, "run to %.6g s, worst signal", s->run_until);
  yoke__app_table_add(&table, head);
  yoke__app_table_add(&table, s->is_fresh ? "fresh" : "stale");
  if (!s->is_fresh) {
    yoke__app_table_add(&table, "fresh");
  }
  for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
    yoke__app_table_add(&table, yoke__synth_path_names[p]);
    add_error(&table, &s->runs[YOKE_SYNTH_RUN_GIVEN + p]);
    if (!s->is_fresh) {
      add_error(&table, &s->runs[YOKE_SYNTH_RUN_FRESH + p]);
    }
  }
  snprintf(head, sizeof head, "the file as it is, every %g s", s->file_interval);
  yoke__app_table_add(&table, head);
  add_error(&table, &s->runs[YOKE_SYNTH_RUN_FILE]);
  if (!s->is_fresh) {
    yoke__app_table_add(&table, "");
  }
  putchar('\n');
  yoke__app_table_print(&table);
  for (size_t i = 0; i < YOKE_SYNTH_N_RUNS; i++) {
    if (s->runs[i].why != NULL) {
      printf("refused: %s\n", s->runs[i].why);
      break;
    }
  }
}

// ---- what to write

static void print_lines(const yoke_synth_study* s, const yoke_synth_request* request) {
  printf("\nto use it, write in %s\n", request->path);
  for (size_t i = 0; i < s->n_lines; i++) {
    printf("  %s\n", s->lines[i]);
  }
  yoke_text command = {0};
  yoke__text_add(&command, "or: yoke run");
  yoke__advise_append_path(&command, request->path);
  for (size_t i = 0; i < request->n_sets + s->n_sets; i++) {
    yoke__text_add(&command, " --set");
    yoke__advise_append_word(&command,
                             i < request->n_sets ? request->sets[i] : s->sets[i - request->n_sets]);
  }
  if (command.status >= 0) {
    printf("%s\n", command.bytes);
  }
  yoke__text_free(&command);
}

void yoke__app_synth_print(const yoke_synth_study* s, const yoke_synth_request* request) {
  print_design(s);
  print_rows(s);
  print_winners("nearest with the steps", s->all, s->n_all);
  print_winners("nearest without them", s->mean, s->n_mean);
  print_loop(s);
  print_runs(s);
  printf("%s\n", s->advice);
  if (s->n_lines > 0) {
    print_lines(s, request);
  }
}
