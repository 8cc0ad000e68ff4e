# The Python package, from a wheel that is made of this build, in a clean virtual environment.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET heptad_shared AND TARGET heptad_cli AND NOT HEPTAD_SANITIZE)
  add_test(NAME python.tests_pass_from_a_fresh_wheel
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run_wheel_tests.py ${PROJECT_BINARY_DIR}
            ${CMAKE_CURRENT_BINARY_DIR}/python_wheel)
  # By itself: Ctrl-C is measured.
  set_tests_properties(python.tests_pass_from_a_fresh_wheel PROPERTIES LABELS "python;slow;timing" TIMEOUT 900
    SKIP_RETURN_CODE 77 RUN_SERIAL ON ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/cache")
endif()
