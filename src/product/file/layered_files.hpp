// What a product from file to file writes; and with outer levels, the sums that it reads, and C made of their products.
#pragma once

#include <map>
#include <optional>

#include "check/streamed_residual.hpp"
#include "io/journal.hpp"
#include "io/partial_file.hpp"
#include "move/block_sums.hpp"
#include "product/file/file_product.hpp"
#include "product/file/product_inputs.hpp"
#include "run/dense/evenness.hpp"

namespace heptad {

/// What is written: C, and with outer levels their products, whose tiles are those of the journal then.
struct Outputs {
    PartialFile result;
    std::optional<PartialFile> products;

    const PartialFile& of_tiles() const { return products ? *products : result; }
    /// For direct I/O on all of them.
    std::int64_t block_bytes() const {
        const std::int64_t block = result.layout().block_bytes;
        return of_tiles().layout().block_bytes == block ? block : 1;
    }
};

/// Both operands of the products of outer levels.
struct OperandSums {
    OperandSums(const OuterLaunch& layers, const OpenInputs& inputs,
                const std::map<std::int64_t, JournalTile>& finished)
        : bounce(layers.a.bounce_bytes),
          a(inputs.a, layers.cut.mirrored ? transposed(layers.a) : layers.a, bounce),
          b(inputs.b, layers.cut.mirrored ? transposed(layers.b) : layers.b, bounce) {
        for (const auto& [index, tile] : finished) {
            a.note_largest(tile.seen ? tile.seen->a : 0);
            b.note_largest(tile.seen ? tile.seen->b : 0);
        }
    }
    LargestValues seen() const { return {a.largest(), b.largest(), 0}; }

    PageBuffer bounce;
    BlockSums a, b;
};

/// Sums of blocks would make something else of the input than the product itself does.
struct SumsNotSafe {};

/// A run with outer levels.
struct LayeredRun {
    const FileProductRequest& request;
    const OuterLaunch& layers;
    const LayerGrowth& growth;
    const FileHooks& hooks;
    StageTrace& trace;
};

/// Of the progress that is shown.
inline constexpr double kLastPassShare = 0.03;

/// Powers of two that make the matrices of two files even, from a sample of each: some whole lines, and some values of
/// every line across them. What the sample has not seen is looked at while everything is read, and answered at the end.
class FileEvenness {
public:
    /// Reads the samples. Of lines in which they found nothing, anything but zeros makes sums infinite.
    FileEvenness(const OuterLaunch& layers, const OpenInputs& inputs, IoQueue& queue);

    /// By the sample: without the largest values, which are not known yet.
    double value() const { return evenness_of(tails_, effects_, 0, 0); }
    /// Do the levels lose at most a digit to the classical product, by the sample?
    bool levels_keep_the_digit() const { return are_short(even_, k_) || samples_.keep_the_digit(); }
    const Evenness& even() const { return even_; }
    /// With what was seen of the lines of A'' and B'', and of A and B, when all of them were read. `scales`: whether
    /// they were read with powers of two.
    struct Seen {
        ScanResult plain, scaled;
    };
    bool holds(const Seen& of_a, const Seen& of_b, bool scales, double least_evenness) const;

private:
    std::int64_t k_;
    MeetingSamples samples_;
    OperandEffects effects_;
    OperandTails tails_;
    Evenness even_;
};

/// Powers of two that C'' = A''B'' is made with; and none where the levels lose nothing without, or are to be taken
/// whatever they lose.
class LayerScaling {
public:
    /// Has `sums` read A'' and B''. Throws SumsNotSafe if they are not even enough by a sample of the files.
    LayerScaling(const LayeredRun& run, const OpenInputs& inputs, OperandSums& sums);
    /// When all of A and B was read; where the run was resumed, by an earlier one in part. Throws SumsNotSafe.
    void require_even_operands(OperandSums& sums, bool resumed) const;

    bool scales() const { return scales_; }
    /// Those of C''.
    LineExponents of_result() const {
        return scales_ ? LineExponents{files_->even().rows.data(), files_->even().cols.data()} : LineExponents{};
    }
    bool uneven() const { return uneven_; }

private:
    LayeredRun run_;
    double least_evenness_ = 0;
    std::optional<FileEvenness> files_;
    bool scales_ = false, uneven_ = false;
};

/// By what was read so far. Throws SumsNotSafe.
void require_safe_sums(const LayeredRun& run, const OperandSums& sums);

/// All products are there: C from them, and whether it is right, if that was asked.
std::optional<VerifyResult> add_up_products(const LayeredRun& run, const LayerScaling& scaling,
                                            const OpenInputs& inputs, const Outputs& outputs,
                                            const check::JudgedProduct& judged);

}  // namespace heptad
