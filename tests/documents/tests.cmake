# The tables in the documents: what stands there is what the result files give, and says what it must say.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND NOT HEPTAD_SANITIZE)
  add_test(NAME documents.tables_are_what_the_result_files_give
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/update_readme --check)
  add_test(NAME documents.speed_tables
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/speed_tables_test.py)
  add_test(NAME documents.guide
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/guide_test.py)
endif()

# What the documents show of the programs is what the programs do.
if(Python3_FOUND AND HEPTAD_BENCH AND TARGET heptad_shared AND TARGET heptad_cli AND NOT HEPTAD_SANITIZE)
  set(mpi_program "")
  if(TARGET heptad_mpi)
    set(mpi_program --heptad-mpi $<TARGET_FILE:heptad_mpi>)
  endif()
  add_test(NAME documents.generated_pages_are_what_the_programs_give
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/update_guide --check --heptad $<TARGET_FILE:heptad_cli>
            ${mpi_program})
  foreach(kind sh cpp)
    add_test(NAME documents.${kind}_blocks_run
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_commands.py ${kind} ${PROJECT_BINARY_DIR}
              ${CMAKE_CURRENT_BINARY_DIR}/document_${kind}_blocks --cxx ${CMAKE_CXX_COMPILER})
  endforeach()
endif()
