# The tables in the documents: what stands there is what the result files give, and says what it must say.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND NOT HEPTAD_SANITIZE)
  add_test(NAME documents.tables_are_what_the_result_files_give
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/update_readme --check)
  add_test(NAME documents.speed_tables
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/speed_tables_test.py)
endif()
