#include "papers/p1/p1_algorithm.hpp"

#include <utility>
#include <vector>

#include "base/size.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad::cli {
namespace {

constexpr std::size_t kTemporaries = 3;
constexpr std::int64_t kAlignment = 256;

std::int64_t square_bytes(Type type, std::int64_t side) {
    return round_up(checked_mul(checked_mul(side, side), static_cast<std::int64_t>(element_bytes(type))), kAlignment);
}

class Run {
public:
    Run(const P1Variant& variant, int levels, P1Device& device, void* workspace)
        : variant_(variant), levels_(levels), device_(device), next_(static_cast<std::byte*>(workspace)) {}

    void run(View a, View b, const View& c) {
        if (variant_.keeps_inputs) {
            for (View* operand : {&a, &b}) {
                const View copy = take(operand->type, operand->rows);
                device_.copy(*operand, copy);
                *operand = copy;
            }
        }
        for (int depth = 0; depth < levels_; ++depth) {
            for (std::size_t i = 0; i < kTemporaries; ++i) {
                temporaries_.push_back(take(a.type, a.rows >> (depth + 1)));
            }
        }
        if (variant_.hoisted) {
            change_operand(a, levels_);
            change_operand(b, levels_);
        }
        level(0, a, b, c);
        if (variant_.hoisted) {
            change_result(c, levels_);
        }
    }

private:
    View take(Type type, std::int64_t side) {
        const View view(next_, type, side, side, side, 1);
        next_ += square_bytes(type, side);
        return view;
    }

    /// target = x * a + y * b
    void sum(const View& target, double x, const View& a, double y, const View& b) {
        device_.add({target, a, b, x, y, 0}, P1Part::addition);
    }
    /// target = x * a + keep * target
    void update(const View& target, double keep, double x, const View& a, P1Part part) {
        device_.add({target, a, a, x, 0, keep}, part);
    }
    /// target = x * a + y * b + target
    void add_two(const View& target, double x, const View& a, double y, const View& b, P1Part part) {
        if (variant_.double_add) {
            device_.add({target, a, b, x, y, 1}, part);
        } else {
            update(target, 1, x, a, part);
            update(target, 1, y, b, part);
        }
    }

    void change_operand(const View& operand, int levels) {
        if (levels == 0) {
            return;
        }
        const std::vector<View> x = blocks_of(operand, 2, 2);
        add_two(x[3], 1, x[1], -1, x[2], P1Part::basis);
        for (const View& block : x) {
            change_operand(block, levels - 1);
        }
    }
    void change_result(const View& result, int levels) {
        if (levels == 0) {
            return;
        }
        const std::vector<View> x = blocks_of(result, 2, 2);
        update(x[1], 1, -1, x[3], P1Part::basis);
        update(x[2], -1, 1, x[3], P1Part::basis);
        for (const View& block : x) {
            change_result(block, levels - 1);
        }
    }

    void level(int depth, const View& a, const View& b, const View& c) {
        if (depth == levels_) {
            device_.multiply(a, b, c);
            return;
        }
        const std::vector<View> blocks_a = blocks_of(a, 2, 2), blocks_b = blocks_of(b, 2, 2);
        View a11 = blocks_a[0], a12 = blocks_a[1], a21 = blocks_a[2], a22 = blocks_a[3];
        View b11 = blocks_b[0], b12 = blocks_b[1], b21 = blocks_b[2], b22 = blocks_b[3];
        const auto first = static_cast<std::size_t>(depth) * kTemporaries;
        View temp1 = temporaries_[first], temp2 = temporaries_[first + 1], temp3 = temporaries_[first + 2];
        // target = left * right, where target is left: no library multiplies in place.
        const auto product = [&](View& target, const View& right, bool may_swap) {
            level(depth + 1, target, right, temp3);
            if (variant_.swaps && may_swap) {
                std::swap(target, temp3);
            } else {
                device_.copy(temp3, target);
            }
        };
        if (!variant_.hoisted) {
            add_two(a22, 1, a12, -1, a21, P1Part::basis);  // 3
            add_two(b22, 1, b12, -1, b21, P1Part::basis);  // 4
        }
        sum(temp1, -1, a11, 1, a22);                       // 5
        sum(temp2, -1, b11, 1, b22);                       // 6
        product(a11, b11, false);                          // 7: the copy that P1 keeps
        sum(b11, -1, b12, 1, b22);                         // 8
        product(temp1, b12, true);                         // 9, 10: M7
        sum(b12, 1, a21, 1, a22);                          // 11
        product(a21, temp2, true);                         // 12, 13: M3
        sum(temp2, 1, b21, 1, b22);                        // 14
        product(b12, temp2, true);                         // 15, 16: M5
        sum(temp2, -1, a12, 1, a22);                       // 17
        product(a12, b21, true);                           // 18, 19: M2
        product(a22, b22, true);                           // 20, 21: M4
        product(temp2, b11, true);                         // 22, 23: M6
        update(a11, 1, 1, a12, P1Part::addition);          // 24
        update(a21, 1, 1, temp2, P1Part::addition);        // 25
        update(a22, -1, -1, a12, P1Part::addition);        // 26
        add_two(a22, 1, b12, 1, temp2, P1Part::addition);  // 27, 28
        sum(a12, 1, b12, -1, temp1);                       // 29
        if (!variant_.hoisted) {
            update(a12, 1, -1, a22, P1Part::basis);  // 30
            update(a21, -1, 1, a22, P1Part::basis);  // 31
        }
        const std::vector<View> blocks_c = blocks_of(c, 2, 2);  // 32
        device_.copy(a11, blocks_c[0]);
        device_.copy(a12, blocks_c[1]);
        device_.copy(a21, blocks_c[2]);
        device_.copy(a22, blocks_c[3]);
    }

    const P1Variant& variant_;
    int levels_;
    P1Device& device_;
    std::byte* next_;
    std::vector<View> temporaries_;
};

}  // namespace

std::int64_t p1_workspace_bytes(const P1Variant& variant, Type type, std::int64_t n, int levels) {
    std::int64_t bytes = variant.keeps_inputs ? 2 * square_bytes(type, n) : 0;
    for (int depth = 0; depth < levels; ++depth) {
        bytes = checked_add(bytes, static_cast<std::int64_t>(kTemporaries) * square_bytes(type, n >> (depth + 1)));
    }
    return bytes;
}

void run_p1(const P1Variant& variant, int levels, P1Device& device, const View& a, const View& b, const View& c,
            void* workspace) {
    Run(variant, levels, device, workspace).run(a, b, c);
}

}  // namespace heptad::cli
