// A study shared by several ranks, here threads of one process with mailboxes instead of MPI: same
// bits with any number of ranks and jobs, reasons travel, another study is refused, an early end
// ends everybody.
#include <sched.h>
#include <stdatomic.h>

#include "study/study_fixture.h"
#include "study/study_share.h"

#define MAX_RANKS 5
#define N_POINTS  15

static const char oscillator[] =
    "yoke: 1\n"
    "time: {stop: 0.5, step: 1e-3}\n"
    "units:\n"
    "  left:  {model: oscillator.force, with: {m: 1, k: 10, kc: 100}, start: {x: 0, v: 100}}\n"
    "  right: {model: oscillator.mass, with: {m: 1, k: 1000}, start: {x: 0, v: -100}}\n"
    "connections:\n"
    "  - right.x -> left.x_other\n"
    "bonds:\n"
    "  spring: {action: left.f -> right.f, rate: right.v -> left.v_other}\n";
static const char integrator[] = "yoke: 1\n"
                                 "time: {stop: 0.1, step: 1e-2}\n"
                                 "units: {i: {model: integrator, start: {x: 1, u: 1}}}\n";

// ---- mailboxes

typedef struct letter {
  struct letter* next;
  int from;
  size_t n;
  char bytes[];
} letter;

typedef struct mailbox {
  atomic_flag is_taken;
  letter *first, **last;
} mailbox;

static mailbox boxes[MAX_RANKS];

static void lock(mailbox* box) {
  while (atomic_flag_test_and_set(&box->is_taken)) {
    (void)sched_yield();
  }
}

static void write_letter(letter* l, const void* bytes, size_t n, int from) {
  l->next = NULL;
  l->from = from;
  l->n = n;
  memcpy(l->bytes, bytes, n);
}

static void send_letter(void* self, int to, const void* bytes, size_t n) {
  letter* l = malloc(sizeof *l + n);
  write_letter(l, bytes, n, *(const int*)self);
  mailbox* box = &boxes[to];
  lock(box);
  *box->last = l;
  box->last = &l->next;
  atomic_flag_clear(&box->is_taken);
}

static bool look(void* self, int* from, size_t* n) {
  mailbox* box = &boxes[*(const int*)self];
  lock(box);
  const letter* l = box->first;
  if (l != NULL) {
    *from = l->from;
    *n = l->n;
  }
  atomic_flag_clear(&box->is_taken);
  return l != NULL;
}

static void receive(void* self, int from, void* bytes, size_t n) {
  mailbox* box = &boxes[*(const int*)self];
  (void)from;
  lock(box);
  letter* l = box->first;
  box->first = l->next;
  if (box->first == NULL) {
    box->last = &box->first;
  }
  atomic_flag_clear(&box->is_taken);
  memcpy(bytes, l->bytes, n);
  free(l);
}

// ---- ranks

typedef struct rank {
  int number;
  yoke_link link;
  yoke_share share;
  const yoke_study_plan* plan;
  int n_jobs;
  bool has_followed;
  yoke_thread* thread;
} rank;

static void follow(void* argument) {
  rank* r = argument;
  if (yoke__share_wait(&r->share)) {
    r->has_followed = true;
    yoke__share_follow(&r->share, r->plan, r->n_jobs, NULL);
  }
}

// odd_plan: what the last rank has instead
static void start_ranks(rank ranks[], int n, int n_jobs, const yoke_study_plan* plan,
                        const yoke_study_plan* odd_plan) {
  for (int i = 0; i < n; i++) {
    ranks[i] = (rank){.number = i, .plan = plan, .n_jobs = n_jobs};
    ranks[i].link = (yoke_link){i, n, "here", &ranks[i].number, send_letter, look, receive};
    ranks[i].share.link = &ranks[i].link;
    boxes[i].first = NULL;
    boxes[i].last = &boxes[i].first;
    atomic_flag_clear(&boxes[i].is_taken);
  }
  if (odd_plan != NULL) {
    ranks[n - 1].plan = odd_plan;
  }
  for (int i = 1; i < n; i++) {
    check_ok(yoke__os_thread_start(follow, &ranks[i], &ranks[i].thread));
  }
}

static void end_ranks(rank ranks[], int n) {
  yoke__share_end(&ranks[0].share);
  for (int i = 0; i < n; i++) {
    if (i > 0) {
      yoke__os_thread_join(&ranks[i].thread);
    }
    yoke__share_free(&ranks[i].share);
  }
  for (int i = 0; i < n; i++) {
    assert_null(boxes[i].first);  // nobody left anything unheard
  }
}

// ---- batches

typedef struct batch_log {
  size_t n, fail_at;
  size_t seen[N_POINTS];
  char refusal[512];
} batch_log;

static yoke_status note_end(void* context, const yoke_study_case* run) {
  batch_log* log = context;
  log->n++;
  log->seen[run->point]++;
  return log->n == log->fail_at ? YOKE_IO : YOKE_OK;
}

static void note_refusal(void* to, const yoke_message* why) {
  batch_log* log = to;
  snprintf(log->refusal, sizeof log->refusal, "%s", why->text);
}

static atomic_int n_questions;
static bool says_stop_later(void) {
  return atomic_fetch_add(&n_questions, 1) > 20;
}

typedef struct outcome {
  yoke_study_result results[N_POINTS];
  double values[N_POINTS * FIXTURE_MAX];
  batch_log log;
} outcome;

static yoke_status run_batch(const yoke_study_plan* plan, int n_jobs, yoke_share* share,
                             bool (*is_interrupted)(void), outcome* out) {
  yoke_study_case cases[N_POINTS];
  for (size_t i = 0; i < N_POINTS; i++) {
    out->results[i] = (yoke_study_result){.values = out->values + i * plan->n_measures};
    cases[i] = (yoke_study_case){i, 0, &out->results[i]};
  }
  const yoke_sink refusals = {note_refusal, &out->log};
  const yoke_batch_calls calls = {.finished = note_end,
                                  .is_interrupted = is_interrupted,
                                  .context = &out->log,
                                  .share = share,
                                  .sink = &refusals};
  return yoke__study_batch(plan, cases, N_POINTS, n_jobs, &calls);
}

static void free_outcome(outcome* out) {
  for (size_t i = 0; i < N_POINTS; i++) {
    free(out->results[i].reason);
    out->results[i].reason = NULL;
  }
}

static void check_same(const outcome* got, const outcome* want, size_t n_measures) {
  for (size_t i = 0; i < N_POINTS; i++) {
    const yoke_study_result *a = &got->results[i], *b = &want->results[i];
    assert_int_equal(got->log.seen[i], 1);
    assert_int_equal(a->status, b->status);
    assert_memory_equal(&a->t, &b->t, sizeof a->t);
    assert_memory_equal(a->values, b->values, n_measures * sizeof(double));
    assert_string_equal(a->reason == NULL ? "" : a->reason, b->reason == NULL ? "" : b->reason);
  }
}

// good points, points over a limit, points that cannot be built
static void open_mixed(fixture* f) {
  static const char* const vary[] = {"time.step=1e-3,2e-3,4e-3,-1,1e-2",
                                     "units.left.with.kc=50,100,150", NULL};
  static const char* const measures[] = {"end:left.x", "rms:right.v", "steps", NULL};
  static const char* const limits[] = {"steps<=300", NULL};
  fixture_open(f, oscillator, vary, measures, limits);
  assert_int_equal(f->grid.n_points, N_POINTS);
}

static void test_same_results(void** state) {
  (void)state;
  fixture f;
  static outcome alone, shared;
  open_mixed(&f);
  alone = (outcome){0};
  check_ok(run_batch(&f.plan, 2, NULL, NULL, &alone));
  assert_int_equal(alone.results[0].status, YOKE_RUN_LIMIT);
  assert_int_equal(alone.results[3].status, YOKE_RUN_DONE);
  assert_int_equal(alone.results[9].status, YOKE_RUN_REFUSED);
  check_contains(alone.results[9].reason, "expected a number greater than 0, found -1");
  for (int size = 1; size <= MAX_RANKS; size++) {
    for (int jobs = 1; jobs <= 3; jobs += 2) {
      rank ranks[MAX_RANKS];
      shared = (outcome){0};
      start_ranks(ranks, size, jobs, &f.plan, NULL);
      check_ok(yoke__share_begin(&ranks[0].share, &f.plan));
      check_ok(run_batch(&f.plan, jobs, &ranks[0].share, NULL, &shared));
      check_same(&shared, &alone, f.plan.n_measures);
      free_outcome(&shared);
      // and again: the ranks wait for more
      shared = (outcome){0};
      check_ok(run_batch(&f.plan, jobs, &ranks[0].share, NULL, &shared));
      check_same(&shared, &alone, f.plan.n_measures);
      free_outcome(&shared);
      end_ranks(ranks, size);
    }
  }
  free_outcome(&alone);
  fixture_close(&f);
}

// a rank whose files or settings differ must not add to the table
static void test_another_study(void** state) {
  (void)state;
  fixture f, other;
  static outcome out;
  rank ranks[2];
  static const char* const vary[] = {"time.step=1e-3:15e-3:15", NULL};
  static const char* const measures[] = {"end:left.x", NULL};
  fixture_open(&f, oscillator, vary, measures, NULL);
  fixture_open(&other, oscillator, vary, measures, NULL);
  other.plan.n_bytes -= 1;
  out = (outcome){0};
  start_ranks(ranks, 2, 1, &f.plan, &other.plan);
  check_ok(yoke__share_begin(&ranks[0].share, &f.plan));
  // the leader must not be done before the other has spoken
  int from = 0;
  size_t n = 0;
  while (!look(&ranks[0].number, &from, &n)) {
    (void)sched_yield();
  }
  assert_int_equal(run_batch(&f.plan, 1, &ranks[0].share, NULL, &out), YOKE_BAD_INPUT);
  assert_string_equal(out.log.refusal,
                      "rank 1 on here has another study: the system file has changed");
  end_ranks(ranks, 2);
  free_outcome(&out);
  fixture_close(&other);
  fixture_close(&f);
}

// what was not reported is as if it had never been run, and everybody goes home
static void test_early_end(void** state) {
  (void)state;
  fixture f;
  static outcome out;
  rank ranks[3];
  open_mixed(&f);
  for (int round = 0; round < 2; round++) {
    out = (outcome){.log.fail_at = round == 0 ? 3 : 0};
    atomic_store(&n_questions, 0);
    start_ranks(ranks, 3, 1, &f.plan, NULL);
    check_ok(yoke__share_begin(&ranks[0].share, &f.plan));
    const yoke_status status =
        run_batch(&f.plan, 1, &ranks[0].share, round == 0 ? NULL : says_stop_later, &out);
    // an interrupt may come when all is done
    if (round == 0 || status < 0) {
      assert_int_equal(status, round == 0 ? YOKE_IO : YOKE_INTERRUPTED);
    }
    for (size_t i = 0; i < N_POINTS; i++) {
      assert_true(out.log.seen[i] <= 1);
      assert_true((out.log.seen[i] == 1) == (out.results[i].status != YOKE_RUN_PENDING));
    }
    end_ranks(ranks, 3);
    free_outcome(&out);
  }
  fixture_close(&f);
}

// a leader that ends before it has begun: a wrong command line
static void test_nothing_to_do(void** state) {
  (void)state;
  fixture f;
  rank ranks[4];
  open_mixed(&f);
  start_ranks(ranks, 4, 2, &f.plan, NULL);
  end_ranks(ranks, 4);
  for (int i = 1; i < 4; i++) {
    assert_false(ranks[i].has_followed);
  }
  // one that cannot take part says so
  start_ranks(ranks, 1, 1, &f.plan, NULL);
  ranks[0].link.size = 2;
  ranks[1] = (rank){.number = 1};
  ranks[1].link = (yoke_link){1, 2, "there", &ranks[1].number, send_letter, look, receive};
  ranks[1].share.link = &ranks[1].link;
  boxes[1].first = NULL;
  boxes[1].last = &boxes[1].first;
  check_ok(yoke__share_begin(&ranks[0].share, &f.plan));
  yoke__share_stop(&ranks[0].share);
  yoke__share_leave(&ranks[1].share);
  yoke_share_message m;
  bool is_there = false;
  check_ok(yoke__share_next(&ranks[0].share, &m, &is_there));
  assert_true(is_there && m.kind == YOKE_SHARE_REFUSE);
  assert_string_equal(m.text, "rank 1 on there cannot take part");
  yoke__share_end(&ranks[0].share);
  yoke__share_free(&ranks[0].share);
  yoke__share_free(&ranks[1].share);
  fixture_close(&f);
}

static yoke_status count_end(void* context, const yoke_study_case* run) {
  size_t* counts = context;
  counts[run->point]++;
  return YOKE_OK;
}

// more points than a chunk holds, runs that take no time: each one once
static void test_many_points(void** state) {
  (void)state;
  enum { N = 3000 };
  static const char* const vary[] = {"units.i.start.x=1:3000:3000", NULL};
  static const char* const measures[] = {"end:i.y", NULL};
  static yoke_study_result results[N];
  static yoke_study_case cases[N];
  static double values[N];
  static size_t counts[N];
  fixture f;
  rank ranks[3];
  fixture_open(&f, integrator, vary, measures, NULL);
  for (size_t i = 0; i < N; i++) {
    results[i] = (yoke_study_result){.values = &values[i]};
    cases[i] = (yoke_study_case){i, 0, &results[i]};
  }
  start_ranks(ranks, 3, 2, &f.plan, NULL);
  check_ok(yoke__share_begin(&ranks[0].share, &f.plan));
  const yoke_batch_calls calls = {
      .finished = count_end, .context = counts, .share = &ranks[0].share};
  check_ok(yoke__study_batch(&f.plan, cases, N, 2, &calls));
  for (size_t i = 0; i < N; i++) {
    assert_int_equal(counts[i], 1);
    check_near(values[i], (double)(i + 1) + 0.1, 1e-12 * (double)(i + 1));
  }
  end_ranks(ranks, 3);
  fixture_close(&f);
}

// never more than what leaves every thread four times as much; nobody gets early the last ones
static void test_chunks(void** state) {
  (void)state;
  for (size_t workers = 1; workers <= 100; workers += 3) {
    for (size_t left = 0; left < 20000; left = left * 2 + 1) {
      const size_t n = yoke__share_chunk(left, workers);
      assert_true(n <= YOKE_SHARE_MAX_CHUNK && n * 4 * workers <= left);
    }
  }
  assert_int_equal(yoke__share_chunk(17640, 2), YOKE_SHARE_MAX_CHUNK);
  assert_int_equal(yoke__share_chunk(24, 2), 3);
  assert_int_equal(yoke__share_chunk(7, 2), 0);
}

// bytes that no rank sends are left out
static void test_broken_messages(void** state) {
  (void)state;
  rank ranks[2];
  yoke_share_message m;
  bool is_there = true;
  uint64_t seed = 7;
  start_ranks(ranks, 1, 1, NULL, NULL);
  for (size_t n = 0; n < 400; n++) {
    unsigned char bytes[400];
    for (size_t i = 0; i < n; i++) {
      seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      bytes[i] = (unsigned char)(seed >> 60);
    }
    // a known kind with sizes that are wrong
    const uint32_t kind = (uint32_t)(n % 10);
    if (n >= sizeof kind) {
      memcpy(bytes, &kind, sizeof kind);
    }
    send_letter(&ranks[0].number, 0, bytes, n);
  }
  check_ok(yoke__share_next(&ranks[0].share, &m, &is_there));
  assert_false(is_there);
  yoke__share_free(&ranks[0].share);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_results),    cmocka_unit_test(test_another_study),
      cmocka_unit_test(test_early_end),       cmocka_unit_test(test_nothing_to_do),
      cmocka_unit_test(test_many_points),     cmocka_unit_test(test_chunks),
      cmocka_unit_test(test_broken_messages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
