# cmake -DMPIRUN=... -DTESTER=... -DLIBRARY=... -P scalapack_testers.cmake
# Runs one of ScaLAPACK's testers on 4 ranks with the library preloaded, by the input file beside the tester, and reads
# the counts that it prints.
get_filename_component(folder ${TESTER} DIRECTORY)
execute_process(COMMAND ${MPIRUN} -x LD_PRELOAD=${LIBRARY} -n 4 ${TESTER} WORKING_DIRECTORY ${folder}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)

set(wrong "")
if(NOT status EQUAL 0)
  set(wrong "it ended with ${status}")
elseif(errors MATCHES "cannot be preloaded")
  set(wrong "it ran without the library")
elseif(output MATCHES "[*]+ ERROR|FAILED +(changed|[*])|FATAL|SUSPECT|ABANDONED")
  set(wrong "it found '${CMAKE_MATCH_0}'")
elseif(TESTER MATCHES "/PBLAS/")
  if(NOT output MATCHES "Error-exit tests completed")
    set(wrong "it tested no error exits")
  endif()
  # Routine, tests, passed, failed, skipped.
  string(REGEX MATCHALL "[|] +P[A-Z0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+" rows "${output}")
  if(NOT rows)
    set(wrong "it printed no summary")
  endif()
  foreach(row ${rows})
    if(NOT row MATCHES " ([1-9][0-9]*) +([0-9]+) +0 +0$" OR NOT CMAKE_MATCH_1 EQUAL CMAKE_MATCH_2)
      set(wrong "not all tests passed: ${row}")
    endif()
  endforeach()
elseif(NOT output MATCHES "[1-9][0-9]* tests completed and passed" OR NOT output MATCHES " 0 tests completed and failed")
  set(wrong "not all tests passed")
endif()

if(wrong)
  message(FATAL_ERROR "${TESTER}: ${wrong}\n${output}\n${errors}")
endif()
