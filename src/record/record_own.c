// A sink of the user's program (yoke_result_ops) among the files of the writer.
#include <stdlib.h>

#include "record/record_writer.h"

typedef struct own_sink {
  const yoke_result_ops* ops;
  void* inner;
  size_t stride;
  uint64_t n_rows;
} own_sink;

static yoke_status own_write(void* self, const unsigned char* rows, size_t n,
                             const yoke_sink* errors) {
  own_sink* sink = self;
  const yoke_status status = sink->ops->write(sink->inner, rows, n, sink->stride, errors);
  sink->n_rows += status < 0 ? 0 : n;
  return status;
}

static yoke_status own_flush(void* self, const yoke_sink* errors) {
  own_sink* sink = self;
  return sink->ops->flush == NULL ? YOKE_OK : sink->ops->flush(sink->inner, errors);
}

static uint64_t own_n_rows(const void* self) {
  return ((const own_sink*)self)->n_rows;
}

static yoke_status own_close(void* self, uint64_t n_lost, uint64_t* n_rows,
                             const yoke_sink* errors) {
  own_sink* sink = self;
  (void)n_lost;
  *n_rows = sink->n_rows;
  const yoke_status status = sink->ops->close(sink->inner, errors);
  free(sink);
  return status;
}

static const yoke_record_sink_ops own_ops = {
    .write = own_write, .flush = own_flush, .n_rows = own_n_rows, .close = own_close};

yoke_status yoke__own_open(yoke_record_sink* sink, const yoke_record_layout* layout,
                           const char* directory, const yoke_sink* errors) {
  own_sink* own = calloc(1, sizeof *own);
  YOKE_TRY_MEMORY(own);
  *own = (own_sink){.ops = sink->own, .stride = layout->stride};
  const yoke_status status = own->ops->open(own->ops->context, directory, layout->columns,
                                            layout->n_columns, &own->inner, errors);
  if (status < 0) {
    free(own);
    return status;
  }
  sink->ops = &own_ops;
  sink->self = own;
  return YOKE_OK;
}
