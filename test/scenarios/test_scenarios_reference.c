// The reference results of scenarios/ against integrations of the undivided systems that know nothing of Yoke's units
// or master: matrix exponential for the linear ones, SUNDIALS for the others (CS-01, CS-02).
// The same program writes them: YOKE_WRITE_REFERENCE=1 YOKE_SOURCE_DIR=. test_scenarios_reference
#include "base/base_csv.h"
#include "base/base_message.h"
#include "linalg/linalg_dense.h"
#include "support/check.h"
#include "support/mechanics_whole.h"
#include "support/reference_solve.h"

enum { MAX_COLUMNS = 16, MAX_STATES = 6 };

static const double pi = 3.14159265358979323846;

// A system whose solution is asked for at rising times. The state x belongs to the caller.
typedef struct reference_case {
  const char* path;    // below scenarios/
  const char* header;  // without time
  int n_rows;
  double rows_per_second;  // rows fall on i / rows_per_second
  double tolerance;        // of a value, relative to the largest one in its column
  const double* x0;
  // x(t) in closed form, or NULL and an integration of problem
  void (*exact)(double t, double x[]);
  reference_problem problem;
  // the columns of one row
  void (*row)(double t, const double x[], double out[]);
} reference_case;

// ---- linear and nonlinear oscillators

static void oscillator_row(const whole_oscillator* o, const double x[], double out[]) {
  double dx[4];
  whole_oscillator_rhs(o, x, dx);
  memcpy(out, x, 4 * sizeof out[0]);
  // the coupling force is what keeps the right mass from moving on its own springs
  whole_oscillator alone = *o;
  alone.kc = alone.cc = 0;
  double dx_alone[4];
  whole_oscillator_rhs(&alone, x, dx_alone);
  out[4] = o->m2 * (dx[3] - dx_alone[3]);
}

static void lo1_exact(double t, double x[]) {
  memcpy(x, whole_oscillator_start, 4 * sizeof x[0]);
  whole_oscillator_exact(&whole_lo1, t, x);
}

static void lo2_exact(double t, double x[]) {
  memcpy(x, whole_oscillator_start, 4 * sizeof x[0]);
  whole_oscillator_exact(&whole_lo2, t, x);
}

static void lo1_row(double t, const double x[], double out[]) {
  (void)t;
  oscillator_row(&whole_lo1, x, out);
}

static void lo2_row(double t, const double x[], double out[]) {
  (void)t;
  oscillator_row(&whole_lo2, x, out);
}

static void nlo1_row(double t, const double x[], double out[]) {
  (void)t;
  oscillator_row(&whole_nlo1, x, out);
}

static void nlo2_row(double t, const double x[], double out[]) {
  (void)t;
  oscillator_row(&whole_nlo2, x, out);
}

static void oscillator_rhs(const void* data, double t, const double x[], double dx[]) {
  (void)t;
  whole_oscillator_rhs(data, x, dx);
}

// A relaxed square-root spring is infinitely stiff: the steps shrink towards that point, down to 1 ns.
static double root_spring_limit(const void* data, const double x[]) {
  (void)data;
  const double time_left =
      fmin(fmin(fabs(x[0] / x[1]), fabs(x[2] / x[3])), fabs((x[0] - x[2]) / (x[1] - x[3])));
  return fmax(0.25 * time_left, 1e-9);
}

// ---- two pendula

static void pendula_rhs(const void* data, double t, const double x[], double dx[]) {
  (void)data;
  (void)t;
  whole_pendula_rhs(x, dx);
}

static void pendula_row(double t, const double x[], double out[]) {
  (void)t;
  const double tip1[2] = {2.5 * sin(x[0]), -2.5 * cos(x[0])};
  const double tip2[2] = {7 + 3.5 * sin(x[2]), -3.5 * cos(x[2])};
  memcpy(out, x, 4 * sizeof out[0]);
  for (int i = 0; i < 2; i++) {
    out[4 + i] = tip1[i];
    out[6 + i] = tip2[i];
    out[8 + i] = 6 * (tip1[i] - tip2[i]);
    out[10 + i] = 0;  // rods keep their length
  }
}

// ---- crane

static void crane_rhs(const void* data, double t, const double x[], double dx[]) {
  const whole_opening* opening = data;
  whole_crane_rhs((*opening)(t), x, dx);
}

static const whole_opening m1 = whole_crane_m1;
static const whole_opening m2 = whole_crane_m2;
static const double m1_breaks[] = {2.0, 2.001, 6.0, 6.002};
static const double m2_breaks[] = {1.0, 8.0, 9.0};

static void crane_row(double kappa, const double x[], double out[]) {
  whole_crane_cylinder(x, &out[0], &out[1], &out[4]);
  out[2] = x[0];
  out[3] = x[1];
  out[5] = x[4] * 1e6;
  out[6] = x[5] * 1e6;
  out[7] = kappa;
  out[8] = whole_crane_energy(x);
}

static void crane_row_m1(double t, const double x[], double out[]) {
  crane_row(whole_crane_m1(t), x, out);
}

static void crane_row_m2(double t, const double x[], double out[]) {
  crane_row(whole_crane_m2(t), x, out);
}

// ---- rotational oscillator: ck = 1 N m/rad, dk = 2 N m s/rad

static void rotor_exact(double t, double x[]) {
  memcpy(x, whole_rotor_start, 4 * sizeof x[0]);
  whole_rotor_exact(t, x);
}

static void rotor_row(double t, const double x[], double out[]) {
  (void)t;
  memcpy(out, x, 4 * sizeof out[0]);
  out[4] = 1.0 * (x[0] - x[2]) + 2.0 * (x[1] - x[3]);
}

// ---- three masses in a row: x = (left, left', middle, middle', right, right')

static void chain_exact(double t, double x[]) {
  static const double m[3] = {10, 1, 0.05};
  static const double k[3] = {1000, 200, 0}, c[3] = {10, 5, 0.1};  // to ground
  static const double kc[2] = {500, 2000}, cc[2] = {2, 1};         // left-middle, middle-right
  double A[36] = {0}, E[36];
  for (size_t i = 0; i < 3; i++) {
    double* row = A + (2 * i + 1) * 6;
    A[2 * i * 6 + 2 * i + 1] = 1;
    row[2 * i] -= k[i] / m[i];
    row[2 * i + 1] -= c[i] / m[i];
    // neighbours pull with the springs on both sides
    for (size_t s = 0; s < 2; s++) {
      if (i != s && i != s + 1) {
        continue;
      }
      const size_t other = i == s ? s + 1 : s;
      row[2 * i] -= kc[s] / m[i];
      row[2 * i + 1] -= cc[s] / m[i];
      row[2 * other] += kc[s] / m[i];
      row[2 * other + 1] += cc[s] / m[i];
    }
  }
  for (size_t i = 0; i < 36; i++) {
    A[i] *= t;
  }
  const double x0[6] = {0.1, 0, 0, 0, 0, 0};
  assert_int_equal(yoke__expm(6, A, E), YOKE_OK);
  yoke__mat_vec(6, 6, E, x0, x);
}

static void chain_row(double t, const double x[], double out[]) {
  (void)t;
  memcpy(out, x, 6 * sizeof out[0]);
}

// ---- blocks: x = lag.y; speed, wave and what the switch lets through are functions of time

static double blocks_speed(double t) {
  static const double times[] = {0, 0.5, 1.25, 1.5, 3}, speeds[] = {0, 2, 2, -1, 0};
  const double s = fmod(t, 3);
  int i = 0;
  while (i < 3 && s >= times[i + 1]) {
    i++;
  }
  return speeds[i] + (speeds[i + 1] - speeds[i]) * (s - times[i]) / (times[i + 1] - times[i]);
}

static double blocks_wave(double t) {
  return 0.5 * sin(2 * pi * 2 * t);
}

static double blocks_picked(double t) {
  const bool is_half = (int)floor(t) % 2 == 1;  // the clock's toggle
  return (blocks_speed(t) - blocks_wave(t)) * (is_half ? 0.5 : 1);
}

static void blocks_rhs(const void* data, double t, const double x[], double dx[]) {
  (void)data;
  dx[0] = 5 * (blocks_picked(t) - x[0]);
}

static void blocks_row(double t, const double x[], double out[]) {
  out[0] = blocks_speed(t);
  out[1] = blocks_wave(t);
  out[2] = blocks_picked(t);
  out[3] = x[0];
}

static const double blocks_breaks[] = {0.5, 1, 1.25, 1.5, 2, 3, 3.5};

// ---- typed signals: a sine whose amplitude grows by 0.4 per second

static void typed_exact(double t, double x[]) {
  x[0] = 0.4 * t * sin(2 * pi * 0.5 * t);
}

static void typed_row(double t, const double x[], double out[]) {
  (void)t;
  out[0] = x[0];
}

// ---- the files

static const double zero[MAX_STATES];
static double crane_start[6];  // filled before the first test

#define OSCILLATOR_HEADER "left.x,left.v,right.x,right.v,left.f"
#define CRANE_HEADER      "arm.s,arm.v,arm.theta1,arm.theta2,oil.f_h,oil.p1,oil.p2,oil.kappa,arm.E"

static const reference_case cases[] = {
    {.path = "linear-oscillator/reference.csv",
     .header = OSCILLATOR_HEADER,
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-9,
     .exact = lo1_exact,
     .row = lo1_row},
    {.path = "linear-oscillator/reference-damped.csv",
     .header = OSCILLATOR_HEADER,
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-9,
     .exact = lo2_exact,
     .row = lo2_row},
    {.path = "nonlinear-oscillator/reference-case1.csv",
     .header = OSCILLATOR_HEADER,
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-7,
     .x0 = whole_oscillator_start,
     .problem = {.f = oscillator_rhs,
                 .data = &whole_nlo1,
                 .n = 4,
                 .rtol = 1e-12,
                 .atol = 1e-12,
                 .max_step = 1e-3,
                 .limit = root_spring_limit},
     .row = nlo1_row},
    {.path = "nonlinear-oscillator/reference-case2.csv",
     .header = OSCILLATOR_HEADER,
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-8,
     .x0 = whole_oscillator_start,
     .problem = {.f = oscillator_rhs,
                 .data = &whole_nlo2,
                 .n = 4,
                 .rtol = 1e-12,
                 .atol = 1e-12,
                 .max_step = 1e-3},
     .row = nlo2_row},
    {.path = "two-pendula/reference.csv",
     .header = "one.theta,one.omega,two.theta,two.omega,one.tip[0],one.tip[1],two.tip[0],"
               "two.tip[1],one.F[0],one.F[1],one.Phi,two.Phi",
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-8,
     .x0 = whole_pendula_start,
     .problem = {.f = pendula_rhs, .n = 4, .rtol = 1e-12, .atol = 1e-12, .max_step = 1e-2},
     .row = pendula_row},
    {.path = "hydraulic-crane/reference.csv",
     .header = CRANE_HEADER,
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-7,
     .x0 = crane_start,
     .problem = {.f = crane_rhs,
                 .data = &m2,
                 .n = 6,
                 .is_stiff = true,
                 .rtol = 1e-11,
                 .atol = 1e-12,
                 .max_step = 2e-3,
                 .breaks = m2_breaks,
                 .n_breaks = 3},
     .row = crane_row_m2},
    {.path = "hydraulic-crane/reference-m1.csv",
     .header = CRANE_HEADER,
     .n_rows = 1001,
     .rows_per_second = 100,
     .tolerance = 1e-7,
     .x0 = crane_start,
     .problem = {.f = crane_rhs,
                 .data = &m1,
                 .n = 6,
                 .is_stiff = true,
                 .rtol = 1e-11,
                 .atol = 1e-12,
                 .max_step = 2e-3,
                 .breaks = m1_breaks,
                 .n_breaks = 4},
     .row = crane_row_m1},
    {.path = "rotational-oscillator/reference.csv",
     .header = "shaft.phi,shaft.omega,load.phi,load.omega,shaft.tau",
     .n_rows = 501,
     .rows_per_second = 10,
     .tolerance = 1e-9,
     .exact = rotor_exact,
     .row = rotor_row},
    {.path = "three-rate-chain/reference.csv",
     .header = "left.x,left.v,middle.x,middle.v,right.x,right.v",
     .n_rows = 501,
     .rows_per_second = 100,
     .tolerance = 1e-9,
     .exact = chain_exact,
     .row = chain_row},
    {.path = "blocks/reference.csv",
     .header = "drive.speed,wave.y,pick.y,lag.y",
     .n_rows = 401,
     .rows_per_second = 100,
     .tolerance = 1e-9,
     .x0 = zero,
     .problem = {.f = blocks_rhs,
                 .n = 1,
                 .rtol = 1e-12,
                 .atol = 1e-13,
                 .max_step = 1e-2,
                 .breaks = blocks_breaks,
                 .n_breaks = 7},
     .row = blocks_row},
    {.path = "typed-signals/reference.csv",
     .header = "wave.y",
     .n_rows = 26,
     .rows_per_second = 10,
     .tolerance = 1e-9,
     .exact = typed_exact,
     .row = typed_row},
};

enum { N_CASES = sizeof cases / sizeof cases[0] };

static size_t count_columns(const char* header) {
  size_t n = 1;
  for (; *header != '\0'; header++) {
    n += *header == ',';
  }
  return n;
}

// All rows of a case, one after another, without time; free them.
static double* solve(const reference_case* c) {
  const size_t n = count_columns(c->header);
  assert_true(n <= MAX_COLUMNS);
  double* rows = calloc((size_t)c->n_rows * n, sizeof rows[0]);
  assert_non_null(rows);
  double x[MAX_STATES] = {0};
  reference_solver* solver = NULL;
  if (c->exact == NULL) {
    memcpy(x, c->x0, c->problem.n * sizeof x[0]);
    solver = reference_solver_open(&c->problem, c->x0);
  }
  for (int i = 0; i < c->n_rows; i++) {
    const double t = i / c->rows_per_second;
    if (c->exact != NULL) {
      c->exact(t, x);
    } else if (i > 0) {
      reference_solver_to(solver, t, x);
    }
    c->row(t, x, rows + (size_t)i * n);
  }
  if (solver != NULL) {
    reference_solver_close(solver);
  }
  return rows;
}

// ---- files

static void path_of(const reference_case* c, char to[4096]) {
  const char* source = getenv("YOKE_SOURCE_DIR");
  if (source == NULL) {
    print_message("YOKE_SOURCE_DIR is not set\n");
    skip();
  }
  snprintf(to, 4096, "%s/scenarios/%s", source, c->path);
}

static yoke_csv read_file(const reference_case* c) {
  char path[4096];
  YOKE_CATCH(err);
  path_of(c, path);
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    fail_msg("%s cannot be opened", path);
  }
  enum { MOST = 1 << 20 };
  char* bytes = malloc(MOST);
  assert_non_null(bytes);
  const size_t n = fread(bytes, 1, MOST, file);
  fclose(file);
  assert_true(n < MOST);
  yoke_csv csv;
  if (yoke__csv_parse(bytes, n, &csv, &err.sink) < 0) {
    fail_msg("%s: %s", path, err.text);
  }
  free(bytes);
  return csv;
}

// twelve digits: more than the tolerances need, fewer than rounding on another machine would change
static void write_file(const reference_case* c, const double rows[]) {
  char path[4096];
  path_of(c, path);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  const size_t n = count_columns(c->header);
  fprintf(file, "time,%s\n", c->header);
  for (int i = 0; i < c->n_rows; i++) {
    fprintf(file, "%.12g", i / c->rows_per_second);
    for (size_t j = 0; j < n; j++) {
      fprintf(file, ",%.12g", rows[(size_t)i * n + j]);
    }
    fputc('\n', file);
  }
  assert_int_equal(fclose(file), 0);
}

// header and times as they should be
static void check_frame(const reference_case* c, const yoke_csv* csv) {
  char header[1024] = "";
  size_t used = 0;
  for (size_t j = 0; j < csv->n_columns && used < sizeof header; j++) {
    used += (size_t)snprintf(header + used, sizeof header - used, "%s%s", j == 0 ? "" : ",",
                             csv->columns[j].name);
  }
  assert_string_equal(header + strlen("time,"), c->header);
  assert_int_equal(csv->n_rows, c->n_rows);
  for (size_t i = 0; i < csv->n_rows; i++) {
    check_near(csv->columns[0].values[i], (double)i / c->rows_per_second, 1e-11);
  }
}

static void test_reference_files_cs01_cs02(void** state) {
  (void)state;
  for (size_t k = 0; k < N_CASES; k++) {
    const reference_case* c = &cases[k];
    const size_t n = count_columns(c->header);
    double* rows = solve(c);
    if (getenv("YOKE_WRITE_REFERENCE") != NULL) {
      write_file(c, rows);
    }
    yoke_csv csv = read_file(c);
    check_frame(c, &csv);
    double worst = 0;
    for (size_t j = 0; j < n; j++) {
      double largest = 0, most = 0;
      for (size_t i = 0; i < (size_t)c->n_rows; i++) {
        const double value = rows[i * n + j];
        largest = fmax(largest, fabs(value));
        most = fmax(most, fabs(value - csv.columns[j + 1].values[i]));
      }
      worst = fmax(worst, largest > 0 ? most / largest : most);
      if (!(most <= c->tolerance * largest)) {
        fail_msg("%s, column %s: off by %.3g, allowed %.3g", c->path, csv.columns[j + 1].name, most,
                 c->tolerance * largest);
      }
    }
    print_message("%-42s %d rows, off by %.1e of the largest value\n", c->path, c->n_rows, worst);
    yoke__csv_free(&csv);
    free(rows);
  }
}

// the files against numbers printed in the specification: last digit as printed
static void test_published_numbers_cs02(void** state) {
  (void)state;
  static const struct {
    size_t file;
    const char* signal;
    double t, value, tolerance;
  } numbers[] = {
      {0, "right.x", 10, -0.9649328391, 1e-9}, {0, "right.v", 5, 117.1707616, 1e-7},
      {1, "right.x", 10, -0.351746295, 1e-9},  {1, "left.v", 10, 34.85083590, 4e-8},
      {2, "left.x", 10, 7.592484, 8e-6},       {2, "right.v", 10, 84.300436, 9e-5},
      {3, "left.x", 10, -2.263580, 1e-6},      {3, "right.v", 10, -42.616090, 5e-6},
      {4, "two.tip[0]", 10, 3.786143, 1e-6},   {4, "one.theta", 5, 1.01259745, 1e-7},
      {5, "arm.s", 10, 0.47003525, 1e-6},      {5, "oil.f_h", 5, 11048.5, 1},
      {6, "arm.s", 10, 0.515368, 1.5e-6},      {6, "arm.s", 6, 0.596037, 1.5e-6},
      {7, "load.omega", 5, -0.048772, 5e-7},   {7, "shaft.tau", 1, -0.028106, 5e-7},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    const reference_case* c = &cases[numbers[i].file];
    yoke_csv csv = read_file(c);
    const size_t column = yoke__csv_find(&csv, numbers[i].signal);
    assert_true(column < csv.n_columns);
    const size_t row = (size_t)lround(numbers[i].t * c->rows_per_second);
    assert_true(row < csv.n_rows);
    check_near(csv.columns[column].values[row], numbers[i].value, numbers[i].tolerance);
    yoke__csv_free(&csv);
  }
}

int main(void) {
  whole_crane_start(crane_start);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reference_files_cs01_cs02),
      cmocka_unit_test(test_published_numbers_cs02),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
