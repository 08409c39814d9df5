// terminalsAndIcons.xml: groups of variables that form one connector, possibly nested.
//
// The file is small and read as a tree. A member that names no variable is left out; everything else is kept as written,
// because matching rules and kinds are open lists. Facts: FMI 3.0, section on terminals.
#include <string.h>

#include "fmi/fmi_reader.h"

typedef struct collecting {
  yoke_fmi_description* d;
  yoke_fmi_findings findings;
  yoke_fmi_terminal* terminals;
  size_t n;
} collecting;

static const char* text_of(collecting* c, const yoke_xml_node* node, const char* attribute) {
  const char* text = yoke__xml_get(node, attribute);
  return text == NULL ? "" : yoke__arena_text(&c->d->arena, text, strlen(text));
}

// The terminal behind `node` in the order of the file, or NULL behind the last one. Starts with the section itself; depth
// counts from 0 for its children.
static const yoke_xml_node* next_terminal(const yoke_xml_node* section, const yoke_xml_node* node,
                                          int* depth) {
  const yoke_xml_node* inner = yoke__xml_child(node, "Terminal");
  if (inner != NULL) {
    ++*depth;
    return inner;
  }
  for (; node != section; node = node->parent, --*depth) {
    const yoke_xml_node* next = yoke__xml_next(node);
    if (next != NULL) {
      return next;
    }
  }
  return NULL;
}

static size_t count_terminals(const yoke_xml_node* section) {
  size_t n = 0;
  int depth = -1;
  for (const yoke_xml_node* node = next_terminal(section, section, &depth); node != NULL;
       node = next_terminal(section, node, &depth)) {
    n++;
  }
  return n;
}

// One member; false: no such variable, or no memory (member->variable is NULL then).
static bool add_member(collecting* c, const yoke_xml_node* node, const char* variable,
                       const char* member, const char* kind, yoke_fmi_terminal_member* to) {
  const char* name = yoke__xml_get(node, variable);
  const size_t found = name == NULL ? YOKE_FMI_NONE : yoke__fmi_find(c->d, name);
  if (found == YOKE_FMI_NONE) {
    yoke__fmi_find_fault(&c->findings, YOKE_FMI_RULE_TERMINAL_VARIABLE, node->line, 0,
                         "a terminal has the member '%.80s', which is no variable",
                         name == NULL ? "" : name);
    return false;
  }
  to->variable = c->d->variables[found].name;
  to->member = text_of(c, node, member);
  to->kind = kind == NULL ? "stream" : text_of(c, node, kind);
  return true;
}

static yoke_status read_members(collecting* c, const yoke_xml_node* node,
                                yoke_fmi_terminal* terminal) {
  size_t room = 0;
  for (const yoke_xml_node* child = node->first; child != NULL; child = child->next) {
    room += 2;  // a stream has two variables
  }
  yoke_fmi_terminal_member* members = yoke__arena_array(&c->d->arena, room, sizeof *members);
  YOKE_TRY_MEMORY(members);
  size_t n = 0;
  for (const yoke_xml_node* child = node->first; child != NULL; child = child->next) {
    if (strcmp(child->name, "TerminalMemberVariable") == 0) {
      n += add_member(c, child, "variableName", "memberName", "variableKind", &members[n]);
    } else if (strcmp(child->name, "TerminalStreamMemberVariable") == 0) {
      n += add_member(c, child, "inStreamVariableName", "inStreamMemberName", NULL, &members[n]);
      n += add_member(c, child, "outStreamVariableName", "outStreamMemberName", NULL, &members[n]);
    }
  }
  for (size_t i = 0; i < n; i++) {
    YOKE_TRY_MEMORY(members[i].member && members[i].kind);
  }
  terminal->members = members;
  terminal->n_members = n;
  return YOKE_OK;
}

static yoke_status read_terminal(collecting* c, const yoke_xml_node* node, size_t outer) {
  yoke_fmi_terminal* terminal = &c->terminals[c->n++];
  terminal->name = text_of(c, node, "name");
  terminal->description = text_of(c, node, "description");
  terminal->matching_rule = text_of(c, node, "matchingRule");
  terminal->kind = text_of(c, node, "terminalKind");
  terminal->parent = outer;
  YOKE_TRY_MEMORY(terminal->name && terminal->description && terminal->matching_rule &&
                  terminal->kind);
  if (terminal->name[0] == '\0' || terminal->matching_rule[0] == '\0') {
    yoke__fmi_find_fault(&c->findings, YOKE_FMI_RULE_TERMINAL_NAME, node->line, 0,
                         "terminal '%s' has no %s", terminal->name,
                         terminal->name[0] == '\0' ? "name" : "matchingRule");
  }
  return read_members(c, node, terminal);
}

static yoke_status read_terminals(collecting* c, const yoke_xml_node* section) {
  size_t outer[YOKE_XML_MAX_DEPTH + 1] = {0};  // index of the terminal that is open at each depth
  int depth = -1;
  for (const yoke_xml_node* node = next_terminal(section, section, &depth); node != NULL;
       node = next_terminal(section, node, &depth)) {
    outer[depth] = c->n;
    YOKE_TRY(read_terminal(c, node, depth == 0 ? YOKE_FMI_NONE : outer[depth - 1]));
  }
  return YOKE_OK;
}

static yoke_status read_tree(collecting* c, const yoke_xml_node* root) {
  if (strcmp(root->name, "fmiTerminalsAndIcons") != 0) {
    yoke__fmi_find_fault(&c->findings, YOKE_FMI_RULE_TERMINAL_XML, root->line, 0,
                         "the outermost element is not <fmiTerminalsAndIcons>");
    return YOKE_OK;
  }
  const yoke_xml_node* section = yoke__xml_child(root, "Terminals");
  const size_t n = section == NULL ? 0 : count_terminals(section);
  c->terminals = yoke__arena_array(&c->d->arena, n, sizeof *c->terminals);
  YOKE_TRY_MEMORY(c->terminals);
  if (section != NULL) {
    YOKE_TRY(read_terminals(c, section));
  }
  c->d->terminals = c->terminals;
  c->d->n_terminals = c->n;
  return YOKE_OK;
}

yoke_status yoke__fmi_read_terminals(yoke_fmi_description* description, const char* bytes, size_t n,
                                     const char* source, yoke_messages* messages) {
  collecting c = {.d = description};
  yoke_arena arena = {0};
  yoke_messages faults = {0};  // broken XML is no reason to refuse the FMU
  yoke_xml_node* root = NULL;
  yoke_status status = yoke__xml_tree(bytes, n, source, &arena, &faults, &root);
  if (status == YOKE_BAD_INPUT) {
    const yoke_message* first = faults.n > 0 ? &faults.all[0] : NULL;
    yoke__fmi_find_fault(&c.findings, YOKE_FMI_RULE_TERMINAL_XML, first == NULL ? 0 : first->line,
                         0, "%.150s", first == NULL ? "cannot be read" : first->text);
    status = YOKE_OK;
  } else if (status >= 0) {
    status = read_tree(&c, root);
  }
  yoke__fmi_tell_faults(&c.findings, source, messages);
  yoke__messages_free(&faults);
  yoke__arena_free(&arena);
  return status;
}
