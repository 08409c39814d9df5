// Copies of a system file, as options ask for them.
#include "app/app_copy.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/app_sink.h"
#include "base/base_os.h"
#include "study/study_copy.h"

static bool is_same_file(const char* a, const char* b) {
  struct stat left, right;
  return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

static bool is_yaml(const char* path) {
  const char* dot = strrchr(path, '.');
  return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static bool is_writable(const char* path) {
  char folder[4096];
  const char* slash = strrchr(path, '/');
  snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path) + 1,
           slash == NULL ? "." : path);
  const bool is_there = access(path, F_OK) == 0;
  return path[0] != '\0' && !yoke__os_is_directory(path) &&
         access(is_there ? path : folder, W_OK) == 0;
}

bool yoke__app_can_copy(const yoke_options* options, const char* option, const char* instead) {
  const char* out = yoke__options_value(options, option);
  const char* path = options->operands[0];
  const char* command = options->command->name;
  if (out == NULL) {
    return true;
  }
  if (!is_writable(out)) {
    return yoke__app_error(command, "--%s: '%.300s' cannot be written", option, out);
  }
  if (is_same_file(out, path)) {
    return yoke__app_error(command, "--%s: '%.300s' is the system file itself; name another one",
                           option, out);
  }
  // neither a result nor a netlist is overwritten by mistake
  if (!is_yaml(out)) {
    return yoke__app_error(command, "--%s: '%.300s': expected a name that ends in .yaml or .yml",
                           option, out);
  }
  if (!is_yaml(path)) {
    return yoke__app_error(command, "--%s: %.300s is no system file in YAML; %s", option, path,
                           instead);
  }
  size_t n = 0;
  const char* const* sets = yoke__options_values(options, "set", &n);
  const yoke_status checked = yoke__copy_check(path, sets, n, out, &yoke__app_sink);
  if (checked < 0) {
    yoke__app_fail(command, checked);
  }
  return checked >= 0;
}

const char** yoke__app_pins(const yoke_system* system, const char* const given[], size_t* n,
                            yoke_arena* arena) {
  yoke_system_info info;
  yoke_unit_view unit;
  yoke_system_get_info(system, &info);
  const char** sets = yoke__arena_array(arena, *n + info.n_units + 1, sizeof *sets);
  if (sets == NULL) {
    return NULL;
  }
  memcpy(sets, given, *n * sizeof *sets);
  for (size_t i = 0; yoke_system_get_unit(system, i, &unit) >= 0; i++) {
    if (unit.has_auto_calls) {
      const size_t size = strlen(unit.name) + 64;
      char* set = yoke__arena_take(arena, size);
      if (set == NULL) {
        return NULL;
      }
      snprintf(set, size, "units.%s.calls=%" PRId64, unit.name, unit.n_calls);
      sets[(*n)++] = set;
    }
  }
  return sets;
}
