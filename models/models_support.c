// Shared parts of models whose variables depend on their settings; see models_support.h.
#include "models/models_support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* yoke__model_make(size_t self_size, size_t image_offset, size_t n_variables,
                       size_t n_feedthrough, size_t texts_size) {
  if (n_variables > SIZE_MAX / 4 / sizeof(yoke_variable) ||
      n_feedthrough > SIZE_MAX / 4 / sizeof(yoke_feedthrough) || texts_size > SIZE_MAX / 4) {
    return NULL;
  }
  const size_t variables_size = n_variables * sizeof(yoke_variable);
  const size_t feedthrough_size = n_feedthrough * sizeof(yoke_feedthrough);
  yoke_model_head* head = calloc(1, self_size);
  char* description = calloc(1, variables_size + feedthrough_size + texts_size + 1);
  if (head == NULL || description == NULL) {
    free(head);
    free(description);
    return NULL;
  }

  // the block starts with the type of the strictest alignment, and both sizes are multiples of it
  head->variables = (yoke_variable*)(void*)description;
  head->feedthrough = (yoke_feedthrough*)(void*)(description + variables_size);
  head->texts = description + variables_size + feedthrough_size;
  head->texts_size = texts_size;
  head->image_offset = image_offset;
  head->info.variables = head->variables;
  head->info.n_variables = n_variables;
  head->info.feedthrough = head->feedthrough;
  head->info.n_feedthrough = n_feedthrough;
  head->info.image_size = self_size - image_offset;
  head->info.flags = YOKE_UNIT_PORTABLE;
  return head;
}

const char* yoke__model_name(yoke_model_head* head, const char* format, ...) {
  char* at = head->texts + head->texts_used;
  const size_t room = head->texts_size - head->texts_used;
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(at, room, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= room) {
    return NULL;
  }
  head->texts_used += (size_t)n + 1;
  return at;
}

const yoke_unit_info* yoke__model_describe(const void* self) {
  const yoke_model_head* head = self;
  return &head->info;
}

yoke_status yoke__model_save(const void* self, void* image, size_t size) {
  const yoke_model_head* head = self;
  if (size < head->info.image_size) {
    return YOKE_BAD_ARG;
  }
  memcpy(image, (const char*)self + head->image_offset, head->info.image_size);
  return YOKE_OK;
}

yoke_status yoke__model_restore(void* self, const void* image, size_t size) {
  const yoke_model_head* head = self;
  if (size < head->info.image_size) {
    return YOKE_BAD_ARG;
  }
  memcpy((char*)self + head->image_offset, image, head->info.image_size);
  return YOKE_OK;
}

void yoke__model_close(void* self) {
  yoke_model_head* head = self;
  if (head != NULL) {
    free(head->variables);  // the whole description
    free(head);
  }
}

const yoke_argument* yoke__model_argument(const yoke_unit_args* args, const char* name) {
  for (size_t i = 0; args != NULL && i < args->n_arguments; i++) {
    if (strcmp(args->arguments[i].name, name) == 0) {
      return &args->arguments[i];
    }
  }
  return NULL;
}

size_t yoke__argument_count(const yoke_argument* argument) {
  return argument->n_rows * argument->n_cols;
}

yoke_status yoke__model_integer(const yoke_unit_args* args, const char* name, int64_t fallback,
                                int64_t low, int64_t high, int64_t* value, const yoke_sink* sink) {
  const yoke_argument* argument = yoke__model_argument(args, name);
  *value = fallback;
  if (argument == NULL) {
    return YOKE_OK;
  }
  if (yoke__argument_count(argument) != 1) {
    return yoke__model_refuse(sink, "%s: expected one value, found %zu", name,
                              yoke__argument_count(argument));
  }
  *value = *(const int64_t*)argument->value;
  if (*value < low || *value > high) {
    return yoke__model_refuse(sink, "%s is %lld, expected %lld to %lld", name, (long long)*value,
                              (long long)low, (long long)high);
  }
  return YOKE_OK;
}

yoke_status yoke__model_refuse(const yoke_sink* sink, const char* format, ...) {
  char text[YOKE_MESSAGE_TEXT_SIZE];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return yoke_fail(sink, YOKE_BAD_INPUT, "%s", text);
}

yoke_status yoke__model_no_memory(const yoke_sink* sink) {
  return yoke_fail(sink, YOKE_NO_MEMORY, "%s", "out of memory");
}

yoke_status yoke__model_derivative(const void* self, yoke_model_partial partial,
                                   const size_t unknowns[], size_t n_unknowns,
                                   const size_t knowns[], size_t n_knowns, const double seed[],
                                   double out[]) {
  for (size_t i = 0; i < n_unknowns; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < n_knowns; j++) {
      double slope = 0.0;
      if (!partial(self, unknowns[i], knowns[j], &slope)) {
        return YOKE_BAD_ARG;
      }
      sum += slope * seed[j];
    }
    out[i] = sum;
  }
  return YOKE_OK;
}
