# Looks for everything the product stands on and names all that is missing in one message.
# Result: yoke_libraries (to link), yoke_library_includes, yoke_library_defines, yoke_pc_private (for yoke.pc).
#
# Plain searches for header and library, without pkg-config: one tool less to install, and Debian's
# `hdf5` in pkg-config can mean the MPI build, which must never get into the program.
include(CheckFunctionExists)

set(yoke_missing "")           # lines for people
set(yoke_missing_packages "")  # Debian packages
macro(yoke_miss what package)
  string(APPEND yoke_missing "    ${what}: Debian package ${package}\n")
  list(APPEND yoke_missing_packages ${package})
endmacro()

set(yoke_libraries "")
set(yoke_library_includes "")
set(yoke_library_defines "")
set(yoke_pc_private "")

# ---- required: libyaml, libzip, expat, jansson, BLAS and LAPACK, threads, libm
find_path(YAML_INCLUDE_DIR yaml.h)
find_library(YAML_LIBRARY yaml)
if(YAML_INCLUDE_DIR AND YAML_LIBRARY)
  list(APPEND yoke_libraries ${YAML_LIBRARY})
  list(APPEND yoke_library_includes ${YAML_INCLUDE_DIR})
  string(APPEND yoke_pc_private " -lyaml")
else()
  yoke_miss("libyaml (yaml.h)" libyaml-dev)
endif()

# archives and XML of FMUs and SSP files; JSON that is read
foreach(part "zip;zip.h;libzip-dev" "expat;expat.h;libexpat1-dev" "jansson;jansson.h;libjansson-dev")
  list(GET part 0 name)
  list(GET part 1 header)
  list(GET part 2 package)
  string(TOUPPER ${name} upper)
  find_path(${upper}_INCLUDE_DIR ${header})
  find_library(${upper}_LIBRARY ${name})
  if(${upper}_INCLUDE_DIR AND ${upper}_LIBRARY)
    list(APPEND yoke_libraries ${${upper}_LIBRARY})
    list(APPEND yoke_library_includes ${${upper}_INCLUDE_DIR})
    string(APPEND yoke_pc_private " -l${name}")
  else()
    yoke_miss("lib${name} (${header})" ${package})
  endif()
endforeach()
list(APPEND yoke_libraries ${CMAKE_DL_LIBS})

# OpenBLAS with its own LAPACK, else any LAPACK and BLAS; the Fortran names are called
find_library(OPENBLAS_LIBRARY openblas)
find_library(OPENBLAS_LIBRARY openblas PATH_SUFFIXES openblas-serial)
if(OPENBLAS_LIBRARY)
  set(CMAKE_REQUIRED_LIBRARIES ${OPENBLAS_LIBRARY} m)
  check_function_exists(dgeev_ YOKE_OPENBLAS_HAS_LAPACK)
  unset(CMAKE_REQUIRED_LIBRARIES)
endif()
find_library(LAPACK_LIBRARY lapack)
find_library(BLAS_LIBRARY blas)
if(OPENBLAS_LIBRARY AND YOKE_OPENBLAS_HAS_LAPACK)
  list(APPEND yoke_libraries ${OPENBLAS_LIBRARY})
  string(APPEND yoke_pc_private " -lopenblas")
elseif(LAPACK_LIBRARY AND BLAS_LIBRARY)
  list(APPEND yoke_libraries ${LAPACK_LIBRARY} ${BLAS_LIBRARY})
  string(APPEND yoke_pc_private " -llapack -lblas")
else()
  yoke_miss("OpenBLAS with LAPACK" libopenblas-serial-dev)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads)
if(Threads_FOUND)
  list(APPEND yoke_libraries Threads::Threads)
else()
  yoke_miss("POSIX threads" libc6-dev)
endif()
list(APPEND yoke_libraries m)
string(APPEND yoke_pc_private " -lpthread -lm")

# ---- optional: HDF5 (serial), matio and KLU; AUTO takes what is there, ON insists
set(YOKE_KLU AUTO CACHE STRING "Pivots of sparse matrices by KLU: ON, OFF, or AUTO (if the library is there)")
find_path(HDF5_SERIAL_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5_SERIAL_LIBRARY hdf5_serial)
set(has_hdf5 NO)
if(HDF5_SERIAL_INCLUDE_DIR AND HDF5_SERIAL_LIBRARY)
  set(has_hdf5 YES)
endif()
find_path(MATIO_INCLUDE_DIR matio.h)
find_library(MATIO_LIBRARY matio)
set(has_matio NO)
if(MATIO_INCLUDE_DIR AND MATIO_LIBRARY)
  set(has_matio YES)
endif()

# KLU with what it stands on; never UMFPACK of the same package, which is GPL
find_path(KLU_INCLUDE_DIR klu.h PATH_SUFFIXES suitesparse)
set(klu_libraries "")
foreach(part klu btf amd colamd suitesparseconfig)
  find_library(KLU_${part}_LIBRARY ${part})
  if(KLU_INCLUDE_DIR AND KLU_${part}_LIBRARY)
    list(APPEND klu_libraries ${KLU_${part}_LIBRARY})
  endif()
endforeach()
list(LENGTH klu_libraries n_klu)
set(has_klu NO)
if(n_klu EQUAL 5)
  set(has_klu YES)
endif()

macro(yoke_optional option found include library pc define what lost package)
  if(${option} STREQUAL "OFF")
    message(STATUS "Yoke: ${what} switched off: ${lost}")
  elseif(${found})
    list(APPEND yoke_libraries ${library})
    list(APPEND yoke_library_includes ${include})
    list(APPEND yoke_library_defines ${define}=1)
    string(PREPEND yoke_pc_private " ${pc}")
  elseif(${option} STREQUAL "AUTO")
    message(STATUS "Yoke: ${what} not found: ${lost} (Debian package ${package})")
  else()
    yoke_miss("${what}" ${package})
  endif()
endmacro()
yoke_optional(YOKE_HDF5 has_hdf5 "${HDF5_SERIAL_INCLUDE_DIR}" "${HDF5_SERIAL_LIBRARY}" -lhdf5_serial
              YOKE_HAVE_HDF5 "HDF5 (serial)" "no --format hdf5" libhdf5-dev)
yoke_optional(YOKE_MATIO has_matio "${MATIO_INCLUDE_DIR}" "${MATIO_LIBRARY}" -lmatio
              YOKE_HAVE_MATIO "matio" "no --format mat" libmatio-dev)
yoke_optional(YOKE_KLU has_klu "${KLU_INCLUDE_DIR}" "${klu_libraries}"
              "-lklu -lbtf -lamd -lcolamd -lsuitesparseconfig" YOKE_HAVE_KLU "KLU (SuiteSparse)"
              "sparse matrices are pivoted by our own code alone" libsuitesparse-dev)

# ---- tests: cmocka decides; SUNDIALS only for the reference integrators, ngspice only for the races
find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)
set(yoke_build_tests NO)
if(NOT YOKE_TESTS STREQUAL "OFF")
  if(CMOCKA_INCLUDE_DIR AND CMOCKA_LIBRARY)
    set(yoke_build_tests YES)
  elseif(YOKE_TESTS STREQUAL "AUTO")
    # no "Yoke:" in front: who only builds the product need not hear of it
    message(STATUS "cmocka not found: tests are not built (Debian package libcmocka-dev)")
  else()
    yoke_miss("cmocka" libcmocka-dev)
  endif()
endif()

# by name: the package file of SUNDIALS insists on OpenMP, which serial vectors do not need and clang may lack
set(yoke_sundials "")
find_path(SUNDIALS_INCLUDE_DIR cvode/cvode.h)
foreach(part cvode arkode ida nvecserial sunmatrixdense sunlinsoldense sunmatrixsparse sunlinsolklu)
  find_library(SUNDIALS_${part}_LIBRARY sundials_${part})
  if(SUNDIALS_INCLUDE_DIR AND SUNDIALS_${part}_LIBRARY)
    list(APPEND yoke_sundials ${SUNDIALS_${part}_LIBRARY})
  endif()
endforeach()
list(LENGTH yoke_sundials n_sundials)
set(yoke_has_sundials NO)
if(n_sundials EQUAL 8 AND KLU_INCLUDE_DIR)
  set(yoke_has_sundials YES)
  # sunlinsol_klu.h includes klu.h without a folder
  set(yoke_sundials_includes ${SUNDIALS_INCLUDE_DIR} ${KLU_INCLUDE_DIR})
endif()

# ngspice as a library: the races of bench/bench_circuits.c
find_path(NGSPICE_INCLUDE_DIR ngspice/sharedspice.h)
find_library(NGSPICE_LIBRARY ngspice)
set(yoke_has_ngspice NO)
if(NGSPICE_INCLUDE_DIR AND NGSPICE_LIBRARY)
  set(yoke_has_ngspice YES)
endif()

if(yoke_missing)
  list(JOIN yoke_missing_packages " " packages)
  message(FATAL_ERROR "Yoke cannot be built here. Missing:\n${yoke_missing}"
          "On Debian:\n    apt-get install ${packages}\n"
          "or, where that is allowed, tools/setup does it.")
endif()
