// The text of NAME.h and NAME.c: C11 without any library, not even the headers of a freestanding
// one.
//
// Matrices are constants row by row; a step is one pass over Ad, Bd and a copy of the new state,
// the same number of operations every time.
#include <string.h>

#include "base/base_number.h"
#include "base/base_os.h"
#include "base/base_text.h"
#include "export/export_c.h"
#include "yoke/version.h"

typedef struct writer {
  yoke_text text;
  const yoke_export_c_job* job;
  const yoke_export_c_model* model;
  yoke_export_c_identifier name;
  const char* number;  // "double" or "float"
} writer;

#define PUT(...) yoke__text_add(&w->text, __VA_ARGS__)

static void put_shown(writer* w, const char* shown) {
  yoke__export_c_put_shown(&w->text, shown);
}

static void put_number(writer* w, double x) {
  yoke__export_c_put_number(&w->text, w->job->is_float, x);
}

static void put_array(writer* w, const char* name, const double numbers[], size_t n_rows,
                      size_t n_cols) {
  yoke__export_c_put_array(&w->text, w->job->is_float, name, numbers, n_rows, n_cols);
}

// -------------------------------------------------------------------------------------------------
// the comment

static void put_quality(writer* w) {
  const yoke_export_c_model* m = w->model;
  const yoke_export_c_quality* q = &m->quality;
  PUT(" *\n * Reduced from %zu to %zu states by balanced truncation", m->n_whole, m->n);
  if (q->n_apart > 0) {
    PUT("; %zu of them not stable and kept as they are", q->n_apart);
  }
  PUT(".\n * Hankel singular values: largest %.4g, smallest kept %.4g, largest dropped %.4g.\n",
      q->largest, q->smallest_kept, q->largest_dropped);
  PUT(" * Error bound: with constants aside and from a state of rest, the RMS error of an output "
      "over any\n * time is at most its figure below times the RMS of all inputs together; twice "
      "the sum of the\n * dropped values is %.4g.\n",
      q->bound);
  PUT(" *   output                    bound       measured    start values\n");
  for (size_t i = 0; i < m->n_y; i++) {
    PUT(" *   ");
    const size_t before = w->text.n;
    put_shown(w, m->outputs[i].shown);
    PUT("%*s", w->text.n - before < 24 ? (int)(24 - (w->text.n - before)) : 1, "");
    PUT("%-11.4g %-11.4g %-11.4g\n", q->bound * q->gain[i], q->measured[i], q->start_error[i]);
  }
  PUT(" * measured: over pseudo-random inputs of size 1; start values: largest error of the answer "
      "to\n * them with the inputs as they start.\n");
}

static void put_head(writer* w) {
  const yoke_export_c_job* job = w->job;
  const yoke_export_c_model* m = w->model;
  char step[YOKE_NUMBER_SIZE];
  yoke__number_format(m->h, step);
  PUT("/* ");
  put_shown(w, m->network->title != NULL && m->network->title[0] != '\0' ? m->network->title
                                                                         : job->name);
  PUT("\n *\n * Made by Yoke " YOKE_VERSION " from ");
  put_shown(w, job->source);
  if (job->settings[0] != '\0') {
    PUT(" with ");
    put_shown(w, job->settings);
  }
  PUT(". Do not edit: change the netlist.\n *\n");
  PUT(" *   x+ = Ad x + Bd u + bd     one step of %s s, exact for inputs that %s\n", step,
      job->is_ramp ? "go straight from value to value" : "are held");
  PUT(" *   y  = C x + D u + d\n *\n");
  PUT(" * %zu states, %zu inputs, %zu outputs in %s precision. Constants: %zu bytes; one instance: "
      "%zu bytes;\n * stack of a step: about %zu bytes; no heap, no library, no global state.\n",
      m->n, m->n_u, m->n_y, job->is_float ? "single" : "double", yoke__export_c_flash(job, m),
      yoke__export_c_ram(job, m), yoke__export_c_ram(job, m) + 64);
  if (job->is_reduced && m->n_whole > 0) {
    put_quality(w);
  }
  PUT(" */\n");
}

// -------------------------------------------------------------------------------------------------
// NAME.h

static void put_names(writer* w, const char* kind, const yoke_export_c_name names[], size_t n,
                      bool has_start) {
  yoke__export_c_put_names(&w->text, w->name.upper, kind, names, n, 0, has_start, w->job->is_float);
}

static size_t at_least_one(size_t n) {
  return n > 0 ? n : 1;
}

static void write_header(writer* w) {
  const yoke_export_c_model* m = w->model;
  const char *l = w->name.lower, *u = w->name.upper, *t = w->number;
  put_head(w);
  PUT("#ifndef %s_H\n#define %s_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n", u, u);
  PUT("enum { %s_N_STATES = %zu, %s_N_INPUTS = %zu, %s_N_OUTPUTS = %zu };\n", u, m->n, u, m->n_u, u,
      m->n_y);
  PUT("#define %s_STEP ", u);
  put_number(w, m->h);
  PUT(" /* [s] */\n");
  put_names(w, "IN", m->inputs, m->n_u, true);
  put_names(w, "OUT", m->outputs, m->n_y, false);
  if (m->states != NULL) {
    put_names(w, "STATE", m->states, m->n, true);
  }
  PUT("\n/* One instance; every one stands for itself. */\ntypedef struct %s {\n  %s x[%zu];\n} "
      "%s;\n\n",
      l, t, at_least_one(m->n), l);
  PUT("/* The state at the start. */\nvoid %s_init(%s* self);\n", l, l);
  if (m->Bd_end != NULL) {
    PUT("/* One step: inputs at its start and at its end. */\n"
        "void %s_step(%s* self, const %s u[], const %s u_end[]);\n",
        l, l, t, t);
  } else {
    PUT("/* One step with these inputs held. */\nvoid %s_step(%s* self, const %s u[]);\n", l, l, t);
  }
  PUT("/* Outputs now. */\nvoid %s_output(const %s* self, const %s u[], %s y[]);\n", l, l, t, t);
  PUT("\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

// -------------------------------------------------------------------------------------------------
// NAME.c

// "  for (j ...) sum += row[..] * v[j];" over one matrix; nothing for an empty one
static void put_sum(writer* w, const char* matrix, size_t n, const char* vector) {
  if (n > 0) {
    PUT("    for (unsigned j = 0; j < %zuu; j++) {\n      sum += %s[i * %zuu + j] * %s[j];\n"
        "    }\n",
        n, matrix, n, vector);
  }
}

static void put_unused(writer* w, const char* name, bool is_unused) {
  if (is_unused) {
    PUT("  (void)%s;\n", name);
  }
}

static void put_step(writer* w) {
  const yoke_export_c_model* m = w->model;
  const char *l = w->name.lower, *t = w->number;
  const bool is_ramp = m->Bd_end != NULL;
  PUT("\nvoid %s_step(%s* self, const %s u[]", l, l, t);
  if (is_ramp) {
    PUT(", const %s u_end[]", t);
  }
  PUT(") {\n");
  put_unused(w, "self", m->n == 0);
  put_unused(w, "u", m->n == 0 || m->n_u == 0);
  put_unused(w, "u_end", is_ramp && (m->n == 0 || m->n_u == 0));
  if (m->n > 0) {
    PUT("  volatile %s next[%zu]; /* volatile: no call of memcpy below */\n  for (unsigned i = 0; "
        "i < %zuu; i++) {\n    %s sum = bd[i];\n",
        t, m->n, m->n, t);
    put_sum(w, "Ad", m->n, "self->x");
    put_sum(w, "Bd", m->n_u, "u");
    put_sum(w, "Bd_end", is_ramp ? m->n_u : 0, "u_end");
    PUT("    next[i] = sum;\n  }\n  for (unsigned i = 0; i < %zuu; i++) {\n"
        "    self->x[i] = next[i];\n  }\n",
        m->n);
  }
  PUT("}\n");
}

static void put_output(writer* w) {
  const yoke_export_c_model* m = w->model;
  const char *l = w->name.lower, *t = w->number;
  PUT("\nvoid %s_output(const %s* self, const %s u[], %s y[]) {\n", l, l, t, t);
  put_unused(w, "self", m->n == 0 || m->n_y == 0);
  put_unused(w, "u", m->n_u == 0 || m->n_y == 0);
  put_unused(w, "y", m->n_y == 0);
  if (m->n_y > 0) {
    PUT("  for (unsigned i = 0; i < %zuu; i++) {\n    %s sum = d[i];\n", m->n_y, t);
    put_sum(w, "C", m->n, "self->x");
    put_sum(w, "D", m->n_u, "u");
    PUT("    y[i] = sum;\n  }\n");
  }
  PUT("}\n");
}

static void write_source(writer* w) {
  const yoke_export_c_model* m = w->model;
  const char* l = w->name.lower;
  put_head(w);
  PUT("#include \"%s.h\"\n\n", w->job->name);
  put_array(w, "Ad", m->Ad, m->n, m->n);
  put_array(w, "Bd", m->Bd, m->n, m->n_u);
  if (m->Bd_end != NULL) {
    put_array(w, "Bd_end", m->Bd_end, m->n, m->n_u);
  }
  put_array(w, "bd", m->bd, 1, m->n);
  put_array(w, "C", m->C, m->n_y, m->n);
  put_array(w, "D", m->D, m->n_y, m->n_u);
  put_array(w, "d", m->d, 1, m->n_y);
  put_array(w, "start", m->x, 1, m->n);
  PUT("\nvoid %s_init(%s* self) {\n", l, l);
  if (m->n > 0) {
    PUT("  for (unsigned i = 0; i < %zuu; i++) {\n    const volatile %s value = start[i];\n"
        "    self->x[i] = value;\n  }\n",
        m->n, w->number);
  } else {
    PUT("  self->x[0] = 0;\n");
  }
  PUT("}\n");
  put_step(w);
  put_output(w);
}

// -------------------------------------------------------------------------------------------------
// files

static yoke_status save(const writer* w, const char* directory, const char* ending,
                        const yoke_sink* sink) {
  return yoke__export_c_save(&w->text, directory, w->job->name, ending, sink);
}

yoke_status yoke__export_c_write(const yoke_export_c_job* job, const yoke_export_c_model* model,
                                 const char* directory, const yoke_sink* sink) {
  writer w = {.job = job,
              .model = model,
              .name = yoke__export_c_identifier(job->name),
              .number = job->is_float ? "float" : "double"};
  yoke_status status = yoke__os_make_directory(directory, sink);
  if (status >= 0) {
    write_header(&w);
    status = save(&w, directory, ".h", sink);
  }
  if (status >= 0) {
    yoke__text_clear(&w.text);
    write_source(&w);
    status = save(&w, directory, ".c", sink);
  }
  yoke__text_free(&w.text);
  return status;
}
