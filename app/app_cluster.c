// Coupling methods over a cluster after a run: a sentence each, and a file with what they have learnt.
#include "app/app_cluster.h"

#include <stdio.h>
#include <string.h>

#include "app/app.h"
#include "app/app_sink.h"
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
    char name[256], path[4096];
    if (group->role != YOKE_GROUP_CLUSTER || group->ops->write == NULL) {
      continue;
    }
    file_name(system, group, name, sizeof name);
    yoke__os_path_join(directory, name, path, sizeof path);
    yoke_messages messages = {0};
    const yoke_sink list = yoke__messages_sink(&messages);
    const yoke_status status = group->ops->write(state->group_memory + group->self, path, &list);
    // models of an earlier run do not belong to these results
    if (status < 0) {
      remove(path);
    }
    // numbers that are not finite come from a run that ended badly, which was said
    if (status < 0 && status != YOKE_NO_SUPPORT && status != YOKE_BAD_ARG) {
      yoke__messages_print(&messages, stderr);
      if (messages.n_errors == 0) {
        yoke__app_fail(command, status);
      }
      is_good = false;
    }
    yoke__messages_free(&messages);
  }
  return is_good;
}

static void add_text(void* to, const yoke_message* message) {
  char* text = to;
  const size_t n = strlen(text);
  snprintf(text + n, YOKE_CLUSTER_TEXT - n, "%s%s", n == 0 ? "" : "; ", message->text);
}

const char* yoke__app_cluster_text(const yoke_group* group, const yoke_state* state,
                                   char to[YOKE_CLUSTER_TEXT]) {
  to[0] = '\0';
  if (group->ops->report != NULL) {
    group->ops->report(state->group_memory + group->self, &(yoke_sink){add_text, to});
  }
  return to;
}

void yoke__app_print_clusters(const yoke_system* system, const yoke_state* state) {
  for (size_t g = 0; g < system->n_groups; g++) {
    const yoke_group* group = &system->groups[g];
    char text[YOKE_CLUSTER_TEXT];
    if (group->role == YOKE_GROUP_CLUSTER &&
        yoke__app_cluster_text(group, state, text)[0] != '\0') {
      printf("coupling %s (%s): %s\n", system->methods[group->method].name, group->ops->name, text);
    }
  }
}
