# Writes a C++ file that holds text files as string literals. Run as a script at build time:
#   cmake -DOUTPUT=embedded.cpp -DFILES=a.alg|b.alg|c.sched -P embed.cmake
# The generated file defines heptad::embedded_files() of src/algorithm/embedded.hpp.
cmake_minimum_required(VERSION 3.22)

set(code "#include \"algorithm/embedded.hpp\"\n\n")
string(APPEND code "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n")
string(APPEND code "namespace heptad {\n\nstd::span<const EmbeddedFile> embedded_files() {\n")
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
