heptad_test(backend/cuda/pass_shape_test heptad_run heptad_backend_cuda LABELS gpu)
