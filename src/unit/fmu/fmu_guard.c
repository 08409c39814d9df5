// The floating-point mode (rounding, traps, denormals) belongs to whoever calls: a binary that changes it in any of its
// functions must not change the numbers of other units, nor its own, which would then depend on who is called in between.
// And what the binary is asked to do is noted (base_call.h), so that a crash has a name.
//
// Every operation of the table is wrapped here, but for `step`, `enter_init` and `exit_init`, which look after it themselves,
// and `advance`, whose caller does.
#include "base/base_call.h"
#include "unit/fmu/fmu.h"

static const yoke_unit_ops* bare(const void* self) {
  return &((const fmu*)self)->file->bare;
}

#define GUARDED(operation, call)                                                                   \
  const uint64_t mode = yoke__os_float_mode();                                                     \
  const yoke_call_scope scope = yoke__call_begin(((const fmu*)self)->name, operation);             \
  const yoke_status status = (call);                                                               \
  yoke__call_end(&scope);                                                                          \
  yoke__fmu_guard(mode);                                                                           \
  return status

// loading a library runs code of it
static yoke_status create(const yoke_unit_args* args, void** self, const yoke_sink* sink) {
  const fmu_file* file = args->context;
  const uint64_t mode = yoke__os_float_mode();
  const yoke_status status = file->bare.create(args, self, sink);
  yoke__fmu_guard(mode);
  return status;
}

static yoke_status set(void* self, size_t variable, const void* value, size_t size) {
  GUARDED("setting of a variable", bare(self)->set(self, variable, value, size));
}

static yoke_status get(const void* self, size_t variable, void* value, size_t size) {
  GUARDED("reading of a variable", bare(self)->get(self, variable, value, size));
}

static yoke_status get_values(const void* self, const yoke_value_place places[], size_t n,
                              void* base) {
  GUARDED("reading of variables", bare(self)->get_values(self, places, n, base));
}

static yoke_status set_inputs(void* self, const double u[], size_t n_u) {
  GUARDED("setting of inputs", bare(self)->set_inputs(self, u, n_u));
}

static yoke_status get_outputs(const void* self, double y[], size_t n_y) {
  GUARDED("reading of outputs", bare(self)->get_outputs(self, y, n_y));
}

static yoke_status set_input_derivatives(void* self, int order, const double du[], size_t n_u) {
  GUARDED("setting of input derivatives", bare(self)->set_input_derivatives(self, order, du, n_u));
}

static yoke_status refresh(void* self, double t) {
  GUARDED("refresh of outputs", bare(self)->refresh(self, t));
}

static yoke_status save(const void* self, void* image, size_t size) {
  GUARDED("saving of its state", bare(self)->save(self, image, size));
}

static yoke_status restore(void* self, const void* image, size_t size) {
  GUARDED("restoring of its state", bare(self)->restore(self, image, size));
}

static yoke_status serialise(const void* self, void* bytes, size_t* size) {
  GUARDED("writing of its state", bare(self)->serialise(self, bytes, size));
}

static yoke_status deserialise(void* self, const void* bytes, size_t size) {
  GUARDED("reading of its state", bare(self)->deserialise(self, bytes, size));
}

static yoke_status derivative(void* self, const size_t unknowns[], size_t n_unknowns,
                              const size_t knowns[], size_t n_knowns, const double seed[],
                              double out[]) {
  GUARDED("derivatives",
          bare(self)->derivative(self, unknowns, n_unknowns, knowns, n_knowns, seed, out));
}

static yoke_status linearise(void* self, yoke_linear* model) {
  GUARDED("linearisation", bare(self)->linearise(self, model));
}

static void report(void* self, const yoke_sink* sink) {
  const uint64_t mode = yoke__os_float_mode();
  bare(self)->report(self, sink);
  yoke__fmu_guard(mode);
}

static void terminate(void* self) {
  const uint64_t mode = yoke__os_float_mode();
  bare(self)->terminate(self);
  yoke__fmu_guard(mode);
}

// unloading too
static void close_guarded(void* self) {
  const uint64_t mode = yoke__os_float_mode();
  bare(self)->close(self);
  yoke__fmu_guard(mode);
}

void yoke__fmu_guard_ops(fmu_file* file) {
  file->bare = file->ops;
  yoke_unit_ops* ops = &file->ops;
#define WRAP(name) ops->name = ops->name == NULL ? NULL : (name)
  WRAP(create);
  WRAP(set);
  WRAP(get);
  WRAP(get_values);
  WRAP(set_inputs);
  WRAP(get_outputs);
  WRAP(set_input_derivatives);
  WRAP(refresh);
  WRAP(save);
  WRAP(restore);
  WRAP(serialise);
  WRAP(deserialise);
  WRAP(derivative);
  WRAP(linearise);
  WRAP(report);
  WRAP(terminate);
#undef WRAP
  ops->close = close_guarded;
}
