// Coupling methods over a cluster after a run: a sentence each, and a file with what they have learnt.
#include "app/app_cluster.h"

#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "base/base_os.h"

// "loop.models.json"
static void file_name(const yoke_system* system, const yoke_group* group, char* to, size_t size) {
  snprintf(to, size, "%.200s.models.json", system->methods[group->method].name);
  for (char* c = to; *c != '\0'; c++) {
    if (*c == '/') {
      *c = '_';
    }
  }
}

bool yoke__app_write_models(const yoke_system* system, const yoke_state* state,
                            const char* directory, const char* command) {
  bool is_good = true;
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    char name[256], path[4096], err[4096 + 256] = "";
    if (group->role != YOKE_GROUP_CLUSTER || group->ops->write == NULL) {
      continue;
    }
    file_name(system, group, name, sizeof name);
    yoke__os_path_join(directory, name, path, sizeof path);
    const yoke_status status =
        group->ops->write(state->group_memory + group->self, path, err, sizeof err);
    // models of an earlier run do not belong to these results
    if (status < 0) {
      remove(path);
    }
    // numbers that are not finite come from a run that ended badly, which was said
    if (status < 0 && status != YOKE_NO_SUPPORT && status != YOKE_BAD_ARG) {
      yoke__app_error(command, "%s", err[0] == '\0' ? yoke_status_text(status) : err);
      is_good = false;
    }
  }
  return is_good;
}

void yoke__app_print_clusters(const yoke_system* system, const yoke_state* state) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    char text[512] = "";
    if (group->role != YOKE_GROUP_CLUSTER || group->ops->tell == NULL) {
      continue;
    }
    group->ops->tell(state->group_memory + group->self, text, sizeof text);
    if (text[0] != '\0') {
      printf("coupling %s (%s): %s\n", system->methods[group->method].name, group->ops->name, text);
    }
  }
}
