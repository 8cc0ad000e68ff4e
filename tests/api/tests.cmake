heptad_test(api/multiply_test heptad_api)
heptad_test(api/c_api_test heptad_api)
heptad_test(api/out_of_memory_test heptad_api)
heptad_test(api/bits_test heptad_api)
