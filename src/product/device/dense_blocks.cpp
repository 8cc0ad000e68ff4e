#include "product/device/dense_blocks.hpp"

#include <algorithm>
#include <vector>

namespace heptad {
namespace {

/// The part of a block that lies inside the matrix.
ConstView clipped(const ConstView& matrix, const BlockCut& cut, int index) {
    const auto [row, rows, col, cols] = cut.inside(index, matrix.rows, matrix.cols);
    return rows > 0 && cols > 0 ? block(matrix, row, col, rows, cols) : ConstView(nullptr, matrix.type, 0, 0, 0, 0);
}

/// A pass only reads what its statements do not name as a target.
View as_source(const ConstView& view) {
    return {const_cast<void*>(view.data), view.type, view.rows, view.cols, view.row_stride, view.col_stride};
}

/// One rectangle of the sum, in which every part either covers all or nothing.
void sum_rectangle(Backend& backend, std::span<const BlockPart> parts, std::int64_t row, std::int64_t col,
                   const View& to) {
    CombinePass pass{{to}, {{0, {}}}};
    for (const BlockPart& part : parts) {
        if (part.view.rows >= row + to.rows && part.view.cols >= col + to.cols) {
            pass.statements[0].terms.push_back({static_cast<int>(pass.slots.size()), part.coefficient});
            pass.slots.push_back(as_source(block(part.view, row, col, to.rows, to.cols)));
            pass.exponents.push_back(part.lines.of_block(row, col));
        }
    }
    if (std::all_of(pass.exponents.begin(), pass.exponents.end(),
                    [](const LineExponents& lines) { return lines == LineExponents{}; })) {
        pass.exponents.clear();
    } else {
        pass.exponents.insert(pass.exponents.begin(), LineExponents{});
        pass.written_exponents.resize(pass.slots.size());
    }
    const auto& terms = pass.statements[0].terms;
    if (terms.size() == 1 && terms[0].coefficient == 1 && pass.exponents.empty()) {
        backend.copy(pass.slots[1], to);
    } else {
        backend.combine(pass);
    }
}

}  // namespace

std::vector<std::int64_t> sorted_edges(std::vector<std::int64_t> edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

void sum_parts(Backend& backend, std::span<const BlockPart> parts, const View& to) {
    std::vector<std::int64_t> row_edges{0, to.rows}, col_edges{0, to.cols};
    for (const BlockPart& part : parts) {
        row_edges.push_back(part.view.rows);
        col_edges.push_back(part.view.cols);
    }
    row_edges = sorted_edges(std::move(row_edges));
    col_edges = sorted_edges(std::move(col_edges));
    for (std::size_t i = 0; i + 1 < row_edges.size(); ++i) {
        for (std::size_t j = 0; j + 1 < col_edges.size(); ++j) {
            sum_rectangle(backend, parts, row_edges[i], col_edges[j],
                          block(to, row_edges[i], col_edges[j], row_edges[i + 1] - row_edges[i],
                                col_edges[j + 1] - col_edges[j]));
        }
    }
}

void sum_blocks(Backend& backend, const ConstView& matrix, const LineExponents& lines, const BlockCut& cut,
                std::span<const BlockTerm> terms, const View& to) {
    std::vector<BlockPart> parts;
    for (const BlockTerm& term : terms) {
        const ConstView inside = clipped(matrix, cut, term.block);
        if (inside.rows > 0) {
            parts.push_back(
                {inside, term.coefficient, lines.of_block(cut.first_row(term.block), cut.first_col(term.block))});
        }
    }
    sum_parts(backend, parts, to);
}

void update_block(Backend& backend, const View& matrix, const LineExponents& lines, const BlockCut& cut,
                  int block_index, double coefficient, double beta, const ConstView& from) {
    const View target = as_source(clipped(matrix, cut, block_index));
    if (target.rows > 0) {
        update_part(backend, target, coefficient, beta, from,
                    lines.of_block(cut.first_row(block_index), cut.first_col(block_index)));
    }
}

void update_part(Backend& backend, const View& target, double coefficient, double beta, const ConstView& from,
                 const LineExponents& lines) {
    const ConstView source = block(from, 0, 0, target.rows, target.cols);
    if (beta == 0 && coefficient == 1 && lines == LineExponents{}) {
        backend.copy(source, target);
        return;
    }
    CombinePass pass{{target, as_source(source)}, {{0, {{1, coefficient}}}}};
    if (beta != 0) {
        pass.statements[0].terms.push_back({0, beta});
    }
    if (lines != LineExponents{}) {
        pass.exponents = pass.written_exponents = {lines, {}};
    }
    backend.combine(pass);
}

void update_parts(Backend& backend, std::span<const PartUpdate> updates, const ConstView& from) {
    const auto as_first = [&](const PartUpdate& update) {
        return update.target.rows == updates[0].target.rows && update.target.cols == updates[0].target.cols;
    };
    if (updates.size() < 2 || !std::all_of(updates.begin(), updates.end(), as_first)) {
        for (const PartUpdate& update : updates) {
            update_part(backend, update.target, update.coefficient, update.beta, from);
        }
        return;
    }
    CombinePass pass{{as_source(block(from, 0, 0, updates[0].target.rows, updates[0].target.cols))}, {}};
    for (const PartUpdate& update : updates) {
        const auto target = static_cast<int>(pass.slots.size());
        pass.slots.push_back(update.target);
        pass.statements.push_back({target, {{0, update.coefficient}}});
        if (update.beta != 0) {
            pass.statements.back().terms.push_back({target, update.beta});
        }
    }
    backend.combine(pass);
}

}  // namespace heptad
