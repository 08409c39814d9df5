// Who runs with which offsets, and what their outputs are used for: estimate_shadow.h.
#include "estimate/estimate_shadow.h"

#include <math.h>
#include <string.h>

#include "base/base_check.h"

#define TOLERANCE   1e-6  // of singular values of the responses
#define WORST_MODEL 0.05  // error beyond which a model is not used
#define WORSE       2.0   // a new model that errs by so much more (squares) does not take over
#define MOST_ORDER  10
#define MOST_LEVEL  20
#define FIRST_LEVEL 2       // of a model
#define CHECK_SHARE 0.5     // of the offsets: how far the members go that check
#define WASHOUT     4       // times the rest of the responses, to forget an offset
#define FORGOTTEN   1e-3    // of a response: what may be left of it
#define ROOM        0.9     // of the way to a bound that an offset may take
#define WALK_STEPS  1000.0  // in which an unknown without uncertainty at the start becomes uncertain
#define SLOW        4.0  // slow unknowns that walk: applied in this part of the time since the start

typedef enum job_state { JOB_NONE, JOB_WANTED, JOB_DONE, JOB_TRIED } job_state;

// Of the members with offsets of fast unknowns.
typedef enum phase {
  PHASE_RECORD,  // both offsets as they should be; the response is kept
  PHASE_REST,    // the same, nothing is kept
  PHASE_TURNED,  // the offset of the first one is turned round
} phase;

typedef struct guess {
  size_t member;  // the first of its two; 0: it has none
  bool is_fast;
  double offset;
  double check;  // offset of the members that check
  bool shows;    // outputs have answered to it
} guess;

struct yoke_shadow {
  yoke_shadow_setup setup;
  size_t m, p, n_fast, n_members, checker;  // checker: the first of the two; 0: none
  yoke_deviation* filter;
  guess* unknowns;
  double* theta;             // members x m
  double *y, *live, *curve;  // of the present time: p; p x m
  double *plus, *minus, *check_offset, *shift, *step;
  uint64_t k;

  // fast unknowns
  yoke_response* response;
  yoke_realise* realise;
  yoke_deviation_renewal renewal;
  yoke_low_model before;
  int level;        // of the last model that was asked for
  _Atomic int job;  // a job_state
  bool is_good;
  phase phase;
  bool is_forgotten;  // what the first ones ran with before they were turned round
  bool is_turning;    // the first ones are not what they are in the end
  bool was_turning;   // when the work was ordered, which may go on beside the steps
  uint64_t rest;      // of the responses
  uint64_t adopt_at, trial_end, turn_at, settled_at, check_at, seed;
};

// ---- memory

static size_t count_members(yoke_shadow* s) {
  size_t n = 1;
  for (size_t j = 0; j < s->m; j++) {
    const yoke_deviation_unknown* u = &s->setup.filter.unknowns[j];
    s->unknowns[j].is_fast = u->is_fast;
    s->n_fast += u->is_fast ? 1u : 0u;
    // two members with + and - offset for each unknown that acts on the unit
    if (u->sensor == YOKE_DEVIATION_OUTPUT) {
      s->unknowns[j].member = n;
      n += 2;
    }
  }

  // and two for the check
  s->checker = n > 1 ? n : 0;
  return n > 1 ? n + 2 : n;
}

static void take_models(yoke_shadow* s, yoke_arena* arena) {
  const unsigned level = s->setup.max_level > 0 ? s->setup.max_level : MOST_LEVEL;
  s->response = yoke__response_prepare(s->p, s->n_fast, level, arena);
  if (s->response != NULL) {
    s->realise = yoke__realise_prepare(s->response, MOST_ORDER, arena);
    s->renewal = yoke__deviation_renewal_prepare(s->response, MOST_ORDER, arena);
    s->before = yoke__low_model_prepare(s->response, MOST_ORDER, arena);
  }
}

yoke_shadow* yoke__shadow_prepare(const yoke_shadow_setup* setup, yoke_arena* arena) {
  const size_t m = setup->filter.n_unknowns, p = setup->filter.n_outputs;
  yoke_shadow* s = yoke__arena_take(arena, sizeof *s);
  yoke_deviation_unknown* unknowns = yoke__arena_array(arena, m + 1, sizeof *unknowns);
  if (s == NULL || unknowns == NULL) {
    return NULL;
  }
  s->setup = *setup;
  s->m = m;
  s->p = p;
  memcpy(unknowns, setup->filter.unknowns, m * sizeof *unknowns);
  s->setup.filter.unknowns = unknowns;
  s->setup.filter.max_order = MOST_ORDER;
  s->unknowns = yoke__arena_array(arena, m + 1, sizeof *s->unknowns);
  if (s->unknowns == NULL) {
    return NULL;
  }
  s->n_members = count_members(s);
  s->filter = yoke__deviation_prepare(&s->setup.filter, arena);
  s->theta = yoke__arena_array(arena, s->n_members * m + 1, sizeof(double));
  double** const vectors[] = {&s->check_offset, &s->shift};
  for (size_t i = 0; i < YOKE_COUNT(vectors); i++) {
    *vectors[i] = yoke__arena_array(arena, m + 1, sizeof(double));
  }
  double** const rows[] = {&s->y, &s->plus, &s->minus, &s->live, &s->curve, &s->step};
  for (size_t i = 0; i < YOKE_COUNT(rows); i++) {
    *rows[i] = yoke__arena_array(arena, p * (m + 1) + 1, sizeof(double));
  }
  if (s->n_fast > 0) {
    take_models(s, arena);
  }
  if (yoke__arena_status(arena) < 0) {
    return NULL;
  }
  yoke__shadow_start(s, NULL, NULL);
  return s;
}

// ---- who runs with what

static void set_theta(yoke_shadow* s) {
  const size_t m = s->m;

  // shift: what the nominal instance will be moved by in this step; all members go with it
  for (size_t i = 0; i < s->n_members; i++) {
    for (size_t j = 0; j < m; j++) {
      s->theta[i * m + j] = yoke__deviation_applied(s->filter, j) + s->shift[j];
    }
  }
  for (size_t j = 0; j < m; j++) {
    const guess* u = &s->unknowns[j];
    if (u->member == 0) {
      continue;
    }
    // a pair that is turned runs with the same offset, so that the second one still shows the
    // response
    const bool is_turned = u->is_fast && s->phase == PHASE_TURNED;
    s->theta[u->member * m + j] += is_turned ? -u->offset : u->offset;
    s->theta[(u->member + 1) * m + j] -= u->offset;
    s->theta[s->checker * m + j] += u->check;
    s->theta[(s->checker + 1) * m + j] -= u->check;
    s->check_offset[j] = u->check;
  }
}

// As far as it is unknown, within the bounds.
static double first_offset(const yoke_deviation_unknown* u, double at, double h) {
  // without a first uncertainty, what the walk does in 1000 steps
  const double wanted = u->sd > 0.0 ? u->sd : u->walk * sqrt(WALK_STEPS * h);
  return fmin(wanted, ROOM * fmin(at - u->lower, u->upper - at));
}

void yoke__shadow_start(yoke_shadow* s, const double applied[], const double offsets[]) {
  const size_t m = s->m;
  yoke__deviation_start(s->filter, applied);
  for (size_t j = 0; j < m; j++) {
    const yoke_deviation_unknown* of = &s->setup.filter.unknowns[j];
    guess* u = &s->unknowns[j];
    const double at = yoke__deviation_applied(s->filter, j);
    u->offset = offsets == NULL ? first_offset(of, at, s->setup.filter.h) : offsets[j];
    u->offset = u->member == 0 ? 0.0 : u->offset;
    // signs alternate between unknowns
    const size_t like = of->start_of > 0 ? of->start_of - 1 : j;
    u->check = CHECK_SHARE * (like % 2 == 0 ? u->offset : -u->offset);
  }
  memset(s->shift, 0, m * sizeof *s->shift);
  if (s->response != NULL) {
    yoke__response_clear(s->response);
  }
  s->k = 0;
  s->level = FIRST_LEVEL - 1;
  s->job = JOB_NONE;
  s->phase = PHASE_RECORD;
  s->is_turning = false;
  s->before.order = 0;
  s->check_at = s->turn_at = s->settled_at = 0;
  s->seed = 1;
  set_theta(s);
}

size_t yoke__shadow_members(const yoke_shadow* s) {
  return s->n_members;
}

size_t yoke__shadow_member_of(const yoke_shadow* s, size_t unknown) {
  return s->unknowns[unknown].member;
}

const double* yoke__shadow_theta(const yoke_shadow* s, size_t member) {
  return s->theta + member * s->m;
}

// ---- responses

// How the outputs answer to an unknown, from the members with its offsets.
static void read_pair(yoke_shadow* s, size_t j, const double y[]) {
  const size_t p = s->p, m = s->m;
  const guess* u = &s->unknowns[j];
  const double *plus = y + u->member * p, *minus = plus + p, d = u->offset;

  // while the first of a pair changes over, r comes from the second one alone
  const bool is_one_sided = u->is_fast && s->is_turning;
  for (size_t o = 0; o < p; o++) {
    double *r = &s->live[o * m + j], *c = &s->curve[o * m + j];
    s->unknowns[j].shows = s->unknowns[j].shows || plus[o] != minus[o];
    if (is_one_sided) {
      // (y_0 - y_-) / d = r - c d / 2: the curve known so far makes up for it
      *r = (y[o] - minus[o]) / d + 0.5 * *c * d;
    } else {
      // central differences: r = (y_+ - y_-) / 2d, c = (y_+ - 2 y_0 + y_-) / d^2
      *r = (plus[o] - minus[o]) / (2.0 * d);
      *c = (plus[o] - 2.0 * y[o] + minus[o]) / (d * d);
    }
  }
}

// Both members of each fast unknown run with the same offset: what they still differ by is what the first one remembers of the
// other one.
static bool is_forgotten(const yoke_shadow* s, const double y[]) {
  const size_t p = s->p, m = s->m;
  for (size_t j = 0; j < m; j++) {
    const guess* u = &s->unknowns[j];
    const double *plus = y + u->member * p, *minus = plus + p;
    for (size_t o = 0; o < p && u->is_fast; o++) {
      if (!(fabs(plus[o] - minus[o]) <= FORGOTTEN * fabs(s->live[o * m + j]) * u->offset)) {
        return false;
      }
    }
  }
  return true;
}

static void read_members(yoke_shadow* s, const double y[]) {
  const size_t p = s->p;
  memcpy(s->y, y, p * sizeof *y);
  for (size_t j = 0; j < s->m; j++) {
    if (s->unknowns[j].member > 0) {
      read_pair(s, j, y);
    }
  }
  for (size_t o = 0; o < p && s->checker > 0; o++) {
    // what the check members do beyond the nominal one
    s->plus[o] = y[s->checker * p + o] - y[o];
    s->minus[o] = y[(s->checker + 1) * p + o] - y[o];
  }
  s->is_forgotten = s->phase == PHASE_TURNED && is_forgotten(s, y);
}

static void keep_response(yoke_shadow* s, const double y[]) {
  const size_t p = s->p;
  size_t u = 0;
  for (size_t j = 0; j < s->m; j++) {
    if (!s->unknowns[j].is_fast) {
      continue;
    }
    const double *plus = y + s->unknowns[j].member * p, *minus = plus + p;
    for (size_t o = 0; o < p; o++) {
      // step response per unit of the unknown
      s->step[o * s->n_fast + u] = (plus[o] - minus[o]) / (2.0 * s->unknowns[j].offset);
    }
    u++;
  }
  yoke__response_add(s->response, s->step);
}

// ---- models

double yoke__shadow_error(const yoke_shadow* s) {
  double worst = 0.0;
  for (size_t i = 0; i < s->setup.filter.n_sensors; i++) {
    const double error = yoke__deviation_error(s->filter, s->setup.filter.sensors[i].output);
    worst = error > worst ? error : worst;
  }
  return worst;
}

// A model is asked for each time that the responses are twice as long, and adopted an eighth of their length later.
static void order_work(yoke_shadow* s) {
  const int level = yoke__response_level(s->response);
  if (s->job == JOB_NONE && level > s->level) {
    s->level = level;
    // an eighth of the record is the time that another thread has for the work
    s->adopt_at = s->k + 1 + s->response->k / 8;
    s->was_turning = s->is_turning;
    s->job = JOB_WANTED;
  }
}

bool yoke__shadow_wants_work(const yoke_shadow* s) {
  return s->job == JOB_WANTED;
}

bool yoke__shadow_needs_work(const yoke_shadow* s) {
  return s->job == JOB_WANTED && s->k >= s->adopt_at;
}

void yoke__shadow_work(yoke_shadow* s) {
  yoke_low_model* model = &s->renewal.model;

  // offsets turn only after the responses came to rest: a new model has to come to rest as well
  yoke_status status = yoke__realise(s->realise, s->response, (unsigned)s->level, TOLERANCE,
                                     MOST_ORDER, s->was_turning, model);
  s->is_good = status >= 0 && model->error <= WORST_MODEL;
  if (s->is_good) {
    status = yoke__deviation_renew(s->realise, &s->before, s->adopt_at, &s->renewal);
    s->is_good = status >= 0;
  }
  s->job = JOB_DONE;
}

static void keep_model(yoke_shadow* s) {
  const yoke_low_model* from = yoke__deviation_model(s->filter);
  double *A = s->before.A, *B = s->before.B, *C = s->before.C;
  const size_t n = from->order;
  memcpy(A, from->A, n * n * sizeof *A);
  memcpy(B, from->B, n * from->n_inputs * sizeof *B);
  memcpy(C, from->C, n * from->n_outputs * sizeof *C);
  s->before = *from;
  s->before.A = A;
  s->before.B = B;
  s->before.C = C;
}

static void adopt(yoke_shadow* s) {
  yoke__deviation_adopt(s->filter, &s->renewal);
  keep_model(s);
  s->rest = s->renewal.rest;
}

// Responses that were kept while the operating point moved do not follow from any linear model, and the one that is made of them may
// be worse than the one there is: it has to show that it is better.
static void begin_trial(yoke_shadow* s) {
  // the first model is taken as it is, a later one is tried against the one before
  if (s->is_good) {
    yoke__deviation_try(s->filter, &s->renewal);
    if (s->before.order > 0) {
      // a quarter of the record, or as long as the responses take
      s->trial_end = s->k + (s->response->k / 4 < s->rest ? s->response->k / 4 : s->rest) + 1;
      s->job = JOB_TRIED;
      return;
    }
    adopt(s);
  }
  s->job = JOB_NONE;
}

// The response is at rest, or longer ones are of no use: the offsets are to be turned round when it is time.
static void end_record(yoke_shadow* s, bool is_useless) {
  // after 4 times the rest of the responses nothing new will show
  if (s->phase == PHASE_RECORD && s->before.order > 0 &&
      (is_useless || WASHOUT * s->rest <= s->response->k) && !s->before.is_restless) {
    s->phase = PHASE_REST;
    s->turn_at = (s->k > s->settled_at ? s->k : s->settled_at) + s->rest;
  }
}

static void follow_job(yoke_shadow* s) {
  bool is_useless = false;
  if (s->job == JOB_DONE && s->k >= s->adopt_at) {
    is_useless = !s->is_good;
    begin_trial(s);
  } else if (s->job == JOB_TRIED && s->k >= s->trial_end) {
    is_useless = yoke__deviation_trial(s->filter) > WORSE;
    if (!is_useless) {
      adopt(s);
    }
    s->job = JOB_NONE;
  }
  end_record(s, is_useless);
}

// Turned round, and back for a new response.
static void turn(yoke_shadow* s) {
  // from settled_at on the responses to the offsets turned back are at rest
  s->is_turning = s->is_turning && !(s->phase == PHASE_REST && s->k >= s->settled_at);
  if (s->phase == PHASE_RECORD || s->k < s->turn_at) {
    return;
  }
  if (s->phase == PHASE_REST) {
    s->phase = PHASE_TURNED;
    s->is_turning = true;
    // the effect of the old offset is gone after 4 times its rest
    s->turn_at = s->k + WASHOUT * s->rest;
  } else if (s->is_forgotten) {
    s->phase = PHASE_RECORD;
    s->settled_at = s->k + WASHOUT * s->rest;
    yoke__response_clear(s->response);
    s->level = s->level > FIRST_LEVEL ? s->level - 1 : s->level;
  } else {
    // not forgotten yet: the rest was estimated too short
    s->rest *= 2;
    s->turn_at = s->k + s->rest;
  }
}

bool yoke__shadow_has_model(const yoke_shadow* s) {
  return s->n_fast == 0 || yoke__deviation_model(s->filter)->order > 0;
}

// ---- steps

static uint64_t next_random(yoke_shadow* s) {
  // splitmix64: reproducible on every machine
  uint64_t x = s->seed += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// The offsets of fast unknowns in the members that check change their signs at times that have no rhythm.
static void choose_check(yoke_shadow* s) {
  if (s->k < s->check_at || !yoke__shadow_has_model(s) || s->n_fast == 0) {
    return;
  }
  const uint64_t draw = next_random(s);

  // between rest / 32 and rest steps, so that no motion of the unit can lie in step with it
  s->check_at = s->k + 1 + (s->rest >> (draw % 6));
  for (size_t j = 0; j < s->m; j++) {
    guess* u = &s->unknowns[j];
    u->check = u->is_fast && (draw >> (8 + j % 40) & 1u) != 0 ? -u->check : u->check;
  }
}

// The members stay away from the bounds, so that there is room for offsets.
static double limit_shift(const yoke_shadow* s, size_t j, double shift) {
  const yoke_deviation_unknown* u = &s->setup.filter.unknowns[j];

  // the offset on top of applied must stay within the bounds
  const double applied = yoke__deviation_applied(s->filter, j), margin = s->unknowns[j].offset;
  return fmax(fmin(applied + shift, u->upper - margin), u->lower + margin) - applied;
}

static void choose_shift(yoke_shadow* s) {
  for (size_t j = 0; j < s->m; j++) {
    const guess* u = &s->unknowns[j];
    // share of what is left: fast 1, the model knows what that does; slow 4 / (1004 + k)
    double value, sd, share = u->is_fast && yoke__shadow_has_model(s) ? 1.0 : 0.0;
    if (!u->is_fast && u->member > 0 && s->setup.filter.unknowns[j].walk > 0.0) {
      share = SLOW / (SLOW + WALK_STEPS + (double)s->k);
    }
    yoke__deviation_unknown_of(s->filter, j, &value, &sd);
    const double left = value - yoke__deviation_applied(s->filter, j);
    s->shift[j] = share > 0.0 ? limit_shift(s, j, share * left) : 0.0;
  }
}

static yoke_deviation_point point_of(const yoke_shadow* s) {
  return (yoke_deviation_point){.y = s->y, .live = s->live, .curve = s->curve};
}

void yoke__shadow_begin(yoke_shadow* s, const double y[]) {
  read_members(s, y);
}

yoke_status yoke__shadow_correct(yoke_shadow* s, const double readings[], const bool have[]) {
  const yoke_deviation_point point = point_of(s);
  YOKE_TRY(yoke__deviation_correct(s->filter, &point, readings, have));
  if (s->n_fast > 0) {
    follow_job(s);
    turn(s);
    choose_check(s);
  }
  choose_shift(s);
  s->k++;
  set_theta(s);
  return YOKE_OK;
}

yoke_status yoke__shadow_move(yoke_shadow* s, const double y[]) {
  read_members(s, y);
  YOKE_TRY(yoke__deviation_predict(s->filter, s->shift));
  const yoke_deviation_point point = point_of(s);
  if (s->checker > 0) {
    yoke__deviation_check(s->filter, &point, s->check_offset, s->plus, s->minus);
  }
  if (s->response != NULL && s->phase == PHASE_RECORD) {
    keep_response(s, y);
    order_work(s);
  }
  return YOKE_OK;
}

uint64_t yoke__shadow_steps(const yoke_shadow* s) {
  return s->k;
}

double yoke__shadow_offset(const yoke_shadow* s, size_t unknown) {
  return s->unknowns[unknown].offset;
}

bool yoke__shadow_shows(const yoke_shadow* s, size_t unknown) {
  return s->unknowns[unknown].shows;
}

double yoke__shadow_first_offset(const yoke_shadow* s, size_t unknown) {
  const yoke_deviation_unknown* u = &s->setup.filter.unknowns[unknown];
  return s->unknowns[unknown].member == 0 ? 0.0 : first_offset(u, u->start, s->setup.filter.h);
}

double yoke__shadow_misfit(const yoke_shadow* s) {
  const yoke_deviation_point point = point_of(s);
  double worst = 0.0;
  for (size_t i = 0; i < s->setup.filter.n_sensors; i++) {
    worst = fmax(worst, yoke__deviation_misfit(s->filter, &point, i));
  }
  return worst;
}

const yoke_deviation* yoke__shadow_filter(const yoke_shadow* s) {
  return s->filter;
}

void yoke__shadow_output(const yoke_shadow* s, size_t output, double* value, double* sd) {
  const yoke_deviation_point point = point_of(s);
  yoke__deviation_output(s->filter, &point, output, value, sd);
}
