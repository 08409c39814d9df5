// Frequency responses of two results; see study_frf.h.
#include "study/study_frf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "study/study_loop_figure.h"
#include "study/study_recorded.h"

#define PI         3.14159265358979323846
#define NAME_SIZE  96
#define LAST_POWER 1e-8  // of the input's largest: beyond the last such frequency nothing is drawn

// A column without gaps: rows of input and output have to belong together.
static yoke_status samples_of(const yoke_recorded* result, size_t column, yoke_samples* to,
                              const yoke_sink* sink) {
  const yoke_csv_column* of = &result->csv.columns[column];
  if (of->n_missing > 0) {
    return yoke_fail(sink, YOKE_BAD_INPUT,
                     "frf: expected a value in every row of '%.200s', found %zu empty cells in %s",
                     of->name, of->n_missing, result->path);
  }
  *to = (yoke_samples){result->csv.columns[0].values, of->values, result->csv.n_rows};
  return YOKE_OK;
}

yoke_status yoke__frf_comparison_fill(const yoke_recorded results[2], const char* input,
                                      double resolution, yoke_arena* arena,
                                      yoke_frf_comparison* out, const yoke_sink* sink) {
  yoke_samples inputs[2];
  out->input = input;
  for (int k = 0; k < 2; k++) {
    if (yoke__recorded_find(&results[k], input, sink) == NULL) {
      return YOKE_BAD_INPUT;
    }
    YOKE_TRY(samples_of(&results[k], yoke__map_find(&results[k].names, input), &inputs[k], sink));
  }
  YOKE_TRY(yoke__frf_grid_of(inputs, resolution, &out->grid, sink));
  for (size_t i = 0; i < out->n_outputs; i++) {
    yoke_frf_output* o = &out->outputs[i];
    for (int k = 0; k < 2; k++) {
      yoke_samples output;
      YOKE_TRY(samples_of(&results[k], o->columns[k], &output, sink));
      YOKE_TRY(yoke__frf_estimate(&inputs[k], &output, &out->grid, arena, &o->of[k], sink));
    }
    o->difference = yoke__frf_compare(&o->of[0], &o->of[1], &out->grid, YOKE_FRF_TRUSTED);
  }
  return YOKE_OK;
}

void yoke__frf_comparison_csv(const yoke_frf_comparison* c, yoke_text* csv) {
  yoke__text_string(csv, "output,frequency,gain,phase,coherence,reference gain,reference phase,"
                         "reference coherence,is trusted\n");
  for (size_t i = 0; i < c->n_outputs; i++) {
    const yoke_frf_output* o = &c->outputs[i];
    for (size_t k = 0; k < c->grid.n; k++) {
      bool is_trusted = true;
      yoke__text_cell(csv, o->name);
      yoke__text_string(csv, ",");
      yoke__text_number(csv, yoke__frf_frequency(&c->grid, k));
      for (int side = 0; side < 2; side++) {
        const yoke_frf* f = &o->of[side];
        const double numbers[] = {cabs(f->response[k]), carg(f->response[k]) * 180 / PI,
                                  f->coherence[k]};
        for (int j = 0; j < 3; j++) {
          yoke__text_string(csv, ",");
          yoke__text_number(csv, numbers[j]);
        }
        is_trusted = is_trusted && yoke__frf_is_trusted(f, k, YOKE_FRF_TRUSTED);
      }
      yoke__text_string(csv, is_trusted ? ",1\n" : ",0\n");
    }
  }
}

// Frequencies that are drawn: up to where the input has power in one of the results.
static size_t count_drawn(const yoke_frf_comparison* c) {
  size_t n = 0;
  for (size_t k = 0; k < c->grid.n; k++) {
    for (int side = 0; side < 2; side++) {
      n = c->outputs[0].of[side].power[k] > LAST_POWER ? k + 1 : n;
    }
  }
  return n > 2 ? n : c->grid.n;
}

yoke_status yoke__frf_comparison_draw(const yoke_frf_comparison* c, yoke_text* svg) {
  const size_t n_drawn = c->n_outputs < YOKE_CURVES_MAX / 2 ? c->n_outputs : YOKE_CURVES_MAX / 2;
  char title[256], names[YOKE_CURVES_MAX][NAME_SIZE];
  double* f = calloc(c->grid.n, sizeof *f);
  YOKE_TRY_MEMORY(f);
  for (size_t k = 0; k < c->grid.n; k++) {
    f[k] = yoke__frf_frequency(&c->grid, k);
  }
  snprintf(title, sizeof title, "response to %.200s", c->input);
  yoke_curves curves = {.title = title,
                        .subtitle = "averaged cross spectra; below: the share that the input "
                                    "explains",
                        .axis = "frequency [Hz]",
                        .x = f,
                        .n = count_drawn(c),
                        .n_curves = 2 * n_drawn};
  for (size_t i = 0; i < 2 * n_drawn; i++) {
    const yoke_frf_output* o = &c->outputs[i / 2];
    const bool is_reference = i % 2 == 1;
    snprintf(names[i], NAME_SIZE, "%.64s%s", o->name, is_reference ? ", reference" : "");
    curves.of[i] = (yoke_curve){names[i], o->of[is_reference].response,
                                o->of[is_reference].coherence, is_reference};
  }
  yoke__figure_bode(&curves, svg);
  free(f);
  return svg->status;
}
