// Any bytes as a checkpoint: as a whole file, and behind a head that fits, so that the lengths are read. Nothing may crash,
// every refusal has its message, and a file that was refused has changed nothing.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/base_message.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// docs/checkpoint.md
enum { HEAD = 104, SIZE_AT = 64, CHECKSUM_AT = 96 };

static const char text[] = "yoke: 1\n"
                           "time: {stop: 1, step: 1e-2}\n"
                           "units:\n"
                           "  left: {model: oscillator.force, start: {v: 1}}\n"
                           "  right: {model: oscillator.mass}\n"
                           "connections:\n"
                           "  - {from: right.x, to: left.x_other, delay: 3e-2}\n"
                           "bonds:\n"
                           "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other, "
                           "coupling: {method: energy}}\n";

typedef struct trial {
  yoke_simulation* simulation;
  unsigned char* good;
  size_t n_good;
} trial;

static trial make_trial(const yoke_sink* sink) {
  trial t = {0};
  yoke_system* system = NULL;
  const yoke_load_settings settings = {.sink = sink};
  if (yoke_system_parse(text, sizeof text - 1, "fuzz.yaml", &settings, &system) < 0 ||
      yoke_simulation_create(system, sink, &t.simulation) < 0 ||
      yoke_simulation_run_to(t.simulation, 0.2) < 0 ||
      yoke__api_checkpoint_write(t.simulation, &t.good, &t.n_good) < 0) {
    abort();
  }
  t.simulation->owns_system = true;
  return t;
}

static uint64_t checksum(const uint8_t bytes[], size_t n) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < n; i++) {
    h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
  }
  return h;
}

static void check(trial* t, const uint8_t* bytes, size_t n, const yoke_caught* err) {
  const double before = yoke_simulation_time(t->simulation);
  const yoke_status status = yoke__api_checkpoint_read(t->simulation, "fuzz", bytes, n);
  if (status < 0 && (err->text[0] == '\0' || yoke_simulation_time(t->simulation) != before)) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  YOKE_CATCH(err);
  trial t = make_trial(&err.sink);
  check(&t, data, size, &err);

  uint8_t* file = calloc(1, HEAD + size);
  if (file == NULL || t.n_good < HEAD) {
    abort();
  }
  const uint64_t total = HEAD + size;
  memcpy(file, t.good, HEAD);
  memcpy(file + HEAD, data, size);
  memcpy(file + SIZE_AT, &total, sizeof total);
  memset(file + CHECKSUM_AT, 0, sizeof(uint64_t));
  const uint64_t sum = checksum(file, HEAD + size);
  memcpy(file + CHECKSUM_AT, &sum, sizeof sum);
  check(&t, file, HEAD + size, &err);

  // whatever it was, the good one is still read
  if (yoke__api_checkpoint_read(t.simulation, "good", t.good, t.n_good) < 0 ||
      yoke_simulation_step(t.simulation) < 0) {
    abort();
  }
  free(file);
  free(t.good);
  yoke_simulation_destroy(&t.simulation);
  return 0;
}
