// What `yoke info` says of a coupling method.
#ifndef YOKE_APP_METHOD_H
#define YOKE_APP_METHOD_H

#include "base/base_json.h"
#include "yoke/coupling.h"

void yoke__app_print_methods(void);
void yoke__app_print_method(const yoke_coupling_ops* ops);
// Its members, into an open object.
void yoke__app_method_json(const yoke_coupling_ops* ops, yoke_json* json);

#endif
