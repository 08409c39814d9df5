// An FMU in the place of a system file: one unit, with the times of its default experiment.
#ifndef YOKE_SCENARIO_FMU_H
#define YOKE_SCENARIO_FMU_H

#include <stdbool.h>

#include "base/base_number.h"
#include "scenario/scenario_reader.h"

// The tree of the system file that somebody would write for it. Errors go to the reader's messages.
yoke_status yoke__fmu_tree(const yoke_scenario* s, yoke_reader* reader, yoke_node** root);

// The step as text, with as many digits as a run over `length` seconds can count in whole ticks: a third of something is
// often written with sixteen. True: unchanged.
bool yoke__scenario_fit_step(double step, double length, char to[YOKE_NUMBER_SIZE]);

// A step for a run of this length, about a thousandth: 1, 2 or 5 times a power of ten.
void yoke__scenario_round_step(double length, char* to, size_t size);

// A system of one unit that is a file.
typedef struct yoke_lone {
  const char *name, *unit, *kind, *file;  // kind: the key of the file, "fmu"
  const char *start, *stop, *step;        // [s] as texts
  yoke_node *root, *last;                 // the tree, and its last key for what else there is
} yoke_lone;
// Makes lone->root. All places are that of the path as a whole. Returns the text of the file in the tree.
const char* yoke__lone_tree(yoke_reader* reader, const char* path, yoke_lone* lone);
// A map or list below a node, and a value; parent NULL: memory is out.
yoke_node* yoke__lone_node(yoke_reader* reader, yoke_node* parent, yoke_node** last,
                           const char* key, yoke_node_kind kind);
yoke_node* yoke__lone_value(yoke_reader* reader, yoke_node* parent, yoke_node** last,
                            const char* key, const char* text, bool is_quoted);

#endif
