# Several hosts, made of network namespaces; skipped with a reason where those are not permitted.
if(HEPTAD_OPEN_MPI AND NOT HEPTAD_SANITIZE)
  add_test(NAME cluster/namespace_test
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/namespace_test $<TARGET_FILE:heptad_cli> $<TARGET_FILE:heptad_mpi>)
  set_tests_properties(cluster/namespace_test PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 RUN_SERIAL ON)
endif()
