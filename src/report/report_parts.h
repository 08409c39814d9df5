// Parts of the page.
#ifndef YOKE_REPORT_PARTS_H
#define YOKE_REPORT_PARTS_H

#include <stdint.h>

#include "base/base_csv.h"
#include "base/base_json_read.h"
#include "report/report.h"

// The page's own files, embedded by cmake/embed.cmake from page/.
extern const unsigned char yoke__report_html[], yoke__report_css[], yoke__report_js[];
extern const size_t yoke__report_html_size, yoke__report_css_size, yoke__report_js_size;

// The recorded signals, in at most about n_chars characters (more only if that left fewer than 150 classes per signal).
// The summary describes the columns. Where it says that rows were lost, jumps of the time are gaps. YOKE_NO_MEMORY.
yoke_status yoke__report_put_series(const yoke_csv* table, const json_t* summary, size_t n_chars,
                                    yoke_json* json);

// Shortens the error bands over time ("course" of the judged signals in "trust") for the page: numbers in base 64, those of
// signals without a column left out, and few points where there are many signals. YOKE_NO_MEMORY.
yoke_status yoke__report_shorten_trust(json_t* summary, const yoke_csv* table);

// The columns of a reference that the result has too, and how far the result is from each: {"path", "signals": [{"name",
// "max", "t_max"}]} and what yoke__report_put_series writes. *n_shared: how many; if 0 nothing is written. YOKE_NO_MEMORY.
yoke_status yoke__report_put_reference(const char* path, const yoke_csv* reference,
                                       const yoke_csv* result, size_t n_chars, size_t* n_shared,
                                       yoke_json* json);

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
