// Analysis of variance of a full factorial array without repetitions: which axes, and which pairs
// of axes, a measure depends on.
//
//   SS_A  = n/a sum_i (m_i - m)^2                        main effect of an axis with a levels
//   SS_AB = n/(ab) sum_ij (m_ij - m_i - m_j + m)^2       interaction of two axes
//   MS    = SS / DoF,  DoF_A = a - 1,  DoF_AB = (a - 1)(b - 1),  share = MS / sum of all MS
//
// m, m_i, m_ij: means of all n values, of a level, of a pair of levels. The same as the sums of
// squared totals in the books (SS_A = sum_i y_i^2 / (n/a) - T^2/n, ...), which lose all digits when
// the mean is large against the differences. Source: D. C. Montgomery, Design and Analysis of
// Experiments, chapter 5. Assumes that every combination is there exactly once.
#ifndef YOKE_STUDY_ANOVA_H
#define YOKE_STUDY_ANOVA_H

#include "base/base_text.h"
#include "study/study_vary.h"

// A main effect (a == b) or an interaction (a < b) of axes.
typedef struct yoke_effect {
  size_t a, b;
  double sum;      // SS
  size_t freedom;  // DoF, > 0
  double mean;     // MS
  double share;    // of the sum of all MS; 0 if that is 0
} yoke_effect;

typedef struct yoke_anova {
  yoke_effect* effects;  // by MS, the largest first; equal ones in the order of the axes
  size_t n_effects;
  double grand;         // mean of all values
  double total;         // sum of (y - grand)^2
  size_t n_values;      // total has one degree of freedom less
  double rest;          // what main effects and interactions of two do not explain
  size_t rest_freedom;  // 0: nothing can be left
} yoke_anova;

// values: n_points of the grid, finite, in its order. Axes with one level have no effect.
// YOKE_NO_MEMORY.
yoke_status yoke__anova_compute(const yoke_grid* grid, const double values[], yoke_anova* out);
void yoke__anova_free(yoke_anova* anova);

// "path", "path x path".
void yoke__anova_name(const yoke_grid* grid, const yoke_effect* effect, char* to, size_t size);
// Rows of anova.csv: measure,a,b,ss,dof,ms,share; then (rest) and (total).
void yoke__anova_header(yoke_text* csv);
void yoke__anova_rows(const yoke_grid* grid, const yoke_anova* anova, const char* measure,
                      yoke_text* csv);

#endif
