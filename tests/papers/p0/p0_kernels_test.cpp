// P0's named kernels (section IV) in the runner: figures 4 and 5 are run over a backend that keeps a record, and beside
// it their third columns, the kernel calls, by the definitions of the kernels. Every call must be one product and at
// most one pass over memory, which moves no more blocks than its operands, and must leave the same blocks of C behind.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "kernels/reference/reference_backend.hpp"
#include "papers/p0/p0_plan.hpp"
#include "plan/search/level_layout.hpp"
#include "run/dense/runner.hpp"

namespace heptad::test {
namespace {

constexpr std::int64_t kSide = 6;  // of a block
using Block = std::vector<std::int32_t>;

struct KernelCall {
    const char* name;
    std::vector<const char*> operands;
};

// Third columns of figures 4 and 5.
const std::vector<KernelCall> kFigure4{
    {"sub", {"A21", "A11", "C12"}},
    {"add", {"B11", "B12", "C21"}},
    {"mul", {"C12", "C21", "C22"}},
    {"sub", {"A12", "A22", "C12"}},
    {"add", {"B21", "B22", "C21"}},
    {"mul", {"C12", "C21", "C11"}},
    {"add", {"A11", "A22", "C12"}},
    {"add", {"B11", "B22", "C21"}},
    {"mulIncInc", {"C12", "C21", "C11", "C22"}},
    {"add", {"A21", "A22", "T2"}},
    {"mulStoreDec", {"T2", "B11", "C21", "C22"}},
    {"sub", {"B21", "B11", "T1"}},
    {"mulIncInc", {"A22", "T1", "C21", "C11"}},
    {"sub", {"B12", "B22", "T1"}},
    {"mulStoreInc", {"A11", "T1", "C12", "C22"}},
    {"add", {"A11", "A12", "T2"}},
    {"mulIncDec", {"T2", "B22", "C12", "C11"}},
};
const std::vector<KernelCall> kFigure5{
    {"sub", {"A11", "A21", "T1"}},
    {"sub", {"B22", "B12", "T2"}},
    {"mul", {"T1", "T2", "C21"}},
    {"add", {"A21", "A22", "T1"}},
    {"sub", {"B12", "B11", "T2"}},
    {"mul", {"T1", "T2", "C22"}},
    {"sub", {"T1", "A11", "T1"}},
    {"sub", {"B22", "T2", "T2"}},
    {"mul", {"T1", "T2", "C11"}},
    {"sub", {"A12", "T1", "T1"}},
    {"mulAdd", {"T1", "B22", "C22", "C12"}},
    {"mulIncIncInc", {"A11", "B11", "T1", "C21", "C11", "C12"}},
    {"sub", {"T2", "B21", "T2"}},
    {"mulSubInc", {"A22", "T2", "C11", "C21", "C22"}},
    {"mulAdd", {"A12", "B21", "T1", "C11"}},
};

/// What a kernel is on this runner: a product or none, and the blocks that its pass reads and writes.
struct Shape {
    bool multiplies;
    int passes, read, written;
};
const std::map<std::string, Shape> kShapes{
    {"add", {false, 1, 2, 1}},         {"sub", {false, 1, 2, 1}},
    {"mul", {true, 0, 0, 0}},          {"mulIncInc", {true, 1, 3, 2}},
    {"mulIncDec", {true, 1, 3, 2}},    {"mulStoreInc", {true, 1, 2, 1}},  // the product stores Y itself
    {"mulStoreDec", {true, 1, 2, 1}},  {"mulAdd", {true, 1, 2, 1}},
    {"mulIncIncInc", {true, 1, 4, 2}}, {"mulSubInc", {true, 1, 3, 2}},
};

/// The kernels by their definitions in section IV, over blocks with names.
class Definitions {
public:
    explicit Definitions(std::map<std::string, Block> blocks) : blocks_(std::move(blocks)) {}
    Block& operator[](const std::string& name) { return blocks_[name]; }

    void call(const KernelCall& kernel) {
        const std::string name = kernel.name;
        const auto x = [&](std::size_t i) -> Block& { return blocks_[kernel.operands.at(i)]; };
        if (name == "add" || name == "sub") {
            x(2) = sum(x(0), name == "add" ? 1 : -1, x(1));
            return;
        }
        const Block product = times(x(0), x(1));
        if (name == "mul") {
            x(2) = product;
        } else if (name == "mulIncInc" || name == "mulIncDec") {
            x(2) = sum(x(2), 1, product);
            x(3) = sum(x(3), name == "mulIncInc" ? 1 : -1, product);
        } else if (name == "mulStoreInc" || name == "mulStoreDec") {
            x(2) = product;
            x(3) = sum(x(3), name == "mulStoreInc" ? 1 : -1, product);
        } else if (name == "mulAdd") {
            x(3) = sum(product, 1, x(2));
        } else if (name == "mulIncIncInc") {  // (U, V, W, X, Y, Z): W = U*V; Y += W; Z += Y; Y += X
            x(2) = product;
            x(4) = sum(x(4), 1, x(2));
            x(5) = sum(x(5), 1, x(4));
            x(4) = sum(x(4), 1, x(3));
        } else if (name == "mulSubInc") {  // (V, W, X, Y, Z): Y = X - V*W; Z += X
            x(3) = sum(x(2), -1, product);
            x(4) = sum(x(4), 1, x(2));
        } else {
            FAIL() << "no kernel " << name;
        }
    }

private:
    static Block sum(const Block& x, int sign, const Block& y) {
        Block result = x;
        for (std::size_t i = 0; i < x.size(); ++i) {
            result[i] += sign * y.at(i);
        }
        return result;
    }
    static Block times(const Block& x, const Block& y) {
        Block result(kSide * kSide, 0);
        for (std::size_t i = 0; i < kSide; ++i) {
            for (std::size_t q = 0; q < kSide; ++q) {
                for (std::size_t j = 0; j < kSide; ++j) {
                    result[i * kSide + j] += x.at(i * kSide + q) * y.at(q * kSide + j);
                }
            }
        }
        return result;
    }
    std::map<std::string, Block> blocks_;
};

/// Two rows and two columns of blocks.
struct Whole {
    std::vector<std::int32_t> memory = std::vector<std::int32_t>(4 * kSide * kSide);
    View view{memory.data(), Type::i32, 2 * kSide, 2 * kSide, 2 * kSide, 1};
    Block block_at(std::int64_t row, std::int64_t col) const {
        Block result;
        for (std::int64_t i = 0; i < kSide; ++i) {
            for (std::int64_t j = 0; j < kSide; ++j) {
                result.push_back(memory[static_cast<std::size_t>((row * kSide + i) * 2 * kSide + col * kSide + j)]);
            }
        }
        return result;
    }
    std::map<std::string, Block> named(const std::string& letter) const {
        return {{letter + "11", block_at(0, 0)},
                {letter + "12", block_at(0, 1)},
                {letter + "21", block_at(1, 0)},
                {letter + "22", block_at(1, 1)}};
    }
};

/// Does what the reference backend does, and notes each verb with C as it is afterwards.
class RecordingBackend final : public Backend {
public:
    struct Event {
        bool is_product = false;
        int read = 0, written = 0;  // blocks in memory, of a pass
        std::map<std::string, Block> c;
    };
    explicit RecordingBackend(const Whole& c) : c_(c) {}
    const std::vector<Event>& events() const { return events_; }

    std::string name() const override { return "reference"; }
    void combine(const CombinePass& pass) override {
        inner_.combine(pass);
        std::set<const void*> read, written;
        for (const CombineStatement& statement : pass.statements) {
            for (const CombineTerm& term : statement.terms) {
                const void* const source = pass.slots[static_cast<std::size_t>(term.source)].data;
                if (source != nullptr && !written.contains(source)) {
                    read.insert(source);
                }
            }
            if (const void* const target = pass.slots[static_cast<std::size_t>(statement.target)].data) {
                written.insert(target);
            }
        }
        events_.push_back({false, static_cast<int>(read.size()), static_cast<int>(written.size()), c_.named("C")});
    }
    void multiply(std::span<const Product> batch, const std::string& leaf) override {
        inner_.multiply(batch, leaf);
        for (std::size_t i = 0; i < batch.size(); ++i) {
            events_.push_back({true, 0, 0, c_.named("C")});
        }
    }
    ScanResult scan(const ConstView& view) override { return inner_.scan(view); }
    void copy(const ConstView& from, const View& to) override { inner_.copy(from, to); }
    std::vector<std::string> leaves(Type type) const override { return inner_.leaves(type); }

private:
    ReferenceBackend inner_;
    const Whole& c_;
    std::vector<Event> events_;
};

/// One level over small integers, its blocks before and every verb afterwards.
struct RecordedLevel {
    Whole a, b, c;
    std::map<std::string, Block> before;
    RecordingBackend backend{c};

    RecordedLevel(const std::string& algorithm, const P0Thresholds& thresholds) {
        std::mt19937 random(1);
        for (Whole* x : {&a, &b}) {
            for (std::int32_t& entry : x->memory) {
                entry = static_cast<std::int32_t>(random() % 19) - 9;
            }
        }
        before = a.named("A");
        before.merge(b.named("B"));
        before.merge(c.named("C"));
        Options options;
        options.device = "reference";
        const ProductPlan plan = p0_plan(2 * kSide, Type::i32, algorithm, thresholds, options, Machine{});
        alignas(kWorkspaceAlignment) std::byte workspace[4096];
        EXPECT_EQ(plan.levels.size(), 1U);
        EXPECT_LE(plan.workspace_bytes, static_cast<std::int64_t>(sizeof workspace));
        run_plan(plan, backend, 1, a.view, b.view, 0, c.view, workspace);
    }
};

void check_figure(const std::string& algorithm, const std::vector<KernelCall>& kernels) {
    const RecordedLevel level(algorithm, p0_thresholds(2 * kSide, 1));
    const RecordingBackend& backend = level.backend;
    Definitions expected(level.before);
    std::size_t at = 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        SCOPED_TRACE(algorithm + ", call " + std::to_string(k + 1) + ": " + kernels[k].name);
        const Shape& shape = kShapes.at(kernels[k].name);
        if (shape.multiplies) {
            ASSERT_LT(at, backend.events().size());
            ASSERT_TRUE(backend.events()[at++].is_product);
        }
        for (int pass = 0; pass < shape.passes; ++pass) {
            ASSERT_LT(at, backend.events().size());
            const RecordingBackend::Event& event = backend.events()[at++];
            ASSERT_FALSE(event.is_product);
            EXPECT_EQ(event.read, shape.read);
            EXPECT_EQ(event.written, shape.written);
        }
        expected.call(kernels[k]);
        for (const auto& [name, block] : backend.events()[at - 1].c) {
            EXPECT_EQ(block, expected[name]) << name;
        }
    }
    EXPECT_EQ(at, backend.events().size()) << "more was done than the kernels say";
}

TEST(p0_kernels, figure_4_is_17_kernels_of_one_product_and_one_pass_each) {
    EXPECT_EQ(kFigure4.size(), 17U);
    check_figure("strassen", kFigure4);
}

TEST(p0_kernels, figure_5_is_15_kernels_of_one_product_and_one_pass_each) {
    EXPECT_EQ(kFigure5.size(), 15U);
    check_figure("winograd", kFigure5);
}

TEST(p0_kernels, the_two_figures_call_every_kernel_of_section_iv) {
    std::set<std::string> called;
    for (const auto& figure : {kFigure4, kFigure5}) {
        for (const KernelCall& kernel : figure) {
            called.insert(kernel.name);
        }
    }
    EXPECT_EQ(called.size(), kShapes.size());
}

TEST(p0_kernels, figures_8_and_15_make_their_two_outputs_in_one_pass) {
    // Section VI: 12 passes of three blocks and 3 of five; 10 of three, one of six and one of five.
    const std::map<std::string, std::map<int, int>> passes_by_blocks{{"strassen", {{3, 12}, {5, 3}}},
                                                                     {"winograd", {{3, 10}, {5, 1}, {6, 1}}}};
    for (const auto& [algorithm, expected] : passes_by_blocks) {
        const RecordedLevel level(algorithm, {kSide, kSide});  // no last level: the recursion meets the leaf itself
        std::map<int, int> found;
        int products = 0;
        for (const RecordingBackend::Event& event : level.backend.events()) {
            if (event.is_product) {
                ++products;
            } else {
                ++found[event.read + event.written];
            }
        }
        EXPECT_EQ(products, 7) << algorithm;
        EXPECT_EQ(found, expected) << algorithm;
    }
}

}  // namespace
}  // namespace heptad::test
