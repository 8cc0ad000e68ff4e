// Panels of every width that a kernel has, full ones and the last, from rows, from columns and from neither.
#define HEPTAD_VECTOR_BYTES 16
#include "kernels/cpu/pack_panels.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heptad::cpu {
namespace {

template <class T, int panel>
void expect_packed(std::int64_t width, std::int64_t k, std::int64_t stride, std::int64_t depth_stride) {
    std::vector<T> source(static_cast<std::size_t>(width * stride + k * depth_stride + 1));
    for (std::size_t i = 0; i < source.size(); ++i) {
        source[i] = static_cast<T>(i + 1);
    }
    const std::int64_t panels = (width + panel - 1) / panel;
    const T guard = static_cast<T>(-7);
    std::vector<T> packed(static_cast<std::size_t>(panels * panel * k + 1), guard);
    pack_panels<T, panel>(width, k, source.data(), stride, depth_stride, packed.data());
    for (std::int64_t row = 0; row < panels * panel; ++row) {
        for (std::int64_t p = 0; p < k; ++p) {
            const T expected =
                row < width ? source[static_cast<std::size_t>(row * stride + p * depth_stride)] : static_cast<T>(0);
            const std::int64_t place = row / panel * panel * k + p * panel + row % panel;
            ASSERT_EQ(packed[static_cast<std::size_t>(place)], expected)
                << "row " << row << " of " << width << ", depth " << p << " of " << k << ", panel " << panel;
        }
    }
    ASSERT_EQ(packed.back(), guard);
}

template <class T, int panel>
void expect_every_layout() {
    for (const std::int64_t width : {1, panel - 1, panel, panel + 1, 3 * panel, 3 * panel + 2}) {
        for (const std::int64_t k : {1, 2, 3, 4, 7, 8, 15, 16, 17, 20, 37, 64}) {
            expect_packed<T, panel>(width, k, k + 5, 1);
            expect_packed<T, panel>(width, k, 1, width + 3);
            expect_packed<T, panel>(width, k, 2 * k + 1, 2);
        }
    }
}

TEST(pack_panels, every_element_has_its_place) {
    expect_every_layout<float, 4>();
    expect_every_layout<float, 6>();
    expect_every_layout<float, 8>();
    expect_every_layout<float, 12>();
    expect_every_layout<float, 14>();
    expect_every_layout<float, 32>();
    expect_every_layout<double, 4>();
    expect_every_layout<double, 6>();
    expect_every_layout<double, 14>();
    expect_every_layout<double, 16>();
    expect_every_layout<std::uint32_t, 12>();
}

}  // namespace
}  // namespace heptad::cpu
