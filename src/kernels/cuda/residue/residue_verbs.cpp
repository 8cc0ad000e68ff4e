// The verbs of products by residues on one stream.
#include <algorithm>

#include "base/complex_as_real.hpp"
#include "kernels/cuda/device/cuda_backend_state.hpp"
#include "kernels/cuda/residue/residue_certificate.hpp"
#include "kernels/cuda/residue/residue_views.hpp"

namespace heptad::cuda {
namespace {

/// Has what is kept a place for lines of this product, from the operand's `first` on?
bool holds(const KeptOperand& kept, std::int64_t first, const ResidueLines& lines, const ResidueChoice& choice) {
    return kept.memory != nullptr && kept.depth == lines.depth && kept.first + first + lines.lines <= kept.lines &&
           kept.moduli >= choice.most && !lines.is_complex;
}

}  // namespace

void CudaBackend::keep_residues(const KeptResidues& of_a, const KeptResidues& of_b) {
    constexpr unsigned char kNothing = 0x80;  // no line is made with what four of them mean
    state_->kept[0] = {of_a};
    state_->kept[1] = {of_b};
    for (const KeptOperand& kept : state_->kept) {
        if (kept.memory != nullptr) {
            fill_bytes(kept.memory, kNothing, 2 * kept.made_bytes(), state_->stream);
        }
    }
}

void CudaBackend::place_operands(std::int64_t row, std::int64_t col) {
    state_->kept[0].first = row;
    state_->kept[1].first = col;
}

void CudaBackend::measure(const ConstView& a, const ConstView& b, const Choice& choice, void* notes) {
    State& state = *state_;
    ResidueLines(&lines)[2] = state.residues.lines;
    state.cleared_words();
    state.residues.choice = {state.guard, choice.usual, choice.most, choice.least_evenness, {}};
    for (int count = choice.usual; count <= choice.most; ++count) {
        state.residues.choice.capacity[count - choice.usual] = log2_of_integers(count);
    }
    lines[0] = lines_of(a);
    lines[1] = lines_of(turned(b));
    // Norms, then parts of them, then exponents: wider ones first.
    auto* const norms = static_cast<double*>(notes);
    const std::int64_t m = line_count(a.rows), n = line_count(b.cols);
    auto* const parts = reinterpret_cast<std::byte*>(norms + m + n);
    auto* const exponents = reinterpret_cast<std::int32_t*>(parts + (m + n) * kNormParts * kNormPartBytes);
    lines[0].log2_norm = norms;
    lines[1].log2_norm = norms + m;
    lines[0].exponents = exponents;
    lines[1].exponents = exponents + m;
    MeasuredLines measured[2];
    for (int operand = 0; operand < 2; ++operand) {
        KeptOperand& kept = state.kept[operand];
        if (const std::int64_t count = lines[operand].lines; holds(kept, 0, lines[operand], state.residues.choice)) {
            measured[operand] = kept.measured_lines(count);
            kept.measured = kept.first <= kept.measured ? std::max(kept.measured, kept.first + count) : kept.measured;
        }
    }
    const auto measure_lines = [&](const MeasuredLines(&known)[2]) {
        check_launch(launch_residue_norms(part_scalar(a.type), lines, known, parts, state.words(), state.stream),
                     "measure rows and columns");
    };
    // To judge takes a few small launches, one after another, beside one that reads everything.
    const bool judges = choice.least_evenness > 0, is_sample = judges && state.limits.may_scale;
    if (is_sample) {
        state.make_second_stream();
        state.in_turn(state.stream, state.second_stream);
        state.judge(a, b, state.second_stream);
    }
    measure_lines(measured);
    if (judges && !is_sample) {  // where the sample has its notes there are none
        static_assert(sizeof(CountedLines) <= kEvennessBytes);
        check_launch(launch_residue_certificate(part_scalar(a.type), lines, parts,
                                                reinterpret_cast<CountedLines*>(state.guard_data() + kGuardBytes),
                                                state.words(), state.stream),
                     "count the numbers of rows and columns");
        return;
    }
    if (is_sample) {
        state.in_turn(state.second_stream, state.stream);
    }
    // Vectors that nobody judged are zeros, and so is the word that says whether they count.
    const State::Lines of_a = state.lines(0), of_b = state.lines(1);
    lines[0].inner = of_a.cols;
    lines[0].outer = of_a.rows;
    lines[1].inner = of_b.rows;
    lines[1].outer = of_b.cols;
    lines[0].scaled = lines[1].scaled = &state.words()->scaled;
    measure_lines({});
}

void CudaBackend::convert(std::span<const Block> blocks) {
    if (state_->residues.is_exact) {
        return convert_exactly(blocks);
    }
    State::Residues& residues = state_->residues;
    ResidueConvert launch;
    MadeLines made[2];
    launch.scalar = part_scalar(blocks.front().block.type);
    launch.choice = state_->residues.choice;
    for (const Block& one : blocks) {
        const ResidueLines& all = state_->residues.lines[one.operand];
        ResidueLines& lines = launch.from[launch.count];
        lines = lines_of(one.operand == 0 ? one.block : turned(one.block));
        lines.inner = all.inner;
        lines.scaled = all.scaled;
        lines.log2_norm = all.log2_norm + one.first;
        lines.exponents = all.exponents + one.first;
        launch.operand[launch.count] = one.operand;
        BytePlanes& to = launch.to[launch.count];
        to = byte_planes(one.to);
        const KeptOperand& kept = state_->kept[one.operand];
        residues.kept.forget(to.data);
        // No sums of levels in its place, nor lines that are appended for those.
        const bool is_as_kept = to.levels == 0 && to.lines == lines.lines && to.line_bytes == kept.line_bytes();
        if (is_as_kept && holds(kept, one.first, lines, launch.choice)) {
            const BytePlanes made_there = kept.planes(kept.first + one.first, to);
            residues.kept.put(one.operand, to.data, made_there);
            to = made_there;
            made[launch.count] = kept.made(kept.first + one.first);
        }
        ++launch.count;
    }
    const bool keeps = made[0].before != nullptr || made[1].before != nullptr;
    check_launch(keeps ? launch_residue_convert_kept(launch, made, state_->stream)
                       : launch_residue_convert(launch, state_->stream),
                 "take residues");
}

void CudaBackend::add_planes(const PlaneSums& sums, const ResiduePlanes& from, const ResiduePlanes& to) {
    State::Residues& residues = state_->residues;
    check_launch(launch_residue_plane_sums(sums, residues.kept.found(byte_planes(from)), byte_planes(to),
                                           residues.choice, state_->stream),
                 "add residues up");
    residues.kept.forget(from.data);  // products may come to lie there
}

void CudaBackend::multiply_planes(const ResiduePlanes& a, const ResiduePlanes& b, const ResiduePlanes& c) {
    const State::Residues& residues = state_->residues;
    check_launch(launch_residue_multiply({residues.kept.found(byte_planes(a)), residues.kept.found(byte_planes(b)),
                                          byte_planes(c), residues.choice},
                                         state_->stream),
                 "multiply residues");
}

void CudaBackend::rebuild(const ResiduePlanes& from, const Product& factors, const View& c, std::int64_t row,
                          std::int64_t col) {
    const State::Residues& residues = state_->residues;
    if (residues.is_exact) {
        return rebuild_exactly(from, factors.alpha, factors.beta, c, row, col);
    }
    check_launch(
        launch_residue_rebuild({part_scalar(c.type), byte_planes(from), residues.lines[0].exponents + row,
                                residues.lines[1].exponents + col, factors.alpha, factors.beta, device_matrix(c),
                                residues.choice, factors.imaginary.alpha, factors.imaginary.beta},
                               state_->stream),
        "put residues together");
}

}  // namespace heptad::cuda
