// Drawings of an analysis as SVG: spectral radii over the step, and maps of stability, one small picture per method.
// Self-contained, readable on light and dark pages.
#ifndef YOKE_STUDY_FIGURE_H
#define YOKE_STUDY_FIGURE_H

#include <stdint.h>

#include "base/base_text.h"
#include "study/study_vary.h"

#define YOKE_FIGURE_MAX 16  // lines or small pictures

typedef struct yoke_figure_lines {
  const char* title;
  const double* steps;  // n_steps, ascending [s]
  size_t n_steps;
  const char* names[YOKE_FIGURE_MAX];
  bool is_dashed[YOKE_FIGURE_MAX];
  size_t n_lines;
  const double* radius;  // n_lines x n_steps; NaN: not known
  double step;           // the present one [s]
} yoke_figure_lines;

void yoke__figure_lines(const yoke_figure_lines* figure, yoke_text* svg);

// One axis: cells over (value, step), stable or not, and the first unstable step as a line. Two axes: cells over both
// values, coloured by the first unstable step.
typedef struct yoke_figure_map {
  const char* title;
  const yoke_grid* grid;  // one or two axes
  const yoke_axis* steps;
  const char* names[YOKE_FIGURE_MAX];
  size_t n_panels;
  const float* radius;  // n_panels x n_points x n_steps; NaN: not known; stable below 1
  const float*
      first;  // n_panels x n_points: first unstable step [s]; infinite: none; NaN: not known
} yoke_figure_map;

void yoke__figure_map(const yoke_figure_map* figure, yoke_text* svg);

#endif
