// Help on the terminal, from the tables of app_commands_*.c.
#include <string.h>

#include "app/app.h"

#define WIDTH  79  // columns of the help
#define INDENT 2

// Words of text, wrapped, each line indented; column: where the cursor is now. Empty lines separate
// paragraphs.
static void print_wrapped(FILE* to, const char* text, int indent, int column) {
  const char* word = text;
  bool is_first = true;
  while (*word != '\0') {
    const size_t n = strcspn(word, " \n");
    if (!is_first && column + 1 + (int)n > WIDTH) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
    } else if (!is_first) {
      fputc(' ', to);
      column++;
    } else {
      fprintf(to, "%*s", column < indent ? indent - column : 0, "");
      column = column < indent ? indent : column;
    }
    fwrite(word, 1, n, to);
    column += (int)n;
    is_first = false;
    word += n;
    if (word[0] == '\n' && word[1] == '\n') {
      fprintf(to, "\n\n");
      column = 0;
      is_first = true;
    }
    word += strspn(word, " \n");
  }
  fputc('\n', to);
}

// "  left      text", the text in a column of its own; on the next line if left is too long.
static void print_entry(FILE* to, const char* left, int width, const char* text) {
  int column = fprintf(to, "%*s%s", INDENT, "", left);
  const int indent = INDENT + width + 2;
  if (column + 2 > indent) {
    fputc('\n', to);
    column = 0;
  }
  print_wrapped(to, text, indent, column);
}

static void option_left(const yoke_option* option, char* to, size_t size) {
  const char* argument = option->argument;
  const bool is_apart = argument != NULL && !yoke__option_is_optional(option);
  snprintf(to, size, "--%s%s%s%s", option->name, is_apart ? " " : "",
           argument == NULL ? "" : argument, option->is_repeatable ? " ..." : "");
}

// One piece of the usage line, on a new line if this one is full.
static void print_piece(FILE* to, const char* piece, int* column) {
  const int indent = 6;  // below the program's name, with the blank before each piece
  const int n = (int)strlen(piece);
  if (*column + 1 + n > WIDTH) {
    fprintf(to, "\n%*s", indent, "");
    *column = indent;
  }
  fprintf(to, " %s", piece);
  *column += 1 + n;
}

static void print_usage(const yoke_command* command, FILE* to) {
  char piece[80];
  int column = fprintf(to, "Usage: yoke %s", command->name);
  for (size_t i = 0; i < command->n_operands; i++) {
    const yoke_operand* operand = &command->operands[i];
    snprintf(piece, sizeof piece, operand->is_optional ? "[%s]" : "%s", operand->name);
    print_piece(to, piece, &column);
  }
  for (size_t i = 0; i < command->n_options; i++) {
    const yoke_option* option = &command->options[i];
    snprintf(piece, sizeof piece, "[--%s%s%s]%s", option->name,
             option->argument == NULL || yoke__option_is_optional(option) ? "" : " ",
             option->argument == NULL ? "" : option->argument, option->is_repeatable ? "..." : "");
    print_piece(to, piece, &column);
  }
  fputc('\n', to);
}

static void print_options(const yoke_command* command, FILE* to) {
  char left[80];
  fprintf(to, "\nOptions:\n");
  for (size_t i = 0; i < command->n_options; i++) {
    option_left(&command->options[i], left, sizeof left);
    print_entry(to, left, 22, command->options[i].help);
  }
  print_entry(to, "--help", 22, "Print this help.");
}

static void print_exits(const yoke_command* command, FILE* to) {
  fprintf(to, "\nExit status:\n");
  for (size_t i = 0; i < command->n_exits; i++) {
    char left[16];
    snprintf(left, sizeof left, "%d", command->exits[i].status);
    print_entry(to, left, 3, command->exits[i].help);
  }
}

void yoke__command_help_print(const yoke_command* command, FILE* to) {
  print_usage(command, to);
  fputc('\n', to);
  print_wrapped(to, command->text, 0, 0);
  if (command->n_operands > 0) {
    fprintf(to, "\nArguments:\n");
  }
  for (size_t i = 0; i < command->n_operands; i++) {
    print_entry(to, command->operands[i].name, 10, command->operands[i].help);
  }
  print_options(command, to);
  print_exits(command, to);
  fprintf(to, "\nExamples:\n");
  for (size_t i = 0; i < command->n_examples; i++) {
    fprintf(to, "%*s%s\n", INDENT, "", command->examples[i].line);
    print_wrapped(to, command->examples[i].help, 2 * INDENT + 2, 0);
  }
}

void yoke__help_print(FILE* to) {
  fprintf(to, "Usage: yoke COMMAND [arguments] [options]\n\n");
  print_wrapped(to,
                "Real-time co-simulation: runs simulators that were never made for each other as "
                "one system, and tells you in numbers how far to trust the result.",
                0, 0);
  fprintf(to, "\nCommands:\n");
  for (size_t i = 0; i < yoke__n_commands; i++) {
    print_entry(to, yoke__commands[i]->name, 10, yoke__commands[i]->summary);
  }
  fprintf(to, "\nOptions:\n");
  for (size_t i = 0; i < yoke__n_global_options; i++) {
    char left[80];
    option_left(&yoke__global_options[i], left, sizeof left);
    print_entry(to, left, 10, yoke__global_options[i].help);
  }
  fprintf(to, "\n'yoke help COMMAND' explains a command, its options and its exit statuses.\n");
}
