#include "product/device/bit_transfers.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/bit_words.hpp"
#include "base/size.hpp"
#include "move/stages.hpp"

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

    BitRectangle all() const { return {0, 0, rows_, words_}; }
    /// Visits (a number that is kept for it, 0 at first; the piece) of those that a rectangle touches.
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

    /// Calls read(pieces of A or B, rectangle) and write(rectangle of C) for what a launch does there.
    template <class Read, class Write>
    void visit(const cuda::BitExpandLaunch& launch, const Read& read, const Write& /*write*/) {
        windows(launch.source, launch.rows << launch.levels, launch.words << launch.levels, read);
    }
    template <class Read, class Write>
    void visit(const cuda::BitTransposeLaunch& launch, const Read& read, const Write& /*write*/) {
        windows(launch.source, launch.words * bits::kWordBits, bits::words_of(launch.rows), read);
    }
    template <class Read, class Write>
    void visit(const cuda::BitLeafLaunch& launch, const Read& read, const Write& write) {
        read(a_, a_.rectangle_at(launch.a.data, launch.m, bits::words_of(launch.k)));
        if (launch.operation != cuda::BitOperation::count) {
            write(c_.rectangle_at(launch.c, launch.m, bits::words_of(launch.n)));
        }
    }
    template <class Read, class Write>
    void visit(const cuda::BitCompressLaunch& launch, const Read& /*read*/, const Write& write) {
        for (int i = 0; c_.is_at(launch.target.data) && i < launch.target.count; ++i) {
            const auto& corner = launch.target.corner[i];
            write(BitRectangle{corner.row, corner.word, launch.rows << launch.levels, launch.words << launch.levels});
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
    void windows(const cuda::BitWindows& source, std::int64_t rows, std::int64_t words, const Visit& visit) {
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

struct Brought {
    BitOperand operand;
    BitRectangle piece;
};

/// A launch, how many pieces are there before it, and the pieces of C that are complete after it.
struct Step {
    std::variant<cuda::BitExpandLaunch, cuda::BitTransposeLaunch, cuda::BitCompressLaunch, cuda::BitLeafLaunch> launch;
    int reads = 0;
    std::vector<BitRectangle> completes = {};
};

/// Launches nothing, but writes down what would be launched, and what has to be brought.
class Recorder final : public cuda::BitVerbs {
public:
    explicit Recorder(Footprints& footprints) : footprints_(footprints) {}
    void expand(const cuda::BitExpandLaunch& launch) override { add(launch); }
    void transpose(const cuda::BitTransposeLaunch& launch) override { add(launch); }
    void compress(const cuda::BitCompressLaunch& launch) override { add(launch); }
    void multiply(const cuda::BitLeafLaunch& launch) override {
        add(launch);
        ++products;
    }

    std::vector<Step> steps;
    std::vector<Brought> brought;
    std::int64_t products = 0;

private:
    template <class Launch>
    void add(const Launch& launch) {
        steps.push_back({launch, steps.empty() ? 0 : steps.back().reads});
        const auto read = [&](Pieces& pieces, const BitRectangle& rectangle) {
            pieces.each_in(rectangle, [&](int& number, const BitRectangle& piece) {
                if (number == 0) {
                    brought.push_back({&pieces == &footprints_.a() ? BitOperand::a : BitOperand::b, piece});
                    number = steps.back().reads = static_cast<int>(brought.size());
                }
            });
        };
        footprints_.visit(launch, read, [&](const BitRectangle& rectangle) {
            footprints_.c().each_in(rectangle,
                                    [&](int& last, const BitRectangle&) { last = static_cast<int>(steps.size()); });
        });
    }
    Footprints& footprints_;
};

/// The stages of one product.
class BitTransferRun {
public:
    BitTransferRun(const BitDeviceLaunch& launch, const BitDeviceOperands& operands, cuda::BitVerbs& verbs,
                   BitMover& mover)
        : verbs_(verbs), mover_(mover) {
        Footprints footprints(launch, operands);
        Recorder recorder(footprints);
        walk_bit_device(launch, recorder, operands);
        steps_ = std::move(recorder.steps);
        brought_ = std::move(recorder.brought);
        products_ = recorder.products;
        std::size_t fetched = 0;
        footprints.c().each_in(footprints.c().all(), [&](const int& last, const BitRectangle& piece) {
            if (last > 0) {
                steps_[static_cast<std::size_t>(last - 1)].completes.push_back(piece);
                ++fetched;
            }
        });
        mover.expect(brought_.size(), fetched);
    }

    void run() {
        if (brought_.size() <= 2) {  // A and B, each as a whole: nothing goes on beside
            bring();
            launch();
            fetch();
            return;
        }
        Stages stages(failure_);
        stages.start([&] { bring(); });
        stages.start([&] { fetch(); });
        stages.run_here_and_finish([&] { launch(); });
    }

private:
    void bring() {
        for (std::size_t i = 0; i < brought_.size(); ++i) {
            failure_.go_on();
            mover_.bring(i, brought_[i].operand, brought_[i].piece);
            arrived_.add();
        }
    }

    void launch() {
        int there = 0;
        std::int64_t launched = 0;
        std::size_t complete = 0;
        for (const Step& step : steps_) {
            if (step.reads > there) {
                there = step.reads;
                arrived_.wait_for(there);
                mover_.hold_back_for(static_cast<std::size_t>(there - 1));
            }
            std::visit([&](const auto& launch) { enqueue(launch); }, step.launch);
            if (std::holds_alternative<cuda::BitLeafLaunch>(step.launch)) {
                mover_.launched(++launched, products_);
            }
            for (const BitRectangle& piece : step.completes) {
                mover_.completed(complete++);
                complete_.push(piece);
            }
        }
        complete_.close();
        mover_.launched_all();
    }
    void enqueue(const cuda::BitExpandLaunch& launch) { verbs_.expand(launch); }
    void enqueue(const cuda::BitTransposeLaunch& launch) { verbs_.transpose(launch); }
    void enqueue(const cuda::BitCompressLaunch& launch) { verbs_.compress(launch); }
    void enqueue(const cuda::BitLeafLaunch& launch) { verbs_.multiply(launch); }

    void fetch() {
        std::size_t number = 0;
        while (const std::optional<BitRectangle> piece = complete_.next()) {
            mover_.fetch(number++, *piece);
        }
    }

    cuda::BitVerbs& verbs_;
    BitMover& mover_;
    std::vector<Step> steps_;
    std::vector<Brought> brought_;
    std::int64_t products_ = 0;
    StageFailure failure_;
    StepCount arrived_{failure_};
    Channel<BitRectangle> complete_{failure_};
};

}  // namespace

void run_with_transfers(const ProductPlan& plan, cuda::BitVerbs& verbs, const BitDeviceOperands& operands,
                        BitMover& mover) {
    BitTransferRun(bit_device_launch(plan, operands), operands, verbs, mover).run();
}

}  // namespace heptad
