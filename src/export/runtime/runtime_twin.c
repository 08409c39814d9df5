// Lines of resources/yoke.txt that say what a twin is to estimate; runtime_config.c draws them.
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "estimate/estimate_filter.h"
#include "export/runtime/runtime.h"
#include "unit/twin/unit_twin.h"

// "-" is NaN.
static bool read_given(const char* word, double* to) {
  *to = (double)NAN;
  return strcmp(word, "-") == 0 || (yoke__number_parse(word, to) && yoke__is_finite(*to));
}

static bool read_all(char* const words[], double* const to[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!read_given(words[i], to[i])) {
      return false;
    }
  }
  return true;
}

// A whole number from 0 to most.
static bool read_whole(const char* word, int64_t most, int64_t* to) {
  return yoke__number_parse_integer(word, to) && *to >= 0 && *to <= most;
}

static yoke_status begin(char* const words[], size_t n, size_t n_lines, yoke_arena* arena,
                         yoke_twin_settings** out) {
  yoke_twin_settings* twin = yoke__arena_take(arena, sizeof *twin);
  yoke_twin_sensor* sensors = yoke__arena_array(arena, n_lines, sizeof *sensors);
  yoke_twin_unknown* unknowns = yoke__arena_array(arena, n_lines, sizeof *unknowns);
  YOKE_TRY_MEMORY(twin && sensors && unknowns);
  *twin = yoke__twin_settings_default();
  double* const numbers[] = {&twin->walk, &twin->rate_walk, &twin->start_sd, &twin->rate_sd,
                             &twin->gate, &twin->jitter,    &twin->late_s};
  int64_t filter = 0;
  if (n != 10 || !read_whole(words[1], YOKE_ESTIMATE_UNSCENTED, &filter) ||
      !read_all(words + 2, numbers, YOKE_COUNT(numbers)) || !(twin->late_s >= 0) ||
      !read_whole(words[9], 1000000, &twin->most_resets)) {
    return YOKE_BAD_INPUT;
  }
  twin->filter = (int)filter;
  twin->sensors = sensors;
  twin->unknowns = unknowns;
  *out = twin;
  return YOKE_OK;
}

static yoke_status add_sensor(char* const words[], size_t n, yoke_twin_settings* twin) {
  yoke_twin_sensor* to = (yoke_twin_sensor*)(uintptr_t)&twin->sensors[twin->n_sensors];
  *to = (yoke_twin_sensor){.name = words[1]};
  if (n != 3 || !yoke__number_parse(words[2], &to->sigma) || !(to->sigma >= 0)) {
    return YOKE_BAD_INPUT;
  }
  twin->n_sensors++;
  return YOKE_OK;
}

static yoke_status add_unknown(char* const words[], size_t n, yoke_twin_settings* twin) {
  yoke_twin_unknown* to = (yoke_twin_unknown*)(uintptr_t)&twin->unknowns[twin->n_unknowns];
  double* const numbers[] = {&to->start, &to->sd, &to->walk, &to->lower, &to->upper};
  int64_t as = 0;
  *to = (yoke_twin_unknown){.name = words[1]};
  if (n != 8 || !read_whole(words[2], YOKE_TWIN_CONDUCTANCE, &as) ||
      !read_all(words + 3, numbers, YOKE_COUNT(numbers))) {
    return YOKE_BAD_INPUT;
  }
  to->as = (yoke_twin_as)as;
  twin->n_unknowns++;
  return YOKE_OK;
}

yoke_status yoke__runtime_twin_line(char* const words[], size_t n, size_t n_lines,
                                    yoke_arena* arena, yoke_twin_settings** twin) {
  if (strcmp(words[0], "twin") == 0) {
    return *twin == NULL ? begin(words, n, n_lines, arena, twin) : YOKE_BAD_INPUT;
  }
  if (*twin == NULL) {
    return YOKE_BAD_INPUT;
  }
  return strcmp(words[0], "sensor") == 0 ? add_sensor(words, n, *twin)
                                         : add_unknown(words, n, *twin);
}
