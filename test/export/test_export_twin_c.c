// yoke__export_twin: a linear filter as C gives the bits of the library's, on this machine and on a 64-bit ARM in the emulator.

#include "base/base_os.h"
#include "base/base_temp.h"
#include "estimate/estimate_kalman.h"
#include "estimate/estimate_scenario.h"
#include "export/export_twin.h"

#define MAX_STEPS 5000

static YOKE_CATCH(err);

// ---- how it is compiled and run

#define STRICT                                                                                     \
  "-std=c11 -ffreestanding -Wall -Wextra -Wpedantic -Werror -Wconversion -Wdouble-promotion "      \
  "-Wmissing-prototypes -ffp-contract=off"

// Reads inputs and readings, writes a hash of everything that the filter holds after each step.
static const char driver[] =
    "#include <stdio.h>\n"
    "#include \"twin.h\"\n"
    "static unsigned long long hash;\n"
    "static void add(double x) {\n"
    "  union { double x; unsigned long long bits; } as = {x};\n"
    "  if (x != x) as.bits = 1;\n"
    "  for (int i = 0; i < 64; i += 8) {\n"
    "    hash = (hash ^ (as.bits >> i & 0xff)) * 0x100000001b3ull;\n"
    "  }\n"
    "}\n"
    "static void add_all(unsigned n, const double x[]) {\n"
    "  for (unsigned i = 0; i < n; i++) add(x[i]);\n"
    "}\n"
    "int main(void) {\n"
    "  twin self;\n"
    "  double u[TWIN_N_INPUTS + 1], r[TWIN_N_SENSORS], y[TWIN_N_OUTPUTS + 1], s[TWIN_N_OUTPUTS + "
    "1];\n"
    "  unsigned char have[TWIN_N_SENSORS];\n"
    "  double end[TWIN_N_INPUTS + 1];\n"
    "  unsigned n = 0;\n"
    "  twin_init(&self);\n"
    "  for (;;) {\n"
    "    for (unsigned i = 0; i < TWIN_N_INPUTS; i++)\n"
    "      if (fread(&u[i], 8, 1, stdin) != 1) return 0;\n"
    "    if (fread(r, 8, TWIN_N_SENSORS, stdin) != TWIN_N_SENSORS) return 0;\n"
    "    if (fread(have, 1, TWIN_N_SENSORS, stdin) != TWIN_N_SENSORS) return 1;\n"
    "    hash = 0xcbf29ce484222325ull;\n"
    "    int predicted = twin_predict(&self, u);\n"
    "    add(predicted);\n"
    "    if (n++ % 3 == 2) {\n"
    "      for (unsigned i = 0; i < TWIN_N_INPUTS; i++) end[i] = u[i] + 0.001953125;\n"
    "      add(twin_catch_up(&self, end, u));\n"
    "      add(twin_ramp(&self, u, end));\n"
    "      for (unsigned i = 0; i < TWIN_N_INPUTS; i++) u[i] = end[i];\n"
    "    }\n"
    "    add(twin_correct(&self, u, r, have));\n"
    "    add_all(TWIN_N_STATES, self.q);\n"
    "    add_all(TWIN_N_STATES * TWIN_N_STATES, self.P);\n"
    "    add_all(TWIN_N_SENSORS, self.innovation);\n"
    "    add_all(TWIN_N_SENSORS, self.innovation_sd);\n"
    "    if (self.state == TWIN_RUNNING && predicted != TWIN_BAD_INPUT) {\n"
    "      twin_output(&self, u, y, s);\n"
    "      add_all(TWIN_N_OUTPUTS, y);\n"
    "      add_all(TWIN_N_OUTPUTS, s);\n"
    "    }\n"
    "    add((double)self.n_steps + 1e6 * (double)self.n_readings);\n"
    "    add((double)self.n_missing + 1e6 * (double)self.n_gated);\n"
    "    printf(\"%016llx\\n\", hash);\n"
    "  }\n"
    "}\n";

typedef struct compiled {
  yoke_temp* temp;
  const char* directory;
  uint64_t* hashes;  // of the library's filter
  size_t n_steps;
} compiled;

static int run_command(const compiled* c, const char* format, ...) YOKE_PRINTF(2, 3);
static int run_command(const compiled* c, const char* format, ...) {
  char command[4096];
  const int n = snprintf(command, sizeof command, "cd '%s' && ", c->directory);
  va_list args;
  va_start(args, format);
  vsnprintf(command + n, sizeof command - (size_t)n, format, args);
  va_end(args);
  return system(command);
}

static void write_file(const compiled* c, const char* name, const char* text) {
  char path[4200];
  snprintf(path, sizeof path, "%s/%s", c->directory, name);
  check_ok(yoke__os_write_file(path, text, strlen(text), &err.sink));
}

// Step by step, so that the first one that differs is named.
static void compare(const compiled* c, const char* what) {
  char path[4200];
  snprintf(path, sizeof path, "%s/hashes", c->directory);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  for (size_t k = 0; k < c->n_steps; k++) {
    char line[32] = "", wanted[32];
    snprintf(wanted, sizeof wanted, "%016llx\n", (unsigned long long)c->hashes[k]);
    if (fgets(line, sizeof line, file) == NULL || strcmp(line, wanted) != 0) {
      fclose(file);
      fail_msg("%s: step %zu of %zu differs from the library", what, k + 1, c->n_steps);
    }
  }
  fclose(file);
}

static const char* native_compiler(void) {
  const char* given = getenv("YOKE_CC");
  return given == NULL ? "cc" : given;
}

static bool can_run(const compiled* c) {
  write_file(c, "probe.c", "int main(void) { return 0; }\n");
  const bool is_native =
      run_command(c, "%s probe.c -o probe && ./probe 2>/dev/null", native_compiler()) == 0;
  if (!is_native) {
    print_message("skipped: programs of %s do not run here\n", native_compiler());
  }
  return is_native;
}

// No warning and no call of anything at any level; then the bits. A compiler for another machine can only translate.
static void check_native(const compiled* c, bool has_all_levels) {
  static const char* const levels[] = {"-O2", "-O0", "-O3"};
  const bool is_native = can_run(c);
  for (size_t i = 0; i < (has_all_levels ? YOKE_COUNT(levels) : 1); i++) {
    if (run_command(c, "%s " STRICT " %s -c twin.c -o twin.o", native_compiler(), levels[i]) != 0) {
      fail_msg("not compiled without warnings at %s", levels[i]);
    }
    if (run_command(c, "! nm -u twin.o | grep -v GLOBAL_OFFSET_TABLE") != 0) {
      fail_msg("%s: a call of something outside", levels[i]);
    }
    if (!is_native) {
      continue;
    }
    assert_int_equal(run_command(c,
                                 "%s -O2 driver.c twin.o -o driver && ./driver <readings >hashes",
                                 native_compiler()),
                     0);
    compare(c, levels[i]);
  }
}

static bool has_program(const compiled* c, const char* name) {
  const bool is_there = run_command(c, "command -v %s >/dev/null", name) == 0;
  if (!is_there) {
    print_message("skipped: %s is missing\n", name);
  }
  return is_there;
}

static void check_arm64(const compiled* c) {
  if (!has_program(c, "aarch64-linux-gnu-gcc") || !has_program(c, "qemu-aarch64")) {
    return;
  }
  assert_int_equal(run_command(c, "aarch64-linux-gnu-gcc " STRICT
                                  " -O2 -c twin.c -o arm.o && aarch64-linux-gnu-gcc -O2 -static "
                                  "driver.c arm.o -o arm && qemu-aarch64 ./arm <readings >hashes"),
                   0);
  compare(c, "arm64");

  // with the instruction for square roots
  assert_int_equal(
      run_command(c, "aarch64-linux-gnu-gcc " STRICT
                     " -O2 -fno-math-errno '-DTWIN_ROOT(x)=__builtin_sqrt(x)' -c twin.c "
                     "-o arm.o && aarch64-linux-gnu-gcc -O2 -static driver.c arm.o -o arm && "
                     "qemu-aarch64 ./arm <readings >hashes"),
      0);
  compare(c, "arm64 with its own square root");
}

// Translated only: running on a board is what the tests of circuits do.
static void check_cortex(const compiled* c) {
  if (!has_program(c, "arm-none-eabi-gcc")) {
    return;
  }
  static const char* const machines[] = {"-mcpu=cortex-m4 -mfpu=fpv4-sp-d16",
                                         "-mcpu=cortex-m7 -mfpu=fpv5-d16"};
  for (size_t i = 0; i < YOKE_COUNT(machines); i++) {
    assert_int_equal(run_command(c,
                                 "arm-none-eabi-gcc " STRICT
                                 " %s -mthumb -mfloat-abi=hard -O2 -c twin.c -o cortex.o",
                                 machines[i]),
                     0);
    // arithmetic in double precision by the compiler's own routines
    assert_int_equal(run_command(c, "! arm-none-eabi-nm -u cortex.o | grep -v __aeabi_"), 0);
    run_command(c, "arm-none-eabi-size cortex.o | tail -1");
  }
}

// ---- the library's filter over the same readings

static uint64_t add(uint64_t hash, double x) {
  uint64_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  bits = isnan(x) ? 1 : bits;
  for (int i = 0; i < 64; i += 8) {
    hash = (hash ^ (bits >> i & 0xff)) * UINT64_C(0x100000001b3);
  }
  return hash;
}

// Values, then variances: what the standard deviations are roots of.
static uint64_t hash_outputs(const yoke_estimate* f, const yoke_estimate_setup* setup,
                             uint64_t hash) {
  const size_t n = yoke__estimate_size(f), rho_at = n - setup->n_unknowns;
  const double* P = yoke__estimate_covariance(f);
  double value = 0.0, sd = 0.0, H[64], PH[64];
  for (size_t i = 0; i < setup->n_outputs; i++) {
    yoke__estimate_output(f, i, &value, &sd);
    hash = add(hash, value);
  }
  for (size_t j = 0; j < setup->n_unknowns; j++) {
    yoke__estimate_unknown(f, j, &value, &sd);
    hash = add(hash, value);
  }
  for (size_t i = 0; i < setup->n_outputs; i++) {
    yoke__estimate_output_line(f, i, H);
    hash = add(hash, fmax(yoke__kalman_variance(n, P, H, 0.0, PH), 0.0));
  }
  for (size_t j = 0; j < setup->n_unknowns; j++) {
    hash = add(hash, P[(rho_at + j) * (n + 1)]);
  }
  return hash;
}

// is_good: outputs are there; hash: of what the calls returned.
static uint64_t hash_of(const yoke_estimate* f, const yoke_estimate_setup* setup, bool is_good,
                        uint64_t hash) {
  const size_t n = yoke__estimate_size(f);
  for (size_t i = 0; i < n; i++) {
    hash = add(hash, yoke__estimate_mean(f)[i]);
  }
  for (size_t i = 0; i < n * n; i++) {
    hash = add(hash, yoke__estimate_covariance(f)[i]);
  }
  double value = 0.0, sd = 0.0;
  for (int part = 0; part < 2; part++) {
    for (size_t i = 0; i < setup->n_sensors; i++) {
      yoke__estimate_innovation(f, i, &value, &sd);
      const double x = part == 0 ? value : sd;
      hash = add(hash, isnan(sd) ? 0.0 : x);
    }
  }
  if (is_good) {
    hash = hash_outputs(f, setup, hash);
  }
  const yoke_estimate_counts counts = yoke__estimate_counts_of(f);
  hash = add(hash, (double)counts.n_steps + 1e6 * (double)counts.n_readings);
  return add(hash, (double)counts.n_missing + 1e6 * (double)counts.n_gated);
}

// What the exported functions return.
static int state_of(const yoke_estimate* f, yoke_status status) {
  if (status == YOKE_NOT_FINITE) {
    return 4;
  }
  const yoke_estimate_reason reason = yoke__estimate_reason_of(f);
  return reason == YOKE_ESTIMATE_SOUND        ? 0
         : reason == YOKE_ESTIMATE_NOT_FINITE ? 1
         : reason == YOKE_ESTIMATE_LOST       ? 3
                                              : 2;
}

typedef struct sample {
  double v[16], readings[16];
  unsigned char have[16];
} sample;

typedef struct bench {
  yoke_arena arena;
  compiled c;
  yoke_estimate_setup setup;
  yoke_estimate* f;
  FILE* readings;
  yoke_estimate_constants constants;
} bench;

static void bench_open(bench* b, const yoke_estimate_setup* setup, const double z[],
                       const double v[]) {
  YOKE_CATCH(own);
  *b = (bench){.setup = *setup};
  check_ok(yoke__temp_create(&b->c.temp, &err.sink));
  b->c.directory = yoke__temp_path(b->c.temp);
  b->c.hashes = calloc(MAX_STEPS, sizeof *b->c.hashes);
  assert_non_null(b->c.hashes);
  b->f = filter_make(setup, &b->arena, &err);
  check_ok(yoke__estimate_start(b->f, z, v));
  check_ok(yoke__estimate_constants_of(b->f, &b->constants));

  const yoke_export_twin_job job = {
      .filter = b->f, .name = "twin", .source = "a test", .settings = ""};
  yoke_export_twin_model model;
  if (yoke__export_twin_make(&job, &model, &own.sink) < 0 ||
      yoke__export_twin_write(&job, &model, b->c.directory, &own.sink) < 0) {
    fail_msg("%s", own.text);
  }
  print_message("%zu states: flash %zu, RAM %zu, stack %zu bytes; multiplications %zu, %zu, %zu\n",
                model.c.n, model.cost.flash, model.cost.ram, model.cost.stack, model.cost.n_predict,
                model.cost.n_reading, model.cost.n_output);
  yoke__export_twin_free(&model);
  write_file(&b->c, "driver.c", driver);
  char path[4200];
  snprintf(path, sizeof path, "%s/readings", b->c.directory);
  b->readings = fopen(path, "wb");
  assert_non_null(b->readings);
}

// One step of the library's filter, and its readings into the file.
static void bench_step(bench* b, const sample* s) {
  for (size_t i = 0; i < b->constants.r; i++) {
    if (!b->constants.is_unknown_input[i]) {
      fwrite(&s->v[i], sizeof(double), 1, b->readings);
    }
  }
  fwrite(s->readings, sizeof(double), b->setup.n_sensors, b->readings);
  fwrite(s->have, 1, b->setup.n_sensors, b->readings);
  bool have[16];
  for (size_t i = 0; i < b->setup.n_sensors; i++) {
    have[i] = s->have[i] != 0;
  }
  const int predicted = state_of(b->f, yoke__estimate_predict(b->f, s->v, NULL));
  uint64_t hash = add(UINT64_C(0xcbf29ce484222325), predicted);
  double v[16], change[16];
  for (size_t i = 0; i < b->constants.r; i++) {
    const double end = b->c.n_steps % 3 == 2 ? s->v[i] + 0.001953125 : s->v[i];
    change[i] = end - s->v[i];
    v[i] = end;
  }
  if (b->c.n_steps % 3 == 2) {
    double back[16];
    for (size_t i = 0; i < b->constants.r; i++) {
      back[i] = -change[i];
    }
    hash = add(hash, state_of(b->f, yoke__estimate_catch_up(b->f, back)));
    hash = add(hash, state_of(b->f, yoke__estimate_ramp(b->f, change)));
  }
  const int corrected = state_of(b->f, yoke__estimate_correct(b->f, v, s->readings, have));
  b->c.hashes[b->c.n_steps++] =
      hash_of(b->f, &b->setup, predicted == 0 && corrected == 0, add(hash, corrected));
}

static void bench_close(bench* b, bool with_arm) {
  assert_int_equal(fclose(b->readings), 0);
  check_native(&b->c, with_arm);
  if (with_arm) {
    check_arm64(&b->c);
    check_cortex(&b->c);
  }
  free(b->c.hashes);
  yoke__temp_remove(&b->c.temp);
  yoke__arena_free(&b->arena);
}

// ---- cases

static const double h = 1e-3;
static const double small_sd[] = {0.1, 0.1, 0.1, 0.1, 0.1};
static const yoke_sensor circuit_sensors[] = {{"T2", {YOKE_ROW_TEMPERATURE, 1, 0}, 0.5},
                                              {"T3", {YOKE_ROW_TEMPERATURE, 2, 0}, 0.5}};
static const yoke_heat_row circuit_outputs[] = {
    {YOKE_ROW_TEMPERATURE, 0, 0}, {YOKE_ROW_TEMPERATURE, 1, 0}, {YOKE_ROW_TEMPERATURE, 3, 0},
    {YOKE_ROW_DIFFERENCE, 0, 2},  {YOKE_ROW_FLOW, 1, 0},        {YOKE_ROW_INPUT, 0, 0}};

static yoke_estimate_setup circuit_setup(const yoke_unknown* heat) {
  return (yoke_estimate_setup){.network = &rc_network,
                               .g = rc_g,
                               .c = rc_c,
                               .sensors = circuit_sensors,
                               .n_sensors = 2,
                               .unknowns = heat,
                               .n_unknowns = 1,
                               .outputs = circuit_outputs,
                               .n_outputs = YOKE_COUNT(circuit_outputs),
                               .h = h,
                               .z_sd = small_sd};
}

// Heat that oscillates and is unknown: scenario 4 of the circuit, on this machine and on a 64-bit ARM.
static void test_scenario_4_of_circuit_E_09(void** state) {
  (void)state;
  yoke_unknown heat = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, sqrt(10));
  heat.walk = walk_of(3, h);
  const yoke_estimate_setup setup = circuit_setup(&heat);
  bench b;
  bench_open(&b, &setup, rc_z0, rc_v);
  plant rc = plant_make(&rc_network, rc_g, rc_c, rc_z0, h, &b.arena);
  uint64_t seed = 1;
  double sum = 0.0;
  for (int k = 1; k <= MAX_STEPS; k++) {
    const double before = 10 * (1 + sin(31.41592653589793 * ((k - 1) * h)));
    const double now = 10 * (1 + sin(31.41592653589793 * (k * h)));
    const double v[] = {before, 300}, slope[] = {(now - before) / h, 0}, after[] = {now, 300};
    plant_step(&rc, v, slope);
    const double* x = plant_read(&rc, after);
    sample s = {.v = {10, 300}, .have = {1, 1}};
    for (int i = 0; i < 2; i++) {
      s.readings[i] = x[i + 1] + 0.5 * random_normal(&seed);
    }
    bench_step(&b, &s);
    const double e = yoke__estimate_mean(b.f)[0] - x[1];
    sum += k * h > 0.5 ? e * e : 0.0;
  }
  check_between(sqrt(sum / 4500), 0, 0.24);
  bench_close(&b, true);
}

// The inverter with six unknown heats, a sensor that lies, bounds, a gate, readings that are missing, inputs that move.
static void test_inverter_with_all_settings(void** state) {
  (void)state;
  double g[12], c[5], v[8], z[] = {346, 346, 346, 345, 344};
  inverter_elements(&inverter_tuned, g, c);
  memcpy(v, inverter_v, sizeof v);
  static const yoke_sensor sensors[] = {{"S1", {YOKE_ROW_TEMPERATURE, 6, 0}, 0.5},
                                        {"S2", {YOKE_ROW_TEMPERATURE, 7, 0}, 0.5},
                                        {"S3", {YOKE_ROW_TEMPERATURE, 8, 0}, 0.5},
                                        {"silver", {YOKE_ROW_TEMPERATURE, 9, 0}, 0.5},
                                        {"drop", {YOKE_ROW_DIFFERENCE, 0, 6}, 1e-6}};
  static const uint32_t pairs[] = {2, 3, 4, 5};
  static const double factors[] = {1.0, 0.75};
  yoke_unknown unknowns[] = {unknown_of(YOKE_UNKNOWN_INPUT, "Q1", 0, 208, 30),
                             unknown_of(YOKE_UNKNOWN_INPUT, "Q2", 1, 208, 30),
                             unknown_of(YOKE_UNKNOWN_INPUT, "Q3 and Q4", 2, 208, 30),
                             unknown_of(YOKE_UNKNOWN_OFFSET, "S3 lies by", 2, 0, 2)};
  unknowns[2].targets = pairs;
  unknowns[2].factors = factors;
  unknowns[2].n_targets = 2;
  unknowns[0].lower = 190;
  unknowns[1].upper = 230;
  unknowns[2].lower = 150;
  unknowns[2].upper = 250;
  for (int j = 0; j < 3; j++) {
    unknowns[j].walk = 20;
  }
  static const yoke_heat_row outputs[] = {{YOKE_ROW_TEMPERATURE, 0, 0},
                                          {YOKE_ROW_TEMPERATURE, 2, 0},
                                          {YOKE_ROW_TEMPERATURE, 9, 0},
                                          {YOKE_ROW_FLOW, 9, 0},
                                          {YOKE_ROW_TEMPERATURE, 12, 0}};
  const yoke_estimate_setup setup = {.network = &inverter_network,
                                     .g = g,
                                     .c = c,
                                     .sensors = sensors,
                                     .n_sensors = 5,
                                     .unknowns = unknowns,
                                     .n_unknowns = 4,
                                     .outputs = outputs,
                                     .n_outputs = YOKE_COUNT(outputs),
                                     .h = h,
                                     .z_sd = small_sd,
                                     .z_walk = 0.1,
                                     .gate = 4};
  bench b;
  bench_open(&b, &setup, z, v);
  uint64_t seed = 3;
  for (int k = 1; k <= 500; k++) {
    sample s = {.v = {0}};
    memcpy(s.v, v, sizeof v);
    s.v[4] = 200 + k % 7;
    s.v[6] = 343.15 + 0.01 * k;
    s.v[7] = k == 200 ? (double)NAN : 300;
    for (int i = 0; i < 5; i++) {
      s.have[i] = random_uniform(&seed) < 0.8;
      s.readings[i] = (i < 3    ? 350
                       : i == 3 ? 347
                                : 1.5) +
                      (i < 4 ? 0.5 : 1e-6) * random_normal(&seed);
    }
    s.readings[0] = k % 50 == 0 ? (double)INFINITY : s.readings[0];
    bench_step(&b, &s);
  }
  uint64_t n_hits = 0;
  for (size_t j = 0; j < 4; j++) {
    n_hits += yoke__estimate_bound_hits(b.f, j);
  }
  const yoke_estimate_counts counts = yoke__estimate_counts_of(b.f);
  assert_true(n_hits > 0 && counts.n_gated > 0 && counts.n_missing > 0);
  bench_close(&b, true);
}

// Readings far off for good: both say so at the same step. A variance without bounds: both stop.
static void test_divergence_is_the_same(void** state) {
  (void)state;
  yoke_unknown heat = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 0);
  const yoke_estimate_setup setup = circuit_setup(&heat);
  for (int is_huge = 0; is_huge < 2; is_huge++) {
    bench b;
    bench_open(&b, &setup, rc_z0, rc_v);
    for (int k = 1; k <= 600; k++) {
      const sample s = {.v = {10, 300},
                        .readings = {is_huge ? 1e308 : 500 + k, is_huge ? -1e308 : 400 - k},
                        .have = {1, 1}};
      bench_step(&b, &s);
    }
    assert_int_equal(yoke__estimate_reason_of(b.f),
                     is_huge ? YOKE_ESTIMATE_NOT_FINITE : YOKE_ESTIMATE_LOST);
    bench_close(&b, false);
  }
}

// Roots of the generated code, digit by digit, of numbers of all sizes, and where there is none.
static void test_square_root(void** state) {
  (void)state;
  yoke_unknown heat = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 1);
  const yoke_estimate_setup setup = circuit_setup(&heat);
  bench b;
  bench_open(&b, &setup, rc_z0, rc_v);
  write_file(&b.c, "roots.c",
             "#include <math.h>\n"
             "#include <string.h>\n"
             "#include \"twin.c\"\n"
             "static int differs(unsigned long long bits) {\n"
             "  double x, mine, right;\n"
             "  memcpy(&x, &bits, 8);\n"
             "  mine = root(x), right = sqrt(x);\n"
             "  return isnan(right) ? !isnan(mine) : memcmp(&mine, &right, 8) != 0;\n"
             "}\n"
             "int main(void) {\n"
             "  unsigned long long seed = 1;\n"
             "  for (int i = 0; i < 1000000; i++) {\n"
             "    seed = seed * 6364136223846793005ull + 1442695040888963407ull;\n"
             "    if (differs(seed) || differs(seed >> 1) || differs(seed >> 12) || differs(seed "
             ">> (i & 63))) return 1;\n"
             "  }\n"
             "  for (unsigned long long x = 0; x < 5000; x++) {\n"
             "    double square = (double)(x * x);\n"
             "    if (root(square) != (double)x) return 1;\n"
             "  }\n"
             "  return differs(0) + differs(1ull << 63) + differs(0x7ffull << 52) + "
             "differs(0xfffull << 52) +\n"
             "         differs(0x7ff8ull << 48) + differs(0x7fefffffffffffffull);\n"
             "}\n");
  if (run_command(&b.c, "%s -O2 -ffp-contract=off roots.c -o roots -lm", native_compiler()) == 0 &&
      can_run(&b.c)) {
    assert_int_equal(run_command(&b.c, "./roots"), 0);
  }
  bench_close(&b, false);
}

// ---- what is refused

static void check_refused(yoke_estimate_setup setup, const char* text) {
  YOKE_CATCH(own);
  yoke_arena arena = {0};
  yoke_estimate* f = filter_make(&setup, &arena, &err);
  check_ok(yoke__estimate_start(f, rc_z0, rc_v));
  const yoke_export_twin_job job = {.filter = f, .name = "rc", .source = "", .settings = ""};
  yoke_export_twin_model model;
  assert_int_equal(yoke__export_twin_make(&job, &model, &own.sink), YOKE_NO_SUPPORT);
  check_contains(own.text, text);
  yoke__export_twin_free(&model);
  yoke__arena_free(&arena);
}

static void test_only_linear_filters(void** state) {
  (void)state;
  yoke_unknown unknown = unknown_of(YOKE_UNKNOWN_RESISTANCE, "R1", 0, 1, 1);
  yoke_estimate_setup setup = circuit_setup(&unknown);
  setup.rate_walk = 1;
  check_refused(setup, "only linear twins");
  unknown = unknown_of(YOKE_UNKNOWN_INPUT, "Q0", 0, 10, 1);
  setup.method = YOKE_ESTIMATE_UNSCENTED;
  check_refused(setup, "unscented filter");
  setup.method = YOKE_ESTIMATE_AUTO;
  setup.n_sensors = 0;
  check_refused(setup, "no sensors");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scenario_4_of_circuit_E_09),
      cmocka_unit_test(test_inverter_with_all_settings),
      cmocka_unit_test(test_divergence_is_the_same),
      cmocka_unit_test(test_square_root),
      cmocka_unit_test(test_only_linear_filters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
