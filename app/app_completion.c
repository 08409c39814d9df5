// Completion scripts for bash, zsh and fish, from the tables of app_commands_*.c.
#include <string.h>

#include "app/app.h"
#include "app/app_view.h"
#include "yoke/system.h"

static void print_command_names(FILE* to) {
  for (size_t i = 0; i < yoke__n_commands; i++) {
    fprintf(to, "%s%s", i == 0 ? "" : " ", yoke__commands[i]->name);
  }
}

static bool has_names(yoke_argument_kind kind) {
  return kind == YOKE_ARGUMENT_MODEL || kind == YOKE_ARGUMENT_NAME;
}

static void print_list(const json_t* list, FILE* to) {
  const json_t* entry = NULL;
  size_t i = 0;
  json_array_foreach(list, i, entry) {
    fprintf(to, "%s ", yoke__view_text(entry, "name"));
  }
}

// The built-in models, and the methods where they count.
static void print_names(yoke_argument_kind kind, FILE* to) {
  char* document = NULL;
  json_t* root = NULL;
  if (yoke_describe(NULL, NULL, &document) >= 0) {
    root = yoke__view_open("completion", &document);
  }
  print_list(json_object_get(root, "models"), to);
  if (kind == YOKE_ARGUMENT_NAME) {
    print_list(json_object_get(root, "methods"), to);
  }
  json_decref(root);
  yoke_text_free(&document);
}

static void print_choices(const yoke_option* option, const char* separator, FILE* to) {
  for (size_t i = 0; option->choices[i] != NULL; i++) {
    fprintf(to, "%s%s", i == 0 ? "" : separator, option->choices[i]);
  }
}

// The first sentence of a help text without its full stop, with characters that the shell would
// read escaped.
static void print_sentence(const char* text, const char* special, FILE* to) {
  const char* end = strstr(text, ". ");
  size_t n = end == NULL ? strlen(text) : (size_t)(end - text);
  n -= end == NULL && n > 0 && text[n - 1] == '.';
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\'') {
      fputs("'\\''", to);
      continue;
    }
    if (strchr(special, text[i]) != NULL) {
      fputc('\\', to);
    }
    fputc(text[i], to);
  }
}

// ---- bash

// What follows an option that takes a value. Files and folders are left to bash itself.
static void bash_value(const yoke_command* command, const yoke_option* option, FILE* to) {
  if (option->argument == NULL || yoke__option_is_optional(option)) {
    return;
  }
  fprintf(to, "    '%s --%s')\n", command->name, option->name);
  if (option->kind == YOKE_ARGUMENT_CHOICE) {
    fprintf(to, "      _yoke_list '");
    print_choices(option, " ", to);
    fprintf(to, "' \"$cur\"\n");
  } else if (option->kind == YOKE_ARGUMENT_TEXT) {
    fprintf(to, "      compopt +o default 2>/dev/null\n");
  }
  fprintf(to, "      return ;;\n");
}

static void bash_operand(const yoke_command* command, FILE* to) {
  fprintf(to, "    %s)\n", command->name);
  if (command->n_operands > 0 && command->operands[0].kind == YOKE_ARGUMENT_COMMAND) {
    fprintf(to, "      COMPREPLY=($(compgen -W '");
    print_command_names(to);
    fprintf(to, "' -- \"$cur\")) ;;\n");
  } else {
    fprintf(to, "      if [[ $cur == -* ]]; then\n        COMPREPLY=($(compgen -W '--help");
    for (size_t i = 0; i < command->n_options; i++) {
      fprintf(to, " --%s", command->options[i].name);
    }
    fprintf(to, "' -- \"$cur\"))\n");
    if (command->n_operands > 0 && has_names(command->operands[0].kind)) {
      fprintf(to, "      else\n        COMPREPLY=($(compgen -W '");
      print_names(command->operands[0].kind, to);
      fprintf(to, "' -- \"$cur\") $(compgen -f -- \"$cur\"))\n");
    }
    fprintf(to, "      fi ;;\n");
  }
}

static void print_bash(FILE* to) {
  fputs("# bash completion of yoke; made by yoke --completion bash\n"
        "# the last item of a list with commas\n"
        "_yoke_list() {\n"
        "  local head=''\n"
        "  [[ $2 == *,* ]] && head=${2%,*},\n"
        "  COMPREPLY=($(compgen -P \"$head\" -W \"$1\" -- \"${2##*,}\"))\n"
        "  compopt -o nospace 2>/dev/null\n"
        "}\n"
        "_yoke() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "  COMPREPLY=()\n"
        "  # --name=value comes as three words\n"
        "  if [[ $cur == = ]]; then\n"
        "    cur=''\n"
        "  elif [[ $prev == = && $COMP_CWORD -gt 2 ]]; then\n"
        "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
        "  fi\n"
        "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
        "    COMPREPLY=($(compgen -W '",
        to);
  print_command_names(to);
  for (size_t i = 0; i < yoke__n_global_options; i++) {
    fprintf(to, " --%s", yoke__global_options[i].name);
  }
  fputs("' -- \"$cur\"))\n    return\n  fi\n  case \"${COMP_WORDS[1]} $prev\" in\n", to);
  for (size_t i = 0; i < yoke__n_commands; i++) {
    for (size_t j = 0; j < yoke__commands[i]->n_options; j++) {
      bash_value(yoke__commands[i], &yoke__commands[i]->options[j], to);
    }
  }
  fputs("  esac\n  case ${COMP_WORDS[1]} in\n", to);
  for (size_t i = 0; i < yoke__n_commands; i++) {
    bash_operand(yoke__commands[i], to);
  }
  fputs("  esac\n}\ncomplete -o default -F _yoke yoke\n", to);
}

// ---- zsh

static void zsh_action(yoke_argument_kind kind, FILE* to) {
  if (kind == YOKE_ARGUMENT_COMMAND) {
    fputc('(', to);
    print_command_names(to);
    fputc(')', to);
  } else if (has_names(kind)) {
    fputs("_alternative \"files:file:_files\" \"names:name:(", to);
    print_names(kind, to);
    fputs(")\"", to);
  } else if (kind != YOKE_ARGUMENT_TEXT) {
    fputs(kind == YOKE_ARGUMENT_FOLDER ? "_files -/" : "_files", to);
  } else {
    fputc(' ', to);
  }
}

static void zsh_option(const yoke_option* option, FILE* to) {
  fprintf(to, " \\\n        '%s--%s%s[", option->is_repeatable ? "*" : "", option->name,
          option->argument == NULL           ? ""
          : yoke__option_is_optional(option) ? "=-"
                                             : "=");
  print_sentence(option->help, "[]:\\", to);
  fputc(']', to);
  if (option->argument != NULL) {
    if (yoke__option_is_optional(option)) {
      fputs("::value:", to);
    } else {
      fprintf(to, ":%s:", option->argument);
    }
    if (option->kind == YOKE_ARGUMENT_CHOICE) {
      fprintf(to, "_values -s , %s ", option->name);
      print_choices(option, " ", to);
    } else {
      zsh_action(option->kind, to);
    }
  }
  fputc('\'', to);
}

static void zsh_command(const yoke_command* command, FILE* to) {
  fprintf(to, "    %s)\n      _arguments '--help[print help]'", command->name);
  for (size_t i = 0; i < command->n_options; i++) {
    zsh_option(&command->options[i], to);
  }
  for (size_t i = 0; i < command->n_operands; i++) {
    fprintf(to, " \\\n        '%s:%s:", command->operands[i].is_optional ? ":" : "",
            command->operands[i].name);
    zsh_action(command->operands[i].kind, to);
    fputc('\'', to);
  }
  fputs(" ;;\n", to);
}

static void print_zsh(FILE* to) {
  fputs("#compdef yoke\n# zsh completion of yoke; made by yoke --completion zsh\n"
        "_yoke() {\n  local -a commands\n  commands=(\n",
        to);
  for (size_t i = 0; i < yoke__n_commands; i++) {
    fprintf(to, "    '%s:", yoke__commands[i]->name);
    print_sentence(yoke__commands[i]->summary, ":\\", to);
    fputs("'\n", to);
  }
  fputs("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    _arguments", to);
  for (size_t i = 0; i < yoke__n_global_options; i++) {
    zsh_option(&yoke__global_options[i], to);
  }
  fputs("\n    return\n  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n"
        "  case $command in\n",
        to);
  for (size_t i = 0; i < yoke__n_commands; i++) {
    zsh_command(yoke__commands[i], to);
  }
  fputs("  esac\n}\nif [[ $funcstack[1] == _yoke ]]; then\n  _yoke \"$@\"\nelse\n"
        "  compdef _yoke yoke\nfi\n",
        to);
}

// ---- fish

static void fish_option(const yoke_command* command, const yoke_option* option, FILE* to) {
  fprintf(to, "complete -c yoke -n '__fish_seen_subcommand_from %s' -l %s -d '", command->name,
          option->name);
  print_sentence(option->help, "\\", to);
  fputc('\'', to);
  if (option->argument != NULL && !yoke__option_is_optional(option)) {
    fputs(option->kind == YOKE_ARGUMENT_FILE || option->kind == YOKE_ARGUMENT_FOLDER ? " -r -F"
                                                                                     : " -x",
          to);
  }
  if (option->kind == YOKE_ARGUMENT_CHOICE) {
    fputs(" -a '(__fish_append , ", to);
    print_choices(option, " ", to);
    fputs(")'", to);
  }
  fputc('\n', to);
}

static void print_fish(FILE* to) {
  fputs("# fish completion of yoke; made by yoke --completion fish\n", to);
  for (size_t i = 0; i < yoke__n_global_options; i++) {
    fprintf(to, "complete -c yoke -n __fish_use_subcommand -l %s -d '",
            yoke__global_options[i].name);
    print_sentence(yoke__global_options[i].help, "\\", to);
    fputs("'\n", to);
  }
  for (size_t i = 0; i < yoke__n_commands; i++) {
    const yoke_command* command = yoke__commands[i];
    fprintf(to, "complete -c yoke -f -n __fish_use_subcommand -a %s -d '", command->name);
    print_sentence(command->summary, "\\", to);
    fputs("'\n", to);
    for (size_t j = 0; j < command->n_options; j++) {
      fish_option(command, &command->options[j], to);
    }
    if (command->n_operands > 0 && command->operands[0].kind == YOKE_ARGUMENT_COMMAND) {
      fprintf(to, "complete -c yoke -f -n '__fish_seen_subcommand_from %s' -a '", command->name);
      print_command_names(to);
      fputs("'\n", to);
    }
    if (command->n_operands > 0 && has_names(command->operands[0].kind)) {
      fprintf(to, "complete -c yoke -n '__fish_seen_subcommand_from %s' -a '", command->name);
      print_names(command->operands[0].kind, to);
      fputs("'\n", to);
    }
  }
}

bool yoke__completion_print(const char* shell, FILE* to) {
  if (strcmp(shell, "bash") == 0) {
    print_bash(to);
  } else if (strcmp(shell, "zsh") == 0) {
    print_zsh(to);
  } else if (strcmp(shell, "fish") == 0) {
    print_fish(to);
  } else {
    return false;
  }
  return true;
}
