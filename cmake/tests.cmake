# Tests, examples, benchmarks and fuzz targets: one executable per file, found by name.
#
#   test/<folder>/test_<x>.c    ctest <folder>.test_<x>, label unit (or slow if the name ends in _slow)
#   test/<folder>/test_<x>.sh   the same with bash, label shell (or slow); exit status 77 is a skip, and a line
#                               "skipped: ..." of the output says that a part was left out
#   ..._reference...            also linked with SUNDIALS; skipped, with a message, where it is missing
#   ..._oracle..._reference...  also linked with test/<folder>/oracle/*.c
#   ..._realtime..., ..._paced...   run with nothing beside them
#   examples/<x>.c              ctest examples.<x>; sees the public headers and the shared library only
#   examples/<x>_library.c      built as examples/<x>_library.so from the public headers alone; shell tests use it
#   fuzz/fuzz_<x>.c             ctest fuzz.<x>, label parsers: replays fuzz/corpus/<x>/
#   bench/<x>.c                 built, never a test; bench_circuits with ngspice and SUNDIALS where they are there
# Every test finds YOKE_SOURCE_DIR, YOKE_BUILD_DIR, YOKE_PROGRAM, YOKE_HOST, YOKE_FMUS, YOKE_SANITIZE, YOKE_CC in its
# environment.
enable_testing()

set(yoke_program_path ${PROJECT_BINARY_DIR}/yoke)
set(yoke_host_path ${PROJECT_BINARY_DIR}/yoke-host)
if(CMAKE_CROSSCOMPILING AND CMAKE_CROSSCOMPILING_EMULATOR)
  # tests that start a program get a script that starts it in the emulator
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
  foreach(name program host)
    set(path ${yoke_${name}_path})
    set(yoke_${name}_path ${path}-emulated)
    file(WRITE ${path}-emulated "#!/bin/sh\nexec ${emulator} '${path}' \"$@\"\n")
    file(CHMOD ${path}-emulated PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
         GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
endif()
# what the objects were instrumented with, if anything: programs of a user cannot link those
set(yoke_instruments "${YOKE_SANITIZE}")
if(YOKE_COVERAGE)
  list(APPEND yoke_instruments coverage)
  list(JOIN yoke_instruments "," yoke_instruments)
endif()
set(yoke_test_environment
    "YOKE_SOURCE_DIR=${PROJECT_SOURCE_DIR}" "YOKE_BUILD_DIR=${PROJECT_BINARY_DIR}"
    "YOKE_PROGRAM=${yoke_program_path}" "YOKE_HOST=${yoke_host_path}" "YOKE_SANITIZE=${yoke_instruments}" "YOKE_CC=${CMAKE_C_COMPILER}")
if(TARGET yoke_cvode)
  list(APPEND yoke_test_environment "YOKE_CVODE=${PROJECT_BINARY_DIR}/yoke-cvode.so")
endif()

if(TARGET yoke_mpi)
  list(APPEND yoke_test_environment "YOKE_MPI=${PROJECT_BINARY_DIR}/yoke-mpi.so")
endif()

# the folder of the test FMUs, built by cmake/fmus.cmake
list(APPEND yoke_test_environment "YOKE_FMUS=${PROJECT_BINARY_DIR}/test/fmus")

# Common properties of a registered test. label: unit, shell, parsers, examples or tools.
function(yoke_test_properties test label)
  if(test MATCHES "_slow")
    set(label slow)
    set(timeout 7200)
  else()
    set(timeout 1200)  # ends what hangs, even checked, emulated or on a busy machine
  endif()
  set_tests_properties(${test} PROPERTIES LABELS ${label} ENVIRONMENT "${yoke_test_environment}"
                       SKIP_RETURN_CODE 77 TIMEOUT ${timeout})
  if(test MATCHES "realtime|paced")
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# ---- C tests
file(GLOB test_sources CONFIGURE_DEPENDS test/*/test_*.c)
file(GLOB support_sources CONFIGURE_DEPENDS test/support/*.c)
list(FILTER test_sources EXCLUDE REGEX "/test/support/")
set(support_reference ${support_sources})
list(FILTER support_reference INCLUDE REGEX "reference[^/]*$")
list(FILTER support_sources EXCLUDE REGEX "reference[^/]*$")

if(yoke_build_tests)
  add_library(test_flags INTERFACE)
  target_include_directories(test_flags INTERFACE ${PROJECT_SOURCE_DIR}/test)
  target_include_directories(test_flags SYSTEM INTERFACE ${CMOCKA_INCLUDE_DIR})
  target_link_libraries(test_flags INTERFACE yoke_internal ${CMOCKA_LIBRARY})
  set(support_objects "")
  if(support_sources)
    add_library(test_support OBJECT ${support_sources})
    target_link_libraries(test_support PRIVATE test_flags)
    set(support_objects $<TARGET_OBJECTS:test_support>)
  endif()
  set(reference_objects "")
  if(support_reference AND yoke_has_sundials)
    add_library(test_support_reference OBJECT ${support_reference})
    target_include_directories(test_support_reference SYSTEM PRIVATE ${yoke_sundials_includes})
    target_link_libraries(test_support_reference PRIVATE test_flags)
    set(reference_objects $<TARGET_OBJECTS:test_support_reference>)
  endif()
else()
  set(test_sources "")
endif()

set(n_left_out 0)
foreach(source IN LISTS test_sources)
  cmake_path(GET source STEM name)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  if(name MATCHES "reference" AND NOT yoke_has_sundials)
    # not built, but counted
    math(EXPR n_left_out "${n_left_out} + 1")
    add_test(NAME ${folder}.${name} COMMAND sh -c "echo SUNDIALS is missing; exit 77")
    yoke_test_properties(${folder}.${name} unit)
    continue()
  endif()
  set(target ${folder}.${name})
  add_executable(${target} ${source} ${support_objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/${folder})
  if(name MATCHES "reference")
    target_sources(${target} PRIVATE ${reference_objects})
    target_include_directories(${target} SYSTEM PRIVATE ${yoke_sundials_includes})
    target_link_libraries(${target} PRIVATE ${yoke_sundials})
  endif()
  if(name MATCHES "oracle")
    # compiled once for all tests of the folder
    if(NOT TARGET test_oracle_${folder})
      file(GLOB oracle_sources CONFIGURE_DEPENDS test/${folder}/oracle/*.c)
      add_library(test_oracle_${folder} OBJECT ${oracle_sources})
      target_include_directories(test_oracle_${folder} SYSTEM PRIVATE ${yoke_sundials_includes})
      target_link_libraries(test_oracle_${folder} PRIVATE test_flags)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:test_oracle_${folder}>)
  endif()
  target_link_libraries(${target} PRIVATE yoke_static test_flags)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/test/${folder})
  add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/test/${folder})
  yoke_test_properties(${target} unit)
endforeach()
if(n_left_out GREATER 0)
  message(STATUS "Yoke: SUNDIALS not found: ${n_left_out} tests against reference integrators are "
          "skipped (Debian package libsundials-dev)")
endif()

# ---- shell tests and checks of the tree; they look at files of this machine, so not when cross-compiling
find_program(BASH_PROGRAM bash)
file(GLOB shell_tests CONFIGURE_DEPENDS test/*/test_*.sh)
if(NOT CMAKE_CROSSCOMPILING AND BASH_PROGRAM AND NOT YOKE_TESTS STREQUAL "OFF")
  foreach(source IN LISTS shell_tests)
    cmake_path(GET source STEM name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/test/${folder})
    add_test(NAME ${folder}.${name} COMMAND ${BASH_PROGRAM} ${source}
             WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/test/${folder})
    yoke_test_properties(${folder}.${name} shell)
  endforeach()
  add_test(NAME tools.includes COMMAND ${PROJECT_SOURCE_DIR}/tools/check_includes)
  yoke_test_properties(tools.includes tools)
  # pages use the port of their examples, and some have many commands
  set_tests_properties(tools.test_pages tools.test_pages_slow PROPERTIES RESOURCE_LOCK port_of_pages TIMEOUT 7200)
  # links of the pages lead somewhere, and somewhere leads to each page
  add_test(NAME tools.links COMMAND ${PROJECT_SOURCE_DIR}/tools/check_links)
  yoke_test_properties(tools.links tools)
  # the picture of docs/README.md is that of the includes
  find_program(PYTHON3_PROGRAM python3)
  if(PYTHON3_PROGRAM)
    add_test(NAME tools.architecture COMMAND ${PYTHON3_PROGRAM} ${PROJECT_SOURCE_DIR}/tools/make_architecture --check)
  else()
    add_test(NAME tools.architecture COMMAND sh -c "echo python3 is missing; exit 77")
  endif()
  yoke_test_properties(tools.architecture tools)
endif()

# ---- examples: public headers, shared library, run as tests
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source IN LISTS example_sources)
  cmake_path(GET source STEM name)
  if(name MATCHES "_library$")
    add_library(example.${name} MODULE ${source})
    set_target_properties(example.${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name}
                          LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
    target_include_directories(example.${name} PRIVATE ${PROJECT_SOURCE_DIR}/include
                               ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(example.${name} PRIVATE yoke_warnings m)
    continue()
  endif()
  add_executable(example.${name} ${source})
  set_target_properties(example.${name} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  target_link_libraries(example.${name} PRIVATE yoke_shared yoke_warnings yoke_sanitize m)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  # the other end of a port waits for a run: test/app/test_app_port.sh has one
  if(name MATCHES "_plant$")
    continue()
  endif()
  add_test(NAME examples.${name} COMMAND example.${name}
           WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  yoke_test_properties(examples.${name} examples)
endforeach()

# ---- benchmarks
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
add_custom_target(benchmarks DEPENDS yoke_host)
foreach(source IN LISTS bench_sources)
  cmake_path(GET source STEM name)
  add_executable(bench.${name} ${source})
  set_target_properties(bench.${name} PROPERTIES OUTPUT_NAME ${name}
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  target_link_libraries(bench.${name} PRIVATE yoke_static yoke_internal)
  add_dependencies(benchmarks bench.${name})
endforeach()
# the rivals that bench_circuits races
if(TARGET bench.bench_circuits AND yoke_has_sundials)
  target_include_directories(bench.bench_circuits SYSTEM PRIVATE ${yoke_sundials_includes})
  target_link_libraries(bench.bench_circuits PRIVATE ${yoke_sundials})
  target_compile_definitions(bench.bench_circuits PRIVATE YOKE_HAVE_SUNDIALS=1)
endif()
if(TARGET bench.bench_circuits AND yoke_has_ngspice)
  target_include_directories(bench.bench_circuits SYSTEM PRIVATE ${NGSPICE_INCLUDE_DIR})
  target_link_libraries(bench.bench_circuits PRIVATE ${NGSPICE_LIBRARY})
  target_compile_definitions(bench.bench_circuits PRIVATE YOKE_HAVE_NGSPICE=1)
endif()

# ---- fuzz targets: with libFuzzer in the preset fuzz, otherwise a replay of the stored inputs
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
add_custom_target(fuzzers)
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "^fuzz_" "" name ${stem})
  add_executable(${stem} ${source})
  set_target_properties(${stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  target_link_libraries(${stem} PRIVATE yoke_static yoke_internal)
  if(stem STREQUAL "fuzz_runtime")
    # the runtime of FMUs is no part of the library
    target_sources(${stem} PRIVATE src/export/runtime/runtime_config.c src/export/runtime/runtime_library.c
                   src/export/runtime/runtime_twin.c)
  endif()
  # the name is fixed by libFuzzer and no header declares it
  target_compile_options(${stem} PRIVATE -Wno-missing-prototypes)
  add_dependencies(fuzzers ${stem})
  if(YOKE_FUZZ)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${stem} PRIVATE fuzz/replay_main.c)
    if(NOT YOKE_TESTS STREQUAL "OFF")
      add_test(NAME fuzz.${name} COMMAND ${stem} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
      yoke_test_properties(fuzz.${name} parsers)
    endif()
  endif()
endforeach()

# ---- test FMUs
if(yoke_build_tests)
  include(cmake/fmus.cmake)
endif()
