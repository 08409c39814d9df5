// The man page yoke.1 in troff (man macros), from the tables of app_commands_*.c.
#include <string.h>

#include "app/app.h"
#include "yoke/version.h"

// Text with troff's special characters escaped; an empty line becomes a paragraph.
static void print_text(FILE* to, const char* text) {
  bool is_line_start = true;
  for (const char* c = text; *c != '\0'; c++) {
    if (c[0] == '\n' && c[1] == '\n') {
      fprintf(to, "\n.PP\n");
      c++;
      is_line_start = true;
      continue;
    }
    if (*c == '\\') {
      fputs("\\e", to);
    } else if (*c == '-') {
      fputs("\\-", to);
    } else if (*c == '\'') {
      fputs("\\(aq", to);  // a straight quote, as a shell wants it
    } else if (is_line_start && *c == '.') {
      fputs("\\&.", to);
    } else {
      fputc(*c, to);
    }
    is_line_start = *c == '\n';
  }
}

static void print_line(FILE* to, const char* text) {
  print_text(to, text);
  fputc('\n', to);
}

// A term in bold with its argument in italics, and its explanation.
static void print_entry(FILE* to, const char* dashes, const char* name, const char* argument,
                        const char* help) {
  fprintf(to, ".TP\n\\fB");
  print_text(to, dashes);
  print_text(to, name);
  fprintf(to, "\\fR");
  if (argument != NULL) {
    fprintf(to, argument[0] == '[' ? "\\fI" : " \\fI");
    print_text(to, argument);
    fprintf(to, "\\fR");
  }
  fputc('\n', to);
  print_line(to, help);
}

static void print_synopsis(const yoke_command* command, FILE* to) {
  fprintf(to, ".B yoke %s\n", command->name);
  for (size_t i = 0; i < command->n_operands; i++) {
    const yoke_operand* operand = &command->operands[i];
    fprintf(to, operand->is_optional ? "[\\fI%s\\fR]\n" : "\\fI%s\\fR\n", operand->name);
  }
  for (size_t i = 0; i < command->n_options; i++) {
    const yoke_option* option = &command->options[i];
    fprintf(to, "[\\fB\\-\\-%s\\fR%s%s%s]%s\n", option->name,
            option->argument == NULL           ? ""
            : yoke__option_is_optional(option) ? "\\fI"
                                               : " \\fI",
            option->argument == NULL ? "" : option->argument,
            option->argument == NULL ? "" : "\\fR", option->is_repeatable ? "...\\&" : "");
  }
}

static void print_command(const yoke_command* command, FILE* to) {
  fprintf(to, ".SS yoke %s\n", command->name);
  print_line(to, command->text);
  for (size_t i = 0; i < command->n_operands; i++) {
    print_entry(to, "", command->operands[i].name, NULL, command->operands[i].help);
  }
  for (size_t i = 0; i < command->n_options; i++) {
    const yoke_option* option = &command->options[i];
    print_entry(to, "--", option->name, option->argument, option->help);
    if (option->is_repeatable) {
      print_line(to, "May be repeated.");
    }
  }
  fprintf(to, ".PP\nExit status:\n");
  for (size_t i = 0; i < command->n_exits; i++) {
    char status[16];
    snprintf(status, sizeof status, "%d", command->exits[i].status);
    print_entry(to, "", status, NULL, command->exits[i].help);
  }
}

static void print_examples(FILE* to) {
  fprintf(to, ".SH EXAMPLES\n");
  for (size_t i = 0; i < yoke__n_commands; i++) {
    for (size_t j = 0; j < yoke__commands[i]->n_examples; j++) {
      const yoke_example* example = &yoke__commands[i]->examples[j];
      print_entry(to, "", example->line, NULL, example->help);
    }
  }
}

void yoke__man_print(FILE* to) {
  // no date: the same source gives the same page
  fprintf(to, ".TH YOKE 1 \"\" \"Yoke %s\" \"User Commands\"\n", yoke_version());
  fprintf(to, ".SH NAME\nyoke \\- real\\-time co\\-simulation\n.SH SYNOPSIS\n");
  for (size_t i = 0; i < yoke__n_commands; i++) {
    print_synopsis(yoke__commands[i], to);
    fprintf(to, ".br\n");
  }
  fprintf(to, ".B yoke \\-\\-version\n.br\n.B yoke \\-\\-help\n.SH DESCRIPTION\n");
  print_line(to, "Yoke runs simulators that were never made for each other as one system, in one "
                 "time loop, and tells you in numbers how far to trust the result. No step is "
                 "repeated unless the system file chooses an iterative scheme.\n\nResults go to "
                 "standard output or to files, messages to standard error.");
  fprintf(to, ".SH COMMANDS\n");
  for (size_t i = 0; i < yoke__n_commands; i++) {
    print_command(yoke__commands[i], to);
  }
  fprintf(to, ".SH OPTIONS\n");
  for (size_t i = 0; i < yoke__n_global_options; i++) {
    print_entry(to, "--", yoke__global_options[i].name, NULL, yoke__global_options[i].help);
  }
  fprintf(to, ".SH EXIT STATUS\n");
  print_line(
      to, "The statuses of each command are listed with it. 0 is always success, 2 a wrong command "
          "line or bad input file.");
  fprintf(to, ".SH FILES\n");
  print_entry(to, "", "results/NAME/results.csv", NULL,
              "Column time, then one column per signal. Numbers read back to the same value.");
  print_entry(to, "", "results/NAME/summary.json", NULL,
              "What was run, by which version, and how long it took.");
  print_examples(to);
}
