// Products whose operands arrive piece by piece and whose result leaves so, in host memory: every piece is moved once,
// before its first use and after its last.
#include "product/device/bit_transfers.hpp"

#include <atomic>
#include <limits>
#include <mutex>
#include <set>
#include <tuple>

#include "product/device/bit_device_cases.hpp"
#include "product/device/host_bit_verbs.hpp"
#include "product/device/product_pace.hpp"

namespace heptad::test {
namespace {

using Piece = std::tuple<int, std::int64_t, std::int64_t>;

/// Copies pieces of words between "the host" and "the device", both of which are here.
class CopyingMover final : public BitMover {
public:
    struct Side {
        const std::vector<std::uint64_t>* from;
        std::vector<std::uint64_t>* to;
        std::int64_t row_words;
    };
    CopyingMover(Side a, Side b, Side c) : sides_{a, b, c} {}

    void expect(std::size_t brought, std::size_t fetched) override {
        EXPECT_EQ(expected_brought_, 0U);
        expected_brought_ = brought;
        expected_fetched_ = fetched;
    }
    void bring(std::size_t number, BitOperand operand, const BitRectangle& piece) override {
        if (number == fails_at_) {
            fail(ErrorCode::resource, "piece {} is lost", number);
        }
        EXPECT_EQ(number, brought_++);
        move(operand == BitOperand::a ? 0 : 1, piece);
    }
    void hold_back_for(std::size_t number) override {
        EXPECT_LT(number, brought_.load());
        EXPECT_TRUE(held_back_for_ == 0 || number >= held_back_for_);
        held_back_for_ = number + 1;
    }
    void completed(std::size_t number) override { EXPECT_EQ(number, completed_++); }
    void fetch(std::size_t number, const BitRectangle& piece) override {
        EXPECT_LT(number, completed_.load());
        move(2, piece);
        ++fetched_;
    }
    void launched_all() override { all_launched_ = launched_ == count_; }
    void launched(std::int64_t number, std::int64_t count) override {
        EXPECT_EQ(number, ++launched_);
        count_ = count;
    }

    bool all_moved(bool fetches) const {
        return all_launched_ && launched_ > 0 && brought_ == expected_brought_ && held_back_for_ == brought_ &&
               completed_ == fetched_ && (!fetches || fetched_ == expected_fetched_);
    }
    void fail_at(std::size_t number) { fails_at_ = number; }
    std::int64_t moved_words(int side) const { return words_[side]; }
    int pieces() const { return static_cast<int>(seen_.size()); }

private:
    void move(int side, const BitRectangle& piece) {
        {
            const std::lock_guard lock(mutex_);
            EXPECT_TRUE(seen_.insert({side, piece.row, piece.word}).second) << "a piece is moved twice";
        }
        words_[side] += piece.rows * piece.words;
        const Side& s = sides_[side];
        for (std::int64_t i = piece.row; i < piece.row + piece.rows; ++i) {
            const auto first = i * s.row_words + piece.word;
            std::copy_n(s.from->begin() + first, piece.words, s.to->begin() + first);
        }
    }
    Side sides_[3];
    std::int64_t words_[3] = {};
    std::mutex mutex_;
    std::set<Piece> seen_;
    std::int64_t launched_ = 0, count_ = 0;
    bool all_launched_ = false;
    std::size_t expected_brought_ = 0, expected_fetched_ = 0, held_back_for_ = 0, fetched_ = 0;
    std::atomic<std::size_t> brought_ = 0, completed_ = 0;
    std::size_t fails_at_ = std::numeric_limits<std::size_t>::max();
};

void check_case(const BitDeviceCase& x, std::mt19937_64& random, int* pieces = nullptr) {
    SCOPED_TRACE(x.text());
    const BitDeviceData data(x, random);
    // What has not arrived is poison.
    std::vector<std::uint64_t> a(data.a.words.size(), 0xdeadbeefdeadbeefU), b(data.b.words.size(), 0xdeadbeefdeadbeefU);
    std::vector<std::uint64_t> c = data.c, host_c = data.c;
    const bool aligned = is_aligned_for_leaf(a.data(), data.a.row_words);
    const ProductPlan plan = plan_bit_device_product({x.operation, x.size, aligned}, x.options);
    std::vector<std::uint64_t> workspace(static_cast<std::size_t>(plan.workspace_bytes / 8) + 2);
    CopyingMover mover({&data.a.words, &a, data.a.row_words}, {&data.b.words, &b, data.b.row_words},
                       {&c, &host_c, data.c_row_stride});
    HostBitVerbs verbs;
    std::vector<std::int32_t> counts = data.counts;
    void* const result = x.operation == cuda::BitOperation::count ? static_cast<void*>(counts.data()) : c.data();
    run_with_transfers(plan, verbs,
                       {a.data(), data.a.row_words, b.data(), data.b.row_words, result, data.c_row_stride, x.accumulate,
                        workspace.data()},
                       mover);
    EXPECT_TRUE(counts == data.wanted_counts);
    const bool bits = x.operation != cuda::BitOperation::count;
    EXPECT_TRUE(mover.all_moved(bits));
    EXPECT_EQ(mover.moved_words(2), bits ? x.size.m * ceil_div(x.size.n, 64) : 0);
    if (bits) {
        EXPECT_TRUE(host_c == data.wanted);
    }
    EXPECT_EQ(mover.moved_words(0), x.size.m * ceil_div(x.size.k, 64));
    EXPECT_EQ(mover.moved_words(1), x.size.k * ceil_div(x.size.n, 64));
    if (pieces != nullptr) {
        *pieces = mover.pieces();
    }
}

TEST(BitTransfers, every_operation_and_split_of_levels_moves_everything_once_in_time) {
    std::mt19937_64 random(7);
    for (int repeat = 0; repeat < 60; ++repeat) {
        BitDeviceCase x = random_bit_case(random);
        x.operation = static_cast<cuda::BitOperation>(repeat % 3);
        if (x.operation == cuda::BitOperation::parity) {
            x.options.serial_levels = repeat / 3 % 3;
            x.options.levels = x.options.serial_levels + repeat / 9 % 3;
        } else {
            x.options.most_panel_k = repeat % 2 == 0 ? 128 : 65536;
        }
        check_case(x, random);
    }
}

TEST(BitTransfers, serial_levels_and_panels_cut_the_matrices_into_pieces) {
    std::mt19937_64 random(8);
    int pieces = 0;
    BitDeviceCase levels;
    levels.size = {256, 512, 512};
    levels.options.levels = 2;
    levels.options.serial_levels = 1;
    check_case(levels, random, &pieces);
    EXPECT_EQ(pieces, 12);  // quarters of three matrices
    BitDeviceCase panels;
    panels.size = {100, 512, 300};
    panels.operation = cuda::BitOperation::any;
    panels.options.most_panel_k = 128;
    panels.gap_a = 0;
    check_case(panels, random, &pieces);
    EXPECT_EQ(pieces, 4 + 4 + 1);
}

TEST(BitTransfers, a_piece_that_is_lost_ends_all_stages) {
    std::mt19937_64 random(10);
    BitDeviceCase x;
    x.size = {256, 512, 512};
    x.options.levels = x.options.serial_levels = 1;
    const BitDeviceData data(x, random);
    const ProductPlan plan = plan_bit_device_product({x.operation, x.size, true}, x.options);
    for (const std::size_t lost : {0U, 3U, 7U}) {
        std::vector<std::uint64_t> a = data.a.words, b = data.b.words, c = data.c, host_c = data.c;
        std::vector<std::uint64_t> workspace(static_cast<std::size_t>(plan.workspace_bytes / 8) + 2);
        CopyingMover mover({&data.a.words, &a, data.a.row_words}, {&data.b.words, &b, data.b.row_words},
                           {&c, &host_c, data.c_row_stride});
        mover.fail_at(lost);
        HostBitVerbs verbs;
        EXPECT_THROW(run_with_transfers(plan, verbs,
                                        {a.data(), data.a.row_words, b.data(), data.b.row_words, c.data(),
                                         data.c_row_stride, false, workspace.data()},
                                        mover),
                     Error);
    }
}

TEST(BitTransfers, the_host_keeps_half_a_second_ahead_and_two_products_at_least) {
    EXPECT_EQ(products_ahead(100, 0.1), 100);  // so short a product is handed over at once
    EXPECT_EQ(products_ahead(100, 5), 10);
    EXPECT_EQ(products_ahead(8, 34), 2);
    EXPECT_EQ(products_ahead(1, 0), 2);
}

TEST(BitTransfers, an_empty_sum_brings_nothing_and_puts_zeros_away) {
    std::mt19937_64 random(9);
    BitDeviceCase x;
    x.size = {70, 0, 130};
    x.operation = cuda::BitOperation::any;
    check_case(x, random);
}

}  // namespace
}  // namespace heptad::test
