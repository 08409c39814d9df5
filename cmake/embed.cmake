# Text files as C arrays, without any program but CMake.
#   included:   yoke_embed(OUTPUT FILE SYMBOL [FILE SYMBOL]...) adds the step that makes OUTPUT, a C file with
#               SYMBOL[] (a NUL behind the last byte) and SYMBOL_size (without it)
#   as script:  cmake -DOUTPUT=... -DPARTS=FILE;SYMBOL;... -P embed.cmake
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by cmake/embed.cmake.\n#include <stddef.h>\n")
  while(PARTS)
    list(POP_FRONT PARTS file symbol)
    file(READ "${file}" bytes HEX)
    string(LENGTH "${bytes}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
    string(APPEND text "extern const unsigned char ${symbol}[];\nextern const size_t ${symbol}_size;\n"
           "const unsigned char ${symbol}[] = {\n${bytes}0};\nconst size_t ${symbol}_size = ${size};\n")
  endwhile()
  file(WRITE "${OUTPUT}" "${text}")
  return()
endif()

set(yoke_embed_script ${CMAKE_CURRENT_LIST_FILE})
function(yoke_embed output)
  set(files "")
  set(parts ${ARGN})
  while(parts)
    list(POP_FRONT parts file symbol)
    list(APPEND files ${file})
  endwhile()
  add_custom_command(OUTPUT ${output} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DPARTS=${ARGN}" -P ${yoke_embed_script}
    DEPENDS ${files} ${yoke_embed_script})
endfunction()
