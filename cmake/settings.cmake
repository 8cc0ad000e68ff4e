# Language, warnings and sanitizers, the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A library is made without waiting for those below it, which only programs link.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)
# The build type of the sanitizer presets: fast enough to run, quick to compile, and stacks with lines.
set(CMAKE_C_FLAGS_SANITIZE "-O1 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Bits must repeat: no contraction of a*b+c behind our back, no fast-math. Kernels ask for fused operations by name.
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -ffp-contract=off)
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${warnings}>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  # Takes every reference that a function returns for one into its (temporary) argument; ours outlive it.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
endif()
if(HEPTAD_WERROR)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
endif()
if(HEPTAD_SANITIZE)
  add_compile_options(-fsanitize=${HEPTAD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HEPTAD_SANITIZE})
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# What nearly every source includes is compiled once for all targets that are compiled alike (a third of the time that a
# compiler takes without it). Kernels of a certain instruction set are not: they say SKIP_PRECOMPILE_HEADERS.
option(HEPTAD_PRECOMPILE "precompile common headers" ON)
function(heptad_precompile target first)
  if(NOT HEPTAD_PRECOMPILE)
  elseif(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# Sources of one target are compiled a few at a time: what they all include is read, and what they all instantiate is
# made, once for them. Hence a name in an unnamed namespace occurs once per target. Kernels are left out: what is inlined
# into them shall not depend on their neighbours.
option(HEPTAD_UNITE "compile several sources of a target together" ON)
if(HEPTAD_UNITE)
  # g++ would look for garbage after every hundred MB, and find little: an eighth of its time, for a tenth less memory.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)
endif()
function(heptad_unite target)
  if(HEPTAD_UNITE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()

# One target per folder: heptad_layer(base) makes heptad_base from src/base/*.cpp and the folders inside that are no layer
# of their own.
function(heptad_layer name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB_RECURSE inner CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(list ${inner})
    get_filename_component(folder ${list} DIRECTORY)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  string(REPLACE "/" "_" target ${name})
  add_library(heptad_${target} STATIC ${sources})
  target_include_directories(heptad_${target} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(heptad_${target} PUBLIC ${ARGN} fmt::fmt Threads::Threads)
  heptad_precompile(heptad_${target} heptad_base <algorithm> <array> <cmath> <functional> <map> <memory> <mutex>
    <optional> <string> <vector> <fmt/format.h>)
  if(NOT name MATCHES "^kernels/")
    heptad_unite(heptad_${target})
  endif()
endfunction()

# A folder above the command line: heptad_room(papers/p0 libs... [EXCEPT file...]) makes the objects heptad_papers_p0 from
# its *.cpp, but those that are elsewhere; with SOURCES file... from those. Objects, because commands enter themselves when heptad starts:
# nothing refers to them, and from a library no linker would take them. What they measure is in libraries below them; the
# tables and words around it are compiled in half the time with -O1.
function(heptad_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "EXCEPT;SOURCES")
  set(sources ${arg_SOURCES})
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
    list(TRANSFORM arg_EXCEPT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${arg_EXCEPT})
  endif()
  string(REPLACE "/" "_" target heptad_${name})
  add_library(${target} OBJECT ${sources})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC ${arg_UNPARSED_ARGUMENTS} CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt
                                         Threads::Threads)
  heptad_unite(${target})
  heptad_precompile(${target} heptad_cli_shared)
endfunction()
