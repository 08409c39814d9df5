// Lines of resources/yoke.txt that say what a twin is to estimate; runtime_config.c draws them.
#include <string.h>

#include "base/base_check.h"
#include "base/base_number.h"
#include "estimate/estimate_filter.h"
#include "export/runtime/runtime.h"
#include "unit/twin/unit_twin.h"

#define MOST_RESETS 1000000

struct yoke_runtime_twin {
  yoke_twin_settings settings;
  yoke_twin_sensor* sensors;  // of settings
  yoke_twin_unknown* unknowns;
  const char** held;
};

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
                         yoke_runtime_twin** out) {
  yoke_runtime_twin* twin = yoke__arena_take(arena, sizeof *twin);
  YOKE_TRY_MEMORY(twin);
  yoke_twin_settings* s = &twin->settings;
  *s = yoke__twin_settings_default();
  s->sensors = twin->sensors = yoke__arena_array(arena, n_lines, sizeof *twin->sensors);
  s->unknowns = twin->unknowns = yoke__arena_array(arena, n_lines, sizeof *twin->unknowns);
  // NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers
  s->held = twin->held = yoke__arena_array(arena, n_lines, sizeof *twin->held);
  YOKE_TRY(yoke__arena_status(arena));
  double* const numbers[] = {&s->walk, &s->rate_walk, &s->start_sd, &s->rate_sd,
                             &s->gate, &s->jitter,    &s->late_s};
  int64_t filter = 0;
  if (n != 10 || !read_whole(words[1], YOKE_ESTIMATE_UNSCENTED, &filter) ||
      !read_all(words + 2, numbers, YOKE_COUNT(numbers)) || !(s->late_s >= 0) ||
      !read_whole(words[9], MOST_RESETS, &s->most_resets)) {
    return YOKE_BAD_INPUT;
  }
  s->filter = (int)filter;
  *out = twin;
  return YOKE_OK;
}

static yoke_status add_sensor(char* const words[], size_t n, yoke_runtime_twin* twin) {
  yoke_twin_sensor* to = &twin->sensors[twin->settings.n_sensors];
  *to = (yoke_twin_sensor){.name = words[1]};
  if (n != 3 || !yoke__number_parse(words[2], &to->sigma) || !(to->sigma >= 0)) {
    return YOKE_BAD_INPUT;
  }
  twin->settings.n_sensors++;
  return YOKE_OK;
}

static yoke_status add_unknown(char* const words[], size_t n, yoke_runtime_twin* twin) {
  yoke_twin_unknown* to = &twin->unknowns[twin->settings.n_unknowns];
  double* const numbers[] = {&to->start, &to->sd, &to->walk, &to->lower, &to->upper};
  int64_t as = 0;
  *to = (yoke_twin_unknown){.name = words[1]};
  if (n != 8 || !read_whole(words[2], YOKE_TWIN_CONDUCTANCE, &as) ||
      !read_all(words + 3, numbers, YOKE_COUNT(numbers))) {
    return YOKE_BAD_INPUT;
  }
  to->as = (yoke_twin_as)as;
  twin->settings.n_unknowns++;
  return YOKE_OK;
}

static yoke_status add_held(char* const words[], size_t n, yoke_runtime_twin* twin) {
  if (n != 2) {
    return YOKE_BAD_INPUT;
  }
  twin->held[twin->settings.n_held++] = words[1];
  return YOKE_OK;
}

yoke_status yoke__runtime_twin_line(char* const words[], size_t n, size_t n_lines,
                                    yoke_arena* arena, yoke_runtime_twin** twin) {
  if (strcmp(words[0], "twin") == 0) {
    return *twin == NULL ? begin(words, n, n_lines, arena, twin) : YOKE_BAD_INPUT;
  }
  if (*twin == NULL) {
    return YOKE_BAD_INPUT;
  }
  return strcmp(words[0], "sensor") == 0 ? add_sensor(words, n, *twin)
         : strcmp(words[0], "held") == 0 ? add_held(words, n, *twin)
                                         : add_unknown(words, n, *twin);
}

const yoke_twin_settings* yoke__runtime_twin_settings(const yoke_runtime_twin* twin) {
  return &twin->settings;
}
