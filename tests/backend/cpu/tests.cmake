foreach(kernel combine scan gemm)
  heptad_test(backend/cpu/${kernel}_test heptad_backend_cpu heptad_backend_reference)
endforeach()
