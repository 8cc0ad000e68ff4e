#include "product/device/bit_transfers.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/bit_words.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

/// A matrix cut into equal pieces; those at its ends may be smaller.
class Pieces {
public:
    Pieces(const void* data, std::int64_t rows, std::int64_t cols, std::int64_t row_words, std::int64_t piece_rows,
           std::int64_t piece_words)
        : data_(static_cast<const std::uint64_t*>(data)),
          rows_(rows),
          words_(bits::words_of(cols)),
          row_words_(row_words),
          piece_rows_(std::clamp<std::int64_t>(piece_rows, 1, std::max<std::int64_t>(rows, 1))),
          piece_words_(std::clamp<std::int64_t>(piece_words, 1, std::max<std::int64_t>(words_, 1))),
          across_(ceil_div(words_, piece_words_)),
          count_(static_cast<std::size_t>(ceil_div(rows_, piece_rows_) * across_)) {}

    std::vector<int>& counts() { return count_; }

    /// Visits the pieces that a rectangle touches.
    template <class Visit>
    void each_in(const BitRectangle& rectangle, Visit&& visit) {
        const std::int64_t last_row = std::min(rectangle.row + rectangle.rows, rows_);
        const std::int64_t last_word = std::min(rectangle.word + rectangle.words, words_);
        for (std::int64_t i = rectangle.row / piece_rows_; i * piece_rows_ < last_row; ++i) {
            for (std::int64_t j = rectangle.word / piece_words_; j * piece_words_ < last_word; ++j) {
                visit(count_[static_cast<std::size_t>(i * across_ + j)],
                      BitRectangle{i * piece_rows_, j * piece_words_, std::min(piece_rows_, rows_ - i * piece_rows_),
                                   std::min(piece_words_, words_ - j * piece_words_)});
            }
        }
    }

    bool is_at(const void* data) const { return data_ == data; }
    /// The rectangle of so many rows and words that begins at this address; none of its rows where that is elsewhere.
    BitRectangle rectangle_at(const void* address, std::int64_t rows, std::int64_t words) const {
        const std::less<const void*> before;
        if (rows_ == 0 || before(address, data_) || !before(address, data_ + (rows_ - 1) * row_words_ + words_)) {
            return {};
        }
        const std::int64_t offset = static_cast<const std::uint64_t*>(address) - data_;
        return {offset / row_words_, offset % row_words_, rows, words};
    }

private:
    const std::uint64_t* data_;
    std::int64_t rows_, words_, row_words_;
    std::int64_t piece_rows_, piece_words_, across_;
    std::vector<int> count_;
};

/// What launches read and write, found from the matrices that they point to.
class Footprints {
public:
    Footprints(const BitDeviceLaunch& launch, const BitDeviceOperands& operands)
        : Footprints(launch, operands, piece_of(launch)) {}

    Pieces& a() { return a_; }
    Pieces& b() { return b_; }
    Pieces& c() { return c_; }

    /// Visits (piece set, rectangle) of what a launch reads of A and B.
    template <class Visit>
    void each_read(const cuda::BitExpandLaunch& launch, Visit&& visit) {
        windows(launch.source, launch.rows << launch.levels, launch.words << launch.levels, visit);
    }
    template <class Visit>
    void each_read(const cuda::BitTransposeLaunch& launch, Visit&& visit) {
        windows(launch.source, launch.words * bits::kWordBits, bits::words_of(launch.rows), visit);
    }
    template <class Visit>
    void each_read(const cuda::BitLeafLaunch& launch, Visit&& visit) {
        visit(a_, a_.rectangle_at(launch.a.data, launch.m, bits::words_of(launch.k)));
    }
    /// And of what it writes of C.
    template <class Visit>
    void each_write(const cuda::BitCompressLaunch& launch, Visit&& visit) {
        if (c_.is_at(launch.target.data)) {
            for (int i = 0; i < launch.target.count; ++i) {
                const auto& corner = launch.target.corner[i];
                visit(
                    BitRectangle{corner.row, corner.word, launch.rows << launch.levels, launch.words << launch.levels});
            }
        }
    }
    template <class Visit>
    void each_write(const cuda::BitLeafLaunch& launch, Visit&& visit) {
        if (launch.operation != cuda::BitOperation::count) {
            visit(c_.rectangle_at(launch.c, launch.m, bits::words_of(launch.n)));
        }
    }

private:
    struct PieceShape {
        std::int64_t m, k, n;
    };
    static PieceShape piece_of(const BitDeviceLaunch& launch) {
        const ProblemSize& size = launch.problem.size;
        if (launch.levels() == 0) {
            return {size.m, launch.panels.k, launch.panels.cols};
        }
        const int below = launch.parallel_levels;
        return {launch.shape.m << below, launch.shape.k << below, launch.shape.n << below};
    }
    Footprints(const BitDeviceLaunch& launch, const BitDeviceOperands& operands, const PieceShape& piece)
        : a_(operands.a, launch.problem.size.m, launch.problem.size.k, operands.a_row_words, piece.m,
             bits::words_of(piece.k)),
          b_(operands.b, launch.problem.size.k, launch.problem.size.n, operands.b_row_words, piece.k,
             bits::words_of(piece.n)),
          c_(operands.c, launch.problem.size.m, launch.problem.size.n, operands.c_row_stride, piece.m,
             bits::words_of(piece.n)) {}

    template <class Visit>
    void windows(const cuda::BitWindows& source, std::int64_t rows, std::int64_t words, Visit& visit) {
        if (!a_.is_at(source.data) && !b_.is_at(source.data)) {
            return;
        }
        for (int i = 0; i < source.count; ++i) {
            // One memory may be both operands: then both are brought.
            for (Pieces* pieces : {&a_, &b_}) {
                if (pieces->is_at(source.data)) {
                    visit(*pieces, BitRectangle{source.corner[i].row, source.corner[i].word, rows, words});
                }
            }
        }
    }

    Pieces a_, b_, c_;
};

/// Launches nothing, but counts leaf products, and how often each piece of C is written.
class CountingVerbs final : public cuda::BitVerbs {
public:
    explicit CountingVerbs(Footprints& footprints) : footprints_(footprints) {}
    void expand(const cuda::BitExpandLaunch&) override {}
    void transpose(const cuda::BitTransposeLaunch&) override {}
    void compress(const cuda::BitCompressLaunch& launch) override { count(launch); }
    void multiply(const cuda::BitLeafLaunch& launch) override {
        count(launch);
        ++products_;
    }
    std::int64_t products() const { return products_; }

private:
    template <class Launch>
    void count(const Launch& launch) {
        footprints_.each_write(launch, [&](const BitRectangle& rectangle) {
            footprints_.c().each_in(rectangle, [](int& writes, const BitRectangle&) { ++writes; });
        });
    }
    Footprints& footprints_;
    std::int64_t products_ = 0;
};

class TransferringVerbs final : public cuda::BitVerbs {
public:
    TransferringVerbs(cuda::BitVerbs& verbs, Footprints& footprints, BitMover& mover, std::int64_t products)
        : verbs_(verbs), footprints_(footprints), mover_(mover), products_(products) {}

    void expand(const cuda::BitExpandLaunch& launch) override {
        bring(launch);
        verbs_.expand(launch);
    }
    void transpose(const cuda::BitTransposeLaunch& launch) override {
        bring(launch);
        verbs_.transpose(launch);
    }
    void compress(const cuda::BitCompressLaunch& launch) override {
        verbs_.compress(launch);
        put_away(launch);
    }
    void multiply(const cuda::BitLeafLaunch& launch) override {
        bring(launch);
        verbs_.multiply(launch);
        mover_.launched(++launched_, products_);
        put_away(launch);
    }

private:
    template <class Launch>
    void bring(const Launch& launch) {
        bool any = false;
        footprints_.each_read(launch, [&](Pieces& pieces, const BitRectangle& rectangle) {
            const BitOperand operand = &pieces == &footprints_.a() ? BitOperand::a : BitOperand::b;
            pieces.each_in(rectangle, [&](int& brought, const BitRectangle& piece) {
                if (brought++ == 0) {
                    mover_.bring(operand, piece);
                    any = true;
                }
            });
        });
        if (any) {
            mover_.wait_for_brought();
        }
    }

    template <class Launch>
    void put_away(const Launch& launch) {
        footprints_.each_write(launch, [&](const BitRectangle& rectangle) {
            footprints_.c().each_in(rectangle, [&](int& writes, const BitRectangle& piece) {
                if (--writes == 0) {
                    mover_.put_away(piece);
                }
            });
        });
    }

    cuda::BitVerbs& verbs_;
    Footprints& footprints_;
    BitMover& mover_;
    std::int64_t products_, launched_ = 0;
};

}  // namespace

void run_with_transfers(const ProductPlan& plan, cuda::BitVerbs& verbs, const BitDeviceOperands& operands,
                        BitMover& mover) {
    const BitDeviceLaunch launch = bit_device_launch(plan, operands);
    Footprints footprints(launch, operands);
    CountingVerbs counting(footprints);
    walk_bit_device(launch, counting, operands);
    TransferringVerbs transferring(verbs, footprints, mover, counting.products());
    walk_bit_device(launch, transferring, operands);
}

}  // namespace heptad
