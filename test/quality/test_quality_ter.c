// Two results judged by the energy residual of their bonds: numbers by hand from columns and from ledgers, conventions that
// are refused, warnings where TER does not rank (TE-06), sums over bonds.
#include "quality/quality_ter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "support/heard.h"

// A result and a reference from texts.
typedef struct pair {
  yoke_arena arena;
  yoke_recorded results[2];
  yoke_ter_comparison ter;
  heard told;
} pair;

static void make_result(pair* p, int side, const char* csv, const char* summary) {
  yoke_recorded* r = &p->results[side];
  *r = (yoke_recorded){.path = side == 0 ? "a" : "b"};
  check_ok(yoke__csv_parse(csv, strlen(csv), &r->csv, &p->told.sink));
  check_ok(yoke__map_create(r->csv.n_columns, &p->arena, &r->names));
  for (size_t i = 1; i < r->csv.n_columns; i++) {
    yoke__map_add(&r->names, r->csv.columns[i].name, i);
  }
  if (summary != NULL) {
    check_ok(yoke__summary_parse(summary, strlen(summary), &p->arena, &r->summary, &p->told.sink));
    r->has_summary = true;
  }
}

static void free_pair(pair* p) {
  yoke__csv_free(&p->results[0].csv);
  yoke__csv_free(&p->results[1].csv);
  yoke__arena_free(&p->arena);
}

static yoke_status judge(pair* p, const char* csv, const char* summary, const char* other_csv,
                         const char* other_summary) {
  *p = (pair){.told.sink = {heard_receive, &p->told}};
  make_result(p, 0, csv, summary);
  make_result(p, 1, other_csv, other_summary);
  return yoke__ter_compare(p->results, &p->arena, &p->ter, &p->told.sink);
}

static bool has_text(const yoke_ter_text* list, const char* part) {
  for (; list != NULL; list = list->next) {
    if (strstr(list->text, part) != NULL) {
      return true;
    }
  }
  return false;
}

// A summary of one bond "b" between a.f -> c.f and c.v -> a.v; `unit` adds to unit c.
typedef struct told_run {
  const char *exchange, *residual, *convention, *scheme, *unit, *feedthrough;
  double t_reached, ter, throughput, flow, effort;
} told_run;
static const told_run plain = {.exchange = "stale",
                               .residual = "r",
                               .convention = "c",
                               .scheme = "jacobi",
                               .unit = "\"fresh\": false",
                               .feedthrough = "",
                               .t_reached = 2,
                               .ter = 3,
                               .throughput = 6,
                               .flow = 1,
                               .effort = 2};

static const char* summary_of(told_run r, char* to, size_t size) {
  snprintf(
      to, size,
      "{\"t_reached\": %g, \"system\": {\"scheme\": \"%s\", \"start\": 0, \"step\": 1,"
      " \"step_order\": [\"a\", \"c\"],"
      " \"units\": [{\"name\": \"a\", \"step\": 1, \"variables\": ["
      "{\"name\": \"f\", \"size\": 1, \"feedthrough\": [%s]}, {\"name\": \"v\", \"size\": 1}]},"
      " {\"name\": \"c\", \"step\": 1, %s, \"variables\": [{\"name\": \"v\", \"size\": 1},"
      " {\"name\": \"f\", \"size\": 1}]}],"
      " \"connections\": [{\"from\": \"a.f\", \"to\": \"c.f\", \"gain\": 1},"
      " {\"from\": \"c.v\", \"to\": \"a.v\", \"gain\": 1}],"
      " \"bonds\": [{\"name\": \"b\", \"action\": [\"a.f\"], \"rate\": [\"c.v\"],"
      " \"sign\": 1, \"exchange\": 1}]},"
      " \"ledger\": {\"exchange\": \"%s\", \"residual\": \"%s\", \"ter\": \"%s\","
      " \"bonds\": [{\"name\": \"b\", \"ter\": %g, \"throughput\": %g, \"flow_part\": %g,"
      " \"effort_part\": %g}]}}",
      r.t_reached, r.scheme, r.feedthrough, r.unit, r.exchange, r.residual, r.convention, r.ter,
      r.throughput, r.flow, r.effort);
  return to;
}

static const char signals[] = "time,a.f,c.f,c.v,a.v\n0,1,1,2,2\n1,2,1,3,2\n2,3,2,4,3\n";

// -------------------------------------------------------------------------------------------------

// No summary: TER is the last value, throughput sum |P| dt, error energy sum |P - P_ref(t_k+1)| dt.
static void test_columns_by_hand(void** state) {
  (void)state;
  pair p;
  check_ok(judge(&p, "time,bond.b.ter,bond.b.P\n0,0,1\n1,2,-2\n2,3,5\n", NULL,
                 "time,bond.b.ter,bond.b.P\n0,0,4\n1,1,2\n2,6,1\n", NULL));
  assert_int_equal(p.ter.n_rows, 1);
  const yoke_ter_row* row = &p.ter.rows[0];
  assert_string_equal(row->name, "b");
  check_near(row->ter[0], 3, 0);
  check_near(row->ter[1], 6, 0);
  check_near(row->throughput[0], 3, 0);
  check_near(row->throughput[1], 6, 0);
  check_near(row->relative[0], 1, 0);
  check_near(row->ratio, 0.5, 0);
  assert_string_equal(row->better, "result");
  check_near(row->error.total, 4, 0);
  free_pair(&p);
}

// The inputs as applied, c.f and a.v of the row before the step, against the outputs of the reference.
static void test_error_energy_of_inputs(void** state) {
  (void)state;
  pair p;
  char text[2048];
  summary_of(plain, text, sizeof text);
  check_ok(judge(&p, signals, text, signals, text));
  const yoke_ter_row* row = &p.ter.rows[0];
  assert_string_equal(row->power_of, "inputs");
  // p~ = 1*2 and 1*2, p at the ends 2*3 and 3*4
  check_near(row->error.total, 4 + 10, 1e-15);
  assert_string_equal(row->better, "equal");
  check_near(row->relative[0], 0.5, 0);
  assert_true(has_text(p.ter.notes, "error energy of bond 'b' with the inputs as applied"));
  assert_true(has_text(p.ter.notes, "the distance to another co-simulation"));
  assert_null(p.ter.warnings);
  check_near(p.ter.t_first, 0, 0);
  check_near(p.ter.t_last, 2, 0);

  // under Gauss-Seidel a row holds the inputs of the step that ended there
  free_pair(&p);
  told_run sweep = plain;
  sweep.scheme = "gauss-seidel";
  summary_of(sweep, text, sizeof text);
  check_ok(judge(&p, signals, text, signals, text));
  check_near(p.ter.rows[0].error.total, (2 * 3 - 1 * 2) + (3 * 4 - 2 * 3), 1e-15);
  free_pair(&p);
}

static void refuse(told_run other, const char* why) {
  pair p;
  char a[2048], b[2048];
  assert_int_equal(
      judge(&p, signals, summary_of(plain, a, sizeof a), signals, summary_of(other, b, sizeof b)),
      YOKE_BAD_INPUT);
  check_contains(p.told.text, why);
  free_pair(&p);
}

static void test_other_conventions_are_refused(void** state) {
  (void)state;
  told_run other = plain;
  other.exchange = "fresh";
  refuse(other, "exchange differs, and TER with it: 'stale' in a, 'fresh' in b");
  other = plain;
  other.residual = "other";
  refuse(other, "the residual's convention differs");
  other = plain;
  other.convention = "other";
  refuse(other, "TER's convention differs");
  other = plain;
  other.t_reached = 4;
  refuse(other, "TER grows with time: a covers 0 to 2 s, b covers 0 to 4 s");
  other = plain;
  other.unit = "\"fresh\": true";
  refuse(other, "unit 'c' of bond 'b' is stale in a and fresh in b");
  // all of them in one go
  other.residual = other.convention = "other";
  refuse(other, "TER's convention differs");
  // one step of difference is none
  pair p;
  char a[2048], b[2048];
  other = plain;
  other.t_reached = 3;
  check_ok(
      judge(&p, signals, summary_of(plain, a, sizeof a), signals, summary_of(other, b, sizeof b)));
  free_pair(&p);
}

static void test_nothing_to_judge(void** state) {
  (void)state;
  pair p;
  assert_int_equal(judge(&p, "time,x\n0,1\n1,1\n", NULL, signals, NULL), YOKE_BAD_INPUT);
  check_contains(p.told.text, "a has no bond with a TER");
  free_pair(&p);
  assert_int_equal(judge(&p, "time,bond.b.ter\n0,1\n", NULL, signals, NULL), YOKE_BAD_INPUT);
  check_contains(p.told.text, "a has fewer than two rows");
  free_pair(&p);
}

// Same kind of defect or none of the numbers ranks.
static void test_warnings(void** state) {
  (void)state;
  pair p;
  char a[2048], b[2048];
  told_run one = plain, other = plain;
  one.feedthrough = "\"v\"";
  check_ok(
      judge(&p, signals, summary_of(one, a, sizeof a), signals, summary_of(other, b, sizeof b)));
  assert_true(has_text(p.ter.warnings, "what unit 'a' sends depends on the partner's old value in "
                                       "the result and on nothing in the reference"));
  free_pair(&p);

  one = plain;
  one.flow = 3;
  one.effort = 0.001;
  other.flow = 0.001;
  other.effort = 3;
  check_ok(
      judge(&p, signals, summary_of(one, a, sizeof a), signals, summary_of(other, b, sizeof b)));
  assert_true(has_text(p.ter.warnings, "the defects lie in different connections, in the rate "
                                       "(flow) of the result and in the action (effort)"));
  free_pair(&p);

  // 3 J of 9 J: two thirds are the limit
  one.flow = 5;
  one.effort = 4;
  check_ok(
      judge(&p, signals, summary_of(one, a, sizeof a), signals, summary_of(other, b, sizeof b)));
  assert_true(has_text(p.ter.warnings, "in the result the defects of flow (5 J) and effort (4 J) "
                                       "cancel in part"));
  free_pair(&p);
}

// Sums are those of both bonds; without one error energy there is no sum of them.
static void test_total(void** state) {
  (void)state;
  pair p;
  check_ok(
      judge(&p, "time,bond.b.ter,bond.b.P,bond.c.ter\n0,0,1,0\n1,2,-2,4\n2,3,5,5\n", NULL,
            "time,bond.b.ter,bond.b.P,bond.c.ter,bond.total.ter\n0,0,4,0,9\n1,1,2,1,9\n2,6,1,2,"
            "9\n",
            NULL));
  assert_int_equal(p.ter.n_rows, 2);
  check_near(p.ter.total.ter[0], 8, 0);
  check_near(p.ter.total.ter[1], 8, 0);
  assert_string_equal(p.ter.total.better, "equal");
  assert_true(isnan(p.ter.rows[1].error.total));
  assert_true(isnan(p.ter.total.error.total));
  assert_int_equal(p.ter.total.error.n_intervals, 0);
  assert_true(has_text(p.ter.notes, "no error energy of bond 'c': the result records neither its "
                                    "inputs nor bond.NAME.P"));
  free_pair(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_by_hand),
      cmocka_unit_test(test_error_energy_of_inputs),
      cmocka_unit_test(test_other_conventions_are_refused),
      cmocka_unit_test(test_nothing_to_judge),
      cmocka_unit_test(test_warnings),
      cmocka_unit_test(test_total),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
