// CSV reader: values, quoting, missing cells, positions of errors, bounds, speed.
#include "base/base_csv.h"

#include <time.h>

#include "base/base_message.h"
#include "base/base_number.h"
#include "support/check.h"
#include "support/heard.h"

static yoke_csv table;
static heard told = {.sink = {heard_receive, &told}};

// the table of a file of this name
static yoke_status parse_bytes(const char* bytes, size_t n) {
  yoke_context context;
  yoke__csv_free(&table);
  heard_clear(&told);
  yoke__context_init(&context, &told.sink, (yoke_place){"t.csv", 0, 0}, NULL, (double)NAN);
  return yoke__csv_parse(bytes, n, &table, &context.sink);
}

static yoke_status parse(const char* text) {

  // an exact copy on the heap, so that reading past the end is seen by the address sanitizer
  const size_t n = strlen(text);
  char* copy = malloc(n == 0 ? 1 : n);
  assert_non_null(copy);
  memcpy(copy, text, n);  // NOLINT(bugprone-not-null-terminated-result): no NUL on purpose
  const yoke_status status = parse_bytes(copy, n);
  free(copy);
  return status;
}

static void check_error(const char* text, const char* want) {
  assert_int_equal(parse(text), YOKE_BAD_INPUT);
  check_contains(told.text, want);
  assert_int_equal(table.n_columns, 0);
  assert_null(table.columns);
}

static void numbers_and_names(void** state) {
  (void)state;
  check_ok(parse("time,left.f,\"a,\"\"b\"\"\",flag\n0,1.5,-1e-3,1\r\n0.1,nan,inf,0\n"));
  assert_int_equal(table.n_columns, 4);
  assert_int_equal(table.n_rows, 2);
  assert_string_equal(table.columns[1].name, "left.f");
  assert_string_equal(table.columns[2].name, "a,\"b\"");
  check_near(table.columns[0].values[1], 0.1, 0);
  check_near(table.columns[1].values[0], 1.5, 0);
  check_near(table.columns[2].values[0], -1e-3, 0);
  assert_true(isnan(table.columns[1].values[1]));
  assert_false(yoke__csv_is_missing(table.columns[1].values[1]));
  assert_true(isinf(table.columns[2].values[1]));
  for (size_t i = 0; i < 4; i++) {
    assert_false(table.columns[i].is_text);
    assert_int_equal(table.columns[i].n_missing, 0);
  }
  assert_int_equal(yoke__csv_find(&table, "flag"), 3);
  assert_int_equal(yoke__csv_find(&table, "flags"), 4);
}

static void missing_cells_and_text(void** state) {
  (void)state;
  check_ok(parse("time,mode,x\n0,on,\n1,\"off, \"\"really\"\"\",2\n2,3, 4 \n3,,\"5\""));
  assert_int_equal(table.n_rows, 4);
  assert_false(table.columns[0].is_text);
  assert_true(table.columns[1].is_text);
  assert_false(table.columns[2].is_text);
  assert_int_equal(table.columns[2].n_missing, 1);
  assert_int_equal(table.columns[1].n_missing, 1);
  assert_true(yoke__csv_is_missing(table.columns[2].values[0]));
  assert_true(yoke__csv_is_missing(table.columns[1].values[3]));
  assert_false(yoke__csv_is_missing(table.columns[1].values[0]));
  assert_true(isnan(table.columns[1].values[0]));
  check_near(table.columns[1].values[2], 3, 0);
  check_near(table.columns[2].values[2], 4, 0);
  check_near(table.columns[2].values[3], 5, 0);
  assert_true(yoke__csv_is_missing(yoke__csv_missing()));
  assert_false(yoke__csv_is_missing((double)NAN));
}

static void check_cell(const char* got, const char* want) {
  if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0)) {
    fail_msg("got %s, expected %s", got == NULL ? "none" : got, want == NULL ? "none" : want);
  }
}

// Texts as they stand, without the blanks and the quotes around them; empty cells are told apart from empty texts.
static void texts_of_columns(void** state) {
  (void)state;
  static const char bytes[] = "\xef\xbb\xbf\"ti\nme\", mode ,x,note\r\n0, on ,1,\n1,\"off, "
                              "\"\"really\"\"\",2, \" a \" \r\n2,,3,\"\"\n"
                              "3,\"two\r\nlines\",4,b\n4,5,6,c\n\n";
  static const char* const modes[] = {"on", "off, \"really\"", NULL, "two\r\nlines", "5"};
  static const char* const notes[] = {NULL, " a ", "", "b", "c"};
  static const bool wanted[] = {false, true, false, true};
  static const size_t lines[] = {3, 4, 5, 6, 8};
  check_ok(parse(bytes));
  assert_int_equal(table.n_rows, 5);
  assert_null(table.columns[1].texts);
  check_ok(yoke__csv_keep_texts(bytes, sizeof bytes - 1, wanted, &table));
  assert_null(table.columns[0].texts);
  assert_null(table.columns[2].texts);
  for (size_t i = 0; i < 5; i++) {
    check_cell(table.columns[1].texts[i], modes[i]);
    check_cell(table.columns[3].texts[i], notes[i]);
    assert_int_equal(yoke__csv_line(bytes, sizeof bytes - 1, &table, i), lines[i]);
  }
  check_ok(parse("a,b\n"));
  check_ok(yoke__csv_keep_texts("a,b\n", 4, wanted, &table));
  assert_non_null(table.columns[1].texts);
}

// What spreadsheets and people write: blanks behind commas, in front of quotes, around names.
static void blanks_around_cells(void** state) {
  (void)state;
  check_ok(parse(" time, t_case ,\t\"loss\" ,\" kept \", a b \n 0 , 1.5, \"2\" ,\t, \" 3 \"\r\n"));
  static const char* const names[] = {"time", "t_case", "loss", " kept ", "a b"};
  assert_int_equal(table.n_columns, 5);
  for (size_t i = 0; i < 5; i++) {
    assert_string_equal(table.columns[i].name, names[i]);
    assert_false(table.columns[i].is_text);
  }
  assert_int_equal(yoke__csv_find(&table, "t_case"), 1);
  check_near(table.columns[1].values[0], 1.5, 0);
  check_near(table.columns[2].values[0], 2, 0);
  assert_true(yoke__csv_is_missing(table.columns[3].values[0]));
  check_near(table.columns[4].values[0], 3, 0);
  check_error("a, \"b\" c\n", "t.csv:1:8: error: text behind a closing quote");
  check_error("a, b \"c\"\n", "t.csv:1:6: error: a quote inside");
}

static void shapes_at_the_edge(void** state) {
  (void)state;
  check_ok(parse("time"));
  assert_int_equal(table.n_rows, 0);
  check_ok(parse("\xef\xbb\xbftime,x\r\n\r\n\n"));
  assert_string_equal(table.columns[0].name, "time");
  assert_int_equal(table.n_rows, 0);
  check_ok(parse("x\n1\n\n3\n\n\n"));  // inside: an empty cell; at the end: nothing
  assert_int_equal(table.n_rows, 3);
  assert_int_equal(table.columns[0].n_missing, 1);
  check_ok(parse(",\n,\n1,"));
  assert_int_equal(table.n_rows, 2);
  assert_string_equal(table.columns[1].name, "");
  assert_int_equal(table.columns[1].n_missing, 2);
  check_ok(parse("\"two\nlines\",b\n1,2\n"));
  assert_string_equal(table.columns[0].name, "two\nlines");
  assert_int_equal(table.n_rows, 1);
}

static void errors_say_where(void** state) {
  (void)state;
  check_error("", "t.csv:1:1: error: no header");
  check_error("\n\r\n\n", "no header");
  check_error("a,b\n1,2\n3\n", "t.csv:3: error: 1 cell, but the header has 2");
  check_error("a,b\n1,2\n\n3,4\n", "t.csv:3: error: 1 cell, but the header has 2");
  check_error("a,b\n1,2,3\n", "t.csv:2: error: more than 2 cells, but the header has 2");
  check_error("a,b\n1,2\"\n", "t.csv:2:4: error: a quote inside");
  check_error("a,b\n\"1\"2,3\n", "t.csv:2:4: error: text behind a closing quote");
  check_error("a,b\n1,\"2\n3,4\n", "t.csv:2:3: error: this quote is never closed");
  check_error("a,b\n\"x\ny\",2\n1\n", "t.csv:4: error: 1 cell");
  check_error("a,b\n1\r,2\n", "t.csv:2:2: error: a carriage return");
  check_error("a,b\n1,2\r", "t.csv:2:4: error: a carriage return");
  char text[] = "a,b\n1,?\n";
  text[6] = '\0';
  assert_int_equal(parse_bytes(text, sizeof text - 1), YOKE_BAD_INPUT);
  check_contains(told.text, "t.csv:2:3: error: a NUL byte");
}

static void sizes_are_bounded(void** state) {
  (void)state;
  // one column too many
  const size_t n = YOKE_CSV_MAX_COLUMNS;
  char* text = malloc(n + 1);
  assert_non_null(text);
  memset(text, ',', n);
  assert_int_equal(parse_bytes(text, n), YOKE_BAD_INPUT);
  check_contains(told.text, "more than 1000000 columns");

  // as many as allowed
  check_ok(parse_bytes(text, n - 1));
  assert_int_equal(table.n_columns, n);
  yoke__csv_free(&table);
  free(text);

  // a line that never ends, quoted and not
  const size_t size = (size_t)YOKE_CSV_MAX_LINE_SIZE + 16;
  text = malloc(size);
  assert_non_null(text);
  memset(text, 'x', size);
  text[0] = 'a';
  text[1] = '\n';
  assert_int_equal(parse_bytes(text, size), YOKE_BAD_INPUT);
  check_contains(told.text, "t.csv:2:1: error: a line of more than 64 MB");
  memset(text + 2, '\n', size - 2);
  text[2] = '"';
  text[size - 1] = '"';
  assert_int_equal(parse_bytes(text, size), YOKE_BAD_INPUT);
  check_contains(told.text, "t.csv:2:1: error: a line of more than 64 MB");
  free(text);
}

// 1e5 rows of 10 columns (1e6 with YOKE_FULL) must come back bitwise; the time per cell is printed.
static void large_table_is_exact(void** state) {
  (void)state;
  const size_t n_rows = getenv("YOKE_FULL") != NULL ? 1000000 : 100000, n_columns = 10;
  char* text = malloc(64 + n_rows * n_columns * YOKE_NUMBER_SIZE);
  if (text == NULL) {
    fail_msg("out of memory");
    return;
  }
  size_t n = (size_t)snprintf(text, 64, "time,a,b,c,d,e,f,g,h,i\n");
  for (size_t row = 0; row < n_rows; row++) {
    for (size_t column = 0; column < n_columns; column++) {
      n += yoke__number_format(sin((double)row + (double)column / 7), text + n);
      text[n++] = column + 1 < n_columns ? ',' : '\n';
    }
  }
  const clock_t start = clock();
  check_ok(parse_bytes(text, n));
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  free(text);
  assert_int_equal(table.n_rows, n_rows);
  for (size_t row = 0; row < n_rows; row += 97) {
    for (size_t column = 0; column < n_columns; column++) {
      check_near(table.columns[column].values[row], sin((double)row + (double)column / 7), 0);
    }
  }
  const double ns_per_cell = seconds * 1e9 / (double)(n_rows * n_columns);
  print_message("%.0f ns per cell\n", ns_per_cell);
  yoke__csv_free(&table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_and_names),  cmocka_unit_test(missing_cells_and_text),
      cmocka_unit_test(texts_of_columns),   cmocka_unit_test(blanks_around_cells),
      cmocka_unit_test(shapes_at_the_edge), cmocka_unit_test(errors_say_where),
      cmocka_unit_test(sizes_are_bounded),  cmocka_unit_test(large_table_is_exact),
  };
  const int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
  yoke__csv_free(&table);
  return n_failed;
}
