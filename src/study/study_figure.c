// Drawings of an analysis; see study_figure.h.
#include "study/study_figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "study/study_map.h"
#include "study/study_svg.h"

static const char* const colours[] = {"#7a7f85", "#b8860b", "#c2568a", "#6a4c93", "#1f5fa8",
                                      "#0e7c86", "#2e7d4f", "#b5452c", "#444444", "#8a5a2b"};

static const char style[] =
    "text{font:12px " YOKE_SVG_FONT "}rect{shape-rendering:crispEdges}\n" YOKE_SVG_LIGHT
    ".name{font-weight:600}" YOKE_SVG_LINES "\n"
    ".good{fill:#2a6f97}.bad{fill:#eceff2}.void{fill:#ffffff}.edge{stroke:#d1495b;fill:none}\n"
    ".one{stroke:#1c2024;fill:none}\n" YOKE_SVG_DARK
    ".bad{fill:#23282c}.void{fill:#15181b}.good{fill:#5aa9d6}\n"
    ".one{stroke:#e8ebee}\n}\n";

static void begin(yoke_text* svg, double width, double height, const char* title,
                  const char* subtitle) {
  const yoke_svg_page page = {width, height, style, "", title, subtitle, 47};
  yoke__svg_begin(svg, &page);
}

// ---- radii over the step

#define WIDTH  560.0
#define HEIGHT 320.0
#define LEFT   64.0
#define TOP    66.0

typedef struct frame {
  double x_high, low, high;  // step [s]; radius, logarithmic
} frame;

static double x_of(const frame* f, double step) {
  return LEFT + WIDTH * step / f->x_high;
}

static double y_of(const frame* f, double radius) {
  const double clipped = fmin(fmax(radius, f->low), f->high);
  return TOP + HEIGHT * log(f->high / clipped) / log(f->high / f->low);
}

static frame frame_of(const yoke_figure_lines* figure) {
  frame f = {figure->steps[figure->n_steps - 1], 0.5, 2};
  for (size_t i = 0; i < figure->n_lines * figure->n_steps; i++) {
    const double r = figure->radius[i];
    if (yoke__is_finite(r)) {
      f.low = fmin(f.low, r);
      f.high = fmax(f.high, r);
    }
  }
  f.low = fmax(f.low, 0.05);
  f.high = fmin(f.high, 20);
  return f;
}

static void draw_frame(const yoke_figure_lines* figure, const frame* f, yoke_text* svg) {
  static const double levels[] = {0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20};
  char text[32];
  for (size_t i = 0; i < YOKE_COUNT(levels); i++) {
    if (levels[i] >= f->low && levels[i] <= f->high) {
      const double y = y_of(f, levels[i]);
      yoke__text_add(svg, "<path class=\"%s\" d=\"M%.1f %.1fh%.1f\"%s/>\n",
                     levels[i] == 1 ? "one" : "grid", LEFT, y, WIDTH,
                     levels[i] == 1 ? " stroke-dasharray=\"5 4\"" : "");
      yoke__svg_number(levels[i], text, sizeof text);
      yoke__svg_label(svg, "ink", LEFT - 8, y + 4, "end", text);
    }
  }
  const double tick = yoke__svg_nice_step(f->x_high, 6);
  for (int i = 0; i * tick <= f->x_high * (1 + 1e-9); i++) {
    yoke__svg_number(i * tick, text, sizeof text);
    yoke__text_add(svg, "<path class=\"line\" d=\"M%.1f %.1fv5\"/>\n", x_of(f, i * tick),
                   TOP + HEIGHT);
    yoke__svg_label(svg, "ink", x_of(f, i * tick), TOP + HEIGHT + 20, "middle", text);
  }
  yoke__svg_label(svg, "soft", LEFT + WIDTH / 2, TOP + HEIGHT + 42, "middle", "exchange step [s]");
  yoke__svg_box(svg, "line", LEFT, TOP, WIDTH, HEIGHT);
  if (figure->step <= f->x_high) {
    yoke__text_add(svg, "<path class=\"one\" stroke-dasharray=\"2 4\" d=\"M%.1f %.1fv%.1f\"/>\n",
                   x_of(f, figure->step), TOP, HEIGHT);
  }
}

static void draw_line(const yoke_figure_lines* figure, const frame* f, size_t line,
                      yoke_text* svg) {
  const char* colour = colours[line % YOKE_COUNT(colours)];
  bool is_down = false;
  const char* dashes = figure->is_dashed[line] ? " stroke-dasharray=\"7 5\"" : "";
  yoke__text_add(svg, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\"%s d=\"M0 0", colour,
                 dashes);
  for (size_t i = 0; i < figure->n_steps; i++) {
    const double r = figure->radius[line * figure->n_steps + i];
    if (!isnan(r)) {
      yoke__text_add(svg, "%s%.1f %.1f", is_down ? "L" : "M", x_of(f, figure->steps[i]),
                     y_of(f, r));
    }
    is_down = !isnan(r);
  }
  const double y = TOP + 14 + 20 * (double)line;
  yoke__text_add(
      svg, "\"/>\n<path fill=\"none\" stroke=\"%s\" stroke-width=\"3\"%s d=\"M%.1f %.1fh22\"/>\n",
      colour, dashes, LEFT + WIDTH + 16, y - 4);
  yoke__svg_label(svg, "ink", LEFT + WIDTH + 46, y, "start", figure->names[line]);
}

void yoke__figure_lines(const yoke_figure_lines* figure, yoke_text* svg) {
  const frame f = frame_of(figure);
  begin(svg, LEFT + WIDTH + 170, TOP + HEIGHT + 58, figure->title,
        "spectral radius of one exchange step; below 1 the coupling is stable");
  draw_frame(figure, &f, svg);
  for (size_t i = 0; i < figure->n_lines; i++) {
    draw_line(figure, &f, i, svg);
  }
  yoke__text_add(svg, "</svg>\n");
}

// ---- maps

#define PANEL_W   210.0
#define PANEL_H   150.0
#define GAP_X     98.0
#define GAP_Y     78.0
#define N_COLUMNS 3

typedef struct panel {
  const yoke_figure_map* figure;
  size_t index;
  double left, top;
  size_t n_x, n_y;  // cells
} panel;

static void cell(const panel* p, double i, double j, double n_high, const char* fill,
                 yoke_text* svg) {
  const double w = PANEL_W / (double)p->n_x, h = PANEL_H / (double)p->n_y;
  // a little larger than the cell, so that no seam shows
  yoke__text_add(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s/>\n",
                 p->left + i * w, p->top + PANEL_H - (j + n_high) * h, w + 0.2, n_high * h + 0.2,
                 fill);
}

static void frame_panel(const panel* p, yoke_text* svg) {
  yoke__svg_box(svg, "bad", p->left, p->top, PANEL_W, PANEL_H);
}

// Labels: the first and last value of each axis and one between, as far as they fit.
static void label_axis(const panel* p, const yoke_axis* axis, bool is_x, yoke_text* svg) {
  const size_t n = axis->n, at[3] = {0, n / 2, n - 1};
  for (size_t i = 0; i < 3; i++) {
    char text[20];
    if ((i == 1 && n < 3) || (i == 2 && n < 2)) {
      continue;
    }
    if (isnan(axis->numbers[at[i]])) {
      snprintf(text, sizeof text, "%.12s", axis->values[at[i]]);
    } else {
      yoke__svg_number(axis->numbers[at[i]], text, sizeof text);
    }
    const double share = ((double)at[i] + 0.5) / (double)n;
    if (is_x) {
      yoke__svg_label(svg, "ink", p->left + PANEL_W * share, p->top + PANEL_H + 15, "middle", text);
    } else {
      yoke__svg_label(svg, "ink", p->left - 6, p->top + PANEL_H * (1 - share) + 4, "end", text);
    }
  }
}

// The last part of a path: "units.left.with.k" -> "left.with.k" if there is no room.
static const char* short_path(const char* path, size_t room) {
  while (strlen(path) > room && strchr(path, '.') != NULL) {
    path = strchr(path, '.') + 1;
  }
  return path;
}

static void finish_panel(const panel* p, const yoke_axis* x, const yoke_axis* y, const char* y_name,
                         yoke_text* svg) {
  yoke__svg_box(svg, "line", p->left, p->top, PANEL_W, PANEL_H);
  yoke__svg_label(svg, "ink name", p->left, p->top - 7, "start", p->figure->names[p->index]);
  label_axis(p, x, true, svg);
  label_axis(p, y, false, svg);
  yoke__svg_label(svg, "soft", p->left + PANEL_W / 2, p->top + PANEL_H + 31, "middle",
                  short_path(x->path, 34));
  yoke__text_add(svg, "<g transform=\"translate(%.1f %.1f) rotate(-90)\">", p->left - 62,
                 p->top + PANEL_H / 2);
  yoke__svg_label(svg, "soft", 0, 0, "middle", y_name);
  yoke__text_add(svg, "</g>\n");
}

// Stable cells over (value, step), several of a column in one piece; the first unstable step as a line.
static void draw_steps(const panel* p, yoke_text* svg) {
  const yoke_figure_map* m = p->figure;
  const size_t n_steps = m->steps->n, n_points = m->grid->n_points;
  frame_panel(p, svg);
  for (size_t i = 0; i < n_points; i++) {
    const float* radius = m->radius + (p->index * n_points + i) * n_steps;
    size_t from = 0;
    for (size_t k = 0; k <= n_steps; k++) {
      const bool is_stable = k < n_steps && radius[k] < 1;
      if (!is_stable && k > from) {
        cell(p, (double)i, (double)from, (double)(k - from), "class=\"good\"", svg);
      }
      from = is_stable ? from : k + 1;
    }
    if (isnan(radius[0])) {
      cell(p, (double)i, 0, (double)n_steps, "class=\"void\"", svg);
    }
  }
  yoke__text_add(svg, "<path class=\"edge\" stroke-width=\"2\" d=\"M0 0");
  for (size_t i = 0; i < n_points; i++) {
    const float* radius = m->radius + (p->index * n_points + i) * n_steps;
    size_t k = 0;
    while (k < n_steps && radius[k] < 1) {
      k++;
    }
    const double x = p->left + PANEL_W * (double)i / (double)p->n_x;
    const double y = p->top + PANEL_H * (1 - (double)k / (double)n_steps);
    if (!isnan(radius[0])) {
      yoke__text_add(svg, "M%.1f %.1fh%.1f", x, y, PANEL_W / (double)p->n_x);
    }
  }
  yoke__text_add(svg, "\"/>\n");
  finish_panel(p, &m->grid->axes[0], m->steps, "exchange step [s]", svg);
}

// Share of a step between the smallest and the largest one.
static double share_of(const yoke_axis* steps, double first) {
  const double low = steps->numbers[0], high = steps->numbers[steps->n - 1];
  if (isinf(first) || !(high > low)) {
    return 1;
  }
  const double share =
      steps->is_log ? log(first / low) / log(high / low) : (first - low) / (high - low);
  return fmin(fmax(share, 0), 1);
}

static void draw_limits(const panel* p, yoke_text* svg) {
  const yoke_figure_map* m = p->figure;
  frame_panel(p, svg);
  for (size_t i = 0; i < m->grid->n_points; i++) {
    const double first = (double)m->first[p->index * m->grid->n_points + i];
    char fill[40] = "class=\"void\"";
    if (!isnan(first)) {
      snprintf(fill, sizeof fill, "fill=\"#%06x\"",
               (unsigned)yoke__study_map_colour(share_of(m->steps, first)));
    }
    cell(p, (double)yoke__grid_index(m->grid, i, 0), (double)yoke__grid_index(m->grid, i, 1), 1,
         fill, svg);
  }
  finish_panel(p, &m->grid->axes[0], &m->grid->axes[1], short_path(m->grid->axes[1].path, 26), svg);
}

// A bar with the colours of the steps, below the pictures.
static void draw_bar(const yoke_figure_map* m, double x, double y, yoke_text* svg) {
  char text[64], step[32];
  yoke__text_add(svg, "<linearGradient id=\"bar\">");
  yoke__svg_stops(svg);
  yoke__text_add(svg,
                 "</linearGradient>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"260\" height=\"12\" "
                 "fill=\"url(#bar)\"/>\n",
                 x, y);
  yoke__svg_number(m->steps->numbers[0], step, sizeof step);
  snprintf(text, sizeof text, "%s s", step);
  yoke__svg_label(svg, "ink", x, y + 27, "start", text);
  yoke__svg_number(m->steps->numbers[m->steps->n - 1], step, sizeof step);
  snprintf(text, sizeof text, "%s s and above", step);
  yoke__svg_label(svg, "ink", x + 260, y + 27, "end", text);
}

void yoke__figure_map(const yoke_figure_map* figure, yoke_text* svg) {
  const bool is_plane = figure->grid->n_axes == 2;
  const size_t n = figure->n_panels, n_columns = n < N_COLUMNS ? n : N_COLUMNS;
  const size_t n_rows = (n + N_COLUMNS - 1) / N_COLUMNS;
  const double width = 84 + (double)n_columns * (PANEL_W + GAP_X) - GAP_X + 30;
  const double height = 84 + (double)n_rows * (PANEL_H + GAP_Y) + (is_plane ? 40 : -20);
  begin(svg, fmax(width, 420), height, figure->title,
        is_plane ? "first unstable exchange step, by method"
                 : "filled: the coupling is stable; red: the first unstable step");
  for (size_t i = 0; i < n; i++) {
    const size_t row = i / N_COLUMNS, column = i % N_COLUMNS;
    const panel p = {.figure = figure,
                     .index = i,
                     .left = 84 + (double)column * (PANEL_W + GAP_X),
                     .top = 84 + (double)row * (PANEL_H + GAP_Y),
                     .n_x = figure->grid->axes[0].n,
                     .n_y = is_plane ? figure->grid->axes[1].n : figure->steps->n};
    if (is_plane) {
      draw_limits(&p, svg);
    } else {
      draw_steps(&p, svg);
    }
  }
  if (is_plane) {
    draw_bar(figure, 84, height - 50, svg);
  }
  yoke__text_add(svg, "</svg>\n");
}
