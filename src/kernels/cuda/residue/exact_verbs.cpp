// The verbs of products by residues that round nothing on the way.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/cuda/device/cuda_backend_state.hpp"
#include "kernels/cuda/residue/exact_integers.hpp"
#include "kernels/cuda/residue/refused_replays.hpp"
#include "kernels/cuda/residue/residue_views.hpp"
#include "kernels/scalars.hpp"

namespace heptad::cuda {
namespace {

ExactElement exact_element(Type type) {
    return type == Type::i64 ? ExactElement::i64 : type == Type::f64 ? ExactElement::f64 : ExactElement::f32;
}

/// The lines from `first` on.
ResidueLines lines_from(ResidueLines lines, std::int64_t first, std::int64_t element_bytes) {
    lines.data = static_cast<const std::byte*>(lines.data) + first * lines.line_stride * element_bytes;
    lines.lines -= first;
    lines.exponents = lines.exponents == nullptr ? nullptr : lines.exponents + first;
    return lines;
}

}  // namespace

std::optional<ResidueKernels::Norms> CudaBackend::measure_exactly(const ConstView& a, const ConstView& b, void* notes) {
    State& state = *state_;
    ResidueLines(&lines)[2] = state.residues.lines;
    lines[0] = lines_of(a);
    lines[1] = lines_of(transposed(b));
    if (a.type == Type::i64) {  // they may be any
        const double norm = kLog2OfWords + std::log2(static_cast<double>(a.cols)) / 2;
        return Norms{norm, norm};
    }
    // Parts of lines, then exponents: wider ones first.
    const std::int64_t m = line_count(a.rows), n = line_count(b.cols);
    auto* const exponents =
        reinterpret_cast<std::int32_t*>(static_cast<std::byte*>(notes) + (m + n) * kNormParts * kNormPartBytes);
    lines[0].exponents = exponents;
    lines[1].exponents = exponents + m;
    auto* const words = reinterpret_cast<ExactWords*>(state.reserved);
    check_launch(launch_exact_lines(exact_element(a.type), lines, notes, words, state.stream),
                 "look for the lowest bits of rows and columns");
    if (state.is_captured()) {
        return std::nullopt;
    }
    ExactWords found{};
    check(cudaMemcpyAsync(&found, words, sizeof(found), cudaMemcpyDeviceToHost, state.stream), "fetch norms");
    check(cudaStreamSynchronize(state.stream), "wait for norms");
    raise_noted_refusal(state.device);
    return Norms{std::bit_cast<double>(found.norms[0]), std::bit_cast<double>(found.norms[1])};
}

void CudaBackend::take_moduli(int count, const std::optional<Norms>& norms) {
    State::Residues& residues = state_->residues;
    residues.is_exact = true;
    residues.has_norms = norms.has_value();
    residues.pieces = norms ? number_pieces(std::max(norms->a, norms->b)) : kMostNumberPieces;
    residues.choice = {};
    residues.choice.usual = residues.choice.most = count;
}

void CudaBackend::convert_exactly(std::span<const Block> blocks) {
    const State::Residues& residues = state_->residues;
    ExactConvert launch;
    launch.element = exact_element(blocks.front().block.type);
    launch.moduli = residues.choice.usual;
    launch.pieces = residues.pieces;
    for (const Block& one : blocks) {
        ResidueLines& lines = launch.lines.from[launch.lines.count];
        lines = lines_of(one.operand == 0 ? one.block : transposed(one.block));
        std::int32_t* const exponents = residues.lines[one.operand].exponents;
        lines.exponents = exponents == nullptr ? nullptr : exponents + one.first;
        launch.lines.operand[launch.lines.count] = one.operand;
        launch.lines.to[launch.lines.count++] = byte_planes(one.to);
    }
    check_launch(launch_exact_convert(launch, state_->stream), "take residues");
}

void CudaBackend::rebuild_exactly(const ResiduePlanes& from, double alpha, double beta, const View& c, std::int64_t row,
                                  std::int64_t col) {
    const State::Residues& residues = state_->residues;
    const auto bytes = static_cast<std::int64_t>(element_bytes(c.type));
    ExactRebuild launch;
    launch.element = exact_element(c.type);
    launch.residues = byte_planes(from);
    launch.moduli = residues.choice.usual;
    launch.rows = lines_from(residues.lines[0], row, bytes);
    launch.cols = lines_from(residues.lines[1], col, bytes);
    launch.alpha = alpha;
    launch.beta = beta;
    launch.alpha_of_ring = residue_mod_2_64(alpha);
    launch.beta_of_ring = residue_mod_2_64(beta);
    launch.c = device_matrix(c);
    if (!residues.has_norms) {
        launch.words = reinterpret_cast<const ExactWords*>(state_->reserved);
        launch.refused = refusal_note(state_->device);
    }
    launch.capacity = log2_of_moduli(launch.moduli) - kSignAndMargin;
    check_launch(launch_exact_rebuild(launch, state_->stream), "put residues together");
}

}  // namespace heptad::cuda
