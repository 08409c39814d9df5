// What the drawings of a study have in common: page, style, labels, numbers, levels of an axis.
#ifndef YOKE_STUDY_SVG_H
#define YOKE_STUDY_SVG_H

#include "base/base_text.h"

// Pieces of the style sheets: one set of colours on light and on dark pages. The last one leaves the
// braces of its media rule open for rules of the drawing.
#define YOKE_SVG_FONT "system-ui,'DejaVu Sans',sans-serif"
#define YOKE_SVG_LIGHT                                                                             \
  ".page{fill:#ffffff}.ink{fill:#1c2024}.soft{fill:#5b6570}.big{font-size:16px;font-weight:600}\n"
#define YOKE_SVG_LINES ".line{stroke:#8a949e;fill:none}.grid{stroke:#dfe3e7;fill:none}"
#define YOKE_SVG_DARK                                                                              \
  "@media (prefers-color-scheme:dark){\n"                                                          \
  ".page{fill:#15181b}.ink{fill:#e8ebee}.soft{fill:#a0a9b2}.line{stroke:#7a848e}\n"                \
  ".grid{stroke:#2d3338}"

typedef struct yoke_svg_page {
  double width, height;
  const char* style;  // rules
  const char* defs;   // patterns and the like; "": none
  const char *title, *subtitle;
  int subtitle_y;  // of its base line
} yoke_svg_page;

// Everything before the drawing itself, which the caller ends with </svg>.
void yoke__svg_begin(yoke_text* svg, const yoke_svg_page* page);
// anchor: start, middle or end.
void yoke__svg_label(yoke_text* svg, const char* class_name, double x, double y, const char* anchor,
                     const char* text);
void yoke__svg_box(yoke_text* svg, const char* class_name, double x, double y, double width,
                   double height);
// Colours of the map from 0 to 1 (study_map.h), as the stops of a gradient.
void yoke__svg_stops(yoke_text* svg);

// Up to four digits, "0.002", "2e-6".
void yoke__svg_number(double x, char* to, size_t size);
// A step of 1, 2 or 5 times a power of ten with about n steps in the range.
double yoke__svg_nice_step(double range, double n);

#endif
