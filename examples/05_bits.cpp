// Bit matrices: a product over GF(2), a high power, and who reaches whom in a graph.
#include <iostream>

#include <heptad/bits.hpp>

int main() {
    using heptad::BitMatrix;
    using heptad::Type;
    const BitMatrix a = BitMatrix::random(2000, 3000, 1), b = BitMatrix::random(3000, 1000, 2);
    BitMatrix c = heptad::bits::product(Type::gf2, a, b);
    std::cout << "A * B has " << heptad::bits::count_ones(c) << " ones\n";
    heptad::bits::multiply_add(Type::gf2, a, b, c.view());
    std::cout << "added once more: " << heptad::bits::count_ones(c) << " (expected 0)\n";

    const BitMatrix square = BitMatrix::random(1000, 1000, 3);
    std::cout << "A^100 has " << heptad::bits::count_ones(heptad::bits::power(Type::gf2, square, 100)) << " ones\n";

    const BitMatrix graph = BitMatrix::random(1000, 1000, 4, 0.002);
    std::cout << heptad::bits::count_ones(heptad::bits::transitive_closure(graph)) << " reachable pairs, "
              << heptad::count_triangles(graph) << " triangles\n";
}

// Output:
// A * B has 1001241 ones
// added once more: 0 (expected 0)
// A^100 has 499514 ones
// 604605 reachable pairs, 2 triangles
