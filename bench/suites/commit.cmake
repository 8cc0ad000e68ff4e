# Writes OUTPUT, a header with the commit of the tree SOURCE, and touches it only when the commit changed.
cmake_minimum_required(VERSION 3.22)
find_program(GIT git)
set(commit unknown)
if(DEFINED ENV{HEPTAD_COMMIT}) # a tree without its history
  set(commit $ENV{HEPTAD_COMMIT})
elseif(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define HEPTAD_COMMIT \"@commit@\"\n" @ONLY)
