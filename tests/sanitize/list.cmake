# The reduced set that `make test` also runs under ASan + UBSan and under TSan: cheap, and between them every layer.
#
#   heptad_sanitize(path/name_test [filter])     filter: a GoogleTest pattern such as "*small*:-*slow*"
#
# A name whose test does not exist is an error of the configuration (see the end of tests/CMakeLists.txt).
macro(heptad_sanitize path)
  set(HEPTAD_SANITIZED_${path} "${ARGN}")
  list(APPEND HEPTAD_SANITIZED_TESTS ${path})
endmacro()

