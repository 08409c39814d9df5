// Messages: collected ones (order, limits, what does not fit), lines for people, sinks; and the search for the name a user
// meant.
#include "base/base_message.h"

#include "support/check.h"
#include "support/heard.h"

static yoke_place at(const char* source, int line, int column) {
  return (yoke_place){source, line, column};
}

// ---------------------------------------------------------------------------------------------------------
// the list

static void test_sorted_by_place(void** state) {
  (void)state;
  yoke_messages list = {0};
  char source[] = "b.yaml";
  yoke__error(&list, at(source, 10, 1), "ten");
  yoke__error(&list, at(source, 2, 30), "two thirty");
  yoke__message_add(&list, YOKE_WARNING, at(source, 2, 4), "two %s, %s", "four", "first");
  yoke__message_add(&list, YOKE_NOTE, at(source, 2, 4), "two four, second");
  yoke__error(&list, at("a.yaml", 99, 0), "other file");
  yoke__error(&list, at(NULL, 0, 0), "nowhere");
  yoke__error(&list, at("--set x", 0, 0), "command line");
  yoke__error(&list, at(source, 0, 0), "whole file");
  memset(source, '#', sizeof source - 1);  // messages outlive what they speak of
  assert_int_equal(list.n_errors, 6);
  assert_int_equal(list.n_warnings, 1);

  static const char want[] = "--set x: error: command line\n"
                             "a.yaml:99: error: other file\n"
                             "b.yaml: error: whole file\n"
                             "b.yaml:2:4: warning: two four, first\n"
                             "b.yaml:2:4: note: two four, second\n"
                             "b.yaml:2:30: error: two thirty\n"
                             "b.yaml:10:1: error: ten\n"
                             "error: nowhere\n";
  char text[1024];
  yoke__messages_format(&list, text, sizeof text);
  assert_string_equal(text, want);

  // the stream gets the same
  FILE* file = tmpfile();
  assert_non_null(file);
  yoke__messages_print(&list, file);
  rewind(file);
  char printed[1024];
  const size_t n = fread(printed, 1, sizeof printed - 1, file);
  printed[n] = '\0';
  fclose(file);
  assert_string_equal(printed, want);
  yoke__messages_free(&list);
  assert_int_equal(list.n_errors, 0);
  yoke__messages_format(&list, text, sizeof text);
  assert_string_equal(text, "");
}

static void test_equal_places_keep_their_order(void** state) {
  (void)state;
  yoke_messages list = {0};
  for (int i = 0; i < 500; i++) {
    yoke__error(&list, at("f", 1, 1), "number %d", i);
  }
  static char text[65536];
  yoke__messages_format(&list, text, sizeof text);
  const char* line = text;
  for (int i = 0; i < 500; i++) {
    char want[64];
    snprintf(want, sizeof want, "f:1:1: error: number %d\n", i);
    assert_int_equal(strncmp(line, want, strlen(want)), 0);
    line += strlen(want);
  }
  assert_string_equal(line, "");
  yoke__messages_free(&list);
}

static void test_beyond_a_thousand_only_counted(void** state) {
  (void)state;
  yoke_messages list = {0};
  for (int i = 0; i < 999; i++) {
    yoke__message_add(&list, i % 2 == 0 ? YOKE_ERROR : YOKE_WARNING, at("f", i + 1, 1), "m");
    assert_false(yoke__messages_is_full(&list));
  }
  yoke__error(&list, at("f", 5000, 1), "the last that is kept");
  assert_true(yoke__messages_is_full(&list));
  for (int i = 0; i < 7; i++) {
    yoke__error(&list, at("f", 1, 1), "dropped");
  }
  assert_int_equal(list.n_errors, 500 + 1 + 7);
  assert_int_equal(list.n_warnings, 499);
  assert_int_equal(list.n_dropped, 7);
  static char text[65536];
  yoke__messages_format(&list, text, sizeof text);
  check_contains(text, "f:5000:1: error: the last that is kept\n... and 7 more\n");
  assert_null(strstr(text, "dropped"));
  yoke__messages_free(&list);
  assert_false(yoke__messages_is_full(&list));

  // notes have a thousand of their own, so that they neither fill the memory nor push out an error
  for (int i = 0; i < 1234; i++) {
    yoke__message_add(&list, YOKE_NOTE, at("f", i + 1, 1), "m");
    assert_false(yoke__messages_is_full(&list));
  }
  yoke__error(&list, at("f", 1, 1), "an error");
  assert_int_equal(list.n, 1001);
  assert_int_equal(list.n_notes, 1234);
  assert_int_equal(list.n_errors, 1);
  assert_int_equal(list.n_dropped, 234);
  yoke__messages_free(&list);
}

static size_t count_lines(const char* text) {
  size_t n = 0;
  for (; *text != '\0'; text++) {
    n += *text == '\n';
  }
  return n;
}

// any buffer: inside its bounds, whole lines only, and the lines left out are counted
static void test_buffers_of_every_size(void** state) {
  (void)state;
  yoke_messages list = {0};
  enum { N = 20 };
  for (int i = 0; i < N; i++) {
    yoke__error(&list, at("file.yaml", i + 1, 3), "expected %.*s", 3 * (i % 5), "############");
  }
  char full[2048];
  yoke__messages_format(&list, full, sizeof full);
  assert_int_equal(count_lines(full), N);
  for (size_t size = 0; size <= strlen(full) + 64; size++) {
    char* text = malloc(size + 1);
    assert_non_null(text);
    text[size] = '\x7f';
    yoke__messages_format(&list, text, size);
    assert_int_equal(text[size], '\x7f');
    if (size > 0) {
      assert_non_null(memchr(text, '\0', size));
    }
    if (size >= 64) {
      const char* more = strstr(text, "... and ");
      const size_t left = more == NULL ? 0 : strtoul(more + strlen("... and "), NULL, 10);
      const size_t shown = count_lines(text) - (more != NULL);
      if (shown + left != N || text[strlen(text) - 1] != '\n') {
        fail_msg("%zu bytes: %zu lines and %zu left out of %d:\n%s", size, shown, left, N, text);
      }
    }
    free(text);
  }
  yoke__messages_format(&list, NULL, 100);  // a caller that wants no text
  yoke__messages_free(&list);
}

// a buffer too small for the first message still says something of it
static void test_long_texts_are_cut(void** state) {
  (void)state;
  yoke_messages list = {0};
  static char longer[5000];
  memset(longer, 'x', sizeof longer - 1);
  yoke__error(&list, at("f", 1, 1), "begins %s", longer);
  static char text[8192];
  yoke__messages_format(&list, text, sizeof text);
  check_contains(text, "f:1:1: error: begins xxxx");
  assert_int_equal(count_lines(text), 1);
  check_between((double)strlen(text), 1000, 2048);

  char little[80];
  yoke__messages_format(&list, little, sizeof little);
  check_contains(little, "f:1:1: error: begins xxxx");
  yoke__messages_free(&list);

  // a very long path cannot hide the message, neither here nor on the stream
  yoke__error(&list, at(longer, 3, 4), "what is wrong");
  yoke__messages_format(&list, text, sizeof text);
  check_contains(text, ":3:4: error: what is wrong\n");
  FILE* file = tmpfile();
  assert_non_null(file);
  yoke__messages_print(&list, file);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  check_contains(text, ":3:4: error: what is wrong\n");
  yoke__messages_free(&list);
}

// every field is kept, in copies of its own
static void test_copies_outlive_what_they_came_from(void** state) {
  (void)state;
  char texts[6][32] = {"a.yaml", "pump", "p", "became nan", "reduce the step", ""};
  yoke_messages list = {0};
  const yoke_sink sink = yoke__messages_sink(&list);
  const yoke_message full = {YOKE_ERROR, YOKE_DIVERGED, texts[0], 12,       7,
                             texts[1],   texts[2],      0.25,     texts[3], texts[4]};
  const yoke_message bare = {.severity = YOKE_NOTE, .time = (double)NAN, .text = texts[5]};
  yoke_send(&sink, &full);
  yoke_send(&sink, &bare);
  memset(texts, '#', sizeof texts);
  assert_true(list.n == 2 && list.n_errors == 1 && list.n_warnings == 0);
  const yoke_message* m = &list.all[0];
  assert_true(m->severity == YOKE_ERROR && m->status == YOKE_DIVERGED);
  assert_true(m->line == 12 && m->column == 7 && m->time == 0.25);
  assert_string_equal(m->file, "a.yaml");
  assert_string_equal(m->unit, "pump");
  assert_string_equal(m->variable, "p");
  assert_string_equal(m->text, "became nan");
  assert_string_equal(m->hint, "reduce the step");
  m = &list.all[1];
  assert_true(m->severity == YOKE_NOTE && m->status == YOKE_OK && isnan(m->time));
  assert_true(m->file == NULL && m->unit == NULL && m->variable == NULL && m->hint == NULL);
  assert_string_equal(m->text, "");
  yoke__messages_free(&list);
  assert_true(list.n == 0 && list.all == NULL);
}

// what comes through a sink is limited like everything else; what was kept stays where it is
static void test_a_sink_drops_beyond_a_thousand(void** state) {
  (void)state;
  yoke_messages list = {0};
  const yoke_sink sink = yoke__messages_sink(&list);
  for (int i = 0; i < 1234; i++) {
    assert_int_equal(yoke_fail(&sink, YOKE_IO, "number %d", i), YOKE_IO);
  }
  assert_int_equal(list.n, 1000);
  assert_int_equal(list.n_errors, 1234);
  assert_int_equal(list.n_dropped, 234);
  for (size_t i = 0; i < list.n; i++) {
    char want[32];
    snprintf(want, sizeof want, "number %zu", i);
    assert_string_equal(list.all[i].text, want);
  }
  yoke__messages_free(&list);
}

// ---------------------------------------------------------------------------------------------------------
// one message as a line

static void check_line(const yoke_message* message, const char* want) {
  char line[1024];
  const size_t n = yoke_message_format(message, line, sizeof line);
  assert_string_equal(line, want);
  assert_int_equal(n, strlen(want));
  // any room: the beginning of the line, and its whole length as the answer
  for (size_t size = 0; size <= n + 1; size++) {
    char* part = malloc(size + 1);
    assert_non_null(part);
    part[size] = '\x7f';
    assert_int_equal(yoke_message_format(message, size == 0 ? NULL : part, size), n);
    assert_int_equal(part[size], '\x7f');
    if (size > 0) {
      assert_int_equal(strlen(part), size - 1);
      assert_int_equal(strncmp(part, want, size - 1), 0);
    }
    free(part);
  }
}

static void test_lines(void** state) {
  (void)state;
  yoke_message m = {YOKE_ERROR, YOKE_DIVERGED,           "crane.yaml",     12, 7, "pump", "p",
                    0.25,       "output 'p' became nan", "reduce the step"};
  check_line(&m, "crane.yaml:12:7: error: unit 'pump' at t = 0.25 s: output 'p' became nan; reduce "
                 "the step");
  m.hint = NULL;
  m.column = 0;
  check_line(&m, "crane.yaml:12: error: unit 'pump' at t = 0.25 s: output 'p' became nan");
  m.unit = NULL;
  m.severity = YOKE_WARNING;
  check_line(&m, "crane.yaml:12: warning: at t = 0.25 s: output 'p' became nan");
  m.time = (double)NAN;
  m.line = 0;
  check_line(&m, "crane.yaml: warning: output 'p' became nan");
  m.unit = "pump";
  m.file = NULL;
  m.severity = YOKE_NOTE;
  check_line(&m, "note: unit 'pump': output 'p' became nan");
  m.unit = NULL;
  m.hint = "";
  check_line(&m, "note: output 'p' became nan");
  // a place in a text that has no name
  m.line = 3;
  check_line(&m, "line 3: note: output 'p' became nan");
  m.column = 9;
  check_line(&m, "line 3:9: note: output 'p' became nan");
  m.line = 0;
  check_line(&m, "note: output 'p' became nan");
  // of times the digits that a person would write
  m.time = 0.1 + 0.2;
  check_line(&m, "note: at t = 0.3 s: output 'p' became nan");

  // one line, whatever a unit says
  m.time = (double)NAN;
  m.text = "no\nway\t\x1b[31m\x7f";
  check_line(&m, "note: no way  [31m ");

  // nothing to format, or nowhere to write to
  char line[8] = "before";
  assert_int_equal(yoke_message_format(&m, NULL, 100), strlen("note: no way  [31m "));
  assert_int_equal(yoke_message_format(NULL, NULL, 0), 0);
  m.text = NULL;
  assert_int_equal(yoke_message_format(&m, NULL, 0), 0);
  assert_int_equal(yoke_message_format(&m, line, sizeof line), 0);
  assert_string_equal(line, "");
}

// ---------------------------------------------------------------------------------------------------------
// sinks

static void test_sinks_that_drop(void** state) {
  (void)state;
  const yoke_sink nothing = {NULL, NULL};
  const yoke_message m = {.text = "unheard"};
  yoke_send(NULL, &m);
  yoke_send(&nothing, &m);
  assert_int_equal(yoke_fail(NULL, YOKE_BAD_ARG, "unheard"), YOKE_BAD_ARG);
  assert_int_equal(yoke_fail(&nothing, YOKE_BAD_ARG, "unheard"), YOKE_BAD_ARG);
  assert_int_equal(yoke__fail_at(NULL, YOKE_BAD_ARG, at("f", 1, 1), "unheard"), YOKE_BAD_ARG);
}

static void test_failures_have_their_fields(void** state) {
  (void)state;
  HEAR(told);
  assert_int_equal(yoke_fail(&told.sink, YOKE_IO, "%d of %s", 3, "five"), YOKE_IO);
  assert_int_equal(told.status, YOKE_IO);
  assert_int_equal(yoke__fail_at(&told.sink, YOKE_BAD_INPUT, at("f", 3, 4), "gain %g", 0.5),
                   YOKE_BAD_INPUT);
  assert_int_equal(told.status, YOKE_BAD_INPUT);
  assert_string_equal(told.text, "error: 3 of five\nf:3:4: error: gain 0.5\n");
  assert_int_equal(told.n_of[YOKE_ERROR], 2);
}

// what a message does not say is filled in; what it says stays
static void test_contexts_fill_in(void** state) {
  (void)state;
  HEAR(told);
  yoke_context about;
  assert_ptr_equal(yoke__context_init(&about, &told.sink, at("a.yaml", 7, 3), "left", 0.5), &about);
  yoke_fail(&about.sink, YOKE_IO, "all of it");
  yoke__fail_at(&about.sink, YOKE_IO, at("b.cir", 9, 0), "another file");
  yoke__fail_at(&about.sink, YOKE_IO, at(NULL, 4, 2), "another line of it");
  const yoke_message own = {.severity = YOKE_NOTE, .unit = "right", .time = 2, .text = "its own"};
  yoke_send(&about.sink, &own);
  assert_string_equal(told.text, "a.yaml:7:3: error: unit 'left' at t = 0.5 s: all of it\n"
                                 "b.cir:9: error: unit 'left' at t = 0.5 s: another file\n"
                                 "a.yaml:4:2: error: unit 'left' at t = 0.5 s: another line of it\n"
                                 "a.yaml:7:3: note: unit 'right' at t = 2 s: its own\n");

  // the inner one goes first; an outer one adds what is still missing
  heard_clear(&told);
  yoke_context outer, inner;
  yoke__context_init(&outer, &told.sink, at("a.yaml", 7, 3), "left", 0.5);
  yoke__context_init(&inner, &outer.sink, at("b.cir", 0, 0), NULL, (double)NAN);
  yoke_fail(&inner.sink, YOKE_IO, "both");
  assert_string_equal(told.text, "b.cir: error: unit 'left' at t = 0.5 s: both\n");

  // nobody listens
  yoke__context_init(&about, NULL, at("a.yaml", 7, 3), "left", 0.5);
  assert_int_equal(yoke_fail(&about.sink, YOKE_IO, "unheard"), YOKE_IO);
}

static void test_caught_texts(void** state) {
  (void)state;
  YOKE_CATCH(why);
  assert_string_equal(why.text, "");
  assert_int_equal(yoke__fail_at(&why.sink, YOKE_IO, at("f", 3, 4), "the first"), YOKE_IO);
  assert_string_equal(why.text, "the first");  // without its place
  yoke_fail(&why.sink, YOKE_IO, "the last");
  assert_string_equal(why.text, "the last");
  static char longer[3000];
  memset(longer, 'x', sizeof longer - 1);
  const yoke_message m = {.text = longer};
  yoke_send(&why.sink, &m);
  assert_int_equal(strlen(why.text), sizeof why.text - 1);
}

// ---------------------------------------------------------------------------------------------------------
// nearest names

static const char* const words[] = {
    "oscillator.force",
    "oscillator.mass",
    "spring_damper",
    "state_space",
    "left",
    "right",
    "x_other",
    "v_other",
    "amplitude",
    "gauss-seidel",
    "jacobi",
    "iterative-jacobi",
    "stop",
    "step",
    "connections",
    "kc",
    "y1",
    "record",
    "der(x)",
    "body.wheel[1].speed",
};
enum { N_WORDS = sizeof words / sizeof words[0] };

static void check_nearest(const char* typed, const char* want) {
  const char* got = yoke__nearest_name(typed, words, N_WORDS);
  if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0)) {
    fail_msg("'%s': found %s, expected %s", typed, got == NULL ? "nothing" : got,
             want == NULL ? "nothing" : want);
  }
}

static void test_typing_mistakes_are_found(void** state) {
  (void)state;
  static const char* const pairs[][2] = {
      {"oscilator.force", "oscillator.force"},  // a letter left out
      {"osccillator.mass", "oscillator.mass"},  // a letter too many
      {"ocsillator.mass", "oscillator.mass"},   // neighbours swapped
      {"rigth", "right"},
      {"lfet", "left"},
      {"lft", "left"},
      {"Left", "left"},  // case
      {"LEFT", "left"},
      {"Jacobi", "jacobi"},
      {"KC", "kc"},
      {"springdamper", "spring_damper"},  // separators
      {"spring-damper", "spring_damper"},
      {"state-space", "state_space"},
      {"gauss_seidel", "gauss-seidel"},
      {"gaus-siedel", "gauss-seidel"},  // two mistakes in a long word
      {"itterative-jakobi", "iterative-jacobi"},
      {"amplitud", "amplitude"},
      {"amplitudes", "amplitude"},
      {"conections", "connections"},
      {"recrod", "record"},
      {"stpe", "step"},
      {"y2", "y1"},  // a short name with one wrong character
      {"der(y)", "der(x)"},
      {"body.wheel[2].speed", "body.wheel[1].speed"},
      {"x.other", "x_other"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    check_nearest(pairs[i][0], pairs[i][1]);
  }
}

static void test_far_names_are_not_proposed(void** state) {
  (void)state;
  static const char* const far[] = {"voltage", "current", "top",      "q",    "",
                                    "zz",      "damping", "pressure", "fmu2", "temperature"};
  for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) {
    // "top" is one letter from "stop": near enough
    check_nearest(far[i], strcmp(far[i], "top") == 0 ? "stop" : NULL);
  }
  // one letter instead of another is no typing mistake; another case is
  static const char* const letters[] = {"x", "v"};
  assert_null(yoke__nearest_name("y", letters, 2));
  assert_string_equal(yoke__nearest_name("X", letters, 2), "x");
  // the same name is not what the user meant
  assert_null(yoke__nearest_name("x", letters, 1));
  // gaps in the list and an empty list
  static const char* const gaps[] = {NULL, "speed", NULL};
  assert_string_equal(yoke__nearest_name("sped", gaps, 3), "speed");
  assert_null(yoke__nearest_name("speed", NULL, 0));
}

static void test_case_goes_before_letters(void** state) {
  (void)state;
  static const char* const names[] = {"stoq", "Stop", "stom"};
  assert_string_equal(yoke__nearest_name("stop", names, 3), "Stop");
}

// names of any length are survived; those that cannot be compared are not proposed
static void test_very_long_names(void** state) {
  (void)state;
  static char longest[3000], other[3000];
  memset(longest, 'a', sizeof longest - 1);
  memset(other, 'a', sizeof other - 1);
  other[7] = 'b';
  const char* const names[] = {longest, "short"};
  (void)yoke__nearest_name(other, names, 2);
  for (size_t n = 120; n < 140; n++) {
    other[n] = '\0';
    longest[n] = '\0';
    const char* got = yoke__nearest_name(other, names, 2);
    assert_true(n <= 128 ? got == longest : got == NULL || got == longest);
    other[n] = longest[n] = 'a';
  }
}

// one random edit of a name that is far from all others leads back to it
static void test_any_single_edit_is_found(void** state) {
  (void)state;
  uint64_t random = 7;
  for (int trial = 0; trial < 20000; trial++) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const unsigned r = (unsigned)(random >> 33);
    const char* word = words[r % 4];  // the long ones
    const size_t n = strlen(word), where = r / 4 % n;
    char typed[64];
    switch (r / 1024 % 4) {
    case 0:  // left out
      snprintf(typed, sizeof typed, "%.*s%s", (int)where, word, word + where + 1);
      break;
    case 1:  // wrong
      snprintf(typed, sizeof typed, "%.*s#%s", (int)where, word, word + where + 1);
      break;
    case 2:  // doubled
      snprintf(typed, sizeof typed, "%.*s%s", (int)where + 1, word, word + where);
      break;
    default:  // swapped
      snprintf(typed, sizeof typed, "%s", word);
      typed[where] = word[where + 1 < n ? where + 1 : where];
      typed[where + 1 < n ? where + 1 : where] = word[where];
      break;
    }
    if (strcmp(typed, word) != 0) {
      check_nearest(typed, word);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sorted_by_place),
      cmocka_unit_test(test_equal_places_keep_their_order),
      cmocka_unit_test(test_beyond_a_thousand_only_counted),
      cmocka_unit_test(test_buffers_of_every_size),
      cmocka_unit_test(test_long_texts_are_cut),
      cmocka_unit_test(test_copies_outlive_what_they_came_from),
      cmocka_unit_test(test_a_sink_drops_beyond_a_thousand),
      cmocka_unit_test(test_lines),
      cmocka_unit_test(test_sinks_that_drop),
      cmocka_unit_test(test_failures_have_their_fields),
      cmocka_unit_test(test_contexts_fill_in),
      cmocka_unit_test(test_caught_texts),
      cmocka_unit_test(test_typing_mistakes_are_found),
      cmocka_unit_test(test_far_names_are_not_proposed),
      cmocka_unit_test(test_case_goes_before_letters),
      cmocka_unit_test(test_very_long_names),
      cmocka_unit_test(test_any_single_edit_is_found),
  };
  return cmocka_run_group_tests_name("base_message", tests, NULL, NULL);
}
