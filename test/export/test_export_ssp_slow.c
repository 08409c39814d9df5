// Every scenario there is, exported as SSP with native units as FMUs of both versions, gives the numbers of the original.
#include <dirent.h>
#include <unistd.h>

#include "ssp_trip.h"

static int is_system_file(const char* name) {
  const char* dot = strrchr(name, '.');
  return dot != NULL && strcmp(dot, ".yaml") == 0;
}

static void for_all_scenarios(int fmi) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  if (source == NULL) {
    fail_msg("set YOKE_SOURCE_DIR to the source folder");
  }
  char root[2048], folder[4096], path[8192];
  snprintf(root, sizeof root, "%s/scenarios", source);
  DIR* all = opendir(root);
  assert_non_null(all);
  size_t n = 0;
  for (const struct dirent* at = readdir(all); at != NULL; at = readdir(all)) {
    snprintf(folder, sizeof folder, "%s/%s", root, at->d_name);
    DIR* files = at->d_name[0] == '.' ? NULL : opendir(folder);
    for (const struct dirent* file = files == NULL ? NULL : readdir(files); file != NULL;
         file = readdir(files)) {
      if (is_system_file(file->d_name)) {
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        check_round_trip(path, fmi);
        n++;
      }
    }
    if (files != NULL) {
      closedir(files);
    }
  }
  closedir(all);
  assert_true(n > 30);
}

static void test_scenarios_fmi2(void** state) {
  (void)state;
  for_all_scenarios(2);
}

static void test_scenarios_fmi3(void** state) {
  (void)state;
  for_all_scenarios(3);
}

static int tear_down(void** state) {
  (void)state;
  return unlink("trip.ssp");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenarios_fmi2),
      cmocka_unit_test(test_scenarios_fmi3),
  };
  return cmocka_run_group_tests_name("export_ssp_slow", tests, NULL, tear_down);
}
