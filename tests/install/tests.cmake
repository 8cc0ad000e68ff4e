# Installs this build into a fresh prefix and builds and runs examples/ from that copy alone.
if(TARGET heptad_shared AND TARGET heptad_cli AND NOT HEPTAD_SANITIZE)
  add_test(NAME install.examples_build_and_run_from_an_installed_copy
    COMMAND ${CMAKE_COMMAND}
      -DBUILD=${PROJECT_BINARY_DIR}
      -DEXAMPLES=${PROJECT_SOURCE_DIR}/examples
      -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_test
      -DCC=${CMAKE_C_COMPILER}
      -DCXX=${CMAKE_CXX_COMPILER}
      -DGENERATOR=${CMAKE_GENERATOR}
      -DVERSION=${PROJECT_VERSION}
      -P ${CMAKE_CURRENT_LIST_DIR}/install_test.cmake)
  set_tests_properties(install.examples_build_and_run_from_an_installed_copy PROPERTIES TIMEOUT 600)
endif()
