// Any system file through all stages and its first steps: read, build, initialise, step. Nothing may crash or leak.
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

// few calls per slot, so that steps cost nothing
static bool is_light(const yoke_system* system) {
  int64_t n_calls = 0;
  for (size_t i = 0; i < system->n_units && n_calls < 10000; i++) {
    n_calls += system->units[i].n_steps;
  }
  return n_calls < 10000;
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
      if (yoke__master_create(system, &messages, &state) >= 0 && is_light(system)) {
        for (int i = 0; i < 20 && state->n_slots < system->n_slots; i++) {
          if (yoke__master_slot(system, state) != YOKE_OK) {
            break;
          }
        }
      }
      yoke__master_destroy(system, &state);
    }
  }
  char text[1024];
  yoke__messages_format(&messages, text, sizeof text);
  yoke__system_destroy(&system);
  yoke__messages_free(&messages);
  return 0;
}
