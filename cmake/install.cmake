# Installation: program and its helper yoke-host, both libraries, public headers, CMake package and pkg-config
# file, the Python package; man page and shell completion where they exist. The tree can be moved: nothing in it names the prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- man page and completion come from the program's own tables, so that they cannot disagree with it
if(TARGET yoke_program AND NOT CMAKE_CROSSCOMPILING)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man ${PROJECT_BINARY_DIR}/completion)
  add_custom_command(TARGET yoke_program POST_BUILD VERBATIM
    COMMAND $<TARGET_FILE:yoke_program> --man > ${PROJECT_BINARY_DIR}/man/yoke.1
    COMMAND $<TARGET_FILE:yoke_program> --completion bash > ${PROJECT_BINARY_DIR}/completion/yoke.bash
    COMMAND $<TARGET_FILE:yoke_program> --completion zsh > ${PROJECT_BINARY_DIR}/completion/yoke.zsh
    COMMAND $<TARGET_FILE:yoke_program> --completion fish > ${PROJECT_BINARY_DIR}/completion/yoke.fish)
endif()

install(TARGETS yoke_shared yoke_static EXPORT yokeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET yoke_program)
  install(TARGETS yoke_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS yoke_host RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/yoke)
# what yoke export puts into FMUs
install(TARGETS yoke_fmu LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/yoke)
install(FILES ${PROJECT_BINARY_DIR}/yoke-fmu-sources.zip DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/yoke)
install(DIRECTORY include/yoke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL
        FILES_MATCHING PATTERN "*.1")
install(FILES ${PROJECT_BINARY_DIR}/completion/yoke.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME yoke OPTIONAL)
install(FILES ${PROJECT_BINARY_DIR}/completion/yoke.zsh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _yoke OPTIONAL)
install(FILES ${PROJECT_BINARY_DIR}/completion/yoke.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)

# ---- what people read and try: pages, programs of users, ready-made systems, and the pages of the models
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples scenarios DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "README.md")

# ---- find_package(yoke)
set(yoke_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/yoke)
install(EXPORT yokeTargets NAMESPACE yoke:: DESTINATION ${yoke_cmake_dir})
configure_package_config_file(cmake/yokeConfig.cmake.in ${PROJECT_BINARY_DIR}/yokeConfig.cmake
                              INSTALL_DESTINATION ${yoke_cmake_dir})
# before 1.0 a minor version may change the interface
write_basic_package_version_file(${PROJECT_BINARY_DIR}/yokeConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/yokeConfig.cmake ${PROJECT_BINARY_DIR}/yokeConfigVersion.cmake
        DESTINATION ${yoke_cmake_dir})

# ---- pkg-config; the prefix is found from where the file lies
set(yoke_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${yoke_pc_dir}
           OUTPUT_VARIABLE yoke_pc_prefix)
configure_file(cmake/yoke.pc.in ${PROJECT_BINARY_DIR}/yoke.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/yoke.pc DESTINATION ${yoke_pc_dir})

# ---- Python: PREFIX/lib/python3/dist-packages, or the folder of this prefix that Debian's interpreter looks at
# (PREFIX/lib/python3.11/dist-packages for /usr/local). The prefix is known only when it is installed.
install(CODE [[
  set(python_folder lib/python3/dist-packages)
  execute_process(COMMAND /usr/bin/python3 -I -c "import site; print(';'.join(site.getsitepackages()))"
                  OUTPUT_VARIABLE python_places OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE ignored)
  foreach(place IN LISTS python_places)
    cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${place}" NORMALIZE is_below)
    if(is_below AND place MATCHES "/lib/python[^/]*/dist-packages$")
      cmake_path(RELATIVE_PATH place BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE below)
      if(below MATCHES "^lib/")
        set(python_folder ${below})
        break()
      endif()
    endif()
  endforeach()
]])
install(CODE "set(python_source \"${PROJECT_SOURCE_DIR}/python/yoke\")")
install(CODE [[
  file(GLOB python_files ${python_source}/*.py)
  file(INSTALL ${python_files} DESTINATION ${CMAKE_INSTALL_PREFIX}/${python_folder}/yoke)
]])
