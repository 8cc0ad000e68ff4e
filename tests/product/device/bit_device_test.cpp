// Products of bit matrices on a CUDA device, against the definition and against the CPU path, bit for bit: every leaf,
// operation, basis and split of levels, at the edges of words and tiles.
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_cases.hpp"
#include "product/device/device_matrix.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad::test {
namespace {

template <class T>
class DeviceVector {
public:
    DeviceVector(std::vector<T>& host, std::int64_t shift, void* stream)
        : host_(host),
          bytes_(static_cast<std::int64_t>(host.size() * sizeof(T))),
          memory_(0, bytes_ + 64, stream),
          data_(reinterpret_cast<T*>(static_cast<std::byte*>(memory_.data()) + shift)),
          stream_(stream) {
        cuda::copy_rows(host_.data(), bytes_, data_, bytes_, bytes_, 1, stream);
    }
    T* data() const { return data_; }
    void fetch() { cuda::copy_rows(data_, bytes_, host_.data(), bytes_, bytes_, 1, stream_); }

private:
    std::vector<T>& host_;
    std::int64_t bytes_;
    cuda::DeviceMemory memory_;
    T* data_;
    void* stream_;
};

/// `shift`: bytes by which the matrices are off the device's own alignment.
void check_case(const BitDeviceCase& x, std::mt19937_64& random, std::int64_t shift) {
    SCOPED_TRACE(x.text());
    const cuda::Stream stream(0);
    BitDeviceData data(x, random);
    WordMatrix a = data.a, b = data.b;
    DeviceVector<std::uint64_t> device_a(a.words, shift, stream.handle()), device_b(b.words, shift, stream.handle());
    const ConstBitView view_a{device_a.data(), a.rows, a.cols, a.row_words, 0};
    const ConstBitView view_b{device_b.data(), b.rows, b.cols, b.row_words, 0};
    BitDeviceOptions options = x.options;
    if (options.leaf == "wgmma" && bit_device_facts(0).leaf != "wgmma") {
        options.leaf = "auto";
    }
    const bool aligned = is_aligned_for_leaf(view_a.words, view_a.stride);
    const ProductPlan plan = plan_bit_device_product({x.operation, x.size, aligned}, options, bit_device_facts(0));
    if (x.operation == cuda::BitOperation::count) {
        DeviceVector<std::int32_t> c(data.counts, shift, stream.handle());
        const cuda::DeviceMemory workspace(0, std::max<std::int64_t>(plan.workspace_bytes, 16), stream.handle());
        const BitDeviceOperands operands{
            view_a.words, view_a.stride,     view_b.words, view_b.stride,
            c.data(),     data.c_row_stride, x.accumulate, static_cast<std::uint64_t*>(workspace.data())};
        walk_bit_device(bit_device_launch(plan, operands), *cuda::device_bit_verbs(0, stream.handle(), plan.leaf),
                        operands);
        c.fetch();
        stream.synchronize();
    } else {
        DeviceVector<std::uint64_t> c(data.c, shift, stream.handle());
        multiply_bits_on_device(plan, view_a, view_b, {c.data(), x.size.m, x.size.n, data.c_row_stride, 0},
                                x.accumulate, 0, stream.handle());
        c.fetch();
        stream.synchronize();
    }
    device_a.fetch();
    device_b.fetch();
    stream.synchronize();
    EXPECT_TRUE(data.c == data.wanted);
    EXPECT_TRUE(data.counts == data.wanted_counts);
    EXPECT_TRUE(a.words == data.a.words && b.words == data.b.words);
}

TEST(bit_device, every_leaf_and_operation_equals_the_definition) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(11);
    for (const std::string& leaf : cuda::bit_leaf_names()) {
        for (int repeat = 0; repeat < 90; ++repeat) {
            BitDeviceCase x = random_bit_case(random);
            x.operation = static_cast<cuda::BitOperation>(repeat % 3);
            x.options.algorithm = x.operation == cuda::BitOperation::parity ? "classical" : "auto";
            x.options.leaf = leaf;
            x.options.most_panel_k = repeat % 5 == 0 ? 128 : 65536;
            check_case(x, random, repeat % 4 == 0 ? 8 : 0);
        }
    }
}

/// Each kernel a few times at small sizes: what can be run under the tools that watch every access to memory.
TEST(bit_device_small, every_kernel_equals_the_definition) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(15);
    for (const std::string& leaf : cuda::bit_leaf_names()) {
        for (int operation = 0; operation < 3; ++operation) {
            BitDeviceCase x;
            x.size = {150 + 200 * operation, 1100, 200};
            x.operation = static_cast<cuda::BitOperation>(operation);
            x.accumulate = operation == 1;
            x.options.algorithm = operation == 0 ? "classical" : "auto";
            x.options.leaf = leaf;
            check_case(x, random, 0);
        }
    }
    for (const auto& [serial, levels] : {std::pair{0, 2}, {1, 2}}) {
        BitDeviceCase x;
        x.size = {140, 300, 260};
        x.options.levels = levels;
        x.options.serial_levels = serial;
        check_case(x, random, 8);
    }
}

TEST(bit_device, long_sums_and_several_tiles_equal_the_definition) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(12);
    for (const std::string& leaf : cuda::bit_leaf_names()) {
        for (const ProblemSize& size : {ProblemSize{513, 5000, 769}, {129, 8192, 257}, {1100, 1025, 300}}) {
            for (int operation = 0; operation < 2; ++operation) {
                BitDeviceCase x;
                x.size = size;
                x.operation = static_cast<cuda::BitOperation>(operation);
                x.options.algorithm = operation == 0 ? "classical" : "auto";
                x.options.leaf = leaf;
                check_case(x, random, 0);
            }
        }
    }
}

TEST(bit_device, every_split_of_levels_and_every_basis_equals_the_definition) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(13);
    for (const bits::LevelProgram& program : bits::level_programs()) {
        for (int serial = 0; serial <= kMostSerialBitLevels; ++serial) {
            for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
                for (int repeat = 0; repeat < 6; ++repeat) {
                    BitDeviceCase x = random_bit_case(random);
                    x.options.algorithm = program.name;
                    x.options.levels = serial + parallel;
                    x.options.serial_levels = serial;
                    check_case(x, random, repeat % 3 == 0 ? 8 : 0);
                }
            }
        }
    }
}

TEST(bit_device, leaves_of_several_tiles_under_levels_equal_the_cpu) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(14);
    const cuda::Stream stream(0);
    for (const auto& [serial, levels] : {std::pair{0, 1}, {0, 2}, {1, 2}, {0, 3}, {2, 4}}) {
        BitDeviceCase x;
        x.size = {2000 + static_cast<std::int64_t>(random() % 100), 2500, 2300};
        BitDeviceOptions options;
        options.levels = levels;
        options.serial_levels = serial;
        WordMatrix a(x.size.m, x.size.k, 1, random, 0.5), b(x.size.k, x.size.n, 0, random, 0.5);
        WordMatrix c(x.size.m, x.size.n, 0, random, 0.5);
        BitMatrix wanted(x.size.m, x.size.n);
        bits::multiply_bits(Type::gf2, a.view(), b.view(), wanted.view(), false, {}, {});
        DeviceVector<std::uint64_t> device_a(a.words, 0, stream.handle()), device_b(b.words, 0, stream.handle()),
            device_c(c.words, 0, stream.handle());
        const ProductPlan plan =
            plan_bit_device_product({cuda::BitOperation::parity, x.size, false}, options, bit_device_facts(0));
        multiply_bits_on_device(plan, {device_a.data(), a.rows, a.cols, a.row_words, 0},
                                {device_b.data(), b.rows, b.cols, b.row_words, 0},
                                {device_c.data(), c.rows, c.cols, c.row_words, 0}, false, 0, stream.handle());
        device_c.fetch();
        stream.synchronize();
        EXPECT_TRUE(c.view() == ConstBitView(wanted)) << to_string(plan);
    }
}

/// So large that tiles of one shape leave multiprocessors over, and tiles of another one are made there.
TEST(bit_device, products_shared_by_two_kernels_equal_the_cpu) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(17);
    const cuda::Stream stream(0);
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        constexpr std::int64_t m = 16300, k = 600, n = 16390;
        const double density = algebra == Type::gf2 ? 0.5 : 0.03;
        WordMatrix a(m, k, 0, random, density), b(k, n, 1, random, density), c(m, n, 1, random, 0.1);
        BitMatrix wanted = BitMatrix::copy_of(c.view());
        bits::multiply_bits(algebra, a.view(), b.view(), wanted.view(), true, {}, {});
        DeviceVector<std::uint64_t> device_a(a.words, 0, stream.handle()), device_b(b.words, 0, stream.handle()),
            device_c(c.words, 0, stream.handle());
        BitDeviceOptions options;
        options.levels = 0;
        options.most_panel_k = 512;
        const ConstBitView view_a{device_a.data(), m, k, a.row_words, 0};
        const cuda::BitOperation operation =
            algebra == Type::gf2 ? cuda::BitOperation::parity : cuda::BitOperation::any;
        const ProductPlan plan = plan_bit_device_product(
            {operation, {m, k, n}, is_aligned_for_leaf(view_a.words, view_a.stride)}, options, bit_device_facts(0));
        multiply_bits_on_device(plan, view_a, {device_b.data(), k, n, b.row_words, 0},
                                {device_c.data(), m, n, c.row_words, 0}, true, 0, stream.handle());
        device_c.fetch();
        stream.synchronize();
        EXPECT_TRUE(c.view() == ConstBitView(wanted)) << to_string(plan);
    }
}

TEST(bit_device, boolean_products_that_leave_full_tiles_out_equal_the_cpu) {
    HEPTAD_NEEDS_DEVICE();
    std::mt19937_64 random(16);
    const cuda::Stream stream(0);
    for (const std::string& leaf : cuda::bit_leaf_names()) {
        for (const bool accumulate : {false, true}) {
            for (const std::int64_t n : {190, 2000, 2051}) {
                // The first rows of C fill up in the first panels, those after them do not.
                constexpr std::int64_t m = 1600, k = 5000, dense_rows = 700;
                WordMatrix a(m, k, 1, random, 0.004), b(k, n, n % 2, random, 0.06), c(m, n, 1, random, 0.1);
                const WordMatrix dense(dense_rows, k, 1, random, 0.5);
                std::copy(dense.words.begin(), dense.words.end(), a.words.begin());
                BitMatrix wanted = BitMatrix::copy_of(c.view());
                bits::multiply_bits(Type::boolean, a.view(), b.view(), wanted.view(), accumulate, {}, {});
                DeviceVector<std::uint64_t> device_a(a.words, 0, stream.handle()),
                    device_b(b.words, 0, stream.handle()), device_c(c.words, 0, stream.handle());
                BitDeviceOptions options;
                options.leaf = leaf == "wgmma" ? bit_device_facts(0).leaf : leaf;
                options.first_panel_k = 128;
                options.most_panel_k = 1024;
                options.workspace_limit_bytes = n == 2000 ? 100 << 10 : 1 << 30;  // columns in panels, too
                const ConstBitView view_a{device_a.data(), m, k, a.row_words, 0};
                const ProductPlan plan = plan_bit_device_product(
                    {cuda::BitOperation::any, {m, k, n}, is_aligned_for_leaf(view_a.words, view_a.stride)}, options,
                    bit_device_facts(0));
                EXPECT_EQ(plan.panels->first_k, 128) << to_string(plan);
                multiply_bits_on_device(plan, view_a, {device_b.data(), k, n, b.row_words, 0},
                                        {device_c.data(), m, n, c.row_words, 0}, accumulate, 0, stream.handle());
                device_c.fetch();
                stream.synchronize();
                EXPECT_TRUE(c.view() == ConstBitView(wanted)) << to_string(plan) << " accumulate " << accumulate;
            }
        }
    }
}

TEST(bit_device, too_little_memory_names_the_bytes_and_leaves_the_device_usable) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    const std::int64_t n = 1 << 21;  // B would take 512 GiB
    BitDeviceOptions options;
    options.most_panel_k = n;
    const ProductPlan plan = plan_bit_device_product({cuda::BitOperation::any, {1, n, n}, true}, options);
    std::vector<std::uint64_t> words(4 * n / 64);
    DeviceVector<std::uint64_t> memory(words, 0, stream.handle());
    std::uint64_t *const c = memory.data(), *const a = c + n / 64, *const b = a + n / 64;
    try {
        // B is never read: the workspace is asked for first.
        multiply_bits_on_device(plan, {a, 1, n, n / 64, 0}, {b, n, n, n / 64, 0}, {c, 1, n, n / 64, 0}, false, 0,
                                stream.handle());
        FAIL() << "a workspace of " << plan.workspace_bytes << " bytes was granted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
        EXPECT_NE(std::string(error.what()).find(std::to_string(plan.workspace_bytes)), std::string::npos)
            << error.what();
    }
    std::mt19937_64 random(15);
    check_case(random_bit_case(random), random, 0);
}

TEST(bit_device, memory_of_the_host_and_views_off_a_word_are_refused) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    std::vector<std::uint64_t> words(4096);
    DeviceVector<std::uint64_t> memory(words, 0, stream.handle());
    const ProductPlan plan = plan_bit_device_product({cuda::BitOperation::parity, {64, 128, 64}, true}, {});
    const ConstBitView a{memory.data(), 64, 128, 2, 0}, b{memory.data() + 512, 128, 64, 2, 0};
    const BitView c{memory.data() + 1024, 64, 64, 2, 0};
    EXPECT_NO_THROW(multiply_bits_on_device(plan, a, b, c, false, 0, stream.handle()));
    EXPECT_THROW(multiply_bits_on_device(plan, {words.data(), 64, 128, 2, 0}, b, c, false, 0, stream.handle()), Error);
    EXPECT_THROW(multiply_bits_on_device(plan, {memory.data(), 64, 128, 3, 5}, b, c, false, 0, stream.handle()), Error);
    EXPECT_THROW(multiply_bits_on_device(plan, b, a, c, false, 0, stream.handle()), Error);
    const BitView over_b{memory.data() + 600, 64, 64, 2, 0};
    EXPECT_THROW(multiply_bits_on_device(plan, a, b, over_b, false, 0, stream.handle()), Error);
    const ProductPlan counts = plan_bit_device_product({cuda::BitOperation::count, {64, 128, 64}, true}, {});
    EXPECT_THROW(multiply_bits_on_device(counts, a, b, c, false, 0, stream.handle()), Error);
    stream.synchronize();
}

}  // namespace
}  // namespace heptad::test
