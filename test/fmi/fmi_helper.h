// Descriptions and packages for the tests of src/fmi.
#ifndef YOKE_TEST_FMI_HELPER_H
#define YOKE_TEST_FMI_HELPER_H

#include "base/base_message.h"
#include "base/base_os.h"
#include "fmi/fmi_description.h"
#include "support/check.h"

// All messages as one text of a static buffer, for failures.
static inline const char* all_messages(const yoke_messages* messages) {
  static char text[8192];
  yoke__messages_format(messages, text, sizeof text);
  return text;
}

// Reads a description that must be good enough to use.
static inline yoke_fmi_description* read_text(const char* xml, yoke_messages* messages) {
  yoke_fmi_description* d = NULL;
  const yoke_status status = yoke__fmi_read(xml, strlen(xml), "t.fmu", messages, &d);
  if (status < 0 || d == NULL) {
    fail_msg("status %d\n%s", (int)status, all_messages(messages));
  }
  return d;
}

// A file of test/fmi/data that must be read without a single message.
static inline yoke_fmi_description* read_data(const char* name) {
  const char* root = getenv("YOKE_SOURCE_DIR");
  char path[1024];
  YOKE_CATCH(err);
  snprintf(path, sizeof path, "%s/test/fmi/data/%s", root == NULL ? "../../.." : root, name);
  char* bytes = NULL;
  size_t n = 0;
  if (yoke__os_read_file(path, 1 << 20, &bytes, &n, &err.sink) < 0) {
    fail_msg("%s: %s", path, err.text);
  }
  yoke_messages messages = {0};
  yoke_fmi_description* d = read_text(bytes, &messages);
  if (messages.n > 0) {
    fail_msg("%s:\n%s", name, all_messages(&messages));
  }
  yoke__messages_free(&messages);
  free(bytes);
  return d;
}

// The variable of that name.
static inline const yoke_fmi_variable* variable(const yoke_fmi_description* d, const char* name) {
  const size_t i = yoke__fmi_find(d, name);
  if (i == YOKE_FMI_NONE) {
    fail_msg("no variable '%s'", name);
  }
  return &d->variables[i];
}

#endif
