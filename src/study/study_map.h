// A drawing of a measure over one or two axes, as SVG: a line, or a heat map. Self-contained, readable on light and dark
// pages, colours even to the eye (also for the colour-blind: lightness rises with the value).
#ifndef YOKE_STUDY_MAP_H
#define YOKE_STUDY_MAP_H

#include "base/base_text.h"
#include "study/study_run.h"
#include "study/study_store.h"

typedef struct yoke_study_map {
  const yoke_grid* grid;                    // one or two axes: right, and up
  const yoke_study_result* const* results;  // n_points; NULL: pending
  size_t best;                              // point, or YOKE_NOT_FOUND
  double current[2];     // position of the current setting on each axis; NaN: not drawn
  double current_value;  // NaN: not known
  const char* title;
  const char* measure;
  size_t index;  // of the measure
} yoke_study_map;

// Where a value stands on an axis: its index, or between two of them; NaN if it is outside or text is NULL.
double yoke__study_map_position(const yoke_axis* axis, const char* text);
void yoke__study_map_draw(const yoke_study_map* map, yoke_text* svg);
// Fills in what a study knows about map->index, and writes the drawing into its folder.
yoke_status yoke__study_map_write(yoke_study_map* map, const yoke_study* study, const char* name,
                                  const yoke_sink* sink);

// The colour of a value between 0 and 1 as 0xRRGGBB: lightness rises evenly from 0.27 to 0.93 in OKLab.
uint32_t yoke__study_map_colour(double s);

#endif
