// What `yoke analyse` computes and prints: stability of the coupling of a system, as a table, over parameters, and of a
// run that was recorded.
#ifndef YOKE_APP_ANALYSE_H
#define YOKE_APP_ANALYSE_H

#include "app/app.h"
#include "app/app_system.h"
#include "base/base_json.h"
#include "study/study_linear.h"
#include "study/study_run.h"
#include "yoke/system.h"

#define YOKE_ANALYSE "analyse"

// What the command line asks for.
typedef struct yoke_app_analyse {
  const yoke_options* options;
  bool has_methods;  // some were named
  bool is_wanted[YOKE_LINEAR_N_METHODS];
  double step;                 // NaN: that of the file
  double at;                   // NaN: its start [s]
  double largest, resolution;  // NaN: four steps, 240 parts of that
  const char* out;             // NULL: no files
  bool is_json, is_quiet, expects_stable;
} yoke_app_analyse;

// One method at the present step.
typedef struct yoke_app_analyse_row {
  yoke_linear_method method;
  bool is_known;  // false: the file's method is not treated
  double radius;
  bool is_stable;
  double first;  // first unstable step [s]; infinite: none up to the largest; 0: all are
} yoke_app_analyse_row;

typedef struct yoke_app_analysis {
  yoke_system_info system;
  yoke_linear_loops* loops;
  const yoke_messages* messages;  // notes on the figures
  double step;
  yoke_linear_grid grid;
  bool is_grid_given;  // on the command line
  yoke_app_analyse_row rows[YOKE_LINEAR_N_METHODS];
  size_t n_rows;
  struct yoke_app_loops* cuts;  // NULL: none
  double at;                    // where it is linearised [s]
  bool is_file_wanted;
  char advice[640];
} yoke_app_analysis;

// Reads the options that all forms of the command share. False after a message.
bool yoke__app_analyse_read(const yoke_options* options, yoke_app_analyse* to);
// The system that the options name, for one thread. NULL after messages.
yoke_system* yoke__app_analyse_load(const yoke_options* options);
// Starts it; returns an exit status, after messages.
int yoke__app_analyse_start(yoke_system* system, yoke_state** state);
// Exit status after NO_MEMORY, and after anything else; with a message.
int yoke__app_analyse_fail(yoke_status status);
// Writes files into --out, which is given, and frees the texts. Returns an exit status, after a message.
int yoke__app_analyse_write(const yoke_app_analyse* app, const char* const names[],
                            yoke_text texts[], size_t n);

// app_analyse_page.c: analysis.html into --out, beside the figures that it shows. An exit status, after a message.
int yoke__app_analyse_page(const yoke_app_analyse* app, const yoke_app_analysis* a);
// Text behind HTML that is there.
void yoke__app_analyse_escape(yoke_text* to, const char* text);

// app_analyse_loop.c: the loop at each cut, and against another system. Nothing where there are no two sides and nobody asked for
// them. An exit status, after a message.
typedef struct yoke_app_loops yoke_app_loops;
int yoke__app_loops_open(const yoke_app_analyse* app, yoke_app_analysis* a, yoke_app_loops** out);
void yoke__app_loops_close(yoke_app_loops** loops);
void yoke__app_loops_print(const yoke_app_loops* loops);
void yoke__app_loops_json(const yoke_app_loops* loops, yoke_json* json);
// Their figures, as HTML behind what is there.
void yoke__app_loops_page(const yoke_app_loops* loops, yoke_text* to);
// nyquist.svg and bode.svg into --out.
int yoke__app_loops_write(const yoke_app_analyse* app, const yoke_app_loops* loops);

// The three forms; each returns an exit status.
int yoke__app_analyse_system(const yoke_app_analyse* app);  // app_analyse.c
int yoke__app_analyse_map(const yoke_app_analyse* app);     // app_analyse_map.c
int yoke__app_analyse_run(const yoke_app_analyse* app);     // app_analyse_run.c

// app_analyse_print.c
void yoke__app_analyse_advise(yoke_app_analysis* a);
void yoke__app_analyse_print(const yoke_app_analysis* a);
bool yoke__app_analyse_json(const yoke_app_analysis* a);

#endif
