// Texts that are no YAML, or YAML that a system file may not use: each gives a message in plain
// words at the place where the mistake is, and no bytes bring the reader down.
#include "scenario_helper.h"

#define BASE "yoke: 1\ntime: {stop: 1, step: 0.1}\nunits: {a: {model: m}}\n"

typedef struct mistake {
  const char *text, *messages;
} mistake;

static void check_all(const mistake* cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    check_messages(cases[i].text, cases[i].messages);
  }
}

static void test_indentation(void** state) {
  (void)state;
  static const mistake cases[] = {
      {"yoke: 1\nunits:\n\ta: {model: m}\n",
       "3:1: error: a tab cannot be used for indentation here; use spaces"},
      {"yoke: 1\nunits:\n  a:\n  \tmodel: m\n",
       "4:3: error: a tab cannot be used for indentation here; use spaces"},
      {"yoke: 1\nname: a\n \tb\n\tc\n",
       "4:1: error: a tab cannot be used for indentation here; use spaces"},
      {"text: |\n\tx\n", "2:1: error: a tab cannot be used for indentation here; use spaces"},
      {"yoke: 1\n  time: {stop: 1}\n", "2:7: error: a ':' cannot stand here; start a new line for "
                                       "a new key, or put a text with ': ' into quotes"},
      {"units:\n  a: {model: m}\n b: {model: m}\n",
       "3:2: error: expected a key of the map that starts at line 1, column 1; check the "
       "indentation"},
      {"connections:\n  - a.x -> b.y\n  c: d\n",
       "3:3: error: expected an entry '- ' of the list that starts at line 2, column 3; check the "
       "indentation"},
      {"a: - b\n",
       "1:4: error: a list entry '- ' cannot stand here; start it on a line of its own"},
      {"a: b: c\n", "1:5: error: a ':' cannot stand here; start a new line for a new key, or put a "
                    "text with ': ' into quotes"},
      {"a: ? b\n", "1:4: error: a key cannot stand here; check the indentation"},
      {"yoke: 1\nfoo\nbar: 2\n", "2:1: error: expected 'key: value': no ':' follows this text"},
      {"{yoke: 1}\nx: 1\n", "2:1: error: the text goes on behind its end; check the indentation"},
  };
  check_all(cases, sizeof cases / sizeof cases[0]);
}

static void test_brackets_and_quotes(void** state) {
  (void)state;
#define NEED "; texts with brackets or commas need quotes"
  static const mistake cases[] = {
      {"order: [a, b\nname: x\n",
       "2:5: error: expected ',' or ']' in the list that starts at line 1, column 8" NEED},
      {"time: {stop: 1, step: 1\n",
       "2:1: error: expected ',' or '}' in the map that starts at line 1, column 7" NEED},
      {"c: {from: a.x[0], to: b}\n",
       "1:14: error: expected ',' or '}' in the map that starts at line 1, column 4" NEED},
      {"order: [a, ]]\n", "1:13: error: expected a key of the map that starts at line 1, column 1; "
                          "check the indentation"},
      {"a: ]\n", "1:4: error: expected a key or a value here"},
      {"name: \"abc\nyoke: 1\n", "1:7: error: the quotes that open here are never closed"},
      {"name: 'abc\n", "1:7: error: the quotes that open here are never closed"},
      {"name: 'abc\n---\n",
       "1:7: error: the quotes that open here are not closed before the document ends"},
      {"name: \"a\\qb\"\n", "1:9: error: unknown escape behind a backslash; use '\\\\' for a "
                            "backslash, or single quotes"},
      {"name: \"\\xzz\"\n",
       "1:10: error: expected hexadecimal digits behind the escape \\x, \\u or \\U"},
      {"name: \"\\ud800\"\n", "1:10: error: the escape names no Unicode character"},
      {"name: @x\n",
       "1:7: error: the character '@' cannot start a value; put the text into quotes"},
      {"name: `x\n",
       "1:7: error: the character '`' cannot start a value; put the text into quotes"},
      {"name: %x\n",
       "1:7: error: the character '%' cannot start a value; put the text into quotes"},
      {"text: |0\n  x\n", "1:8: error: the indentation behind '|' or '>' must be from 1 to 9"},
      {"text: | x\n", "1:9: error: the text behind '|' or '>' must start on a new line"},
  };
#undef NEED
  check_all(cases, sizeof cases / sizeof cases[0]);
}

static void test_what_a_system_file_may_not_use(void** state) {
  (void)state;
  static const mistake cases[] = {
      {BASE "name: &a x\n", "4:7: error: anchors are not supported: remove '&a'"},
      {BASE "order: &o [a]\n", "4:8: error: anchors are not supported: remove '&o'"},
      {BASE "record: &r {every: 1}\n", "4:9: error: anchors are not supported: remove '&r'"},
      {BASE "name: *a\n", "4:7: error: aliases are not supported: replace '*a' by the value it "
                          "stands for, or put it into quotes"},
      {BASE "*a : 1\n", "4:1: error: aliases are not supported: replace '*a' by the value it "
                        "stands for, or put it into quotes"},
      {BASE "name: *\n",
       "4:7: error: aliases ('*name') are not supported; to write a '*' put the text into quotes"},
      {BASE "name: & x\n",
       "4:7: error: anchors ('&name') are not supported; to write a '&' put the text into quotes"},
      {BASE "record: {signals: [*.x]}\n",
       "4:20: error: aliases ('*name') are not supported; to write a '*' put the text into quotes"},
      {BASE "name: !!str x\n",
       "4:7: error: tags are not supported: remove the tag 'tag:yaml.org,2002:str'"},
      {BASE "name: !x y\n", "4:7: error: tags are not supported: remove the tag '!x'"},
      {BASE "name: ! y\n", "4:7: error: tags are not supported: remove the tag '!'"},
      {BASE "name: !a!b y\n", "4:7: error: tags ('!name') are not supported"},
      {BASE "name: !<x y\n",
       "4:7: error: tags ('!name') are not supported; to write a '!' put the text into quotes"},
      {"%TAG !e! x:\n---\n" BASE, "1:1: error: tags are not supported: remove the %TAG line"},
      {"%FOO\n---\n" BASE,
       "1:1: error: the line starting with '%' is no valid directive; remove it"},
      {"%YAML 1.1\n%YAML 1.1\n---\n" BASE, "2:1: error: the %YAML line is given twice"},
      {"%YAML 3.0\n---\n" BASE, "1:1: error: this YAML version is not supported; use 1.1 or 1.2"},
      {BASE "record:\n  <<: {every: 2}\n",
       "5:3: error: merge keys ('<<') are not supported: write the keys out"},
      {BASE "[a, b]: 1\n", "4:1: error: a key must be a text, found a list"},
      {BASE "? {a: b}\n: 1\n", "4:3: error: a key must be a text, found a map"},
      {BASE "record: {: 1}\n", "4:10: error: expected a key or a value here"},
      {BASE "'': 1\n", "4:1: error: expected a key before ':'"},
      {BASE ": 1\n", "4:1: error: expected a key of the map that starts at line 1, column 1; check "
                     "the indentation"},
      {BASE "name: \"a\\0b\"\n", "4:7: error: a text cannot contain the character \\0"},
      {BASE "---\n" BASE,
       "4:1: error: a second document starts here; a system file holds only one"},
      {BASE "...\n---\nyoke: 1\n",
       "5:1: error: a second document starts here; a system file holds only one"},
      {BASE "name: x\nname: y\n'name': z\n",
       "5:1: error: the key 'name' was given before at line 4, column 1\n"
       "6:1: error: the key 'name' was given before at line 4, column 1"},
  };
  check_all(cases, sizeof cases / sizeof cases[0]);
}

// Quoted, the same characters are a text like any other.
static void test_quotes_make_them_texts(void** state) {
  (void)state;
  reading* r = reading_good(BASE "name: '&a *b !c << @d'\nrecord: {signals: ['*.x', \"[[[\"]}\n");
  assert_string_equal(r->scenario->name, "&a *b !c << @d");
  assert_string_equal(r->scenario->record_signals[1].text, "[[[");
  reading_free(r);
}

static void test_empty_files(void** state) {
  (void)state;
  static const char* const texts[] = {"",           "\n\n",  "# only a comment\n", "---\n",
                                      "---\n...\n", "   \n", "\xef\xbb\xbf"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_messages(texts[i], "1:1: error: the file is empty; expected a map with the keys yoke, "
                             "time and units");
  }
}

static void test_bytes_that_are_no_text(void** state) {
  (void)state;
  static const struct {
    const char* bytes;
    size_t n;
    const char* message;
  } cases[] = {
      {"yoke: 1\nname: \xff\n", 16, "2:7: error: the file is not UTF-8 text: unexpected byte 0xff"},
      {"a: \xc3", 4, "1:4: error: the file is not UTF-8 text: unexpected byte 0xc3"},
      {"a: \xc0\xaf", 5, "1:4: error: the file is not UTF-8 text: unexpected byte 0xc0"},
      {"a: \xe0\x80\xaf", 6, "1:4: error: the file is not UTF-8 text: unexpected byte 0xe0"},
      {"a: \xed\xa0\x80", 6, "1:4: error: the file is not UTF-8 text: unexpected byte 0xed"},
      {"a: \xf4\x90\x80\x80", 7, "1:4: error: the file is not UTF-8 text: unexpected byte 0xf4"},
      {"a: \xe2\x82(", 6, "1:4: error: the file is not UTF-8 text: unexpected byte 0xe2"},
      {"\x7f"
       "ELF\x02\x01",
       6, "1:1: error: the file is not text: it contains the control character 0x7f"},
      {"yoke: 1\n\0", 9,
       "2:1: error: the file is not text: it contains the control character 0x00"},
      {"a: \x1b[0m", 7, "1:4: error: the file is not text: it contains the control character 0x1b"},
      {"a: \xef\xbb\xbf", 6, "1:4: error: the file contains a character that YAML does not allow"},
      {"a: \xef\xbf\xbf", 6, "1:4: error: the file contains a character that YAML does not allow"},
      {"a: \xc2\x81", 5, "1:4: error: the file contains a character that YAML does not allow"},
      {"\xff\xfey\0o\0", 6,
       "1:1: error: the file is not UTF-8 text (it looks like UTF-16); save it as UTF-8"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading* r = reading_of_bytes(cases[i].bytes, cases[i].n, NULL, 0);
    char want[256];
    snprintf(want, sizeof want, "dir/t.yaml:%s\n", cases[i].message);
    assert_string_equal(r->text, want);
    reading_free(r);
  }
}

static const char sample[] =
    "yoke: 1\nname: \"q\\\"\xc3\xa9\" # c\ntime: {start: 0, stop: 1, step: 1e-3}\norder: [a, b]\n"
    "units:\n  a: {model: m, with: {k: [1, 2]}}\n  b:\n    model: 'n'\n    start: {x: ~}\n"
    "connections:\n  - a.x -> b.y\n  - {from: a.z, to: b.w, order: 2}\n"
    "bonds: {s: {action: a.f -> b.f, rate: a.v, coupling: {method: energy}}}\n"
    "couplings: {c: {method: m, members: [a, b]}}\ntext: |\n  some\n  text\n";

// Every beginning of a file, and every file with one byte changed, is read or refused; nothing else.
static void test_damaged_files_never_crash(void** state) {
  (void)state;
  static const char noise[] = "\t[]{}:,-&*!|>'\"%@#? \n\x80";
  char copy[sizeof sample];
  size_t n_good = 0, n_bad = 0;
  for (size_t i = 0; i < sizeof sample; i++) {
    // in a block of its own, so that a sanitizer sees a read behind the end
    char* exact = malloc(i == 0 ? 1 : i);
    assert_non_null(exact);
    memcpy(exact, sample, i);
    reading* r = reading_of_bytes(exact, i, NULL, 0);
    n_good += r->status == YOKE_OK;
    n_bad += r->status == YOKE_BAD_INPUT;
    reading_free(r);
    free(exact);
    for (size_t k = 0; k < sizeof noise - 1 && i < sizeof sample - 1; k++) {
      memcpy(copy, sample, sizeof sample);
      copy[i] = noise[k];
      r = reading_of_bytes(copy, sizeof sample - 1, NULL, 0);
      n_good += r->status == YOKE_OK;
      n_bad += r->status == YOKE_BAD_INPUT;
      reading_free(r);
    }
  }
  assert_int_equal(n_good + n_bad, sizeof sample + (sizeof sample - 1) * (sizeof noise - 1));
  assert_true(n_good > 100 && n_bad > 1000);
}

static void test_files_that_cannot_be_read(void** state) {
  (void)state;
  yoke_messages messages = {0};
  yoke_scenario* s = NULL;
  assert_int_equal(yoke__scenario_read_file("no/such/file.yaml", NULL, 0, &messages, &s), YOKE_IO);
  assert_null(s);
  assert_int_equal(messages.n_errors, 1);
  assert_int_equal(messages.all[0].status, YOKE_IO);
  assert_string_equal(messages.all[0].file, "no/such/file.yaml");
  assert_int_equal(messages.all[0].line, 0);
  yoke__messages_free(&messages);
  assert_int_equal(yoke__scenario_read_file("/", NULL, 0, &messages, &s), YOKE_IO);
  assert_int_equal(messages.n_errors, 1);
  yoke__messages_free(&messages);

  // and one that can
  FILE* file = fopen("test_scenario_syntax.yaml", "wb");
  assert_non_null(file);
  fputs(BASE, file);
  fclose(file);
  check_ok(yoke__scenario_read_file("test_scenario_syntax.yaml", NULL, 0, &messages, &s));
  assert_string_equal(s->name, "test_scenario_syntax");
  assert_int_equal(s->n_units, 1);
  yoke__scenario_free(&s);
  yoke__messages_free(&messages);
  remove("test_scenario_syntax.yaml");
}

// With errors the parts that could be read are there for the next stage; without YAML nothing is.
static void test_parts_of_a_file_with_errors(void** state) {
  (void)state;
  static const char* const texts[] = {BASE "order: [a]\nconnections: [x, a.y -> b.z]\n", BASE "]"};
  for (int i = 0; i < 2; i++) {
    FILE* file = fopen("test_scenario_parts.yaml", "wb");
    assert_non_null(file);
    fputs(texts[i], file);
    fclose(file);
    yoke_messages messages = {0};
    yoke_scenario* s = NULL;
    assert_int_equal(
        yoke__scenario_read_parts("test_scenario_parts.yaml", NULL, 0, 0, &messages, &s),
        YOKE_BAD_INPUT);
    assert_int_equal(messages.n_errors, 1);
    assert_true((s != NULL) == (i == 0));
    if (s != NULL) {
      assert_true(s->has_errors);
      assert_int_equal(s->n_units, 1);
      assert_int_equal(s->n_connections, 2);
      assert_null(s->connections[0].from.unit);
      assert_string_equal(s->connections[1].to.variable, "z");
    }
    yoke__scenario_free(&s);
    yoke__messages_free(&messages);
  }
  remove("test_scenario_parts.yaml");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_indentation),
      cmocka_unit_test(test_brackets_and_quotes),
      cmocka_unit_test(test_what_a_system_file_may_not_use),
      cmocka_unit_test(test_quotes_make_them_texts),
      cmocka_unit_test(test_empty_files),
      cmocka_unit_test(test_bytes_that_are_no_text),
      cmocka_unit_test(test_damaged_files_never_crash),
      cmocka_unit_test(test_files_that_cannot_be_read),
      cmocka_unit_test(test_parts_of_a_file_with_errors),
  };
  return cmocka_run_group_tests_name("scenario_syntax", tests, NULL, NULL);
}
