# What `yoke export` puts into an FMU: the runtime with all native models as one shared library, and the same as C sources.
#   included:   targets yoke_fmu (yoke-fmu.so beside the program) and yoke_fmu_sources (yoke-fmu-sources.zip)
#   as script:  cmake -DROOT=... -DOUTPUT=... -DFOLDER=... -P export.cmake FILE... makes the archive of sources
#
# The archive is flat, so that `cc -shared -fPIC *.c -lm` builds it: "base/base_os.h" becomes "base_os.h", and the public
# "yoke/unit.h" becomes "yoke_unit.h". Headers are found by following the includes.
if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)

  # the flat name of a path or of an include
  function(flat_name path to)
    cmake_path(GET path FILENAME name)
    if(path MATCHES "(^|/)yoke/[^/]+$")
      set(name "yoke_${name}")
    endif()
    set(${to} ${name} PARENT_SCOPE)
  endfunction()

  # the C files stand behind the name of this script on the command line
  set(files "")
  set(is_file NO)
  math(EXPR last "${CMAKE_ARGC} - 1")
  foreach(i RANGE ${last})
    if(is_file)
      list(APPEND files "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} MATCHES "export\\.cmake$")
      set(is_file YES)
    endif()
  endforeach()

  file(REMOVE_RECURSE ${FOLDER})
  file(MAKE_DIRECTORY ${FOLDER})
  set(seen "")
  set(names "")
  while(files)
    list(POP_FRONT files file)
    if(file IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${file})
    flat_name(${file} name)
    if(name IN_LIST names)
      message(FATAL_ERROR "two files are called ${name} in the sources of FMUs: ${file}")
    endif()
    list(APPEND names ${name})

    # headers that it wants, and their flat names
    file(READ ${ROOT}/${file} text)
    file(STRINGS ${ROOT}/${file} includes REGEX "^#include \"")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" header "${line}")
      set(found NO)
      foreach(folder include src . models)
        if(EXISTS ${ROOT}/${folder}/${header})
          cmake_path(SET path NORMALIZE ${folder}/${header})
          list(APPEND files ${path})
          set(found YES)
          break()
        endif()
      endforeach()
      if(NOT found)
        message(FATAL_ERROR "${file}: ${header} is in no folder that the sources of FMUs come from")
      endif()
      flat_name(${header} header_name)
      string(REPLACE "#include \"${header}\"" "#include \"${header_name}\"" text "${text}")
    endforeach()
    file(WRITE ${FOLDER}/${name} "${text}")
  endwhile()
  file(COPY ${ROOT}/LICENSE DESTINATION ${FOLDER})

  list(APPEND names LICENSE)
  list(SORT names)
  file(REMOVE ${OUTPUT})
  execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf ${OUTPUT} --format=zip --mtime=2000-01-01 ${names}
                  WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the sources of FMUs could not be packed")
  endif()
  return()
endif()

# what a unit needs, and nothing else: libc and libm
file(GLOB fmu_sources RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     src/export/runtime/*.c models/*.c models/*/*.c src/unit/meter/*.c src/circuit/*.c src/circuit/*/*.c
     src/unit/circuit/*.c src/unit/twin/*.c
     src/estimate/estimate_filter*.c src/estimate/estimate_innovation*.c src/linalg/linalg_sparse*.c)
# twins of units, not of netlists: they are not exported
list(FILTER fmu_sources EXCLUDE REGEX "/twin_(black|instances)")
list(APPEND fmu_sources src/unit/unit.c src/unit/unit_table.c src/ode/ode_step.c src/export/export_circuit.c src/export/export_states.c
     src/base/base_arena.c src/base/base_csv.c src/base/base_dim.c src/base/base_map.c
     src/base/base_message.c src/base/base_number.c src/base/base_status.c src/base/base_text.c
     src/linalg/linalg_dense.c src/linalg/linalg_expm.c src/linalg/linalg_least_squares.c src/linalg/linalg_svd.c
     src/estimate/estimate_discrete.c src/estimate/estimate_kalman.c src/estimate/estimate_late.c src/estimate/estimate_model.c
     src/estimate/estimate_network.c src/estimate/estimate_noise.c src/estimate/estimate_observe.c src/estimate/estimate_rates.c
     src/energy/energy_ter.c src/energy/energy_window.c)
list(SORT fmu_sources)

# clang-tidy looks at the runtime here; all else it sees among the objects of the library, and twice is once too often
# for its analysis of va_list
set(fmu_runtime ${fmu_sources})
list(FILTER fmu_runtime INCLUDE REGEX "^src/export/runtime/")
set(fmu_others ${fmu_sources})
list(FILTER fmu_others EXCLUDE REGEX "^src/export/runtime/")
add_library(yoke_fmu_runtime OBJECT ${fmu_runtime})
set_target_properties(yoke_fmu_runtime PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(yoke_fmu_runtime PRIVATE include src . models)
target_link_libraries(yoke_fmu_runtime PRIVATE yoke_warnings yoke_sanitize)
add_library(yoke_fmu MODULE ${fmu_others} $<TARGET_OBJECTS:yoke_fmu_runtime>)
set_target_properties(yoke_fmu PROPERTIES EXPORT_COMPILE_COMMANDS OFF PREFIX "" OUTPUT_NAME yoke-fmu SUFFIX ".so"
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/export/runtime/runtime.map)
target_include_directories(yoke_fmu PRIVATE include src . models)
target_link_libraries(yoke_fmu PRIVATE yoke_warnings yoke_sanitize m)
target_link_options(yoke_fmu PRIVATE
                    LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/export/runtime/runtime.map)
if(NOT YOKE_SANITIZE AND NOT YOKE_FUZZ)
  target_link_options(yoke_fmu PRIVATE LINKER:--no-undefined)
endif()

file(GLOB fmu_headers CONFIGURE_DEPENDS include/yoke/*.h src/base/*.h src/linalg/*.h src/ode/*.h src/energy/*.h
     src/fmi/*.h src/estimate/*.h src/unit/*.h src/unit/meter/*.h src/unit/circuit/*.h src/unit/twin/*.h src/unit/host/*.h
     src/circuit/*.h src/circuit/*/*.h
     src/export/*.h src/export/runtime/*.h models/*.h models/*/*.h)
list(TRANSFORM fmu_sources PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE fmu_source_paths)
set(fmu_archive ${PROJECT_BINARY_DIR}/yoke-fmu-sources.zip)
add_custom_command(OUTPUT ${fmu_archive} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${fmu_archive}
          -DFOLDER=${PROJECT_BINARY_DIR}/generated/fmu-sources -P ${CMAKE_CURRENT_LIST_FILE} ${fmu_sources}
  DEPENDS ${fmu_source_paths} ${fmu_headers} ${PROJECT_SOURCE_DIR}/LICENSE ${CMAKE_CURRENT_LIST_FILE})
add_custom_target(yoke_fmu_sources ALL DEPENDS ${fmu_archive})
add_dependencies(product yoke_fmu yoke_fmu_sources)
