// Parts of the page: each adds members to an open JSON object. The names of the members are the contract with
// page/report.js.
#ifndef YOKE_REPORT_PARTS_H
#define YOKE_REPORT_PARTS_H

#include <stdint.h>

#include "base/base_csv.h"
#include "base/base_json.h"
#include "report/report.h"

// The page's own files, embedded by cmake/embed.cmake from page/.
extern const unsigned char yoke__report_html[], yoke__report_css[], yoke__report_js[];
extern const size_t yoke__report_html_size, yoke__report_css_size, yoke__report_js_size;

// The verdict on the whole run: that of the worst bond, in one sentence.
typedef struct yoke_report_verdict {
  yoke_verdict verdict;
  char sentence[1536];
} yoke_report_verdict;

void yoke__report_judge(const yoke_report_input* input, yoke_report_verdict* out);

void yoke__report_put_run(const yoke_report_input* input, yoke_json* json);     // report_run.c
void yoke__report_put_system(const yoke_report_input* input, yoke_json* json);  // report_system.c
void yoke__report_put_bonds(const yoke_report_input* input, yoke_json* json);   // report_bonds.c

// The recorded signals, in at most about n_chars characters (more only if that left fewer than 150 classes per signal).
// n_lost > 0: jumps of the time are gaps. YOKE_NO_MEMORY.
yoke_status yoke__report_put_series(const yoke_csv* table, const yoke_system* system,
                                    size_t n_chars, uint64_t n_lost, yoke_json* json);

// ---------------------------------------------------------------------------------------------------------
// decimation: report_decimate.c

// First row of class k of n_classes; k == n_classes: n_rows. The first and the last row are classes of their own.
// 3 <= n_classes <= n_rows.
size_t yoke__report_class_start(size_t n_rows, size_t n_classes, size_t k);
// Smallest and largest value of every class, in the order of time; NaN if a class has no finite value. places: where in
// the class, 0 at its start to 32767 at the start of the next one; the second of a pair is 32768 larger if the class has a
// value that is not finite. values, places: 2 n_classes.
void yoke__report_decimate(const double t[], const double v[], size_t n_rows, size_t n_classes,
                           double values[], uint16_t places[]);

// Base 64 (RFC 4648) of little-endian numbers, NUL-terminated, to be freed; NULL without memory.
char* yoke__report_encode_doubles(const double x[], size_t n);
char* yoke__report_encode_shorts(const uint16_t x[], size_t n);

#endif
