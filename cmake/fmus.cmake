# The test FMUs of test/fmus: built, laid out in ${PROJECT_BINARY_DIR}/test/fmus/<name><version>/ and packed beside that
# as <name><version>.fmu. They are foreign binaries: no sanitizers, no coverage. Included at the end of tests.cmake.
set(fmu_root ${PROJECT_BINARY_DIR}/test/fmus)
set(fmu_source ${PROJECT_SOURCE_DIR}/test/fmus)

# folders below binaries/, as the versions of FMI call this machine
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(fmu_platform1 linux64)
  set(fmu_platform2 linux64)
  set(fmu_platform3 x86_64-linux)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^arm" AND CMAKE_SIZEOF_VOID_P EQUAL 4)
  set(fmu_platform1 aarch32-linux)
  set(fmu_platform2 aarch32-linux)
  set(fmu_platform3 aarch32-linux)
else()
  set(fmu_platform1 ${CMAKE_SYSTEM_PROCESSOR}-linux)
  set(fmu_platform2 ${CMAKE_SYSTEM_PROCESSOR}-linux)
  set(fmu_platform3 ${CMAKE_SYSTEM_PROCESSOR}-linux)
endif()

# what all their code is compiled with
add_library(fmu_flags INTERFACE)
target_include_directories(fmu_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${fmu_source})
target_link_libraries(fmu_flags INTERFACE yoke_warnings m)
foreach(version 2 3)
  add_library(fmu_skeleton${version} OBJECT ${fmu_source}/skeleton.c ${fmu_source}/skeleton${version}.c)
  set_target_properties(fmu_skeleton${version} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(fmu_skeleton${version} PRIVATE fmu_flags)
endforeach()
add_custom_target(fmus ALL)

# One FMU from its sources and a description; resources/ of its folder goes along. The target of its binary is
# fmu.<name><version>.
function(yoke_fmu name version folder description)
  set(target fmu.${name}${version})
  set(stage ${fmu_root}/${name}${version})
  set(identifier ${name})
  if(version EQUAL 1)
    set(identifier ${name}1)
  endif()
  add_library(${target} MODULE ${ARGN})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${identifier} SKIP_BUILD_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${stage}/binaries/${fmu_platform${version}})
  target_compile_definitions(${target} PRIVATE FMI_VERSION=${version})
  target_link_libraries(${target} PRIVATE fmu_flags)

  set(resources "")
  set(copy_resources "")
  if(IS_DIRECTORY ${folder}/resources)
    file(GLOB resources CONFIGURE_DEPENDS ${folder}/resources/*)
    set(copy_resources COMMAND ${CMAKE_COMMAND} -E copy_directory ${folder}/resources ${stage}/resources)
    set(parts modelDescription.xml binaries resources)
  else()
    set(parts modelDescription.xml binaries)
  endif()
  add_custom_command(OUTPUT ${stage}.fmu VERBATIM
    COMMAND ${CMAKE_COMMAND} -E copy ${description} ${stage}/modelDescription.xml
    ${copy_resources}
    COMMAND ${CMAKE_COMMAND} -E chdir ${stage} ${CMAKE_COMMAND} -E tar cf ${stage}.fmu --format=zip ${parts}
    DEPENDS ${target} ${description} ${resources})
  add_custom_target(${target}.package DEPENDS ${stage}.fmu)
  add_dependencies(fmus ${target}.package)
endfunction()

# ---- one folder each: <name>.c, fmi2.xml and fmi3.xml as far as the versions go
set(fmu_names arrays ball clocks dahlquist derivatives echo faulty feedthrough heavy hostile imperfect intermediate medley needs_library
    needs_tool only_once oscillator_force oscillator_mass partitions rectifier resources rude settled ships_library sine_me stairs stairs_me touchy trivial vanderpol)
foreach(name IN LISTS fmu_names)
  foreach(version 2 3)
    set(folder ${fmu_source}/${name})
    if(EXISTS ${folder}/fmi${version}.xml)
      yoke_fmu(${name} ${version} ${folder} ${folder}/fmi${version}.xml ${folder}/${name}.c
               $<TARGET_OBJECTS:fmu_skeleton${version}>)
    endif()
  endforeach()
endforeach()

# ---- the same model with 16, 64 and 256 variables
function(yoke_fmu_wide fmu_name fmu_n)
  set(fmu_variables "")
  set(fmu_outputs "")
  math(EXPR last "${fmu_n} - 1")
  foreach(i RANGE ${last})
    math(EXPR reference "${i} + 1")
    string(APPEND fmu_variables "    <ScalarVariable name=\"u${i}\" valueReference=\"${reference}\" "
           "causality=\"input\" variability=\"continuous\"><Real start=\"0\"/></ScalarVariable>\n")
  endforeach()
  foreach(i RANGE ${last})
    math(EXPR reference "${i} + 2001")
    math(EXPR index "${i} + ${fmu_n} + 1")
    string(APPEND fmu_variables "    <ScalarVariable name=\"y${i}\" valueReference=\"${reference}\" "
           "causality=\"output\" variability=\"continuous\"><Real/></ScalarVariable>\n")
    string(APPEND fmu_outputs "      <Unknown index=\"${index}\" dependencies=\"\"/>\n")
  endforeach()
  configure_file(${fmu_source}/wide/fmi2.xml.in ${fmu_root}/${fmu_name}2.xml @ONLY)
  yoke_fmu(${fmu_name} 2 ${fmu_source}/wide ${fmu_root}/${fmu_name}2.xml ${fmu_source}/wide/wide.c
           $<TARGET_OBJECTS:fmu_skeleton2>)
endfunction()
yoke_fmu_wide(narrow 16)
yoke_fmu_wide(wide 64)
yoke_fmu_wide(broad 256)

# ---- the same strict model with descriptions that promise more or less
function(yoke_fmu_reread fmu_name version)
  string(JOIN "\n" fmu_interfaces ${ARGN})
  configure_file(${fmu_source}/reread/fmi${version}.xml.in ${fmu_root}/${fmu_name}${version}.xml @ONLY)
  yoke_fmu(${fmu_name} ${version} ${fmu_source}/reread ${fmu_root}/${fmu_name}${version}.xml ${fmu_source}/reread/reread.c
           $<TARGET_OBJECTS:fmu_skeleton${version}>)
endfunction()
set(any_step "canHandleVariableCommunicationStepSize=\"true\"")
set(state2 "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\"")
set(state3 "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"")
yoke_fmu_reread(reread 2 "  <CoSimulation modelIdentifier=\"reread\" ${any_step} ${state2}/>")
yoke_fmu_reread(reread 3 "  <CoSimulation modelIdentifier=\"reread\" ${any_step} ${state3}/>")
yoke_fmu_reread(reread_plain 2 "  <CoSimulation modelIdentifier=\"reread_plain\" ${any_step}/>")
yoke_fmu_reread(reread_plain 3 "  <CoSimulation modelIdentifier=\"reread_plain\" ${any_step}/>")
yoke_fmu_reread(reread_fixed 2 "  <CoSimulation modelIdentifier=\"reread_fixed\" ${state2}/>")
yoke_fmu_reread(reread_fixed 3
  "  <CoSimulation modelIdentifier=\"reread_fixed\" ${any_step} ${state3} fixedInternalStepSize=\"1e-3\"/>")
yoke_fmu_reread(reread_both 2 "  <ModelExchange modelIdentifier=\"reread_both\" ${state2}/>"
  "  <CoSimulation modelIdentifier=\"reread_both\" ${any_step}/>")
yoke_fmu_reread(reread_both 3 "  <ModelExchange modelIdentifier=\"reread_both\" ${state3}/>"
  "  <CoSimulation modelIdentifier=\"reread_both\" ${any_step}/>")
yoke_fmu_reread(reread_events 3 "  <CoSimulation modelIdentifier=\"reread_events\" ${any_step} hasEventMode=\"true\"/>")

# ---- without the skeleton: FMI 1.0, and binaries that old or careless tools make
yoke_fmu(trivial 1 ${fmu_source}/trivial ${fmu_source}/trivial/fmi1.xml ${fmu_source}/trivial/trivial1.c)
set(fmu_promise_promising " canGetAndSetFMUstate=\"true\"")
foreach(fmu_name prefixed lacking undefined promising)
  set(fmu_promise "${fmu_promise_${fmu_name}}")
  configure_file(${fmu_source}/minimal/fmi2.xml.in ${fmu_root}/${fmu_name}2.xml @ONLY)
  yoke_fmu(${fmu_name} 2 ${fmu_source}/minimal ${fmu_root}/${fmu_name}2.xml ${fmu_source}/minimal/minimal.c)
endforeach()
target_compile_definitions(fmu.prefixed2 PRIVATE NAME=prefixed_fmi2)
target_compile_definitions(fmu.promising2 PRIVATE NAME=fmi2)
target_compile_definitions(fmu.lacking2 PRIVATE NAME=fmi2 IS_LACKING)
target_compile_definitions(fmu.undefined2 PRIVATE NAME=fmi2 IS_UNDEFINED)

# ---- what stands in front of another FMU and writes down every call; tests put the two together
foreach(version 2 3)
  add_library(fmu.recorder${version} MODULE ${fmu_source}/recorder/recorder${version}.c)
  set_target_properties(fmu.recorder${version} PROPERTIES PREFIX "" OUTPUT_NAME recorder${version} SKIP_BUILD_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${fmu_root}/recorder)
  target_link_libraries(fmu.recorder${version} PRIVATE fmu_flags ${CMAKE_DL_LIBS})
  add_dependencies(fmus fmu.recorder${version})
endforeach()

# ---- a library that is shipped beside a binary, and one that is not shipped at all
add_library(fmu_part SHARED ${fmu_source}/ships_library/part.c)
set_target_properties(fmu_part PROPERTIES OUTPUT_NAME yoke_test_part C_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${fmu_root}/ships_library2/binaries/${fmu_platform2})
target_link_libraries(fmu_part PRIVATE yoke_warnings)
target_link_libraries(fmu.ships_library2 PRIVATE fmu_part)
add_library(fmu_missing SHARED ${fmu_source}/ships_library/part.c)
set_target_properties(fmu_missing PROPERTIES OUTPUT_NAME missing_yoke_part C_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${fmu_root}/not_shipped)
target_link_libraries(fmu_missing PRIVATE yoke_warnings)
target_link_libraries(fmu.needs_library2 PRIVATE fmu_missing)

# ---- tests that use them can be built alone
get_property(fmu_tests DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER fmu_tests INCLUDE REGEX "^(api|fmi|fmus|unit|export|master|scenario|system)\\.test_")
foreach(test IN LISTS fmu_tests)
  add_dependencies(${test} fmus yoke_host)
endforeach()
