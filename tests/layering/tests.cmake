heptad_test(layering/layering_test)
if(TARGET layering_layering_test)
  target_sources(layering_layering_test PRIVATE layering/include_check.cpp)
  target_compile_definitions(layering_layering_test PRIVATE HEPTAD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
heptad_test(layering/statics_test)
if(TARGET layering_statics_test)
  target_compile_definitions(layering_statics_test PRIVATE HEPTAD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# Every header compiles alone: one test per header, C and C++ for the C interface.
if(NOT HEPTAD_SANITIZE)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/include/*.hpp
    ${PROJECT_SOURCE_DIR}/src/*.hpp ${PROJECT_SOURCE_DIR}/cli/*.hpp
    ${PROJECT_SOURCE_DIR}/bench/*.hpp ${PROJECT_SOURCE_DIR}/papers/*.hpp)
  set(alone -fsyntax-only -Wall -Wextra -Wpedantic -Werror
    -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR})
  foreach(header ${headers})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${header})
    file(STRINGS ${header} cuda_includes REGEX "#include <(cuda|cublas)")
    set(cuda_folders)
    if(cuda_includes)
      if(NOT HEPTAD_HAS_CUDA)
        continue()
      endif()
      list(TRANSFORM CUDAToolkit_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE cuda_folders)
    endif()
    file(STRINGS ${header} mpi_includes REGEX "#include <mpi.h>")
    set(mpi_folders)
    if(mpi_includes)
      if(NOT HEPTAD_HAS_MPI)
        continue()
      endif()
      list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE mpi_folders)
    endif()
    add_test(NAME compiles_alone.${name}
      COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${alone} ${cuda_folders} ${mpi_folders} -include ${header} -x c++ /dev/null)
    if(name MATCHES "\\.h$")
      add_test(NAME compiles_alone_as_c.${name}
        COMMAND ${CMAKE_C_COMPILER} -std=c11 ${alone} -include ${header} -x c /dev/null)
    endif()
  endforeach()
endif()
