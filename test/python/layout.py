# Prints a C program that checks every struct, status and prototype that python/yoke/_library.py describes against the
# public headers: the compiler says where the two differ.
import ctypes

from yoke import _library

# `coupling_ops` is described up to its first operation only
PARTIAL = {"yoke_coupling_ops"}

print('#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n#include <yoke/yoke.h>\n')
print('#define CHECK(c, text) do { if (!(c)) { printf("%s\\n", text); bad = 1; } } while (0)')
print('int main(void) {\n  int bad = 0;')
for name, struct in _library.STRUCTS.items():
    if name not in PARTIAL:
        print(f'  CHECK(sizeof({name}) == {ctypes.sizeof(struct)}, "{name}: size");')
    for field, kind in struct._fields_:
        place = getattr(struct, field)
        print(f'  CHECK(offsetof({name}, {field}) == {place.offset} && sizeof((({name}*)0)->{field}) == '
              f'{ctypes.sizeof(kind)}, "{name}.{field}");')
for status in _library.Status:
    print(f'  CHECK(YOKE_{status.name} == {status.value}, "YOKE_{status.name}");')
names = {"TYPES": "YOKE_{}", "CAUSALITIES": "YOKE_{}", "KINDS": "YOKE_KIND_{}", "SEVERITIES": "YOKE_{}",
         "TRUST": "YOKE_TRUST_{}", "RUN_STATES": "YOKE_RUN_{}"}
for constant, form in names.items():
    for i, name in enumerate(getattr(_library, constant)):
        print(f'  CHECK({form.format(name.upper())} == {i}, "{form.format(name.upper())}");')
for name, value in _library.FORMATS.items():
    print(f'  CHECK(YOKE_RECORD_{name.upper()} == {value}, "YOKE_RECORD_{name.upper()}");')
print(f'  CHECK(YOKE_VARIABLE_HAS_START == {_library.HAS_START}, "YOKE_VARIABLE_HAS_START");')
print(f'  CHECK(YOKE_UNIT_PORTABLE == {_library.PORTABLE}, "YOKE_UNIT_PORTABLE");')
print(f'  CHECK(YOKE_STEP_END_WANTED == {_library.END_WANTED}, "YOKE_STEP_END_WANTED");')
print(f'  CHECK(YOKE_CONTRACT_VERSION == {_library.CONTRACT_VERSION}, "YOKE_CONTRACT_VERSION");')
print(f'  CHECK(strcmp(YOKE_VERSION, "{_library.VERSION}") == 0, "YOKE_VERSION");')
print('  return bad;\n}')
