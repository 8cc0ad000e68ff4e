heptad_test(place/memory/matrix_test heptad_place_memory)
heptad_test(place/file/npy_header_test heptad_place_file)
heptad_test(place/file/npy_test heptad_place_file)
heptad_test(place/file/transfer_test heptad_place_file)
