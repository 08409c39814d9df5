# Compiler flags, as targets: nothing is set for code that is not ours.
#   yoke_warnings  the warnings of the house style and the floating-point rules
#   yoke_sanitize  sanitizers and coverage, compiler and linker
#   yoke_harden    what makes a memory error end the process, in release builds of what is installed
#   yoke_internal  what own code inside the tree sees: folders, libraries, optional parts

# release is -O2 with asserts left in; contraction off keeps the same numbers on every machine
if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
  endif()
  set(CMAKE_C_FLAGS_RELEASE "-O2")
  if(YOKE_SANITIZE AND NOT YOKE_FUZZ)
    # instrumented code is compiled three times as fast this way; the checks find the same. What the optimiser knows
    # of values is missed by these warnings, which the release build has.
    set(CMAKE_C_FLAGS_RELEASE "-Og")
    add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
                        $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
  set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)

add_library(yoke_warnings INTERFACE)
target_compile_options(yoke_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wstrict-prototypes
  -Wmissing-prototypes -Wvla -Wcast-qual -Wwrite-strings -ffp-contract=off)
# the program names its own files, not the folder it was built in; a debugger wants the real ones
target_compile_options(yoke_warnings INTERFACE
  $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(YOKE_WERROR)
  target_compile_options(yoke_warnings INTERFACE -Werror)
endif()

# a finding ends the process, so that no test can pass with one
add_library(yoke_sanitize INTERFACE)
if(YOKE_SANITIZE)
  target_compile_options(yoke_sanitize INTERFACE -fsanitize=${YOKE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(yoke_sanitize INTERFACE -fsanitize=${YOKE_SANITIZE})
  # every test is a program of its own: the faster linker halves what that takes
  include(CheckLinkerFlag)
  check_linker_flag(C -fuse-ld=gold YOKE_HAS_GOLD)
  if(YOKE_HAS_GOLD AND NOT YOKE_FUZZ)
    target_link_options(yoke_sanitize INTERFACE -fuse-ld=gold)
  endif()
endif()
if(YOKE_FUZZ)
  target_compile_options(yoke_sanitize INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(YOKE_COVERAGE)
  target_compile_options(yoke_sanitize INTERFACE --coverage)
  target_link_options(yoke_sanitize INTERFACE --coverage)
endif()

# Sanitizers have checks of their own, which FORTIFY would keep from seeing the calls; without optimisation it does
# nothing. The binaries and sources of exported FMUs are left as they are: their flags are those of docs/export.md.
add_library(yoke_harden INTERFACE)
if(YOKE_HARDEN AND NOT YOKE_SANITIZE AND NOT YOKE_FUZZ AND NOT YOKE_COVERAGE)
  target_compile_options(yoke_harden INTERFACE
    $<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-U_FORTIFY_SOURCE>
    $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
  target_link_options(yoke_harden INTERFACE $<$<CONFIG:Release>:LINKER:-z,relro,-z,now>)
endif()

add_library(yoke_internal INTERFACE)
target_include_directories(yoke_internal INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/models)
target_include_directories(yoke_internal SYSTEM INTERFACE ${yoke_library_includes})
target_compile_definitions(yoke_internal INTERFACE ${yoke_library_defines})
target_link_libraries(yoke_internal INTERFACE ${yoke_libraries} yoke_warnings yoke_sanitize)

# 32-bit machines: files beyond 2 GB everywhere; times beyond 2038 only where no header of a library is included, since
# those have structs with times as their packages were built with (zip_stat)
if(CMAKE_SIZEOF_VOID_P EQUAL 4)
  add_compile_definitions(_FILE_OFFSET_BITS=64)
  set_property(SOURCE src/base/base_os.c src/base/base_temp.c src/export/export_describe.c src/fmi/fmi_folder.c
               APPEND PROPERTY COMPILE_DEFINITIONS _TIME_BITS=64)
endif()

# libraries that nothing calls are not loaded
add_link_options(LINKER:--as-needed)

# what can change a number, for the result files
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(yoke_flags_text "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}} -ffp-contract=off")
if(YOKE_SANITIZE)
  string(APPEND yoke_flags_text " -fsanitize=${YOKE_SANITIZE}")
endif()
string(STRIP "${yoke_flags_text}" yoke_flags_text)

# The stepping loop and its ledger: the place of small functions costs some 5 % there.
file(GLOB yoke_hot_sources CONFIGURE_DEPENDS src/master/*.c src/quality/*.c src/energy/*.c src/couple/couple_energy.c)
set_source_files_properties(${yoke_hot_sources} PROPERTIES
  COMPILE_OPTIONS "-falign-functions=64;-falign-loops=32")
