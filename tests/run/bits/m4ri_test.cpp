// The same products by M4RI, where it was found: in a process of its own, through files.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "io/bit_file.hpp"
#include "io/scratch_folder.hpp"
#include "run/bits/bit_product.hpp"

namespace {

using namespace heptad;

TEST(M4ri, gives_the_same_products) {
    const ScratchFolder folder;
    std::mt19937_64 random(1);
    struct Shape {
        std::int64_t m, k, n;
    };
    for (const auto& [m, k, n] :
         {Shape{1, 128, 128}, {3, 131, 257}, {21, 171, 31}, {193, 65, 65}, {1025, 1025, 1025}, {4096, 3528, 4096}}) {
        const BitMatrix a = BitMatrix::random(m, k, random()), b = BitMatrix::random(k, n, random());
        write_bits(folder / "a.pbm", a);
        write_bits(folder / "b.pbm", b);
        FILE* program = ::popen((std::string(HEPTAD_M4RI) + " > /dev/null").c_str(), "w");
        ASSERT_NE(program, nullptr);
        std::fprintf(program, "product %s %s %s\n", (folder / "a.pbm").c_str(), (folder / "b.pbm").c_str(),
                     (folder / "c.pbm").c_str());
        ASSERT_EQ(::pclose(program), 0);
        const BitMatrix expected = read_bits(folder / "c.pbm");
        for (const char* algorithm : {"auto", "winograd", "self-inverse", "chaining"}) {
            bits::BitOptions options;
            options.algorithm = algorithm;
            options.levels = algorithm == std::string("auto") ? -1 : 2;
            BitMatrix c(m, n);
            bits::multiply_bits(Type::gf2, a, b, c.view(), false, options, {2});
            EXPECT_TRUE(c == expected) << algorithm << " " << m << " " << k << " " << n;
        }
    }
}

}  // namespace
