// Heat maps and lines as SVG; see study_map.h.
//
// Colours: OKLCh with lightness L = 0.27 + 0.66 s, hue 290 - 190 s degrees (violet, blue, green, yellow) and chroma
// 0.092 + 0.14 (s - 0.38)^2, a smooth curve just inside what sRGB can show. Transform from OKLab to linear sRGB:
// B. Ottosson, A perceptual color space for image processing (2020).
#include "study/study_map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_map.h"
#include "base/base_number.h"
#include "base/base_os.h"
#include "study/study_svg.h"

#define PI         3.14159265358979323846
#define TOP        64.0
#define CHARACTER  7.4   // width of a character, about
#define LOG_RATIO  50.0  // above it values are drawn on a logarithmic scale
#define MAX_TITLED 20000
#define MAX_VALUES 200  // cells with their number in it
#define MIN_CELL_W 54.0
#define MIN_CELL_H 18.0

// ---- colour

static double encode(double linear) {
  return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

static void oklab_to_linear(double L, double a, double b, double rgb[3]) {
  const double l = pow(L + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = pow(L - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = pow(L - 0.0894841775 * a - 1.2914855480 * b, 3);
  rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
}

uint32_t yoke__study_map_colour(double s) {
  const double L = 0.27 + 0.66 * s, hue = (290 - 190 * s) * PI / 180;
  const double chroma = 0.092 + 0.14 * (s - 0.38) * (s - 0.38);
  double rgb[3];
  oklab_to_linear(L, chroma * cos(hue), chroma * sin(hue), rgb);
  uint32_t colour = 0;
  for (int i = 0; i < 3; i++) {
    const double x = encode(fmin(fmax(rgb[i], 0), 1));
    colour = colour << 8 | (uint32_t)lround(255 * x);
  }
  return colour;
}

// ---- values

typedef struct scale {
  double low, high;
  bool is_log;
} scale;

static double value_at(const yoke_study_map* map, size_t point) {
  const yoke_study_result* result = map->results[point];
  return result != NULL && yoke__run_is_good(result->status) ? result->values[map->index]
                                                             : (double)NAN;
}

static scale scale_of(const yoke_study_map* map) {
  scale s = {(double)NAN, (double)NAN, false};
  for (size_t i = 0; i < map->grid->n_points; i++) {
    s.low = fmin(s.low, value_at(map, i));
    s.high = fmax(s.high, value_at(map, i));
  }
  s.is_log = s.low > 0 && s.high / s.low > LOG_RATIO;
  return s;
}

// 0 .. 1
static double place(const scale* s, double value) {
  if (!(s->high > s->low)) {
    return 0.5;
  }
  return s->is_log ? log(value / s->low) / log(s->high / s->low)
                   : (value - s->low) / (s->high - s->low);
}

static double unplace(const scale* s, double at) {
  return s->is_log ? s->low * pow(s->high / s->low, at) : s->low + (s->high - s->low) * at;
}

double yoke__study_map_position(const yoke_axis* axis, const char* text) {
  double number = 0;
  if (text == NULL) {
    return (double)NAN;
  }
  for (size_t i = 0; i < axis->n; i++) {
    if (strcmp(axis->values[i], text) == 0) {
      return (double)i;
    }
  }
  if (!axis->is_numeric || !yoke__number_parse(text, &number)) {
    return (double)NAN;
  }
  // the same number in other digits, or a place between two neighbours
  for (size_t i = 0; i < axis->n; i++) {
    if (axis->numbers[i] == number) {
      return (double)i;
    }
    const double a = axis->numbers[i], b = i + 1 < axis->n ? axis->numbers[i + 1] : a;
    if ((a < number && number < b) || (b < number && number < a)) {
      const double part = axis->is_log ? log(number / a) / log(b / a) : (number - a) / (b - a);
      return (double)i + part;
    }
  }
  return (double)NAN;
}

// ---- parts of every drawing

static const char style[] =
    "text{font:13px " YOKE_SVG_FONT "}\n" YOKE_SVG_LIGHT YOKE_SVG_LINES
    ".curve{stroke:#2a4b8d;fill:none}\n"
    ".dot{fill:#2a4b8d}.void{fill:#eceff2}.hatch{stroke:#a3adb7}\n"
    ".halo{stroke:#ffffff;fill:none}.mark{stroke:#111111;fill:none}\n" YOKE_SVG_DARK
    ".curve{stroke:#8fb3ff}.dot{fill:#8fb3ff}.void{fill:#23282c}\n"
    ".hatch{stroke:#5c666f}\n}\n";

static const char hatching[] =
    "<defs><pattern id=\"failed\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect class=\"void\" width=\"7\" height=\"7\"/>"
    "<path class=\"hatch\" d=\"M0 0V7\" stroke-width=\"3\"/></pattern></defs>\n";

static void begin(yoke_text* svg, const yoke_study_map* map, double width, double height,
                  const char* subtitle) {
  const yoke_svg_page page = {width, height, style, hatching, map->title, subtitle, 48};
  yoke__svg_begin(svg, &page);
}

// The shapes of the two marks; a light line below a dark one shows on every colour.
static void mark(yoke_text* svg, bool is_best, double x, double y, double r) {
  for (int i = 0; i < 2; i++) {
    const char* class_name = i == 0 ? "halo" : "mark";
    const double width = i == 0 ? 4.5 : 2;
    if (is_best) {
      yoke__text_add(
          svg, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" stroke-width=\"%.1f\"/>\n",
          class_name, x, y, r, width);
    } else {
      yoke__text_add(svg,
                     "<path class=\"%s\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" "
                     "stroke-width=\"%.1f\"/>\n",
                     class_name, x, y - r * 1.25, r * 1.25, r * 1.25, -r * 1.25, r * 1.25,
                     -r * 1.25, -r * 1.25, width);
    }
  }
}

// Four digits; no exponent up to a million, a short one beyond.
static void number_text(double x, char* to, size_t size) {
  const double size_of = fabs(x);
  if (size_of >= 9999.5 && size_of < 1e6) {
    snprintf(to, size, "%.0f", x);
    return;
  }
  yoke__svg_number(x, to, size);
}

// The line below the drawing: what the marks mean.
static void legend(yoke_text* svg, const yoke_study_map* map, double x, double y, bool has_current,
                   bool has_failed) {
  char text[96], number[32];
  if (map->best != YOKE_NOT_FOUND) {
    number_text(value_at(map, map->best), number, sizeof number);
    snprintf(text, sizeof text, "best: %s", number);
    mark(svg, true, x + 7, y - 5, 6);
    yoke__svg_label(svg, "ink", x + 22, y, "start", text);
    x += 40 + CHARACTER * (double)strlen(text);
  }
  if (has_current) {
    number_text(map->current_value, number, sizeof number);
    snprintf(text, sizeof text, "current: %s", isnan(map->current_value) ? "failed" : number);
    mark(svg, false, x + 8, y - 5, 6);
    yoke__svg_label(svg, "ink", x + 24, y, "start", text);
    x += 42 + CHARACTER * (double)strlen(text);
  }
  if (has_failed) {
    yoke__text_add(svg,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"13\" "
                   "fill=\"url(#failed)\"/>\n",
                   x, y - 11);
    yoke__svg_label(svg, "ink", x + 22, y, "start", "failed");
  }
}

static bool has_failed_points(const yoke_study_map* map) {
  for (size_t i = 0; i < map->grid->n_points; i++) {
    if (isnan(value_at(map, i))) {
      return true;
    }
  }
  return false;
}

static void add_title(const yoke_study_map* map, size_t point, yoke_text* svg) {
  char where[256], number[32];
  const yoke_study_result* result = map->results[point];
  if (map->grid->n_points > MAX_TITLED || result == NULL) {
    return;
  }
  yoke__grid_describe(map->grid, point, where, sizeof where);
  yoke__text_add(svg, "<title>");
  yoke__text_xml(svg, where);
  if (isnan(value_at(map, point))) {
    yoke__text_add(svg, ": %s ", yoke__run_status_names[result->status]);
    yoke__text_xml(svg, result->reason == NULL ? "" : result->reason);
  } else {
    snprintf(number, sizeof number, "%.6g", value_at(map, point));
    yoke__text_add(svg, ": %s", number);
  }
  yoke__text_add(svg, "</title>");
}

// Every how many values an axis is labelled, with `room` pixels per value and `need` per label.
static size_t label_step(double room, double need) {
  const double n = ceil(need / room);
  return n > 1 ? (size_t)n : 1;
}

static size_t longest_label(const yoke_axis* axis) {
  size_t most = 1;
  for (size_t i = 0; i < axis->n; i++) {
    const size_t n = strlen(axis->values[i]);
    most = n > most ? n : most;
  }
  return most < 16 ? most : 16;
}

// ---- heat map

typedef struct heat_map {
  const yoke_study_map* map;
  scale scale;
  double left, bottom;  // of the cells
  double cell_w, cell_h;
  size_t n_x, n_y;
} heat_map;

static void draw_cell(const heat_map* h, size_t point, yoke_text* svg) {
  const size_t i = yoke__grid_index(h->map->grid, point, 0);
  const size_t j = yoke__grid_index(h->map->grid, point, 1);
  const double x = h->left + (double)i * h->cell_w, y = h->bottom - (double)(j + 1) * h->cell_h;
  const double value = value_at(h->map, point);
  char fill[24] = "url(#failed)";
  if (!isnan(value)) {
    snprintf(fill, sizeof fill, "#%06x", (unsigned)yoke__study_map_colour(place(&h->scale, value)));
  }
  // a little wider than the cell, so that no seam shows between two of them
  yoke__text_add(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\">", x,
                 y, h->cell_w + (isnan(value) ? 0 : 0.4), h->cell_h + (isnan(value) ? 0 : 0.4),
                 fill);
  add_title(h->map, point, svg);
  yoke__text_add(svg, "</rect>\n");
}

// A mark stands there: the legend has its number.
static bool is_marked(const heat_map* h, size_t i, size_t j) {
  const yoke_study_map* map = h->map;
  const bool is_best = map->best != YOKE_NOT_FOUND &&
                       yoke__grid_index(map->grid, map->best, 0) == i &&
                       yoke__grid_index(map->grid, map->best, 1) == j;
  return is_best ||
         (fabs(map->current[0] - (double)i) < 0.99 && fabs(map->current[1] - (double)j) < 0.99);
}

static void draw_cell_value(const heat_map* h, size_t point, yoke_text* svg) {
  const double value = value_at(h->map, point);
  const size_t i = yoke__grid_index(h->map->grid, point, 0);
  const size_t j = yoke__grid_index(h->map->grid, point, 1);
  char text[32];
  if (isnan(value) || is_marked(h, i, j)) {
    return;
  }
  number_text(value, text, sizeof text);
  yoke__text_add(svg,
                 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"font-size:11px\" "
                 "fill=\"%s\">%s</text>\n",
                 h->left + ((double)i + 0.5) * h->cell_w,
                 h->bottom - ((double)j + 0.5) * h->cell_h + 4,
                 place(&h->scale, value) < 0.55 ? "#ffffff" : "#101010", text);
}

static void draw_axes(const heat_map* h, yoke_text* svg) {
  const yoke_axis *x = &h->map->grid->axes[0], *y = &h->map->grid->axes[1];
  char text[20];
  const size_t step_x = label_step(h->cell_w, CHARACTER * (double)longest_label(x) + 12);
  for (size_t i = 0; i < x->n; i += step_x) {
    snprintf(text, sizeof text, "%.16s", x->values[i]);
    yoke__svg_label(svg, "ink", h->left + ((double)i + 0.5) * h->cell_w, h->bottom + 18, "middle",
                    text);
  }
  const size_t step_y = label_step(h->cell_h, 16);
  for (size_t j = 0; j < y->n; j += step_y) {
    snprintf(text, sizeof text, "%.16s", y->values[j]);
    yoke__svg_label(svg, "ink", h->left - 8, h->bottom - ((double)j + 0.5) * h->cell_h + 4.5, "end",
                    text);
  }
  yoke__svg_label(svg, "soft", h->left + h->cell_w * (double)h->n_x / 2, h->bottom + 40, "middle",
                  x->path);
  yoke__text_add(svg, "<g transform=\"translate(22 %.1f) rotate(-90)\">",
                 h->bottom - h->cell_h * (double)h->n_y / 2);
  yoke__svg_label(svg, "soft", 0, 0, "middle", y->path);
  yoke__text_add(svg, "</g>\n");
  yoke__svg_box(svg, "line", h->left, h->bottom - h->cell_h * (double)h->n_y,
                h->cell_w * (double)h->n_x, h->cell_h * (double)h->n_y);
}

static void draw_colour_bar(const heat_map* h, double x, yoke_text* svg) {
  const double height = h->cell_h * (double)h->n_y, top = h->bottom - height;
  char text[32];
  if (isnan(h->scale.low)) {
    return;
  }
  yoke__text_add(svg, "<linearGradient id=\"bar\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">");
  yoke__svg_stops(svg);
  yoke__text_add(svg,
                 "</linearGradient>\n<rect x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"%.1f\" "
                 "fill=\"url(#bar)\"/>\n",
                 x, top, height);
  yoke__text_add(svg, "<rect class=\"line\" x=\"%.1f\" y=\"%.1f\" width=\"16\" height=\"%.1f\"/>\n",
                 x, top, height);
  const int n = height > 150 ? 4 : 2;
  for (int i = 0; i <= n; i++) {
    number_text(unplace(&h->scale, (double)i / n), text, sizeof text);
    yoke__svg_label(svg, "ink", x + 22, h->bottom - height * i / n + 4.5, "start", text);
  }
}

static void draw_marks(const heat_map* h, yoke_text* svg) {
  const yoke_study_map* map = h->map;
  const double r = fmin(fmin(h->cell_w, h->cell_h) * 0.38, 9);
  if (!isnan(map->current[0]) && !isnan(map->current[1])) {
    mark(svg, false, h->left + (map->current[0] + 0.5) * h->cell_w,
         h->bottom - (map->current[1] + 0.5) * h->cell_h, fmax(r, 4));
  }
  if (map->best != YOKE_NOT_FOUND) {
    const double i = (double)yoke__grid_index(map->grid, map->best, 0) + 0.5;
    const double j = (double)yoke__grid_index(map->grid, map->best, 1) + 0.5;
    mark(svg, true, h->left + i * h->cell_w, h->bottom - j * h->cell_h, fmax(r, 4));
  }
}

static double clamp(double x, double low, double high) {
  return fmin(fmax(x, low), high);
}

static void draw_heat_map(const yoke_study_map* map, yoke_text* svg) {
  const yoke_axis *x = &map->grid->axes[0], *y = &map->grid->axes[1];
  heat_map h = {.map = map, .scale = scale_of(map), .n_x = x->n, .n_y = y->n};
  // names need their room, numbers can be left out
  const double name_w = CHARACTER * (double)longest_label(x) + 16;
  const double widest = x->is_numeric || name_w * (double)x->n > 900 ? 72 : fmax(name_w, 72);
  h.cell_w = clamp(620 / (double)x->n, x->is_numeric || widest <= 72 ? 1 : widest, widest);
  h.cell_h = clamp(400 / (double)y->n, 1, 46);
  h.left = 44 + CHARACTER * (double)longest_label(y);
  h.bottom = TOP + fmax(h.cell_h * (double)y->n, 40);
  const double right = h.left + h.cell_w * (double)x->n;
  const double width = fmax(fmax(right + 130, 420), 40 + 9.6 * (double)strlen(map->title));
  char subtitle[200];
  snprintf(subtitle, sizeof subtitle, "%.120s%s", map->measure,
           h.scale.is_log ? ", colours logarithmic" : "");
  begin(svg, map, width, h.bottom + 84, subtitle);
  for (size_t i = 0; i < map->grid->n_points; i++) {
    draw_cell(&h, i, svg);
  }
  // numbers in the cells only where they fit; the marks would cover theirs
  for (size_t i = 0; h.cell_w >= MIN_CELL_W && h.cell_h >= MIN_CELL_H &&
                     map->grid->n_points <= MAX_VALUES && i < map->grid->n_points;
       i++) {
    draw_cell_value(&h, i, svg);
  }
  draw_axes(&h, svg);
  draw_colour_bar(&h, right + 24, svg);
  draw_marks(&h, svg);
  legend(svg, map, 20, h.bottom + 70, !isnan(map->current[0]) && !isnan(map->current[1]),
         has_failed_points(map));
}

// ---- line

#define PLOT_WIDTH  600.0
#define PLOT_HEIGHT 300.0

typedef struct line_plot {
  const yoke_study_map* map;
  scale scale;
  bool is_spaced;  // values stand where their numbers are; else one beside the other
  double left, bottom;
} line_plot;

static double x_at(const line_plot* p, double index) {
  const yoke_axis* axis = &p->map->grid->axes[0];
  const double last = (double)(axis->n - 1);
  if (!p->is_spaced) {
    return p->left + PLOT_WIDTH * (index + 0.5) / (last + 1);
  }
  const size_t i = (size_t)fmin(floor(index), last);
  const double a = axis->numbers[i], b = axis->numbers[i + 1 < axis->n ? i + 1 : i];
  const double first = axis->numbers[0], end = axis->numbers[axis->n - 1];
  const double part = index - (double)i;
  double share = 0;
  if (axis->is_log) {
    share = (log(a / first) + part * log(b / a)) / log(end / first);
  } else {
    share = (a + part * (b - a) - first) / (end - first);
  }
  return p->left + PLOT_WIDTH * (0.03 + 0.94 * share);
}

static double y_at(const line_plot* p, double value) {
  return p->bottom - PLOT_HEIGHT * (0.06 + 0.88 * place(&p->scale, value));
}

static void draw_level(const line_plot* p, double value, yoke_text* svg) {
  char text[32];
  number_text(fabs(value) < 1e-12 * fabs(p->scale.high - p->scale.low) ? 0 : value, text,
              sizeof text);
  yoke__text_add(svg, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>\n", p->left, y_at(p, value),
                 PLOT_WIDTH);
  yoke__svg_label(svg, "ink", p->left - 8, y_at(p, value) + 4.5, "end", text);
}

static void draw_levels(const line_plot* p, yoke_text* svg) {
  const scale* s = &p->scale;
  if (isnan(s->low)) {
    return;
  }
  if (!(s->high > s->low)) {
    draw_level(p, s->low, svg);
  } else if (s->is_log) {
    const int step = (int)fmax(1, ceil(log10(s->high / s->low) / 8));
    const int last = (int)floor(log10(s->high));
    for (int e = (int)ceil(log10(s->low)); e <= last; e += step) {
      draw_level(p, pow(10, e), svg);
    }
  } else {
    const double step = yoke__svg_nice_step(s->high - s->low, 5);
    const double first = ceil(s->low / step);
    const int n = (int)(floor(s->high / step) - first);
    for (int k = 0; k <= n; k++) {
      draw_level(p, (first + k) * step, svg);
    }
  }
}

// Failed points: a hatched strip as wide as half the way to the neighbours.
static void draw_strip(const line_plot* p, size_t i, yoke_text* svg) {
  const size_t n = p->map->grid->n_points;
  const double x = x_at(p, (double)i);
  double from = i > 0 ? (x + x_at(p, (double)i - 1)) / 2 : p->left;
  double to = i + 1 < n ? (x + x_at(p, (double)i + 1)) / 2 : p->left + PLOT_WIDTH;
  if (from > to) {  // a list that runs backwards
    const double other = from;
    from = to;
    to = other;
  }
  yoke__text_add(svg,
                 "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
                 "fill=\"url(#failed)\">",
                 from, p->bottom - PLOT_HEIGHT, to - from, PLOT_HEIGHT);
  add_title(p->map, i, svg);
  yoke__text_add(svg, "</rect>\n");
}

static void draw_curve(const line_plot* p, yoke_text* svg) {
  bool is_down = false;
  yoke__text_add(svg, "<path class=\"curve\" stroke-width=\"2\" d=\"M0 0");
  for (size_t i = 0; i < p->map->grid->n_points; i++) {
    const double value = value_at(p->map, i);
    if (!isnan(value)) {
      yoke__text_add(svg, "%s%.2f %.2f", is_down ? "L" : "M", x_at(p, (double)i), y_at(p, value));
    }
    is_down = !isnan(value) && p->map->grid->axes[0].is_numeric;
  }
  yoke__text_add(svg, "\"/>\n");
  for (size_t i = 0; i < p->map->grid->n_points; i++) {
    const double value = value_at(p->map, i);
    if (!isnan(value)) {
      yoke__text_add(svg, "<circle class=\"dot\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.1f\">",
                     x_at(p, (double)i), y_at(p, value), p->map->grid->n_points > 100 ? 1.5 : 3.5);
      add_title(p->map, i, svg);
      yoke__text_add(svg, "</circle>\n");
    }
  }
}

static void draw_x_labels(const line_plot* p, yoke_text* svg) {
  const yoke_axis* axis = &p->map->grid->axes[0];
  const double need = CHARACTER * (double)longest_label(axis) + 14;
  double last = -1e9;
  for (size_t i = 0; i < axis->n; i++) {
    const double x = x_at(p, (double)i);
    if (fabs(x - last) < need) {
      continue;
    }
    char text[20];
    last = x;
    snprintf(text, sizeof text, "%.16s", axis->values[i]);
    yoke__text_add(svg, "<path class=\"line\" d=\"M%.2f %.1fv5\"/>\n", x, p->bottom);
    yoke__svg_label(svg, "ink", x, p->bottom + 20, "middle", text);
  }
  yoke__svg_label(svg, "soft", p->left + PLOT_WIDTH / 2, p->bottom + 42, "middle", axis->path);
}

static void draw_line(const yoke_study_map* map, yoke_text* svg) {
  const yoke_axis* axis = &map->grid->axes[0];
  line_plot p = {.map = map, .scale = scale_of(map), .left = 92, .bottom = TOP + PLOT_HEIGHT};
  p.is_spaced = axis->is_numeric && axis->n > 1 && axis->numbers[0] != axis->numbers[axis->n - 1];
  for (size_t i = 2; i < axis->n && p.is_spaced; i++) {
    // a list out of order is drawn as it was given
    p.is_spaced =
        (axis->numbers[i] > axis->numbers[i - 1]) == (axis->numbers[1] > axis->numbers[0]);
  }
  // the current value belongs into the picture too
  if (!isnan(map->current[0]) && !isnan(map->current_value)) {
    p.scale.low = fmin(p.scale.low, map->current_value);
    p.scale.high = fmax(p.scale.high, map->current_value);
    p.scale.is_log = p.scale.low > 0 && p.scale.high / p.scale.low > LOG_RATIO;
  }
  char subtitle[200];
  snprintf(subtitle, sizeof subtitle, "%.120s%s", map->measure,
           p.scale.is_log ? ", scale logarithmic" : "");
  begin(svg, map, p.left + PLOT_WIDTH + 30, p.bottom + 88, subtitle);
  draw_levels(&p, svg);
  for (size_t i = 0; i < map->grid->n_points; i++) {
    if (isnan(value_at(map, i))) {
      draw_strip(&p, i, svg);
    }
  }
  yoke__svg_box(svg, "line", p.left, p.bottom - PLOT_HEIGHT, PLOT_WIDTH, PLOT_HEIGHT);
  draw_curve(&p, svg);
  draw_x_labels(&p, svg);
  const bool has_current = !isnan(map->current[0]) && !isnan(map->current_value);
  if (has_current) {
    mark(svg, false, x_at(&p, map->current[0]), y_at(&p, map->current_value), 7);
  }
  if (map->best != YOKE_NOT_FOUND) {
    mark(svg, true, x_at(&p, (double)map->best), y_at(&p, value_at(map, map->best)), 8);
  }
  legend(svg, map, 20, p.bottom + 74, has_current, has_failed_points(map));
}

void yoke__study_map_draw(const yoke_study_map* map, yoke_text* svg) {
  if (map->grid->n_axes == 1) {
    draw_line(map, svg);
  } else {
    draw_heat_map(map, svg);
  }
  yoke__text_add(svg, "</svg>\n");
}

yoke_status yoke__study_map_write(yoke_study_map* map, const yoke_study* study, const char* name,
                                  const yoke_sink* sink) {
  const yoke_study_plan* plan = yoke__study_plan_of(study);
  const size_t n = plan->grid->n_points;
  const yoke_study_result** results = calloc(n, sizeof(yoke_study_result*));
  yoke_text svg = {0};
  yoke_status status = YOKE_NO_MEMORY;
  if (results != NULL) {
    for (size_t i = 0; i < n; i++) {
      results[i] = yoke__study_find(study, i, 0);
    }
    map->grid = plan->grid;
    map->measure = plan->measures[map->index].text;
    map->results = results;
    yoke__study_map_draw(map, &svg);
    map->results = NULL;
    status = svg.status;
  }
  if (status >= 0) {
    status = yoke__os_write_into(yoke__study_directory(study), name, svg.bytes, svg.n, sink);
  }
  yoke__text_free(&svg);
  free((void*)results);
  return status;
}
