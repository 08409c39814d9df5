// Long signals in few numbers, without losing a peak: the rows are cut into classes, and of each class the smallest and
// the largest value stay, bit by bit, in the order in which they came. A line through them fills the same pixels as
// one through all rows as long as a class is no wider than a pixel.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_check.h"
#include "report/report_parts.h"

#define PLACE_MAX 32767
#define HAS_GAP   32768

size_t yoke__report_class_start(size_t n_rows, size_t n_classes, size_t k) {
  if (k == 0) {
    return 0;
  }
  if (k >= n_classes) {
    return n_rows;
  }
  // quotient and remainder apart: (k - 1) times the rows may not fit
  const size_t n = n_rows - 2, n_inner = n_classes - 2;
  return 1 + (k - 1) * (n / n_inner) + (k - 1) * (n % n_inner) / n_inner;
}

static uint16_t place_of(double t, double start, double end) {
  const double share = end > start ? (t - start) / (end - start) : 0;
  return (uint16_t)(PLACE_MAX * (share < 0 ? 0 : share > 1 ? 1 : share) + 0.5);
}

void yoke__report_decimate(const double t[], const double v[], size_t n_rows, size_t n_classes,
                           double values[], uint16_t places[]) {
  for (size_t k = 0; k < n_classes; k++) {
    const size_t first = yoke__report_class_start(n_rows, n_classes, k);
    const size_t end = yoke__report_class_start(n_rows, n_classes, k + 1);
    size_t low = end, high = end, n_bad = 0;
    for (size_t i = first; i < end; i++) {
      if (!yoke__is_finite(v[i])) {
        n_bad++;
        continue;
      }
      // of equal values the first low one and the last high one: a flat class keeps both ends
      low = low == end || v[i] < v[low] ? i : low;
      high = high == end || v[i] >= v[high] ? i : high;
    }
    const bool is_empty = low == end;
    const size_t a = is_empty ? first : low < high ? low : high;
    const size_t b = is_empty ? end - 1 : low < high ? high : low;
    const double t_end = t[end < n_rows ? end : n_rows - 1];
    values[2 * k] = is_empty ? (double)NAN : v[a];
    values[2 * k + 1] = is_empty ? (double)NAN : v[b];
    places[2 * k] = place_of(t[a], t[first], t_end);
    places[2 * k + 1] = (uint16_t)(place_of(t[b], t[first], t_end) | (n_bad > 0 ? HAS_GAP : 0));
  }
}

// ---------------------------------------------------------------------------------------------------------

static char* encode(const unsigned char bytes[], size_t n) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  char* text = malloc((n + 2) / 3 * 4 + 1);
  if (text == NULL) {
    return NULL;
  }
  char* at = text;
  for (size_t i = 0; i < n; i += 3) {
    const size_t left = n - i;
    const uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)(left > 1 ? bytes[i + 1] : 0) << 8 |
                           (uint32_t)(left > 2 ? bytes[i + 2] : 0);
    *at++ = digits[three >> 18];
    *at++ = digits[three >> 12 & 63];
    *at++ = digits[left > 1 ? three >> 6 & 63 : 64];
    *at++ = digits[left > 2 ? three & 63 : 64];
  }
  *at = '\0';
  return text;
}

char* yoke__report_encode_doubles(const double x[], size_t n) {
  unsigned char* bytes = malloc(8 * n + 1);
  if (bytes == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    for (size_t k = 0; k < 8; k++) {
      bytes[8 * i + k] = (unsigned char)(bits >> (8 * k));
    }
  }
  char* text = encode(bytes, 8 * n);
  free(bytes);
  return text;
}

char* yoke__report_encode_shorts(const uint16_t x[], size_t n) {
  unsigned char* bytes = malloc(2 * n + 1);
  if (bytes == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < n; i++) {
    bytes[2 * i] = (unsigned char)(x[i] & 255);
    bytes[2 * i + 1] = (unsigned char)(x[i] >> 8);
  }
  char* text = encode(bytes, 2 * n);
  free(bytes);
  return text;
}
