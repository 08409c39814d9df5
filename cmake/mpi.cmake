# The companion library with MPI (src/study/study_share_mpi.h), where MPI is there. Nothing of the product links it: it
# is loaded in processes that mpirun has started.
find_path(YOKE_MPI_INCLUDE_DIR mpi.h PATH_SUFFIXES openmpi mpi ${CMAKE_LIBRARY_ARCHITECTURE}/mpi
          PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/include)
find_library(YOKE_MPI_LIBRARY mpi PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openmpi/lib)
if(YOKE_MPI_INCLUDE_DIR AND YOKE_MPI_LIBRARY)
  add_library(yoke_mpi MODULE src/study/mpi/mpi_companion.c)
  set_target_properties(yoke_mpi PROPERTIES PREFIX "" OUTPUT_NAME yoke-mpi SUFFIX ".so")
  target_include_directories(yoke_mpi PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_include_directories(yoke_mpi SYSTEM PRIVATE ${YOKE_MPI_INCLUDE_DIR})
  target_link_libraries(yoke_mpi PRIVATE ${YOKE_MPI_LIBRARY} yoke_warnings yoke_sanitize yoke_harden)
  add_dependencies(product yoke_mpi)
  include(GNUInstallDirs)
  install(TARGETS yoke_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/yoke)
else()
  message(STATUS "Yoke: MPI not found: yoke sweep uses one machine (Debian package libopenmpi-dev)")
endif()
