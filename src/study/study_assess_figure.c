// The work-precision figure of an assessment as SVG; see study_assess.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "study/study_assess.h"

#define WIDTH        800.0
#define PANEL        430.0
#define LEFT         84.0
#define RIGHT        190.0  // room for the names of the lines
#define TOP          44.0
#define BOTTOM       56.0
#define MAX_LINES    32
#define LABEL_HEIGHT 17.0

// distinct in hue and in lightness
static const char* const colours[] = {"#1f5fa8", "#b5452c", "#2e7d4f", "#b8860b",
                                      "#6a4c93", "#0e7c86", "#c2568a", "#555555"};

// A decimal logarithmic axis.
typedef struct axis {
  double low, high;  // powers of ten
  double from, to;   // in the drawing
} axis;

typedef struct panel {
  const yoke_assess_problem* problem;
  const yoke_assess_result* results;
  size_t n;
  axis x, y;
  double top;
} panel;

// ---- values

static double size_of(const yoke_assess_problem* problem, size_t monitor) {
  const double* y = problem->monitors[monitor].reference;
  double sum = 0;
  for (size_t i = 0; i < problem->n_samples; i++) {
    sum += y[i] * y[i];
  }
  return sqrt(sum / (double)problem->n_samples);
}

double yoke__assess_relative(const yoke_assess_problem* problem, const double error[],
                             yoke_assess_level level) {
  double worst = 0;
  bool is_judged = false;
  for (size_t i = 0; i < problem->n_monitors; i++) {
    const double limit = problem->monitors[i].limit[level];
    if (yoke__is_finite(limit)) {
      worst = fmax(worst, isnan(error[i]) ? (double)INFINITY : error[i] / limit);
      is_judged = true;
    }
  }
  for (size_t i = 0; !is_judged && i < problem->n_monitors; i++) {
    const double size = size_of(problem, i);
    worst = fmax(worst, error[i] / (size > 0 ? size : 1));
  }
  return worst;
}

static double work_of(const yoke_assess_result* r) {
  return 1 / r->real_time_factor;
}

static bool is_drawn(const panel* p, const yoke_assess_result* r) {
  const double x = yoke__assess_relative(p->problem, r->error, YOKE_LEVEL_LOW);
  return strcmp(r->problem, p->problem->name) == 0 && r->status >= 0 && x > 1e-12 && x < 1e6 &&
         work_of(r) > 0;
}

static double at(const axis* a, double value) {
  return a->from + (log10(value) - a->low) / (a->high - a->low) * (a->to - a->from);
}

static void fit(axis* a, double value) {
  a->low = fmin(a->low, floor(log10(value)));
  a->high = fmax(a->high, ceil(log10(value)));
}

static void fit_axes(panel* p) {
  p->x = (axis){99, -99, LEFT, WIDTH - RIGHT};
  p->y = (axis){99, -99, p->top + PANEL - BOTTOM, p->top + TOP};
  for (size_t i = 0; i < p->n; i++) {
    if (is_drawn(p, &p->results[i])) {
      fit(&p->x, yoke__assess_relative(p->problem, p->results[i].error, YOKE_LEVEL_LOW));
      fit(&p->y, work_of(&p->results[i]));
    }
  }
  // nothing drawn, or all in one decade
  if (p->x.high < p->x.low) {
    p->x.low = p->y.low = -1;
    p->x.high = p->y.high = 0;
  }
  p->x.high += p->x.high == p->x.low;
  p->y.high += p->y.high == p->y.low;
}

// ---- frame

static void draw_axes(const panel* p, yoke_text* svg) {
  for (int d = (int)p->x.low; d <= (int)p->x.high; d++) {
    const double x = at(&p->x, pow(10, d));
    yoke__text_add(svg,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">1e%d</text>\n",
                   x, p->y.from, x, p->y.to, x, p->y.from + 18, d);
  }
  for (int d = (int)p->y.low; d <= (int)p->y.high; d++) {
    const double y = at(&p->y, pow(10, d));
    yoke__text_add(svg,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">1e%d</text>\n",
                   p->x.from, y, p->x.to, y, p->x.from - 6, y + 4, d);
  }
  yoke__text_add(svg,
                 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
                 "stroke=\"#666\"/>\n",
                 p->x.from, p->y.to, p->x.to - p->x.from, p->y.from - p->y.to);
}

static void draw_words(const panel* p, yoke_text* svg) {
  const double middle = (p->y.from + p->y.to) / 2;
  yoke__text_add(svg, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"16\">", LEFT, p->top + 26);
  yoke__text_xml(svg, p->problem->title);
  yoke__text_add(svg, "</text>\n<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                 (p->x.from + p->x.to) / 2, p->y.from + 42,
                 yoke__assess_is_judged(p->problem) ? "largest error / its low level"
                                                    : "largest error / size of the signal");
  yoke__text_add(svg,
                 "<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">"
                 "processor time per simulated second [s]</text>\n",
                 middle);
}

// A dashed line where a level begins.
static void draw_level(const panel* p, yoke_assess_level level, yoke_text* svg) {
  double ratio = (double)INFINITY;
  for (size_t i = 0; i < p->problem->n_monitors; i++) {
    const double* limit = p->problem->monitors[i].limit;
    if (yoke__is_finite(limit[YOKE_LEVEL_LOW])) {
      ratio = fmin(ratio, limit[level] / limit[YOKE_LEVEL_LOW]);
    }
  }
  const double where = log10(ratio);
  if (where >= p->x.low && where <= p->x.high) {
    const double x = at(&p->x, ratio);
    yoke__text_add(svg,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#777\" "
                   "stroke-dasharray=\"5 4\"/>\n<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                   x, p->y.from, x, p->y.to, x + 4, p->y.to + 16, yoke__assess_level_names[level]);
  }
}

// ---- lines

// More lines than colours: the two formulations also differ by their strokes.
static const char* dash_of(const yoke_assess_result* r) {
  return r->options.formulation == YOKE_FORMULATION_NODAL ? "none" : "6 3";
}

static bool is_same_line(const yoke_assess_result* a, const yoke_assess_result* b) {
  const yoke_circuit_options *p = &a->options, *q = &b->options;
  return p->method == q->method && p->formulation == q->formulation && p->startup == q->startup &&
         p->is_refactored == q->is_refactored && (p->iterations > 0) == (q->iterations > 0);
}

// Points of a line from large steps to small ones, then the marks.
static size_t draw_line(const panel* p, size_t first, const char* colour, yoke_text* svg) {
  const yoke_assess_result* line = &p->results[first];
  size_t n = 0;
  yoke__text_add(svg,
                 "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" "
                 "stroke-dasharray=\"%s\" points=\"",
                 colour, dash_of(line));
  double above = (double)INFINITY;
  for (;;) {
    // the next smaller step; of equal ones the last
    const yoke_assess_result* next = NULL;
    for (size_t i = first; i < p->n; i++) {
      const yoke_assess_result* r = &p->results[i];
      if (is_drawn(p, r) && is_same_line(r, line) && r->options.step < above &&
          (next == NULL || r->options.step >= next->options.step)) {
        next = r;
      }
    }
    if (next == NULL) {
      break;
    }
    above = next->options.step;
    n++;
    yoke__text_add(svg, "%.1f,%.1f ",
                   at(&p->x, yoke__assess_relative(p->problem, next->error, YOKE_LEVEL_LOW)),
                   at(&p->y, work_of(next)));
  }
  yoke__text_add(svg, "\"/>\n");
  for (size_t i = first; i < p->n; i++) {
    const yoke_assess_result* r = &p->results[i];
    if (is_drawn(p, r) && is_same_line(r, line)) {
      yoke__text_add(svg,
                     "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"><title>%g s: %.3g "
                     "ns per step</title></circle>\n",
                     at(&p->x, yoke__assess_relative(p->problem, r->error, YOKE_LEVEL_LOW)),
                     at(&p->y, work_of(r)), colour, r->options.step, r->ns_per_step);
    }
  }
  return n;
}

static void draw_label(const panel* p, const yoke_assess_result* r, size_t line, const char* colour,
                       yoke_text* svg) {
  const double x = p->x.to + 12, y = p->y.to + 12 + LABEL_HEIGHT * (double)line;
  const bool is_bdf =
      r->options.method == YOKE_CIRCUIT_BDF2 || r->options.method == YOKE_CIRCUIT_BDF3;
  const bool is_system = p->problem->network == NULL;
  yoke__text_add(svg,
                 "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                 "stroke-width=\"3\" stroke-dasharray=\"%s\"/>\n<text x=\"%.1f\" y=\"%.1f\">%s "
                 "%s%s%s</text>\n",
                 x, y - 4, x + 18, y - 4, colour, dash_of(r), x + 24, y,
                 is_system ? "system" : yoke__circuit_formulation_names[r->options.formulation],
                 is_system ? "" : yoke__circuit_method_names[r->options.method],
                 is_bdf && r->options.startup == YOKE_STARTUP_CONST ? ", const" : "",
                 r->options.iterations > 0 || is_system ? "" : ", converged");
}

void yoke__assess_draw(const yoke_assess_problem* problem, const yoke_assess_result results[],
                       size_t n, size_t number, yoke_text* svg) {
  panel p = {.problem = problem, .results = results, .n = n, .top = PANEL * (double)number};
  size_t n_lines = 0;
  fit_axes(&p);
  draw_axes(&p, svg);
  draw_level(&p, YOKE_LEVEL_LOW, svg);
  draw_level(&p, YOKE_LEVEL_HIGH, svg);
  for (size_t i = 0; i < n && n_lines < MAX_LINES; i++) {
    bool is_first = is_drawn(&p, &results[i]);
    for (size_t j = 0; is_first && j < i; j++) {
      is_first = !(is_drawn(&p, &results[j]) && is_same_line(&results[j], &results[i]));
    }
    if (is_first) {
      const char* colour = colours[n_lines % YOKE_COUNT(colours)];
      draw_line(&p, i, colour, svg);
      draw_label(&p, &results[i], n_lines++, colour, svg);
    }
  }
  draw_words(&p, svg);
}

void yoke__assess_draw_begin(size_t n_panels, yoke_text* svg) {
  const double height = PANEL * (double)(n_panels > 0 ? n_panels : 1);
  yoke__text_add(svg,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                 "width=\"%.0f\" height=\"%.0f\" font-family=\"Helvetica, Arial, sans-serif\" "
                 "font-size=\"13\" fill=\"#222\">\n<rect width=\"100%%\" height=\"100%%\" "
                 "fill=\"white\"/>\n",
                 WIDTH, height, WIDTH, height);
}

void yoke__assess_draw_end(yoke_text* svg) {
  yoke__text_add(svg, "</svg>\n");
}
