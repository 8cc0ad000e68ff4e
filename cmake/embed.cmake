# heptad_embed(target FUNCTION files...): the texts become part of the library as heptad::FUNCTION() of
# src/base/embedded.hpp. This file is also the script that writes the C++ at build time:
#   cmake -DOUTPUT=x.cpp -DFUNCTION=name -DFILES=a.alg|b.alg|c.sched -P embed.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(HEPTAD_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  function(heptad_embed target function)
    string(REPLACE ";" "|" list "${ARGN}")
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} "-DFILES=${list}" -P ${HEPTAD_EMBED_SCRIPT}
      DEPENDS ${ARGN} ${HEPTAD_EMBED_SCRIPT}
      COMMENT "Embedding what ${function}() returns"
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
    # Its texts change with no source beside it.
    set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.22)
set(code "#include \"base/embedded.hpp\"\n\n")
string(APPEND code "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n")
string(APPEND code "namespace heptad {\n\nstd::span<const EmbeddedFile> ${FUNCTION}() {\n")
string(APPEND code "    static constexpr EmbeddedFile files[] = {\n")
string(REPLACE "|" ";" files "${FILES}")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  if(text MATCHES "\\)heptad_text\"")
    message(FATAL_ERROR "${file} contains the end mark of a raw string literal")
  endif()
  string(APPEND code "        {\"${name}\", R\"heptad_text(${text})heptad_text\"},\n")
endforeach()
string(APPEND code "    };\n    return files;\n}\n\n}  // namespace heptad\n")
file(WRITE "${OUTPUT}" "${code}")
