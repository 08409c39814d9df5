// What `yoke sweep --analyse` makes of a complete grid: analysis of variance and best settings, as
// tables, files and JSON.
#ifndef YOKE_APP_STUDY_ANALYSE_H
#define YOKE_APP_STUDY_ANALYSE_H

#include "app/app_study.h"
#include "base/base_json.h"

#define YOKE_ANOVA_TABLE "anova.csv"
#define YOKE_BEST_TABLE  "best.csv"

typedef struct yoke_study_analyse {
  bool has_anova, has_best;
  bool has_missing, has_clip;
  double missing;  // counts for runs without a value
  double clip;     // values above it count as it
  double within;   // of the best value, relative
  int64_t least;   // runs that are kept at least
} yoke_study_analyse;

// Reads --analyse, --missing, --clip, --best-within and --best-least. False after a message.
bool yoke__study_analyse_read(const yoke_options* options, yoke_study_analyse* out);
// Computes what was asked for and writes the files. Prints tables (unless quiet), or adds to json if
// that is there. Returns an exit status, after a message; what could be done is done.
int yoke__study_analyse_run(const yoke_study_analyse* analyse, const yoke_app_study* app,
                            yoke_json* json);

#endif
