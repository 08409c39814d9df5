// The options parser by a small command of its own, and the tables of the real commands.
#define _POSIX_C_SOURCE 200809L  // dup, to read what goes to stderr

#include <unistd.h>

#include "support/check.h"

// the program is not part of the library: its sources come in here
#include "app/app_commands.c"         // NOLINT(bugprone-suspicious-include)
#include "app/app_commands_export.c"  // NOLINT(bugprone-suspicious-include)
#include "app/app_commands_result.c"  // NOLINT(bugprone-suspicious-include)
#include "app/app_commands_rig.c"     // NOLINT(bugprone-suspicious-include)
#include "app/app_commands_run.c"     // NOLINT(bugprone-suspicious-include)
#include "app/app_commands_study.c"   // NOLINT(bugprone-suspicious-include)
#include "app/app_help.c"             // NOLINT(bugprone-suspicious-include)
#include "app/app_options.c"          // NOLINT(bugprone-suspicious-include)

// the tables name the commands, but nothing here runs them
#define NO_COMMAND(name)                                                                           \
  int name(int argc, char** argv) {                                                                \
    (void)argc;                                                                                    \
    (void)argv;                                                                                    \
    fail_msg("a command was run");                                                                 \
    return YOKE_EXIT_FAILED;                                                                       \
  }
NO_COMMAND(yoke_cmd_run)
NO_COMMAND(yoke_cmd_check)
NO_COMMAND(yoke_cmd_info)
NO_COMMAND(yoke_cmd_circuit)
NO_COMMAND(yoke_cmd_compare)
NO_COMMAND(yoke_cmd_meter)
NO_COMMAND(yoke_cmd_report)
NO_COMMAND(yoke_cmd_sweep)
NO_COMMAND(yoke_cmd_export)
NO_COMMAND(yoke_cmd_tune)
NO_COMMAND(yoke_cmd_twin)
NO_COMMAND(yoke_cmd_advise)
NO_COMMAND(yoke_cmd_analyse)
NO_COMMAND(yoke_cmd_synth)
NO_COMMAND(yoke_cmd_bench)
NO_COMMAND(yoke_cmd_rig)
NO_COMMAND(yoke_cmd_help)

static const char* const colours[] = {"red", "green", "blue", NULL};
static const yoke_operand paint_operands[] = {
    {"WALL", false, YOKE_ARGUMENT_FILE, "What is painted."},
    {"DOOR", true, YOKE_ARGUMENT_FILE, "And maybe this."},
};
static const yoke_option paint_options[] = {
    {"colour", "LIST", true, YOKE_ARGUMENT_CHOICE, colours, "Which ones."},
    {"layers", "N", false, YOKE_ARGUMENT_TEXT, NULL, "How many."},
    {"note", "TEXT", true, YOKE_ARGUMENT_TEXT, NULL, "What for."},
    {"dry", NULL, false, YOKE_ARGUMENT_TEXT, NULL, "Without paint."},
};
static const yoke_command paint = {
    .name = "paint",
    .summary = "paint something",
    .text = "Paints.",
    .operands = paint_operands,
    .n_operands = YOKE_COUNT(paint_operands),
    .options = paint_options,
    .n_options = YOKE_COUNT(paint_options),
};

// Runs fn with stderr and stdout going to files, and returns what went there.
typedef struct capture {
  FILE* file;
  int number, saved;
  char text[8192];
} capture;

static void capture_begin(capture* c, FILE* stream) {
  fflush(stream);
  c->file = tmpfile();
  assert_non_null(c->file);
  c->number = fileno(stream);
  c->saved = dup(c->number);
  assert_true(c->saved >= 0 && dup2(fileno(c->file), c->number) >= 0);
}

static void capture_end(capture* c, FILE* stream) {
  fflush(stream);
  dup2(c->saved, c->number);
  close(c->saved);
  rewind(c->file);
  const size_t n = fread(c->text, 1, sizeof c->text - 1, c->file);
  c->text[n] = '\0';
  fclose(c->file);
}

// A command line in one text, split at blanks, read by the table of paint. err receives the
// message.
typedef struct line {
  char text[256];
  char* argv[32];
  int argc;
  yoke_options options;
  int status;
  bool is_read;
  capture err, out;
} line;

static void read_line(line* l, const char* text) {
  snprintf(l->text, sizeof l->text, "%s", text);
  l->argc = 0;
  for (char* word = strtok(l->text, " "); word != NULL; word = strtok(NULL, " ")) {
    l->argv[l->argc++] = word;
  }
  l->argv[l->argc] = NULL;
  capture_begin(&l->err, stderr);
  capture_begin(&l->out, stdout);
  l->is_read = yoke__options_parse(&paint, l->argc, l->argv, &l->options, &l->status);
  capture_end(&l->out, stdout);
  capture_end(&l->err, stderr);
}

static void check_wrong(const char* text, const char* message) {
  line l;
  read_line(&l, text);
  if (l.is_read || l.status != YOKE_EXIT_USAGE) {
    fail_msg("'%s': read %d, status %d", text, l.is_read, l.status);
  }
  check_contains(l.err.text, message);
  assert_string_equal(l.out.text, "");
}

static void check_right(line* l, const char* text) {
  read_line(l, text);
  if (!l->is_read) {
    fail_msg("'%s': status %d, %s", text, l->status, l->err.text);
  }
  assert_string_equal(l->err.text, "");
}

static void test_both_forms(void** state) {
  (void)state;
  static const char* const texts[] = {"paint wall --layers 3 --dry", "paint --layers=3 wall --dry",
                                      "paint --dry --layers=3 -- wall"};
  for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
    line l;
    check_right(&l, texts[i]);
    assert_int_equal(l.options.n_operands, 1);
    assert_string_equal(l.options.operands[0], "wall");
    assert_null(l.options.operands[1]);
    assert_string_equal(yoke__options_value(&l.options, "layers"), "3");
    assert_true(yoke__options_has(&l.options, "dry"));
    assert_false(yoke__options_has(&l.options, "note"));
    assert_null(yoke__options_value(&l.options, "note"));
    yoke__options_free(&l.options);
  }
}

static void test_repeated(void** state) {
  (void)state;
  line l;
  check_right(&l, "paint --note a=1 w --note=b=2 --note=");
  size_t n = 0;
  const char* const* notes = yoke__options_values(&l.options, "note", &n);
  assert_int_equal(n, 3);
  assert_string_equal(notes[0], "a=1");
  assert_string_equal(notes[1], "b=2");
  assert_string_equal(notes[2], "");
  yoke__options_free(&l.options);
  check_wrong("paint w --layers 1 --layers 2", "yoke paint: option --layers is given twice\n");
}

static void test_wrong_lines(void** state) {
  (void)state;
  check_wrong("paint", "yoke paint: WALL is missing; see 'yoke help paint'\n");
  check_wrong("paint a b c", "yoke paint: unexpected argument 'c'\n");
  check_wrong("paint w --layer 3",
              "yoke paint: unknown option '--layer'; did you mean '--layers'?\n");
  check_wrong("paint w --layer=3", "unknown option '--layer'; did you mean '--layers'?\n");
  check_wrong("paint w -dry", "unknown option '-dry'; did you mean '--dry'?\n");
  check_wrong("paint w --hepl", "unknown option '--hepl'; did you mean '--help'?\n");
  check_wrong("paint w --submarine", "unknown option '--submarine'; see 'yoke help paint'\n");
  check_wrong("paint w --=3", "unknown option '--'");
  check_wrong("paint w -=3", "unknown option '-'");
  check_wrong("paint w --dry=yes", "option --dry takes no value\n");
  check_wrong("paint w --layers", "option --layers needs a value: --layers N\n");
  check_wrong("paint w --layers --dry", "option --layers needs a value: --layers N\n");
}

// What looks like an option is none behind "--", and a lone dash never is.
static void test_odd_operands(void** state) {
  (void)state;
  line l;
  check_right(&l, "paint - -- --dry");
  assert_int_equal(l.options.n_operands, 2);
  assert_string_equal(l.options.operands[0], "-");
  assert_string_equal(l.options.operands[1], "--dry");
  assert_false(yoke__options_has(&l.options, "dry"));
  yoke__options_free(&l.options);

  check_right(&l, "paint w --note -5 --layers=--dry");
  assert_string_equal(yoke__options_value(&l.options, "note"), "-5");
  assert_string_equal(yoke__options_value(&l.options, "layers"), "--dry");
  yoke__options_free(&l.options);
}

static void test_help(void** state) {
  (void)state;
  static const char* const texts[] = {"paint --help", "paint a b c -h", "paint --bad --help"};
  for (size_t i = 0; i < YOKE_COUNT(texts); i++) {
    line l;
    read_line(&l, texts[i]);
    assert_false(l.is_read);
    assert_int_equal(l.status, YOKE_EXIT_OK);
    check_contains(l.out.text, "Usage: yoke paint WALL [DOOR] [--colour LIST]...");
    check_contains(l.out.text, "--layers N");
    assert_string_equal(l.err.text, "");
  }
  line l;
  check_right(&l, "paint -- --help");
  yoke__options_free(&l.options);
}

static bool read_colours(const char* text, uint32_t* bits, capture* err) {
  line l;
  check_right(&l, text);
  capture_begin(err, stderr);
  const bool is_good = yoke__options_choices(&l.options, "colour", bits);
  capture_end(err, stderr);
  yoke__options_free(&l.options);
  return is_good;
}

static void test_choices(void** state) {
  (void)state;
  capture err;
  uint32_t bits = 99;
  assert_true(read_colours("paint w", &bits, &err));
  assert_int_equal(bits, 0);
  assert_true(read_colours("paint w --colour blue,red", &bits, &err));
  assert_int_equal(bits, 1 | 4);
  assert_true(read_colours("paint w --colour green --colour=green,blue", &bits, &err));
  assert_int_equal(bits, 2 | 4);
  assert_false(read_colours("paint w --colour red,gren", &bits, &err));
  check_contains(err.text, "yoke paint: --colour: unknown 'gren'; did you mean 'green'?\n");
  assert_false(read_colours("paint w --colour red,", &bits, &err));
  check_contains(err.text, "--colour: unknown ''; known: red, green, blue\n");
}

static void test_integers(void** state) {
  (void)state;
  static const char* const wrong[] = {"0", "11", "2.5", "x", "99999999999999999999"};
  line l;
  int64_t n = 7;
  check_right(&l, "paint w");
  assert_true(yoke__options_integer(&l.options, "layers", 1, 10, &n));
  assert_int_equal(n, 7);
  yoke__options_free(&l.options);
  check_right(&l, "paint w --layers 10");
  assert_true(yoke__options_integer(&l.options, "layers", 1, 10, &n));
  assert_int_equal(n, 10);
  yoke__options_free(&l.options);
  for (size_t i = 0; i < YOKE_COUNT(wrong); i++) {
    char text[64];
    capture err;
    snprintf(text, sizeof text, "paint w --layers %s", wrong[i]);
    check_right(&l, text);
    capture_begin(&err, stderr);
    const bool is_good = yoke__options_integer(&l.options, "layers", 1, 10, &n);
    capture_end(&err, stderr);
    yoke__options_free(&l.options);
    assert_false(is_good);
    check_contains(err.text, "--layers: expected an integer from 1 to 10, found '");
    assert_int_equal(n, 10);
  }
}

// Lines of help stay within a terminal, except examples, which must be copied in one piece.
static void test_help_width(void** state) {
  (void)state;
  for (size_t i = 0; i < yoke__n_commands; i++) {
    capture out;
    capture_begin(&out, stdout);
    yoke__command_help_print(yoke__commands[i], stdout);
    capture_end(&out, stdout);
    for (char* row = strtok(out.text, "\n"); row != NULL; row = strtok(NULL, "\n")) {
      if (strlen(row) > WIDTH && strncmp(row, "  yoke ", 7) != 0) {
        fail_msg("%s: %zu columns: %s", yoke__commands[i]->name, strlen(row), row);
      }
    }
  }
}

static void check_option_table(const yoke_command* command) {
  for (size_t i = 0; i < command->n_options; i++) {
    const yoke_option* option = &command->options[i];
    if (option->help == NULL || option->help[0] == '\0' ||
        (option->kind == YOKE_ARGUMENT_CHOICE) != (option->choices != NULL) ||
        find_option(command, option->name, strlen(option->name)) != option ||
        strcmp(option->name, "help") == 0) {
      fail_msg("yoke %s --%s: no help, choices without kind, or twice", command->name,
               option->name);
    }
  }
}

// Every real command says what it does, with which statuses, and shows an example that its own
// parser takes.
static void test_real_tables(void** state) {
  (void)state;
  for (size_t i = 0; i < yoke__n_commands; i++) {
    const yoke_command* command = yoke__commands[i];
    assert_ptr_equal(yoke__command_find(command->name), command);
    assert_true(strlen(command->summary) > 0 && strlen(command->text) > 0);
    assert_true(command->n_exits > 0 && command->exits[0].status == YOKE_EXIT_OK);
    assert_non_null(command->run);
    check_option_table(command);
    assert_true(command->n_examples > 0);
    for (size_t j = 0; j < command->n_examples; j++) {
      char text[256];
      char* argv[32] = {NULL};
      int argc = 0;
      snprintf(text, sizeof text, "%s", command->examples[j].line);
      char* end = strchr(text, '|');
      if (end != NULL) {
        *end = '\0';
      }
      for (char* word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[argc++] = word;
      }
      assert_string_equal(argv[0], "yoke");
      assert_string_equal(argv[1], command->name);
      yoke_options options;
      int status = 0;
      uint32_t bits = 0;
      assert_true(yoke__options_parse(command, argc - 1, argv + 1, &options, &status));
      for (size_t k = 0; k < command->n_options; k++) {
        assert_true(command->options[k].choices == NULL ||
                    yoke__options_choices(&options, command->options[k].name, &bits));
      }
      yoke__options_free(&options);
    }
  }
  assert_null(yoke__command_find("fly"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_forms),  cmocka_unit_test(test_repeated),
      cmocka_unit_test(test_wrong_lines), cmocka_unit_test(test_odd_operands),
      cmocka_unit_test(test_help),        cmocka_unit_test(test_choices),
      cmocka_unit_test(test_integers),    cmocka_unit_test(test_help_width),
      cmocka_unit_test(test_real_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
