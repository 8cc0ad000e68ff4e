# The reduced set that `make test` also runs under ASan + UBSan and under TSan: cheap, and between them every layer.
#
#   heptad_sanitize(path/name_test [ONLY address|thread] [FILTER pattern])
#
# ONLY: a test without threads tells the thread sanitizer nothing. FILTER: a GoogleTest pattern such as "*small*:-*slow*".
# Under the thread sanitizer no BLAS is loaded: their locks and threads are not instrumented, and ours are what is asked for.
# A name whose test does not exist is an error of the configuration (see the end of tests/CMakeLists.txt).
macro(heptad_sanitize path)
  cmake_parse_arguments(sanitize "" "ONLY;FILTER" "" ${ARGN})
  list(APPEND HEPTAD_SANITIZED_TESTS ${path})
  if(NOT HEPTAD_SANITIZE OR NOT sanitize_ONLY OR HEPTAD_SANITIZE MATCHES "${sanitize_ONLY}")
    set(HEPTAD_SANITIZED_${path} "${sanitize_FILTER}")
  endif()
endmacro()

heptad_sanitize(algorithm/algorithm_text_test ONLY address FILTER "-*every_shipped*")
heptad_sanitize(algorithm/linear_program_test ONLY address FILTER "-*whole_catalogue*")
heptad_sanitize(algorithm/schedule/schedule_parse_test ONLY address)
heptad_sanitize(algorithm/schedule/schedule_prove_test ONLY address)
heptad_sanitize(backend/reference/reference_backend_test ONLY address)
heptad_sanitize(backend/cpu/combine_test ONLY address)
heptad_sanitize(backend/cpu/gemm_test ONLY address)
heptad_sanitize(backend/cpu/scan_test ONLY address)
heptad_sanitize(backend/cpu/cpu_backend_test)
heptad_sanitize(place/file/npy_header_test ONLY address)
heptad_sanitize(place/file/npy_test ONLY address)
heptad_sanitize(place/memory/matrix_test ONLY address)
heptad_sanitize(place/memory/product/exact_product_test ONLY address)
heptad_sanitize(place/memory/product/guard_pages_test ONLY address)
heptad_sanitize(place/memory/product/non_finite_test ONLY address FILTER "*sets_equal*:*in_c_stay*:*beta_zero*")
heptad_sanitize(place/memory/product/repeat_test FILTER "*eight_threads*:*forgetting*:*cancelled*")
heptad_sanitize(place/memory/product/validate_test ONLY address FILTER "*huge*:*overlap_of*")
heptad_sanitize(run/symbolic_test ONLY address FILTER "*uniform*:*three_and_four*:*shipped_schedule*")
heptad_sanitize(plan/plan_text_test ONLY address FILTER "*random_edits*")
heptad_sanitize(api/c_api_test ONLY address FILTER "*null*:*options*")
heptad_sanitize(bits/bit_matrix_test ONLY address)
heptad_sanitize(bits/leaf_test ONLY address FILTER "-*every_width*blocks")
heptad_sanitize(bits/bit_product_test FILTER "-*large*")
