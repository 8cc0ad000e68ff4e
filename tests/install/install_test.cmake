# cmake -DBUILD=... -DEXAMPLES=... -DWORK=... -DCC=... -DCXX=... -DGENERATOR=... -DVERSION=... -DPYTHON=... -P install_test.cmake
# The installed tree is moved once, so that a path of the build or of the first prefix that leaked into it shows.
set(prefix ${WORK}/moved)

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
step("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${prefix})
file(GLOB_RECURSE installed RELATIVE ${prefix} ${prefix}/*)
foreach(wanted "bin/heptad" "include/heptad/heptad[.]hpp" "include/heptad/heptad[.]h[^p]" "lib.*/libheptad.so" "heptadConfig.cmake" "pkgconfig/heptad.pc")
  if(NOT "${installed}" MATCHES "${wanted}")
    message(FATAL_ERROR "${wanted} was not installed; there is: ${installed}")
  endif()
endforeach()

step("the installed program" ${prefix}/bin/heptad --version)
if(NOT output MATCHES "${VERSION}")
  message(FATAL_ERROR "heptad --version says '${output}' instead of ${VERSION}")
endif()

# The examples are copied away, so that they cannot find headers beside them.
file(COPY ${EXAMPLES}/ DESTINATION ${WORK}/examples)
step("configuring the examples" ${CMAKE_COMMAND} -S ${WORK}/examples -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release)
step("building the examples" ${CMAKE_COMMAND} --build ${WORK}/build)
step("the examples" ${PYTHON} ${CMAKE_CURRENT_LIST_DIR}/run_examples.py ${prefix} ${WORK}/build ${WORK}/runs)
message("${output}")

# Where libheptad_scalapack.so was built, it is found as a component.
if("${installed}" MATCHES "libheptad_scalapack.so")
  step("configuring with the component" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/scalapack -B ${WORK}/scalapack
    -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Release)
  step("building with the component" ${CMAKE_COMMAND} --build ${WORK}/scalapack)
  step("the program with the component" ${WORK}/scalapack/block_cyclic)
endif()

# pkg-config finds the same tree, where there is a pkg-config.
find_program(pkg_config pkg-config)
if(pkg_config)
  file(GLOB_RECURSE pc ${prefix}/*/heptad.pc)
  get_filename_component(pc_dir ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${pc_dir})
  step("pkg-config" ${pkg_config} --cflags --libs heptad)
  separate_arguments(flags UNIX_COMMAND "${output}")
  step("compiling by pkg-config" ${CXX} -std=c++20 ${WORK}/examples/01_multiply.cpp -o ${WORK}/by_pkg_config ${flags})
  get_filename_component(library_dir ${pc_dir} DIRECTORY)
  step("the program compiled by pkg-config"
    ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_dir} ${WORK}/by_pkg_config)

  if("${installed}" MATCHES "libheptad_scalapack.so")
    step("pkg-config for ScaLAPACK" ${pkg_config} --cflags --libs heptad-scalapack)
    separate_arguments(scalapack_flags UNIX_COMMAND "${output}")
    step("compiling for ScaLAPACK" ${CXX} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/scalapack/block_cyclic.cpp
      -o ${WORK}/block_cyclic ${scalapack_flags})
    step("the program compiled for ScaLAPACK"
      ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_dir} ${WORK}/block_cyclic)
  endif()

  # The README's own example, by the README's own line, and by the guide's.
  file(READ ${README} readme)
  if(NOT readme MATCHES "```cpp\n(#include <heptad/heptad.hpp>[^`]*)```")
    message(FATAL_ERROR "the README has no example that includes heptad.hpp")
  endif()
  file(WRITE ${WORK}/example.cpp "${CMAKE_MATCH_1}")
  if(NOT readme MATCHES "\ng\\+\\+( [^\n]*example[.]cpp[^\n]*)\n")
    message(FATAL_ERROR "the README does not say how to compile its example")
  endif()
  set(line "${CMAKE_MATCH_1}")
  step("the README's line" ${CMAKE_COMMAND} -E chdir ${WORK} sh -c "${CXX} ${line}")
  step("the README's example" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_dir} ${WORK}/example)
  file(READ ${GUIDE} guide)
  if(NOT guide MATCHES "\ng\\+\\+( [^\n]*mine[.]cpp -o mine[^\n]*)\n")
    message(FATAL_ERROR "the guide does not say how to compile a program")
  endif()
  set(line "${CMAKE_MATCH_1}")
  file(COPY_FILE ${WORK}/example.cpp ${WORK}/mine.cpp)
  step("the guide's line" ${CMAKE_COMMAND} -E chdir ${WORK} sh -c "${CXX} ${line}")
  step("the guide's program" ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_dir} ${WORK}/mine)

  # Who forgets the standard is told.
  execute_process(COMMAND ${CXX} -std=c++17 -fsyntax-only ${WORK}/example.cpp ${flags}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(status EQUAL 0 OR NOT output MATCHES "-std=c\\+\\+20")
    message(FATAL_ERROR "C++17 is not answered with a sentence that names -std=c++20:\n${output}")
  endif()
  file(READ ${pc} pc_text)
  if(NOT pc_text MATCHES "C\\+\\+20")
    message(FATAL_ERROR "heptad.pc does not say that C++20 is needed:\n${pc_text}")
  endif()
endif()
