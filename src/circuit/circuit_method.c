// The tables behind circuit_method.h.
//
// TR-BDF2 as an ESDIRK method: R. Bank et al., IEEE Trans. Electron Devices 32 (1985), written with one matrix as in
// M. Hosea, L. Shampine, Appl. Numer. Math. 20 (1996). ESDIRK of order 3 and 4: the implicit parts of C. Kennedy and
// M. Carpenter's ARK3(2)4L[2]SA and ARK4(3)6L[2]SA, Appl. Numer. Math. 44 (2003): L-stable, stiffly accurate, stage
// order 2. Their order conditions are checked in test/circuit/test_circuit_method.c.
#include "circuit/circuit_method.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"
#include "linalg/linalg_dense.h"

const char* const yoke__circuit_method_names[YOKE_CIRCUIT_N_METHODS + 1] = {
    "trbdf2", "tr", "trnp", "bdf1", "bdf2", "bdf3", "esdirk3", "esdirk4", "euler", "rk4", NULL};
const char* const yoke__circuit_formulation_names[] = {"nodal", "dae", "ode", NULL};
const char* const yoke__circuit_startup_names[] = {"tr_xi", "const", "tr_xi_minus_1", NULL};
const char* const yoke__circuit_projection_names[] = {"auto", "penalty", "direct", "off", NULL};

// A Butcher tableau with an explicit first stage; rows 1 .. n_stages of a, the diagonal is gamma.
typedef struct tableau {
  uint32_t n_stages;  // implicit ones
  int order;
  double gamma;
  double c[YOKE_METHOD_MAX_STAGES];
  double a[YOKE_METHOD_MAX_STAGES][YOKE_METHOD_MAX_STAGES];  // columns 0 .. s-1 of stage s
} tableau;

// gamma = 1 - 1/sqrt 2
static const tableau trbdf2 = {
    2,
    2,
    0.29289321881345247560,
    {0.58578643762690495120, 1.0},
    {{0.29289321881345247560}, {0.35355339059327376220, 0.35355339059327376220}},
};

static const tableau esdirk3 = {
    3,
    3,
    1767732205903.0 / 4055673282236.0,
    {1767732205903.0 / 2027836641118.0, 3.0 / 5.0, 1.0},
    {{1767732205903.0 / 4055673282236.0},
     {2746238789719.0 / 10658868560708.0, -640167445237.0 / 6845629431997.0},
     {1471266399579.0 / 7840856788654.0, -4482444167858.0 / 7529755066697.0,
      11266239266428.0 / 11593286722821.0}},
};

static const tableau esdirk4 = {
    5,
    4,
    0.25,
    {0.5, 83.0 / 250.0, 31.0 / 50.0, 17.0 / 20.0, 1.0},
    {{0.25},
     {8611.0 / 62500.0, -1743.0 / 31250.0},
     {5012029.0 / 34652500.0, -654441.0 / 2922500.0, 174375.0 / 388108.0},
     {15267082809.0 / 155376265600.0, -71443401.0 / 120774400.0, 730878875.0 / 902184768.0,
      2285395.0 / 8070912.0},
     {82889.0 / 524892.0, 0.0, 15625.0 / 83664.0, 69875.0 / 102672.0, -2260.0 / 8211.0}},
};

// x_s = x_k + h sum a_sj xdot_j, solved for xdot_s
static void fill_from_tableau(const tableau* from, double h, yoke_method_plan* plan) {
  // diagonal gamma: x_s = x_k + h gamma xdot_s + ..., so that xdot_s = a0
  // x_s + c with a0 = 1 / (gamma h)
  const double a0 = 1.0 / (from->gamma * h);
  *plan = (yoke_method_plan){
      .n_slots = 1,
      .a0 = {a0},
      .n_history = 1,
      .n_stage_rates = from->n_stages,
      .order = from->order,
      .regular = {.n_stages = from->n_stages},
  };
  for (uint32_t s = 0; s < from->n_stages; s++) {
    yoke_method_stage* stage = &plan->regular.stages[s];
    *stage = (yoke_method_stage){
        .theta = from->c[s], .a0 = a0, .n_x = 1, .n_d = s + 1, .x_weight = {-a0}};
    // xdot_s = (x_s - x_k) / (gamma h) - sum a_sj / gamma xdot_j
    for (uint32_t j = 0; j <= s; j++) {
      stage->d_weight[j] = -from->a[s][j] / from->gamma;
    }
  }
}

// xdot_{k+1} = (2/h) x_{k+1} - (2/h) x_k - xdot_k
static yoke_method_stage trapezoidal_stage(double h) {
  return (yoke_method_stage){
      .theta = 1.0, .a0 = 2.0 / h, .n_x = 1, .n_d = 1, .x_weight = {-2.0 / h}, .d_weight = {-1.0}};
}

static void fill_trapezoidal(double h, yoke_method_plan* plan) {
  *plan = (yoke_method_plan){.n_slots = 1,
                             .a0 = {2.0 / h},
                             .n_history = 1,
                             .n_stage_rates = 1,
                             .order = 2,
                             .regular = {.n_stages = 1, .stages = {trapezoidal_stage(h)}}};
}

yoke_status yoke__method_bdf(int order, const double s[], double beta[]) {
  double a[(YOKE_METHOD_MAX_HISTORY + 1) * (YOKE_METHOD_MAX_HISTORY + 1)];
  size_t pivots[YOKE_METHOD_MAX_HISTORY + 1];
  if (order < 1 || order > YOKE_METHOD_MAX_HISTORY) {
    return YOKE_BAD_ARG;
  }
  const size_t n = (size_t)order + 1;

  // sum beta_j s_j^q = 1 for q = 1 and 0 for all others up to the order:
  // x' h = -sum beta_j x(t - s_j h)
  for (size_t q = 0; q < n; q++) {
    for (size_t j = 0; j < n; j++) {
      a[q * n + j] = q == 0 ? 1.0 : pow(s[j], (double)q);
    }
    beta[q] = q == 1 ? 1.0 : 0.0;
  }
  return yoke__solve(n, a, beta, pivots);
}

static yoke_status fill_bdf(int order, yoke_circuit_startup startup, double h,
                            yoke_method_plan* plan) {
  static const double grid[YOKE_METHOD_MAX_HISTORY + 1] = {0, 1, 2, 3};
  double beta[YOKE_METHOD_MAX_HISTORY + 1] = {0};
  YOKE_TRY(yoke__method_bdf(order, grid, beta));
  // xdot = -(beta_0 x + sum beta_j x_(k+1-j)) / h
  yoke_method_stage stage = {
      .theta = 1.0, .a0 = -beta[0] / h, .n_x = (uint32_t)order, .n_d = 0, .slot = 0};
  for (int j = 1; j <= order; j++) {
    stage.x_weight[j - 1] = -beta[j] / h;
  }
  *plan = (yoke_method_plan){.n_slots = 1,
                             .a0 = {stage.a0},
                             .n_history = (uint32_t)order,
                             .order = order,
                             .regular = {.n_stages = 1, .stages = {stage}}};

  // a history of k values takes k - 1 steps of the trapezoidal rule, one more with its rate
  // the first steps, while the history is not there
  const uint32_t n_first = startup == YOKE_STARTUP_CONST   ? 0
                           : startup == YOKE_STARTUP_TR_XI ? (uint32_t)order
                                                           : (uint32_t)order - 1;
  if (n_first > 0) {
    plan->n_first = n_first;
    plan->n_slots = 2;
    plan->a0[1] = 2.0 / h;
    plan->n_stage_rates = 1;
    plan->first = (yoke_method_step){.n_stages = 1, .stages = {trapezoidal_stage(h)}};
    plan->first.stages[0].slot = 1;
  }
  return YOKE_OK;
}

yoke_status yoke__method_plan_make(yoke_circuit_method method, yoke_circuit_startup startup,
                                   double h, yoke_method_plan* plan) {
  memset(plan, 0, sizeof *plan);
  if (!(h > 0.0) || !yoke__is_finite(h)) {
    return YOKE_BAD_ARG;
  }
  switch (method) {
  case YOKE_CIRCUIT_TRBDF2:
    fill_from_tableau(&trbdf2, h, plan);
    return YOKE_OK;
  case YOKE_CIRCUIT_ESDIRK3:
    fill_from_tableau(&esdirk3, h, plan);
    return YOKE_OK;
  case YOKE_CIRCUIT_ESDIRK4:
    fill_from_tableau(&esdirk4, h, plan);
    return YOKE_OK;
  case YOKE_CIRCUIT_TR:
  case YOKE_CIRCUIT_TRNP:
    fill_trapezoidal(h, plan);
    return YOKE_OK;
  case YOKE_CIRCUIT_BDF1:
  case YOKE_CIRCUIT_BDF2:
  case YOKE_CIRCUIT_BDF3:
    return fill_bdf((int)(method - YOKE_CIRCUIT_BDF1) + 1, startup, h, plan);
  case YOKE_CIRCUIT_EULER:
  case YOKE_CIRCUIT_RK4:
  case YOKE_CIRCUIT_N_METHODS:
    break;
  }
  return YOKE_BAD_ARG;
}
