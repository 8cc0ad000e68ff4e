// A combine pass, tile by tile: the statements are carried out one after another on a tile of a few rows, short enough
// that all its slots stay in L1, so memory is read and written once per slot.
//
// A slot is used in place where its elements lie side by side in the arithmetic type. Otherwise (16-bit floats, other
// strides, scratch) its tile lives in a buffer: filled before the statements if they read it, written back after them.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/shared_state.hpp"
#include "base/size.hpp"
#include "kernels/cpu/combine_arithmetic.hpp"
#include "kernels/cpu/cpu_features.hpp"
#include "kernels/equal_slots.hpp"

namespace heptad::cpu {
namespace {

constexpr int not_used = -1;

/// Views without gaps are one long row: all slots of the pass together take this many bytes of a run, within limits.
constexpr std::int64_t run_bytes_of_all_slots = 24 << 10;
constexpr std::int64_t shortest_run_bytes = 512;
constexpr std::int64_t longest_run_bytes = 4096;
/// Otherwise several rows advance side by side in short runs: each jump to a new row costs a hardware prefetcher some
/// memory latencies, which then overlap (measured on Neoverse V1: 28 GB/s instead of 21 for c = a - b).
constexpr std::int64_t side_by_side_run_bytes = 256;
constexpr std::int64_t side_by_side_streams = 32;
constexpr std::int64_t side_by_side_rows_at_most = 4;

/// Passes that move more than this do not find their results in a cache afterwards: those that are not read again
/// within the pass are stored past the caches (measured on a Xeon, two cores: 29 to 53 GB/s instead of 20 to 37).
constexpr std::int64_t streamed_from_bytes = std::int64_t{16} << 20;

struct Slot {
    View view;
    bool in_place = false;
    int buffer = not_used;  // index of its buffer
    bool fill = false;      // is read before it is written
    bool write_back = false;
    LineExponents read_as, written_as;
    double keep = 0;  // of what is in memory, beside what is written with exponents
};

/// One statement: its terms are a range of the list of all terms.
template <class T>
struct Operation {
    SumKernel<T> sum = nullptr;
    std::size_t target = 0;
    std::size_t first_term = 0;
    int terms = 0;
};

/// Buffers of this thread, aligned to cache lines. By operator new, of which the BLAS drop-in has a reserve.
std::byte* thread_buffers(std::size_t bytes) {
    struct Buffers {
        std::unique_ptr<std::byte[]> memory;
        std::size_t held_bytes = 0;
    };
    auto& [memory, held_bytes] = per_thread<Buffers, Buffers>();
    constexpr std::size_t line = 64;
    if (held_bytes < bytes) {
        memory.reset();
        held_bytes = 0;
        memory = std::make_unique_for_overwrite<std::byte[]>(bytes + line);
        held_bytes = bytes;
    }
    const auto past = reinterpret_cast<std::uintptr_t>(memory.get()) % line;
    return memory.get() + (line - past) % line;
}

}  // namespace

struct CombineTasks::State {
    virtual ~State() = default;
    virtual void run(std::int64_t row, std::int64_t rows, std::int64_t col, std::int64_t cols) const = 0;

    std::int64_t rows = 0, cols = 0;  // of every slot, as walked
    std::int64_t rows_per_task = 1, cols_per_task = 1;
    std::int64_t tasks_down = 0, tasks_across = 0;
};

namespace {

template <class T>
void times_powers(const KernelTable& kernels, const LineExponents& lines, int sign, std::int64_t row, std::int64_t col,
                  T* values, std::int64_t count) {
    const std::int32_t of_row = lines.rows == nullptr ? 0 : lines.rows[row];
    const std::int32_t* const of_cols = lines.cols == nullptr ? nullptr : lines.cols + col;
    if constexpr (std::is_same_v<T, float>) {
        kernels.times_powers_f32(values, count, of_row, of_cols, sign);
    } else if constexpr (std::is_same_v<T, double>) {
        kernels.times_powers_f64(values, count, of_row, of_cols, sign);
    }
}

template <class T>
struct TypedState final : CombineTasks::State {
    const KernelTable* kernels = nullptr;
    Arithmetic<T> arithmetic;
    std::vector<Slot> slots;
    std::vector<Operation<T>> operations;
    std::vector<SumTerm<T>> terms;        // of all operations; the pointers are set tile by tile
    std::vector<std::size_t> term_slots;  // the slot of each term
    std::int64_t run_length = 0;
    std::int64_t rows_side_by_side = 1;
    int buffer_count = 0;
    bool streams = false;

    void run(std::int64_t row, std::int64_t row_count, std::int64_t col, std::int64_t col_count) const override;
    void run_tile(std::int64_t i, std::int64_t tile_rows, std::int64_t j, std::int64_t tile_cols,
                  std::vector<T*>& tiles, std::vector<SumTerm<T>>& tile_terms) const;
    void write_with_powers(const Slot& slot, std::int64_t row, std::int64_t col, T* values, std::int64_t count) const;
    std::int64_t tile_stride(const Slot& slot) const { return slot.in_place ? slot.view.row_stride : run_length; }
};

template <class T>
void TypedState<T>::run(std::int64_t row, std::int64_t row_count, std::int64_t col, std::int64_t col_count) const {
    // A line of padding keeps equal positions of different buffers out of the same cache set.
    const std::size_t buffer_bytes = static_cast<std::size_t>(rows_side_by_side * run_length) * sizeof(T) + 64;
    std::byte* buffers =
        buffer_count > 0 ? thread_buffers(buffer_bytes * static_cast<std::size_t>(buffer_count)) : nullptr;
    std::vector<T*> tiles(slots.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
        if (slots[s].buffer != not_used) {
            tiles[s] = reinterpret_cast<T*>(buffers + buffer_bytes * static_cast<std::size_t>(slots[s].buffer));
        }
    }
    std::vector<SumTerm<T>> tile_terms = terms;
    for (std::int64_t i = row; i < row + row_count; i += rows_side_by_side) {
        const std::int64_t tile_rows = std::min(rows_side_by_side, row + row_count - i);
        for (std::int64_t j = col; j < col + col_count; j += run_length) {
            run_tile(i, tile_rows, j, std::min(run_length, col + col_count - j), tiles, tile_terms);
        }
    }
    if (streams) {
        kernels->finish_streams();
    }
}

template <class T>
void TypedState<T>::run_tile(std::int64_t i, std::int64_t tile_rows, std::int64_t j, std::int64_t tile_cols,
                             std::vector<T*>& tiles, std::vector<SumTerm<T>>& tile_terms) const {
    for (std::size_t s = 0; s < slots.size(); ++s) {
        const Slot& slot = slots[s];
        if (slot.in_place) {
            tiles[s] = static_cast<T*>(slot.view.data) + i * slot.view.row_stride + j;
        } else if (slot.fill) {
            for (std::int64_t r = 0; r < tile_rows; ++r) {
                arithmetic.gather(*kernels, element_pointer(slot.view, i + r, j), slot.view.col_stride,
                                  tiles[s] + r * run_length, tile_cols);
                if (slot.read_as != LineExponents{}) {
                    times_powers(*kernels, slot.read_as, 1, i + r, j, tiles[s] + r * run_length, tile_cols);
                }
            }
        }
    }
    for (std::size_t t = 0; t < tile_terms.size(); ++t) {
        tile_terms[t].data = tiles[term_slots[t]];
    }
    for (const Operation<T>& operation : operations) {
        operation.sum(operation.terms, tile_terms.data() + operation.first_term, tiles[operation.target],
                      tile_stride(slots[operation.target]), tile_rows, tile_cols);
    }
    for (std::size_t s = 0; s < slots.size() && buffer_count > 0; ++s) {
        const Slot& slot = slots[s];
        for (std::int64_t r = 0; r < tile_rows && slot.write_back; ++r) {
            if (slot.written_as != LineExponents{}) {
                write_with_powers(slot, i + r, j, tiles[s] + r * run_length, tile_cols);
            }
            arithmetic.scatter(*kernels, tiles[s] + r * run_length, element_pointer(slot.view, i + r, j),
                               slot.view.col_stride, tile_cols);
        }
    }
}

/// Takes the powers out of a row of sums, and adds what the slot keeps.
template <class T>
void TypedState<T>::write_with_powers(const Slot& slot, std::int64_t row, std::int64_t col, T* values,
                                      std::int64_t count) const {
    times_powers(*kernels, slot.written_as, -1, row, col, values, count);
    if (slot.keep != 0) {
        constexpr std::int64_t few = 256;
        T old[few];
        const T keep = arithmetic.coefficient_of(slot.keep);
        for (std::int64_t first = 0; first < count; first += few) {
            const std::int64_t some = std::min(few, count - first);
            arithmetic.gather(*kernels, element_pointer(slot.view, row, col + first), slot.view.col_stride, old, some);
            for (std::int64_t e = 0; e < some; ++e) {
                values[first + e] = static_cast<T>(values[first + e] + keep * old[e]);
            }
        }
    }
}

template <class Test>
bool all_in_memory(const std::vector<View>& slots, Test test) {
    return std::ranges::all_of(slots, [&](const View& v) { return v.data == nullptr || test(v); });
}

/// The same pass over views that are walked as fast as possible: along columns where those are contiguous, and as one
/// long row where no view has gaps between rows.
std::vector<View> walked_views(const CombinePass& pass, bool& turned) {
    std::vector<View> views = pass.slots;
    turned = false;
    if (!all_in_memory(views, [](const View& v) { return is_row_contiguous(v); }) &&
        all_in_memory(views, [](const View& v) { return is_column_contiguous(v); })) {
        turned = true;
        for (View& v : views) {
            v = transposed(v);
        }
    }
    if (pass.exponents.empty() &&
        all_in_memory(views, [](const View& v) { return is_row_contiguous(v) && v.row_stride == v.cols; })) {
        for (View& v : views) {
            v.cols = v.rows * v.cols;
            v.row_stride = v.cols;
            v.col_stride = 1;
            v.rows = 1;
        }
    }
    return views;
}

/// Fills in the state but for its tasks; returns how many elements are moved from or to memory per position.
template <class T>
std::int64_t compile(TypedState<T>& state, const CombinePass& pass) {
    const std::vector<std::size_t> first = first_equal_slots(pass.slots);
    bool turned = false;
    const std::vector<View> views = walked_views(pass, turned);
    state.rows = views.front().rows;
    state.cols = views.front().cols;
    state.slots.resize(views.size());
    for (std::size_t s = 0; s < views.size(); ++s) {
        state.slots[s].view = views[s];
        state.slots[s].in_place =
            views[s].data != nullptr && state.arithmetic.stored_as_t && is_row_contiguous(views[s]);
        if (!pass.exponents.empty()) {
            Slot& slot = state.slots[first[s]];
            const auto walked = [&](LineExponents lines) {
                return turned ? LineExponents{lines.cols, lines.rows} : lines;
            };
            slot.read_as = walked(pass.exponents[first[s]]);
            slot.written_as = walked(pass.written_exponents[first[s]]);
            slot.in_place = slot.in_place && slot.read_as == LineExponents{} && slot.written_as == LineExponents{};
        }
    }
    // Slots in memory that the pass writes once and never reads.
    std::vector<int> reads(views.size(), 0), writes(views.size(), 0);
    std::int64_t bytes = 0;
    for (const CombineStatement& statement : pass.statements) {
        ++writes[first[static_cast<std::size_t>(statement.target)]];
        for (const CombineTerm& term : statement.terms) {
            ++reads[first[static_cast<std::size_t>(term.source)]];
        }
    }
    for (std::size_t s = 0; s < views.size(); ++s) {
        const bool in_memory = views[s].data != nullptr && reads[s] + writes[s] > 0;
        bytes += in_memory ? state.rows * state.cols * static_cast<std::int64_t>(sizeof(T)) : 0;
    }
    const auto store_of = [&](std::size_t target) {
        const bool once = state.slots[target].in_place && reads[target] == 0 && writes[target] == 1;
        return once && bytes >= streamed_from_bytes ? SumStore::streamed : SumStore::cached;
    };
    std::vector<bool> written(views.size(), false), used(views.size(), false);
    for (const CombineStatement& statement : pass.statements) {
        Operation<T> operation;
        operation.first_term = state.terms.size();
        operation.target = first[static_cast<std::size_t>(statement.target)];
        for (const CombineTerm& term : statement.terms) {
            const std::size_t source = first[static_cast<std::size_t>(term.source)];
            const T coefficient = state.arithmetic.coefficient_of(term.coefficient);
            const bool scratch_is_zero = views[source].data == nullptr && !written[source];
            if (source == operation.target && !written[source] && state.slots[source].written_as != LineExponents{} &&
                state.slots[source].read_as == state.slots[source].written_as) {
                state.slots[source].keep = term.coefficient;
                continue;
            }
            if (scratch_is_zero || (state.arithmetic.drop_zero_coefficients && coefficient == T{0})) {
                continue;
            }
            state.slots[source].fill = state.slots[source].fill || !written[source];
            used[source] = true;
            ++operation.terms;
            state.terms.push_back({nullptr, 0, coefficient});
            state.term_slots.push_back(source);
        }
        written[operation.target] = true;
        used[operation.target] = true;
        const SumStore store = store_of(operation.target);
        state.streams = state.streams || store == SumStore::streamed;
        operation.sum = state.arithmetic.choose_sum(operation.terms, state.terms.data() + operation.first_term, store);
        state.operations.push_back(operation);
    }
    std::int64_t used_slots = 0;
    std::int64_t memory_slots = 0;
    for (std::size_t s = 0; s < views.size(); ++s) {
        Slot& slot = state.slots[s];
        if (!used[s]) {
            slot.in_place = false;
            continue;
        }
        ++used_slots;
        memory_slots += views[s].data != nullptr ? (slot.fill ? 1 : 0) + (written[s] ? 1 : 0) : 0;
        if (!slot.in_place) {
            slot.buffer = state.buffer_count++;
            slot.write_back = views[s].data != nullptr && written[s];
        }
    }
    std::int64_t run_bytes = side_by_side_run_bytes;
    if (state.rows > 1) {
        state.rows_side_by_side = std::clamp<std::int64_t>(side_by_side_streams / std::max<std::int64_t>(used_slots, 1),
                                                           1, side_by_side_rows_at_most);
    } else {
        run_bytes = std::clamp(run_bytes_of_all_slots / std::max<std::int64_t>(used_slots, 1), shortest_run_bytes,
                               longest_run_bytes);
    }
    state.run_length = run_bytes / static_cast<std::int64_t>(sizeof(T)) / 32 * 32;
    for (std::size_t t = 0; t < state.terms.size(); ++t) {
        state.terms[t].row_stride = state.tile_stride(state.slots[state.term_slots[t]]);
    }
    return std::max<std::int64_t>(memory_slots, 1);
}

/// Cuts the walked rows and columns into tasks of about `task_bytes` of traffic.
void split(CombineTasks::State& state, std::int64_t bytes_per_position, std::int64_t task_bytes,
           std::int64_t run_length) {
    if (state.rows == 0 || state.cols == 0) {
        return;
    }
    const std::int64_t positions = std::max<std::int64_t>(task_bytes / bytes_per_position, 1);
    state.rows_per_task = std::clamp<std::int64_t>(positions / state.cols / 4 * 4, 1, state.rows);
    state.cols_per_task = state.cols;
    if (positions < state.cols) {
        state.cols_per_task = std::min(round_up(positions, run_length), state.cols);
    }
    state.tasks_down = ceil_div(state.rows, state.rows_per_task);
    state.tasks_across = ceil_div(state.cols, state.cols_per_task);
}

template <class T>
std::unique_ptr<CombineTasks::State> make_state(const CombinePass& pass, const KernelTable& kernels,
                                                const Arithmetic<T>& arithmetic, std::int64_t task_bytes) {
    auto state = std::make_unique<TypedState<T>>();
    state->kernels = &kernels;
    state->arithmetic = arithmetic;
    const std::int64_t elements_moved = compile(*state, pass);
    const auto stored_bytes = static_cast<std::int64_t>(element_bytes(pass.slots.front().type));
    split(*state, elements_moved * stored_bytes, task_bytes, state->run_length);
    return state;
}

}  // namespace

CombineTasks::CombineTasks(const CombinePass& pass, std::int64_t task_bytes, InstructionSet set) {
    if (!pass.slots.empty()) {
        const KernelTable& kernels = kernel_table_of(set);
        state_ = with_arithmetic(pass.slots.front().type, kernels, [&](const auto& arithmetic) {
            return make_state(pass, kernels, arithmetic, task_bytes);
        });
    }
}

CombineTasks::~CombineTasks() = default;
CombineTasks::CombineTasks(CombineTasks&&) noexcept = default;
CombineTasks& CombineTasks::operator=(CombineTasks&&) noexcept = default;

std::int64_t CombineTasks::count() const {
    return state_ ? state_->tasks_down * state_->tasks_across : 0;
}

void CombineTasks::run(std::int64_t task) const {
    const std::int64_t row = task / state_->tasks_across * state_->rows_per_task;
    const std::int64_t col = task % state_->tasks_across * state_->cols_per_task;
    state_->run(row, std::min(state_->rows_per_task, state_->rows - row), col,
                std::min(state_->cols_per_task, state_->cols - col));
}

void combine(const CombinePass& pass, InstructionSet set) {
    const CombineTasks tasks(pass, std::numeric_limits<std::int64_t>::max(), set);
    for (std::int64_t task = 0; task < tasks.count(); ++task) {
        tasks.run(task);
    }
}

void scale_view(double beta, const View& c, InstructionSet set) {
    if (beta == 1) {
        return;
    }
    CombinePass pass{{c}, {{0, {}}}};
    if (beta != 0) {
        pass.statements.front().terms.push_back({0, beta});
    }
    combine(pass, set);
}

void scale_lines(const View& view, const LineExponents& lines) {
    if (lines != LineExponents{} && view.rows > 0 && view.cols > 0) {
        CombinePass pass{{view}, {{0, {{0, 1}}}}};
        pass.exponents = {lines};
        pass.written_exponents = {{}};
        combine(pass);
    }
}

}  // namespace heptad::cpu
