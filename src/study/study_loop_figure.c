// Drawings of frequency responses; see study_loop_figure.h.
#include "study/study_loop_figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "study/study_svg.h"

#define PI      3.14159265358979323846
#define WIDTH   560.0
#define LEFT    72.0
#define TOP     66.0
#define GAP     34.0   // between panels
#define NAMES   200.0  // room to the right
#define BOTTOM  58.0
#define SIDE    460.0  // of the Nyquist square
#define DB_SPAN 120.0  // below the largest value: the rest is cut off
#define FAR     4.0    // from the middle of a Nyquist drawing
#define CALM    100.0  // lowest frequencies that are left out: nothing happens there
#define NEAR    0.4    // points of a path closer than that are one [px]

static const char* const colours[YOKE_CURVES_MAX] = {"#1f5fa8", "#b5452c", "#2e7d4f", "#b8860b",
                                                     "#6a4c93", "#0e7c86", "#c2568a", "#7a7f85"};

static const char style[] =
    "text{font:12px " YOKE_SVG_FONT "}\n" YOKE_SVG_LIGHT YOKE_SVG_LINES
    "\n.one{stroke:#1c2024;fill:none}.point{fill:#d1495b}"
    ".ring{stroke:#d1495b;fill:none}\n" YOKE_SVG_DARK "\n.one{stroke:#e8ebee}\n}\n";

// A linear axis, or a logarithmic one.
typedef struct axis {
  double low, high;  // values
  double from, to;   // in the drawing
  bool is_log;
} axis;

static double at(const axis* a, double x) {
  const double share =
      a->is_log ? log(x / a->low) / log(a->high / a->low) : (x - a->low) / (a->high - a->low);
  return a->from + share * (a->to - a->from);
}

// ---- paths

typedef struct path {
  yoke_text* svg;
  double x, y;
  bool is_down;
} path;

static void begin_path(path* p, yoke_text* svg, size_t curve, bool is_dashed, double width,
                       const char* clip) {
  *p = (path){.svg = svg};
  yoke__text_add(svg,
                 "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s clip-path=\"url(#%s)\" "
                 "d=\"M0 0",
                 colours[curve % YOKE_CURVES_MAX], width,
                 is_dashed ? " stroke-dasharray=\"7 5\"" : "", clip);
}

// Next point; not finite: a gap. Points far outside of the drawing stay within what a viewer can bear.
static void add_point(path* p, double x, double y, bool is_last) {
  if (!yoke__is_finite(x) || !yoke__is_finite(y)) {
    p->is_down = false;
    return;
  }
  x = fmin(fmax(x, -1e4), 1e4);
  y = fmin(fmax(y, -1e4), 1e4);
  if (p->is_down && !is_last && hypot(x - p->x, y - p->y) < NEAR) {
    return;
  }
  yoke__text_add(p->svg, "%s%.1f %.1f", p->is_down ? "L" : "M", x, y);
  p->x = x;
  p->y = y;
  p->is_down = true;
}

static void end_path(path* p) {
  yoke__text_add(p->svg, "\"/>\n");
}

static void name_curves(const yoke_curves* c, double x, yoke_text* svg) {
  for (size_t i = 0; i < c->n_curves; i++) {
    const double y = TOP + 14 + 20 * (double)i;
    yoke__text_add(svg,
                   "<path fill=\"none\" stroke=\"%s\" stroke-width=\"3\"%s d=\"M%.1f %.1fh22\"/>\n",
                   colours[i], c->of[i].is_dashed ? " stroke-dasharray=\"7 5\"" : "", x, y - 4);
    yoke__svg_label(svg, "ink", x + 30, y, "start", c->of[i].name);
  }
}

static void clip(const char* name, const axis* x, const axis* y, yoke_text* svg) {
  yoke__text_add(svg,
                 "<clipPath id=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                 "height=\"%.1f\"/></clipPath>\n",
                 name, x->from, y->to, x->to - x->from, y->from - y->to);
}

// ---- Bode

typedef enum panel_kind { MAGNITUDE, PHASE, COHERENCE, N_PANELS } panel_kind;

typedef struct panel {
  panel_kind kind;
  axis x, y;
  double tick;  // of y
} panel;

static const char* const panel_names[N_PANELS] = {"magnitude [dB]", "phase [degrees]", "coherence"};
static const char* const panel_clips[N_PANELS] = {"magnitude", "phase", "coherence"};

// Value i of a curve; phases go on from the one before without jumps.
static double panel_value(const panel* p, const yoke_curve* curve, size_t i, double before) {
  const double complex value = curve->values[i];
  if (p->kind == COHERENCE) {
    return curve->coherence == NULL ? (double)NAN : curve->coherence[i];
  }
  if (!yoke__is_finite(creal(value)) || !yoke__is_finite(cimag(value))) {
    return (double)NAN;
  }
  if (p->kind == MAGNITUDE) {
    return 20 * log10(cabs(value));
  }
  const double phase = carg(value) * 180 / PI;
  // curves that begin on the negative axis begin at -180, all of them
  return isnan(before) ? phase - (phase > 175 ? 360 : 0) : before + remainder(phase - before, 360);
}

static void fit_panel(const yoke_curves* c, panel* p) {
  double low = (double)INFINITY, high = -(double)INFINITY;
  for (size_t k = 0; k < c->n_curves; k++) {
    double before = (double)NAN;
    for (size_t i = 0; i < c->n; i++) {
      const double value = panel_value(p, &c->of[k], i, before);
      if (yoke__is_finite(value)) {
        low = fmin(low, value);
        high = fmax(high, value);
        before = value;
      }
    }
  }
  if (p->kind == COHERENCE) {
    p->tick = 0.25;
    p->y.low = 0;
    p->y.high = 1;
    return;
  }
  // nothing, or a horizontal line
  if (!(high > low)) {
    low = yoke__is_finite(low) ? low - 1 : -1;
    high = low + 2;
  }
  low = p->kind == MAGNITUDE ? fmax(low, high - DB_SPAN) : low;
  p->tick = yoke__svg_nice_step(high - low, 5);
  // 45, 90, 180, ... degrees
  if (p->kind == PHASE && high - low > 90) {
    p->tick = 45;
    while ((high - low) / p->tick > 6) {
      p->tick *= 2;
    }
  }
  p->y.low = p->tick * floor(low / p->tick);
  p->y.high = p->tick * ceil(high / p->tick);
}

// 1, 2, 5 of every decade get a line, 1 a number; a narrow range all of them.
static void draw_log_axis(const panel* p, bool has_numbers, yoke_text* svg) {
  static const double digits[] = {1, 2, 5};
  const bool is_narrow = p->x.high / p->x.low < 300;
  const int first = (int)floor(log10(p->x.low)), last = (int)floor(log10(p->x.high));
  for (int d = first; d <= last; d++) {
    for (size_t i = 0; i < YOKE_COUNT(digits); i++) {
      const double value = pow(10, d) * digits[i];
      if (value < p->x.low * (1 - 1e-9) || value > p->x.high * (1 + 1e-9)) {
        continue;
      }
      yoke__text_add(svg, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", at(&p->x, value),
                     p->y.from, p->y.to);
      if (has_numbers && (i == 0 || is_narrow)) {
        char text[32];
        yoke__svg_number(value, text, sizeof text);
        yoke__svg_label(svg, "ink", at(&p->x, value), p->y.from + 18, "middle", text);
      }
    }
  }
}

static void draw_levels(const panel* p, yoke_text* svg) {
  const int n = (int)round((p->y.high - p->y.low) / p->tick);
  for (int i = 0; i <= n; i++) {
    const double value = p->y.low + i * p->tick;
    const bool is_zero = p->kind != COHERENCE && fabs(value) < 1e-9 * p->tick;
    char text[32];
    yoke__text_add(svg, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", is_zero ? "line" : "grid",
                   p->x.from, at(&p->y, value), p->x.to);
    yoke__svg_number(is_zero ? 0 : value, text, sizeof text);
    yoke__svg_label(svg, "ink", p->x.from - 8, at(&p->y, value) + 4, "end", text);
  }
}

static void draw_panel(const yoke_curves* c, const panel* p, bool is_last, yoke_text* svg) {
  clip(panel_clips[p->kind], &p->x, &p->y, svg);
  draw_log_axis(p, is_last, svg);
  draw_levels(p, svg);
  for (size_t k = 0; k < c->n_curves; k++) {
    path line;
    double before = (double)NAN;
    begin_path(&line, svg, k, c->of[k].is_dashed, 1.8, panel_clips[p->kind]);
    for (size_t i = 0; i < c->n; i++) {
      const double value = panel_value(p, &c->of[k], i, before);
      add_point(&line, at(&p->x, c->x[i]), at(&p->y, value), i + 1 == c->n);
      before = isnan(value) ? before : value;
    }
    end_path(&line);
  }
  yoke__svg_box(svg, "line", p->x.from, p->y.to, p->x.to - p->x.from, p->y.from - p->y.to);
  yoke__text_add(svg, "<g transform=\"translate(20 %.1f) rotate(-90)\">",
                 (p->y.from + p->y.to) / 2);
  yoke__svg_label(svg, "soft", 0, 0, "middle", panel_names[p->kind]);
  yoke__text_add(svg, "</g>\n");
}

static void begin(const yoke_curves* c, double width, double height, yoke_text* svg) {
  const yoke_svg_page page = {width, height, style, "", c->title, c->subtitle, 47};
  yoke__svg_begin(svg, &page);
}

void yoke__figure_bode(const yoke_curves* c, yoke_text* svg) {
  static const double heights[N_PANELS] = {220, 180, 90};
  bool has_coherence = false;
  for (size_t k = 0; k < c->n_curves; k++) {
    has_coherence = has_coherence || c->of[k].coherence != NULL;
  }
  const int n = has_coherence ? N_PANELS : COHERENCE;
  double top = TOP, height = TOP + BOTTOM - GAP;
  for (int i = 0; i < n; i++) {
    height += heights[i] + GAP;
  }
  begin(c, LEFT + WIDTH + NAMES, height, svg);
  for (int i = 0; i < n; i++) {
    panel p = {.kind = (panel_kind)i,
               .x = {c->x[0], c->x[c->n - 1], LEFT, LEFT + WIDTH, true},
               .y = {0, 1, top + heights[i], top, false}};
    fit_panel(c, &p);
    draw_panel(c, &p, i + 1 == n, svg);
    top += heights[i] + GAP;
  }
  yoke__svg_label(svg, "soft", LEFT + WIDTH / 2, height - 14, "middle", c->axis);
  name_curves(c, LEFT + WIDTH + 16, svg);
  yoke__text_add(svg, "</svg>\n");
}

// ---- Nyquist

// The square that holds 0, +1 with its circle, and the curves as far as they are not too far.
static void fit_square(const yoke_curves* c, double margin, axis* x, axis* y) {
  double low = -0.1, high = 1 + fmax(margin, 0.1), up = fmax(margin, 0.2);
  for (size_t k = 0; k < c->n_curves; k++) {
    for (size_t i = 0; i < c->n; i++) {
      const double complex value = c->of[k].values[i];
      if (yoke__is_finite(creal(value)) && yoke__is_finite(cimag(value))) {
        low = fmin(low, creal(value));
        high = fmax(high, creal(value));
        up = fmax(up, fabs(cimag(value)));
      }
    }
  }
  low = fmax(low, 0.5 - FAR);
  high = fmin(high, 0.5 + FAR);
  const double half = 1.06 * fmin(fmax((high - low) / 2, up), FAR), middle = (low + high) / 2;
  *x = (axis){middle - half, middle + half, LEFT, LEFT + SIDE, false};
  *y = (axis){-half, half, TOP + SIDE, TOP, false};
}

static void draw_square(const axis* x, const axis* y, yoke_text* svg) {
  const double tick = yoke__svg_nice_step(x->high - x->low, 6);
  char text[32];
  for (int i = (int)ceil(x->low / tick); i * tick <= x->high; i++) {
    const double to = at(x, i * tick);
    yoke__text_add(svg, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", i == 0 ? "line" : "grid",
                   to, y->from, y->to);
    yoke__svg_number(i * tick, text, sizeof text);
    yoke__svg_label(svg, "ink", to, y->from + 18, "middle", text);
  }
  for (int i = (int)ceil(y->low / tick); i * tick <= y->high; i++) {
    const double to = at(y, i * tick);
    yoke__text_add(svg, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n", i == 0 ? "line" : "grid",
                   x->from, to, x->to);
    yoke__svg_number(i * tick, text, sizeof text);
    yoke__svg_label(svg, "ink", x->from - 8, to + 4, "end", text);
  }
}

static void draw_curve(const yoke_curves* c, size_t k, int mirror, const axis* x, const axis* y,
                       yoke_text* svg) {
  path line;
  begin_path(&line, svg, k, c->of[k].is_dashed || mirror < 0, mirror < 0 ? 1 : 1.8, "square");
  for (size_t i = 0; i < c->n; i++) {
    const double complex value = c->of[k].values[i];
    add_point(&line, at(x, creal(value)), at(y, mirror * cimag(value)), i + 1 == c->n);
  }
  end_path(&line);
}

void yoke__figure_nyquist(const yoke_curves* c, double margin, yoke_text* svg) {
  axis x, y;
  fit_square(c, margin, &x, &y);
  begin(c, LEFT + SIDE + NAMES, TOP + SIDE + BOTTOM, svg);
  clip("square", &x, &y, svg);
  draw_square(&x, &y, svg);
  // the unit circle, where phase margins are read
  yoke__text_add(svg,
                 "<circle class=\"one\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" "
                 "stroke-dasharray=\"2 4\" clip-path=\"url(#square)\"/>\n",
                 at(&x, 0), at(&y, 0), at(&x, 1) - at(&x, 0));
  if (margin > 0) {
    yoke__text_add(svg,
                   "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" "
                   "stroke-dasharray=\"5 4\" clip-path=\"url(#square)\"/>\n",
                   at(&x, 1), at(&y, 0), at(&x, 1 + margin) - at(&x, 1));
  }
  for (size_t k = 0; k < c->n_curves; k++) {
    draw_curve(c, k, -1, &x, &y, svg);
    draw_curve(c, k, 1, &x, &y, svg);
  }
  yoke__text_add(svg, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", at(&x, 1),
                 at(&y, 0));
  yoke__svg_label(svg, "ink", at(&x, 1) + 8, at(&y, 0) - 8, "start", "+1");
  yoke__svg_box(svg, "line", LEFT, TOP, SIDE, SIDE);
  yoke__svg_label(svg, "soft", LEFT + SIDE / 2, TOP + SIDE + 42, "middle", "real part");
  yoke__text_add(svg, "<g transform=\"translate(20 %.1f) rotate(-90)\">", TOP + SIDE / 2);
  yoke__svg_label(svg, "soft", 0, 0, "middle", "imaginary part");
  yoke__text_add(svg, "</g>\n");
  name_curves(c, LEFT + SIDE + 16, svg);
  yoke__text_add(svg, "</svg>\n");
}

// ---- a loop

static void draw_loop(const yoke_synth_loop* loop, const yoke_synth_loop_report* report,
                      const char* title, const double w[], size_t n,
                      const yoke_synth_loop_point points[], double complex values[],
                      yoke_text* nyquist, yoke_text* bode) {
  double complex *coupled = values, *open = values + n, *distortion = values + 2 * n;
  char subtitle[160];
  for (size_t i = 0; i < n; i++) {
    coupled[i] = points[i].loop;
    open[i] = points[i].open;
    distortion[i] = points[i].distortion;
  }
  snprintf(subtitle, sizeof subtitle, "%s exchange every %.4g s; smallest distance to +1: %.3g",
           loop->exchange == YOKE_SYNTH_FRESH ? "fresh" : "stale", loop->step,
           report->margin.value);
  const yoke_curves plane = {
      title, subtitle, "", w, n, {{.name = "sampled loop H_open", .values = open}}, 1};
  yoke__figure_nyquist(&plane, report->margin.value, nyquist);
  snprintf(subtitle, sizeof subtitle,
           "%s exchange every %.4g s; G: error at most %.3g dB and %.3g degrees",
           loop->exchange == YOKE_SYNTH_FRESH ? "fresh" : "stale", loop->step,
           report->distortion_db.value, report->distortion_phase.value * 180 / PI);
  const yoke_curves over = {title,
                            subtitle,
                            "frequency [rad/s], up to pi / Dt",
                            w,
                            n,
                            {{.name = "coupled loop Q1 Q2", .values = coupled},
                             {.name = "sampled loop H_open", .values = open},
                             {.name = "distortion G", .values = distortion, .is_dashed = true}},
                            3};
  yoke__figure_bode(&over, bode);
}

yoke_status yoke__figure_loop(const yoke_synth_loop* loop, const yoke_synth_loop_report* report,
                              const char* title, yoke_text* nyquist, yoke_text* bode) {
  double* w = NULL;
  size_t n = 0;
  YOKE_TRY(yoke__synth_loop_frequencies(loop, &w, &n));
  yoke_synth_loop_point* points = calloc(n, sizeof *points);
  double complex* values = calloc(3 * n, sizeof *values);
  yoke_status status = points != NULL && values != NULL ? YOKE_OK : YOKE_NO_MEMORY;
  if (status >= 0) {
    status = yoke__synth_loop_sample(loop, n, w, points);
  }
  size_t first = 0;
  while (first + 2 < n && w[first] < CALM * w[0] && w[first] < 0.01 * w[n - 1]) {
    first++;
  }
  if (status >= 0) {
    draw_loop(loop, report, title, w + first, n - first, points + first, values, nyquist, bode);
    status = nyquist->status < 0 ? nyquist->status : bode->status;
  }
  free(w);
  free(points);
  free(values);
  return status;
}
