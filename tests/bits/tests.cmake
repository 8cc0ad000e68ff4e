heptad_test(bits/bit_matrix_test heptad_bits)
heptad_test(bits/leaf_test heptad_bits)
heptad_test(bits/level_program_test heptad_bits heptad_algorithm)
heptad_test(bits/bit_product_test heptad_bits)
