// results.mat: variables, valid and distinct names, cell of names, gaps, text. Without the library:
// a clear refusal.
#define _POSIX_C_SOURCE 200809L

#include "base/base_message.h"
#include "base/base_os.h"
#include "record/record_fixture.h"

#ifdef YOKE_HAVE_MATIO

#include <matio.h>

static mat_t* open_mat(void) {
  char path[FIXTURE_PATH_SIZE];
  mat_t* mat = Mat_Open(fixture_path(path, folder, "results.mat"), MAT_ACC_RDONLY);
  assert_non_null(mat);
  return mat;
}

// reads a variable and checks its size; to be freed
static matvar_t* read_variable(mat_t* mat, const char* name, size_t n_rows, size_t n_columns) {
  matvar_t* variable = Mat_VarRead(mat, name);
  if (variable == NULL) {
    fail_msg("variable %s is missing", name);
    return NULL;
  }
  if (variable->dims[0] != n_rows || variable->dims[1] != n_columns) {
    fail_msg("%s is %zu x %zu, expected %zu x %zu", name, variable->dims[0], variable->dims[1],
             n_rows, n_columns);
  }
  return variable;
}

// text of a char variable (UTF-16 or bytes), ASCII only
static void check_ascii(const matvar_t* variable, const char* want) {
  char text[128] = "";
  const size_t n = variable->dims[0] * variable->dims[1];
  assert_int_equal(n, strlen(want));
  for (size_t i = 0; i < n; i++) {
    if (variable->data_size == 2) {
      text[i] = (char)((const uint16_t*)variable->data)[i];
    } else {
      text[i] = ((const char*)variable->data)[i];
    }
  }
  assert_string_equal(text, want);
}

static void check_name(matvar_t* names, size_t row, const char* identifier, const char* name,
                       const char* unit) {
  const size_t n = names->dims[0];
  check_ascii(Mat_VarGetCell(names, (int)row), identifier);
  check_ascii(Mat_VarGetCell(names, (int)(n + row)), name);
  check_ascii(Mat_VarGetCell(names, (int)(2 * n + row)), unit);
}

static void check_columns(mat_t* mat, size_t n) {
  matvar_t* time = read_variable(mat, "time", n, 1);
  matvar_t* f = read_variable(mat, "left_f", n, 1);
  matvar_t* count = read_variable(mat, "right_count", n, 1);
  matvar_t* is_on = read_variable(mat, "right_is_on", n, 1);
  matvar_t* text = read_variable(mat, "right_text", n, 9);  // "two\nlines" is the longest
  assert_int_equal(f->class_type, MAT_C_DOUBLE);
  assert_int_equal(count->class_type, MAT_C_INT64);
  assert_true(is_on->isLogical);
  assert_int_equal(text->class_type, MAT_C_CHAR);
  assert_int_equal(text->data_size, 2);
  for (size_t k = 0; k < n; k++) {
    fixture_row row;
    fixture_fill(&row, k);
    check_near(((const double*)time->data)[k], row.time, 0);
    check_near(((const double*)f->data)[k], row.f, 0);
    assert_true(((const int64_t*)count->data)[k] == row.count);
    assert_int_equal(((const uint8_t*)is_on->data)[k], row.is_on);
  }
  // row 3 says: say "x", padded with blanks; row 6 holds U+00E4 and U+20AC
  const uint16_t* units = text->data;
  static const char want[] = "say \"x\"  ";
  for (size_t i = 0; i < 9; i++) {
    assert_int_equal(units[i * n + 3], want[i]);
  }
  assert_int_equal(units[0 * n + 6], 0xe4);
  assert_int_equal(units[1 * n + 6], 0x20ac);
  assert_int_equal(units[2 * n + 6], ' ');
  Mat_VarFree(time);
  Mat_VarFree(f);
  Mat_VarFree(count);
  Mat_VarFree(is_on);
  Mat_VarFree(text);
}

static void everything_comes_back(void** state) {
  (void)state;
  enum { N = 9000 };  // more than two blocks of the spool
  YOKE_CATCH(err);
  yoke_record* record = fixture_open(folder, YOKE_RECORD_MAT);
  fixture_record(record, 0, 5000);
  yoke__record_note_lost(record);
  fixture_record(record, 5000, N - 5000);
  check_ok(yoke__record_close(&record, NULL, &err.sink));
  assert_false(fixture_exists(folder, "results.mat.part"));
  assert_false(fixture_exists(folder, "results.mat.part.rows"));

  mat_t* mat = open_mat();
  check_columns(mat, N);
  matvar_t* names = read_variable(mat, "names", 6, 3);
  check_name(names, 0, "time", "time", "s");
  check_name(names, 1, "left_f", "left.f", "N");
  check_name(names, 5, "right_text", "right.text", "");
  matvar_t* gaps = read_variable(mat, "gaps", 1, 2);
  check_near(((const double*)gaps->data)[0], 5001, 0);  // counted from 1
  check_near(((const double*)gaps->data)[1], 1, 0);
  matvar_t* title = read_variable(mat, "title", 1, 9);
  check_ascii(title, "all types");
  Mat_VarFree(names);
  Mat_VarFree(gaps);
  Mat_VarFree(title);
  Mat_Close(mat);
}

// Names that are no identifiers, too long, or fall together.
static void names_are_valid_and_distinct(void** state) {
  (void)state;
  char long_name[100];
  memset(long_name, 'n', sizeof long_name);
  long_name[99] = '\0';
  const char* const columns_names[] = {"a.b",   "a_b",  "a b",   "_x",      "1",
                                       "names", "time", "a_b_2", long_name, "\xc3\xa4"};
  enum { N = 10 };
  yoke_record_column columns[N];
  for (size_t i = 0; i < N; i++) {
    columns[i] =
        (yoke_record_column){.name = columns_names[i], .dim = "", .type = YOKE_REAL, .size = 8};
  }
  YOKE_CATCH(err);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {.directory = folder, .formats = YOKE_RECORD_MAT};
  check_ok(yoke__record_open(&settings, columns, N, &record, &err.sink));
  double* row = yoke__record_row(record);
  for (size_t i = 0; i <= N; i++) {
    row[i] = (double)i;
  }
  yoke__record_commit(record);
  check_ok(yoke__record_close(&record, NULL, &err.sink));

  // every name of the list is distinct, valid, and leads to the value of its column
  mat_t* mat = open_mat();
  matvar_t* names = read_variable(mat, "names", N + 1, 3);
  char seen[N + 1][64];
  for (size_t i = 0; i <= N; i++) {
    const matvar_t* cell = Mat_VarGetCell(names, (int)i);
    assert_in_range(cell->dims[1], 1, 63);
    for (size_t c = 0; c < cell->dims[1]; c++) {
      seen[i][c] = (char)((const uint16_t*)cell->data)[c];
      const char ch = seen[i][c];
      assert_true((ch >= 'a' && ch <= 'z') || (c > 0 && (ch == '_' || (ch >= '0' && ch <= '9'))));
    }
    seen[i][cell->dims[1]] = '\0';
    for (size_t k = 0; k < i; k++) {
      assert_string_not_equal(seen[i], seen[k]);
    }
    matvar_t* value = read_variable(mat, seen[i], 1, 1);
    check_near(((const double*)value->data)[0], (double)i, 0);
    Mat_VarFree(value);
  }
  assert_string_equal(seen[1], "a_b");
  Mat_VarFree(names);
  Mat_Close(mat);
}

static void empty_run_is_a_valid_file(void** state) {
  (void)state;
  YOKE_CATCH(err);
  yoke_record* record = fixture_open(folder, YOKE_RECORD_MAT);
  check_ok(yoke__record_close(&record, NULL, &err.sink));
  mat_t* mat = open_mat();
  matvar_t* time = read_variable(mat, "time", 0, 1);
  matvar_t* names = read_variable(mat, "names", 6, 3);
  Mat_VarFree(time);
  Mat_VarFree(names);
  Mat_Close(mat);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_FOLDER(everything_comes_back),
      IN_FOLDER(names_are_valid_and_distinct),
      IN_FOLDER(empty_run_is_a_valid_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

static void missing_library_is_named(void** state) {
  (void)state;
  char place[FIXTURE_PATH_SIZE];
  YOKE_CATCH(err);
  fixture_folder(place);
  yoke_record* record = NULL;
  const yoke_record_settings settings = {.directory = place,
                                         .formats = YOKE_RECORD_CSV | YOKE_RECORD_MAT};
  assert_int_equal(
      yoke__record_open(&settings, fixture_columns, FIXTURE_N_COLUMNS, &record, &err.sink),
      YOKE_NO_SUPPORT);
  check_contains(err.text, "matio");
  assert_null(record);
  assert_false(fixture_exists(place, "results.csv.part"));
  fixture_remove(place);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(missing_library_is_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
