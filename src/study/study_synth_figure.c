// Errors over frequency as a drawing and as a table, and a whole study as JSON.
#include <math.h>
#include <stdio.h>

#include "base/base_check.h"
#include "study/study_svg.h"
#include "study/study_synth.h"

#define WIDTH  560.0
#define HEIGHT 320.0
#define LEFT   72.0
#define TOP    66.0

static const char* const colours[YOKE_SYNTH_N_PATHS] = {"#8a949e", "#d1495b", "#2a6f97"};
static const char style[] = YOKE_SVG_LIGHT YOKE_SVG_LINES
    ".band{fill:#2a6f97;opacity:0.07}\n" YOKE_SVG_DARK "\n.band{fill:#5aa9d6;opacity:0.12}\n}\n";

// ---- drawing

typedef struct frame {
  double left, right, low, high;  // frequency [Hz]; error; both logarithmic
} frame;

static double x_of(const frame* f, double hz) {
  return LEFT + WIDTH * log(hz / f->left) / log(f->right / f->left);
}

static double y_of(const frame* f, double error) {
  const double clipped = fmin(fmax(error, f->low), f->high);
  return TOP + HEIGHT * log(f->high / clipped) / log(f->high / f->low);
}

static frame frame_of(const yoke_synth_study* s) {
  frame f = {s->curve[0].hz, s->curve[s->n_curve - 1].hz, 1, 1};
  for (size_t i = 0; i < s->n_curve; i++) {
    for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
      f.low = fmin(f.low, s->curve[i].errors[p].mean);
      f.high = fmax(f.high, s->curve[i].errors[p].all);
    }
  }
  f.low = pow(10, floor(log10(fmax(f.low, 1e-6))));
  f.high = fmin(f.high * 1.2, 10);
  return f;
}

static void draw_grid(const frame* f, yoke_text* svg) {
  char text[32];
  for (int d = (int)round(log10(f->low)); pow(10, d) <= f->high; d++) {
    const double y = y_of(f, pow(10, d));
    yoke__text_add(svg, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>\n", LEFT, y, WIDTH);
    yoke__svg_number(pow(10, d), text, sizeof text);
    yoke__svg_label(svg, "ink", LEFT - 8, y + 4, "end", text);
  }
  for (int d = (int)floor(log10(f->left)); pow(10, d) <= f->right; d++) {
    for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
      const double hz = digit * pow(10, d);
      if (hz >= f->left && hz <= f->right) {
        yoke__text_add(svg, "<path class=\"line\" d=\"M%.1f %.1fv5\"/>\n", x_of(f, hz),
                       TOP + HEIGHT);
        yoke__svg_number(hz, text, sizeof text);
        yoke__svg_label(svg, "ink", x_of(f, hz), TOP + HEIGHT + 20, "middle", text);
      }
    }
  }
  yoke__svg_label(svg, "soft", LEFT + WIDTH / 2, TOP + HEIGHT + 42, "middle", "frequency [Hz]");
}

static void draw_curve(const yoke_synth_study* s, const frame* f, int path, bool is_all,
                       yoke_text* svg) {
  yoke__text_add(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s d=\"", colours[path],
                 is_all ? "2.2" : "1.4", is_all ? "" : " stroke-dasharray=\"5 4\"");
  for (size_t i = 0; i < s->n_curve; i++) {
    const yoke_synth_error e = s->curve[i].errors[path];
    yoke__text_add(svg, "%s%.1f %.1f", i == 0 ? "M" : "L", x_of(f, s->curve[i].hz),
                   y_of(f, is_all ? e.all : e.mean));
  }
  yoke__text_add(svg, "\"/>\n");
}

static void draw_key(int row, const char* colour, bool is_dashed, const char* text,
                     yoke_text* svg) {
  const double y = TOP + 14 + 20 * row;
  yoke__text_add(svg,
                 "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.2\"%s d=\"M%.1f %.1fh22\"/>\n",
                 colour, is_dashed ? " stroke-dasharray=\"5 4\"" : "", LEFT + WIDTH + 16, y - 4);
  yoke__svg_label(svg, "ink", LEFT + WIDTH + 46, y, "start", text);
}

void yoke__synth_figure(const yoke_synth_study* s, yoke_text* svg) {
  const frame f = frame_of(s);
  char title[300], subtitle[200];
  snprintf(title, sizeof title, "%.120s, %.160s", s->system, s->subject);
  snprintf(subtitle, sizeof subtitle,
           "error of a sine as part of its amplitude; exchange every %g s, shaded: the band of the "
           "design",
           s->design.settings.interval);
  const yoke_svg_page page = {
      LEFT + WIDTH + 208, TOP + HEIGHT + 58, style, "", title, subtitle, 47};
  yoke__svg_begin(svg, &page);
  const double band = fmin(s->design.settings.band_hz, f.right);
  if (band > f.left) {
    yoke__svg_box(svg, "band", LEFT, TOP, x_of(&f, band) - LEFT, HEIGHT);
  }
  draw_grid(&f, svg);
  yoke__svg_box(svg, "line", LEFT, TOP, WIDTH, HEIGHT);
  for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
    draw_curve(s, &f, p, false, svg);
    draw_curve(s, &f, p, true, svg);
    draw_key(p, colours[p], false, yoke__synth_path_names[p], svg);
  }
  draw_key(YOKE_SYNTH_N_PATHS + 1, colours[0], false, "with the steps", svg);
  draw_key(YOKE_SYNTH_N_PATHS + 2, colours[0], true, "steps averaged out", svg);
  yoke__text_add(svg, "</svg>\n");
}

// ---- table

void yoke__synth_csv(const yoke_synth_study* s, yoke_text* csv) {
  yoke__text_add(csv, "frequency,hold,order-1,element,hold mean,order-1 mean,element mean\n");
  for (size_t i = 0; i < s->n_curve; i++) {
    yoke__text_number(csv, s->curve[i].hz);
    for (int k = 0; k < 2 * YOKE_SYNTH_N_PATHS; k++) {
      const yoke_synth_error e = s->curve[i].errors[k % YOKE_SYNTH_N_PATHS];
      yoke__text_add(csv, ",");
      yoke__text_number(csv, k < YOKE_SYNTH_N_PATHS ? e.all : e.mean);
    }
    yoke__text_add(csv, "\n");
  }
}

// ---- JSON

static void json_design(const yoke_synth_study* s, yoke_json* json) {
  const yoke_synth_settings* set = &s->design.settings;
  yoke__json_begin_object(json, "design");
  yoke__json_string(json, "recipe", yoke__synth_recipe_name(set->recipe));
  yoke__json_number(json, "interval", set->interval);
  yoke__json_number(json, "step", set->step);
  yoke__json_number(json, "delay", set->delay);
  yoke__json_number(json, "smoother_frequency", set->smoother_hz);
  yoke__json_number(json, "pole", set->pole);
  yoke__json_number(json, "band_frequency", set->band_hz);
  yoke__json_integer(json, "order", (int64_t)set->order);
  yoke__json_number(json, "gamma", s->design.gamma);
  yoke__json_number(json, "direct_gain", s->design.direct_gain);
  yoke__json_number(json, "largest_gain", s->design.largest_gain);
  yoke__json_number(json, "noise_gain", s->noise_gain);
  if (s->design.model.n > 0) {
    const yoke_synth_optimum* optimum = &s->design.optimum;
    yoke__json_number(json, "model_gamma", s->design.model_gamma);
    yoke__json_number(json, "net_delay", s->design.net_delay);
    yoke__json_begin_object(json, "optimum");
    yoke__json_number(json, "gamma", optimum->norm);
    yoke__json_number(json, "gain", optimum->gain);
    yoke__json_number(json, "least_real", optimum->least_real);
    yoke__json_number(json, "reduction_bound", optimum->bound);
    yoke__json_end_object(json);
  }
  yoke__json_end_object(json);
}

static void json_winners(const yoke_synth_winner winners[], size_t n, const char* key,
                         yoke_json* json) {
  yoke__json_begin_array(json, key);
  for (size_t i = 0; i < n; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_string(json, "path", yoke__synth_path_names[winners[i].path]);
    yoke__json_number(json, "up_to", winners[i].hz);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_rows(const yoke_synth_study* s, yoke_json* json) {
  yoke__json_begin_array(json, "errors");
  for (size_t i = 0; i < s->n_rows; i++) {
    yoke__json_begin_object(json, NULL);
    yoke__json_number(json, "frequency", s->rows[i].hz);
    for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
      yoke__json_begin_object(json, yoke__synth_path_names[p]);
      yoke__json_number(json, "all", s->rows[i].errors[p].all);
      yoke__json_number(json, "mean", s->rows[i].errors[p].mean);
      yoke__json_end_object(json);
    }
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

static void json_loop(const yoke_synth_study* s, yoke_json* json) {
  static const char* const kinds[] = {"stale", "fresh"};
  yoke__json_string(json, "no_loop", s->no_loop);
  if (s->no_loop != NULL) {
    return;
  }
  yoke__json_begin_array(json, "loop");
  for (int k = 0; k < 2; k++) {
    for (int p = 0; p < YOKE_SYNTH_N_PATHS; p++) {
      const yoke_synth_radius* radius = &s->loop[p].radius[k];
      if (s->loop[p].is_known[k]) {
        yoke__json_begin_object(json, NULL);
        yoke__json_string(json, "path", yoke__synth_path_names[p]);
        yoke__json_string(json, "exchange", kinds[k]);
        yoke__json_number(json, "radius", radius->largest);
        yoke__json_boolean(json, "has_one", radius->has_one);
        yoke__json_number(json, "next_radius", radius->next);
        yoke__json_end_object(json);
      }
    }
  }
  yoke__json_end_array(json);
}

static void json_runs(const yoke_synth_study* s, yoke_json* json) {
  yoke__json_string(json, "no_runs", s->no_runs);
  if (s->no_runs != NULL) {
    return;
  }
  yoke__json_number(json, "run_until", s->run_until);
  yoke__json_begin_array(json, "runs");
  for (size_t i = 0; i < YOKE_SYNTH_N_RUNS; i++) {
    const yoke_synth_trial* run = &s->runs[i];
    const bool is_fresh = s->is_fresh || i >= YOKE_SYNTH_RUN_FRESH;
    if (!run->is_run && run->why == NULL) {
      continue;
    }
    yoke__json_begin_object(json, NULL);
    yoke__json_string(
        json, "path",
        i == YOKE_SYNTH_RUN_FILE
            ? "as the file is"
            : yoke__synth_path_names[(i - YOKE_SYNTH_RUN_GIVEN) % YOKE_SYNTH_N_PATHS]);
    yoke__json_string(json, "exchange", is_fresh ? "fresh" : "stale");
    yoke__json_string(json, "status",
                      run->why != NULL    ? "refused"
                      : run->has_diverged ? "diverged"
                                          : "done");
    yoke__json_string(json, "message", run->why);
    yoke__json_number(json, "error", run->worst);
    yoke__json_string(json, "worst", isnan(run->worst) ? NULL : s->signals[run->signal]);
    yoke__json_end_object(json);
  }
  yoke__json_end_array(json);
}

void yoke__synth_json(const yoke_synth_study* s, yoke_json* json) {
  yoke__json_begin_document(json, "synth");
  yoke__json_string(json, "name", s->system);
  yoke__json_begin_array(json, "connections");
  for (size_t i = 0; i < s->n_signals; i++) {
    yoke__json_string(json, NULL, s->signals[i]);
  }
  yoke__json_end_array(json);
  json_design(s, json);
  yoke__json_string(json, "file", s->file);
  json_winners(s->all, s->n_all, "nearest", json);
  json_winners(s->mean, s->n_mean, "nearest_mean", json);
  json_rows(s, json);
  json_loop(s, json);
  json_runs(s, json);
  yoke__json_begin_array(json, "sets");
  for (size_t i = 0; i < s->n_sets; i++) {
    yoke__json_string(json, NULL, s->sets[i]);
  }
  yoke__json_end_array(json);
  yoke__json_string(json, "advice", s->advice);
  yoke__json_end_object(json);
}
