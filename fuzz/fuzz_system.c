// Any system file through all stages before the first step: read, build, initialise. Nothing may crash or leak.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "master/master.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// playback opens whatever file it is told to: not here
static int names_a_file(const uint8_t* data, size_t size) {
  static const char word[] = "playback";
  for (size_t i = 0; i + sizeof word - 1 <= size; i++) {
    if (memcmp(data + i, word, sizeof word - 1) == 0) {
      return 1;
    }
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 20000 || names_a_file(data, size)) {
    return 0;
  }
  yoke_messages messages = {0};
  yoke_scenario* scenario = NULL;
  yoke_system* system = NULL;
  yoke_state* state = NULL;
  if (yoke__scenario_read((const char*)data, size, "fuzz.yaml", NULL, 0, &messages, &scenario) >=
      0) {
    // threads would only slow this down
    scenario->threads = 1;
    if (yoke__system_build(scenario, NULL, &messages, &system) >= 0) {
      (void)yoke__master_create(system, &messages, &state);
      yoke__master_destroy(system, &state);
    }
  }
  char text[1024];
  yoke__messages_format(&messages, text, sizeof text);
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  return 0;
}
