// Lines that name a .model: diodes and switches.
//
//   D1 anode cathode model [area] [area=] [m=] [temp=] [dtemp=]
//   .model name D (is= n= rs= bv= ibv= cjo= vj= m= fc= tt= eg= xti= tnom=)
//   S1 a b c d model [on|off]           .model name SW (vt= vh= ron= roff=)
//   S1 a b {expression} model [on|off]  closed while the expression is above the threshold
//   W1 a b V1 model [on|off]            .model name CSW (it= ih= ron= roff=)
//
// Temperature of a junction as SPICE has it (P. Antognetti, G. Massobrio, Semiconductor Device
// Modeling with SPICE, 1988, section 1.4):
//
//   IS(T) = IS exp((T/Tnom - 1) EG / (N Vt)) (T/Tnom)^(XTI/N)
//   VJ(T) and CJO(T) by the temperature of the band gap EG(T) = 1.16 - 7.02e-4 T^2/(T + 1108)
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base_check.h"
#include "circuit/netlist/circuit_netlist_reader.h"

#define ZERO_CELSIUS 273.15           // [K]
#define BOLTZMANN    1.380649e-23     // [J/K]
#define CHARGE       1.602176634e-19  // [C]
#define T_REFERENCE  300.15           // [K] at which the capacitance formulas are anchored

static yoke_span model_name(const void* owner, size_t i) {
  return ((const yoke_definition*)owner)->models[i].name;
}

// A model of the given type; NULL after a message.
static const yoke_netlist_model* find_model(yoke_cursor* cursor, yoke_token token, const char* what,
                                            const char* type) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE], found[YOKE_SHOWN_SIZE], text[YOKE_HINT_SIZE];
  if (token.kind != YOKE_TOKEN_WORD) {
    if (!cursor->is_failed) {
      yoke__cursor_error(cursor, NULL, "%s: the name of a model is missing", what);
    }
    return NULL;
  }
  const yoke_definition* definition = cursor->frame->definition;
  const yoke_netlist_model* model = yoke__netlist_find_model(reader, definition, token.span);
  if (model == NULL) {
    yoke__cursor_error(
        cursor, token.span.text, "%s: unknown model '%s'%s", what, yoke__shown(token.span, cut),
        yoke__netlist_hint(reader, token.span, definition, definition->n_models, model_name, text));
    return NULL;
  }
  if (!yoke__span_is(model->type, type)) {
    yoke__cursor_error(cursor, token.span.text,
                       "%s: the model '%s' has the type '%s', expected '%s'", what,
                       yoke__shown(token.span, cut), yoke__shown(model->type, found), type);
    return NULL;
  }
  return model;
}

// Names and places of what a model may say.
typedef struct entry {
  const char* name;
  double* place;  // NULL: accepted and not used
} entry;

static bool set_entry(yoke_cursor* cursor, yoke_span key, yoke_token token, const char* what,
                      const entry entries[], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (yoke__span_is(key, entries[i].name)) {
      return entries[i].place == NULL ||
             yoke__netlist_number(cursor, token, what, entries[i].place);
    }
  }
  yoke__cursor_ignore(cursor, what, key);
  return true;
}

// The parameters of a model, evaluated in the instance that uses it.
static bool read_model(yoke_cursor* cursor, const yoke_netlist_model* model, const entry entries[],
                       size_t n) {
  yoke_netlist_reader* reader = cursor->reader;
  char cut[YOKE_SHOWN_SIZE], what[YOKE_SHOWN_SIZE + 8];
  snprintf(what, sizeof what, "model %s", yoke__shown(model->name, cut));
  yoke_cursor inside =
      yoke__cursor_open(reader, &reader->statements[model->statement], cursor->frame);
  inside.at = model->text.text;
  yoke_span key;
  while (yoke__cursor_take_key(&inside, &key)) {
    if (!set_entry(&inside, key, yoke__cursor_next(&inside), what, entries, n)) {
      return false;
    }
  }
  return yoke__netlist_expect_end(&inside);
}

// ---- diodes

typedef struct diode {
  double is, n, rs, bv, ibv, cjo, vj, m, fc, tt, eg, xti, tnom;  // of the model; tnom [degC]
  double area, multiplicity, temperature;                        // of the line; [K]
} diode;

static bool read_diode_model(yoke_cursor* cursor, const yoke_netlist_model* model, diode* d) {
  const entry entries[] = {
      {"is", &d->is},   {"js", &d->is},   {"n", &d->n},       {"rs", &d->rs},  {"bv", &d->bv},
      {"ibv", &d->ibv}, {"cjo", &d->cjo}, {"cj0", &d->cjo},   {"cj", &d->cjo}, {"vj", &d->vj},
      {"pb", &d->vj},   {"m", &d->m},     {"mj", &d->m},      {"fc", &d->fc},  {"tt", &d->tt},
      {"eg", &d->eg},   {"xti", &d->xti}, {"tnom", &d->tnom}, {"level", NULL}, {"kf", NULL},
      {"af", NULL},
  };
  return read_model(cursor, model, entries, YOKE_COUNT(entries));
}

// Band-gap part of the built-in voltage at T.
static double gap_voltage(double t) {
  const double gap = 1.16 - 7.02e-4 * t * t / (t + 1108.0);
  const double arg = -gap / (2.0 * BOLTZMANN * t) + 1.1150877 / (BOLTZMANN * 2.0 * T_REFERENCE);
  return -2.0 * BOLTZMANN * t / CHARGE * (1.5 * log(t / T_REFERENCE) + CHARGE * arg);
}

static yoke_junction_model junction_at(const diode* d) {
  const double t = d->temperature, tnom = d->tnom + ZERO_CELSIUS, ratio = t / tnom;
  const double vt = BOLTZMANN * t / CHARGE, scale = d->area * d->multiplicity;
  yoke_junction_model out = {.is = d->is * scale,
                             .n = d->n,
                             .bv = d->bv,
                             .ibv = d->ibv *
                                    d->multiplicity,  // as in ngspice: area leaves BV where it is
                             .vt = vt,
                             .cjo = d->cjo * scale,
                             .vj = d->vj,
                             .m = d->m,
                             .fc = d->fc,
                             .tt = d->tt};
  if (t == tnom) {
    return out;
  }
  out.is *= exp((ratio - 1.0) * d->eg / (d->n * vt)) * pow(ratio, d->xti / d->n);
  if (d->cjo > 0.0) {
    // through the reference temperature: tnom -> reference -> T
    const double base = (d->vj - gap_voltage(tnom)) / (tnom / T_REFERENCE);
    out.vj = gap_voltage(t) + t / T_REFERENCE * base;
    out.cjo /= 1.0 + d->m * (400e-6 * (tnom - T_REFERENCE) - (d->vj - base) / base);
    out.cjo *= 1.0 + d->m * (400e-6 * (t - T_REFERENCE) - (out.vj - base) / base);
  }
  return out;
}

// [area] and name=value of the line
static bool read_diode_line(yoke_cursor* cursor, const char* what, diode* d) {
  double temperature = cursor->reader->network->run.temperature - ZERO_CELSIUS, offset = 0.0;
  double unused[2] = {(double)NAN, 0.0};
  const entry entries[] = {{"area", &d->area}, {"m", &d->multiplicity}, {"temp", &temperature},
                           {"dtemp", &offset}, {"ic", &unused[0]},      {"pj", &unused[1]}};
  yoke_span key;
  bool has_area = false;
  for (;;) {
    const yoke_token token = yoke__cursor_peek(cursor);
    if (token.kind == YOKE_TOKEN_END) {
      break;
    }
    if (yoke__cursor_take_key(cursor, &key)) {
      if (!set_entry(cursor, key, yoke__cursor_next(cursor), what, entries, YOKE_COUNT(entries))) {
        return false;
      }
    } else if (yoke__cursor_take(cursor, "off") || yoke__cursor_take(cursor, "on")) {
      continue;
    } else if (has_area) {
      return yoke__netlist_expect_end(cursor);
    } else if (!yoke__netlist_number(cursor, yoke__cursor_next(cursor), what, &d->area)) {
      return false;
    } else {
      has_area = true;
    }
  }
  if (!isnan(unused[0])) {
    yoke__cursor_warn(cursor, NULL,
                      "%s: IC= of a diode is ignored; '.ic' gives its nodes start values", what);
  }
  d->temperature = temperature + offset + ZERO_CELSIUS;
  return !cursor->is_failed;
}

// A parameter of a model that SPICE cuts: said once per model.
static void cut(yoke_cursor* cursor, const yoke_netlist_model* model, const char* name,
                double highest, double* value) {
  yoke_netlist_reader* reader = cursor->reader;
  char key[2 * YOKE_SHOWN_SIZE], shown[YOKE_SHOWN_SIZE];
  if (!(*value > highest)) {
    return;
  }
  const int n = snprintf(key, sizeof key, "%s of model %s", name, yoke__shown(model->name, shown));
  const char* kept = yoke__arena_text(&reader->arena, key, (size_t)n);
  if (kept == NULL) {
    reader->is_out_of_memory = true;
  } else if (yoke__netlist_is_first(reader, (yoke_span){kept, (size_t)n})) {
    yoke__netlist_warn(reader, &reader->statements[model->statement], NULL,
                       "model %s: %s is %g, but %g is used, as in SPICE", shown, name, *value,
                       highest);
  }
  *value = highest;
}

static bool check_diode(yoke_cursor* cursor, const char* what, const diode* d) {
  const struct {
    const char* name;
    bool is_good;
  } checks[] = {
      {"is must be positive", d->is > 0.0},
      {"n must be positive", d->n > 0.0},
      {"rs must not be negative", d->rs >= 0.0},
      {"bv must be positive", d->bv > 0.0},
      {"ibv must be positive", d->ibv > 0.0},
      {"cjo must not be negative", d->cjo >= 0.0},
      {"vj must be positive", d->vj > 0.0},
      {"m must not be negative", d->m >= 0.0},
      {"fc must not be negative", d->fc >= 0.0},
      {"tt must not be negative", d->tt >= 0.0},
      {"tnom must be above absolute zero", d->tnom > -ZERO_CELSIUS},
      {"area and m must be positive", d->area > 0.0 && d->multiplicity > 0.0},
      {"the temperature must be above absolute zero", d->temperature > 0.0},
  };
  for (size_t i = 0; i < YOKE_COUNT(checks); i++) {
    if (!checks[i].is_good) {
      return yoke__cursor_error(cursor, NULL, "%s: %s", what, checks[i].name);
    }
  }
  return true;
}

void yoke__netlist_diode(yoke_cursor* cursor, yoke_span name) {
  yoke_netlist_reader* reader = cursor->reader;
  char what[YOKE_SHOWN_SIZE];
  yoke__shown(name, what);
  uint32_t a, b;
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, "anode cathode model", &a, &b)) {
    return;
  }
  const yoke_netlist_model* model = find_model(cursor, yoke__cursor_next(cursor), what, "d");
  diode d = {.is = 1e-14,
             .n = 1.0,
             .bv = (double)INFINITY,
             .ibv = 1e-3,
             .vj = 1.0,
             .m = 0.5,
             .fc = 0.5,
             .eg = 1.11,
             .xti = 3.0,
             .tnom = reader->tnom - ZERO_CELSIUS,
             .area = 1.0,
             .multiplicity = 1.0};
  if (model == NULL || !read_diode_model(cursor, model, &d) || !read_diode_line(cursor, what, &d) ||
      !check_diode(cursor, what, &d)) {
    return;
  }
  cut(cursor, model, "m", 0.9, &d.m);
  cut(cursor, model, "fc", 0.95, &d.fc);
  const yoke_junction_model junction = junction_at(&d);
  const char* full = yoke__netlist_full_name(reader, cursor->frame, name);
  if (full == NULL || yoke__netlist_is_taken(cursor, full)) {
    return;
  }
  if (yoke__network_add_diode(
          reader->network, full, a, b, &junction, d.rs / (d.area * d.multiplicity),
          yoke__statement_place(reader, cursor->statement, NULL)) == YOKE_NO_INDEX) {
    reader->is_out_of_memory = true;
  }
}

// ---- switches

static bool read_switch_model(yoke_cursor* cursor, const yoke_netlist_model* model, bool is_current,
                              const char* what, yoke_switch_model* out) {
  *out = (yoke_switch_model){.r_on = 1.0, .r_off = 1e12};
  const entry entries[] = {{is_current ? "it" : "vt", &out->threshold},
                           {is_current ? "ih" : "vh", &out->hysteresis},
                           {"ron", &out->r_on},
                           {"roff", &out->r_off},
                           {"level", NULL}};
  if (!read_model(cursor, model, entries, YOKE_COUNT(entries))) {
    return false;
  }
  if (out->hysteresis < 0.0) {
    yoke__netlist_error(cursor->reader, &cursor->reader->statements[model->statement], NULL,
                        "%s: a negative hysteresis is not supported", what);
    return false;
  }
  return true;
}

// What closes it: two nodes, an expression, or a source whose name waits.
static bool read_switch_control(yoke_cursor* cursor, yoke_span name, const char* form,
                                bool is_current, yoke_element* element, yoke_token* control) {
  *control = yoke__cursor_peek(cursor);
  if (!is_current && control->kind != YOKE_TOKEN_EXPRESSION) {
    return yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, form, &element->c, &element->d);
  }
  yoke__cursor_next(cursor);
  if (control->kind == YOKE_TOKEN_END) {
    char cut[YOKE_SHOWN_SIZE];
    yoke__cursor_error(cursor, NULL, "expected '%s %s'", yoke__shown(name, cut), form);
  }
  return control->kind != YOKE_TOKEN_END && !cursor->is_failed;
}

// The expression minus the threshold: closed above 0.
static void add_condition(yoke_cursor* cursor, const char* what, uint32_t index,
                          yoke_span expression, double threshold) {
  const yoke_expression_wrap wrap = {.factor = 1.0, .offset = -threshold};
  yoke_netlist_value value;
  if (!yoke__netlist_compile(cursor->reader, cursor->statement, cursor->frame, expression, what,
                             &wrap, &value)) {
    return;
  }
  if (value.has_references) {
    yoke__netlist_wait(cursor, YOKE_WAITING_CONDITION, index, expression, &wrap);
  } else if (value.is_constant) {
    yoke__cursor_error(cursor, expression.text, "%s: the condition is constant", what);
  } else {
    cursor->reader->network->elements[index].condition = value.law;
  }
}

void yoke__netlist_switch(yoke_cursor* cursor, yoke_span name) {
  const bool is_current = yoke__lower(name.text[0]) == 'w';
  const char* form = is_current ? "node node source model" : "node node node node model";
  char what[YOKE_SHOWN_SIZE];
  yoke__shown(name, what);
  yoke_element element = {.kind = YOKE_SWITCH, .control = YOKE_NO_INDEX};
  yoke_switch_model switching;
  yoke_token control;
  if (!yoke__netlist_nodes(cursor, name, YOKE_ELECTRIC, form, &element.a, &element.b) ||
      !read_switch_control(cursor, name, form, is_current, &element, &control)) {
    return;
  }
  const yoke_netlist_model* model =
      find_model(cursor, yoke__cursor_next(cursor), what, is_current ? "csw" : "sw");
  if (model == NULL || !read_switch_model(cursor, model, is_current, what, &switching)) {
    return;
  }
  const bool is_on = yoke__cursor_take(cursor, "on");
  element.has_start = is_on || yoke__cursor_take(cursor, "off");
  element.start = is_on ? 1.0 : 0.0;
  element.switching = &switching;
  if (!yoke__netlist_expect_end(cursor)) {
    return;
  }
  const uint32_t index = yoke__netlist_add(cursor, name, &element);
  if (index == YOKE_NO_INDEX) {
    return;
  }
  if (is_current) {
    yoke__netlist_wait(cursor, YOKE_WAITING_CONTROL, index, control.span, NULL);
  } else if (control.kind == YOKE_TOKEN_EXPRESSION) {
    add_condition(cursor, what, index, control.span, switching.threshold);
  }
}
