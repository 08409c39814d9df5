// Common parts of drawings; see study_svg.h.
#include "study/study_svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "study/study_map.h"

#define N_STOPS 24

void yoke__svg_begin(yoke_text* svg, const yoke_svg_page* page) {
  yoke__text_add(
      svg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\" role=\"img\">\n<style>\n%s</style>\n%s"
      "<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
      page->width, page->height, page->width, page->height, page->style, page->defs);
  yoke__text_add(svg, "<text class=\"ink big\" x=\"20\" y=\"28\">");
  yoke__text_xml(svg, page->title);
  yoke__text_add(svg, "</text>\n<text class=\"soft\" x=\"20\" y=\"%d\">", page->subtitle_y);
  yoke__text_xml(svg, page->subtitle);
  yoke__text_add(svg, "</text>\n");
}

void yoke__svg_label(yoke_text* svg, const char* class_name, double x, double y, const char* anchor,
                     const char* text) {
  yoke__text_add(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class_name, x,
                 y, anchor);
  yoke__text_xml(svg, text);
  yoke__text_add(svg, "</text>\n");
}

void yoke__svg_box(yoke_text* svg, const char* class_name, double x, double y, double width,
                   double height) {
  yoke__text_add(svg, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                 class_name, x, y, width, height);
}

void yoke__svg_stops(yoke_text* svg) {
  for (int i = 0; i <= N_STOPS; i++) {
    const double at = (double)i / N_STOPS;
    yoke__text_add(svg, "<stop offset=\"%.4f\" stop-color=\"#%06x\"/>", at,
                   (unsigned)yoke__study_map_colour(at));
  }
}

void yoke__svg_number(double x, char* to, size_t size) {
  snprintf(to, size, "%.4g", x);
  char* e = strchr(to, 'e');
  if (e != NULL) {
    // e+07 -> e7, e-07 -> e-7
    const bool is_minus = e[1] == '-';
    const char* digits = e + 2 + (e[2] == '0');
    memmove(e + 1 + is_minus, digits, strlen(digits) + 1);
  }
}

double yoke__svg_nice_step(double range, double n) {
  const double power = pow(10, floor(log10(range / n)));
  const double m = range / n / power;
  return (m < 1.5 ? 1 : m < 3.5 ? 2 : m < 7.5 ? 5 : 10) * power;
}
