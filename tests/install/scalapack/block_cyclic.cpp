// A product on a grid of one process, from an installed copy.
#include <heptad/cluster.hpp>

#include <vector>

int main() {
    std::vector<double> a{1, 2, 3, 4}, b{0, 1, 1, 0}, c(4);
    const auto whole = [](std::vector<double>& data) {
        return heptad::BlockCyclicPart{{data.data(), heptad::Type::f64, 2, 2, 1, 1, 0, 0, 2}};
    };
    heptad::multiply_block_cyclic({2, 2, 2}, 1, whole(a), whole(b), 0, whole(c), {1, 1, 0, 0, {0}}, {});
    return c == std::vector<double>{3, 4, 1, 2} ? 0 : 1;
}
