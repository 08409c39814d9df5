// The real outputs that somebody reads: one call of the binary for these, none for the others.
//
// A choice is laid out when it is first made and kept: there are few of them, and a run goes back and forth between them.
#include <string.h>

#include "base/base_check.h"
#include "unit/fmu/fmu.h"
#include "unit/fmu/fmu_events.h"

typedef struct fmu_choice {
  struct fmu_choice* next;
  bool* is_read;      // per variable
  fmu_dense outputs;  // real outputs that are read,
  fmu_dense plain;    // and those of them without clocks
} fmu_choice;

static bool is_real_output(const fmu* f, size_t i) {
  const yoke_variable* v = &f->layout.info.variables[i];
  return v->type == YOKE_REAL && v->causality == YOKE_OUTPUT;
}

static bool has_clocks(const fmu* f, size_t i) {
  return f->description->variables[f->layout.slots[i].variable].has_clocks;
}

// The first numbers of the vector need no index.
static void drop_index(fmu_dense* dense) {
  for (size_t i = 0; i < dense->n; i++) {
    if (dense->index[i] != i) {
      return;
    }
  }
  dense->index = NULL;
}

static yoke_status lay_out(fmu* f, const bool is_read[], bool with_clocks, fmu_dense* out) {
  const size_t n = f->layout.info.n_variables;
  bool* is_wanted = yoke__arena_array(&f->arena, n + 1, sizeof *is_wanted);
  YOKE_TRY_MEMORY(is_wanted);
  for (size_t i = 0; i < n; i++) {
    is_wanted[i] = is_read[i] && (with_clocks || !has_clocks(f, i));
  }
  size_t n_all = 0;
  YOKE_TRY(yoke__fmu_lay_dense(&f->layout, YOKE_OUTPUT, is_wanted, &f->arena, out, &n_all));
  drop_index(out);
  return YOKE_OK;
}

static yoke_status find_choice(fmu* f, const bool is_read[], const fmu_choice** out) {
  const size_t n = f->layout.info.n_variables;
  for (const fmu_choice* c = f->choices; c != NULL; c = c->next) {
    if (memcmp(c->is_read, is_read, n * sizeof *is_read) == 0) {
      *out = c;
      return YOKE_OK;
    }
  }
  fmu_choice* own = yoke__arena_take(&f->arena, sizeof *own);
  YOKE_TRY_MEMORY(own);
  *own = (fmu_choice){.next = f->choices,
                      .is_read = yoke__arena_array(&f->arena, n + 1, sizeof *is_read)};
  YOKE_TRY_MEMORY(own->is_read);
  memcpy(own->is_read, is_read, n * sizeof *is_read);
  YOKE_TRY(lay_out(f, is_read, true, &own->outputs));
  YOKE_TRY(lay_out(f, is_read, false, &own->plain));
  f->choices = own;
  *out = own;
  return YOKE_OK;
}

yoke_status yoke__fmu_choose_outputs(void* self, const bool is_read[]) {
  fmu* f = self;
  bool is_all = true;
  for (size_t i = 0; is_read != NULL && i < f->layout.info.n_variables; i++) {
    is_all = is_all && (is_read[i] || !is_real_output(f, i));
  }
  const fmu_choice* choice = NULL;
  YOKE_TRY(is_all ? YOKE_OK : find_choice(f, is_read, &choice));
  f->outputs = is_all ? &f->layout.outputs : &choice->outputs;
  if (f->file->is_model_exchange) {
    return YOKE_OK;
  }
  if (f->description->version == 3) {
    f->events->plain_read = is_all ? &f->events->plain : &choice->plain;
    yoke__fmu_near_outputs3(f);
  } else {
    yoke__fmu_near_outputs2(f);
  }
  return YOKE_OK;
}
