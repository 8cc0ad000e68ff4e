// A combine pass, run by run: the statements are carried out one after another on a run of columns short enough that
// all its slots stay in L1, so memory is read and written once per slot.
//
// A slot is used in place where its elements lie side by side in the arithmetic type. Otherwise (16-bit floats, other
// strides, scratch) its run lives in a buffer: filled before the statements if they read it, written back after them.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

#include "backend/cpu/cpu_features.hpp"
#include "backend/scalars.hpp"
#include "base/size.hpp"

namespace heptad::cpu {
namespace {

constexpr int not_used = -1;

/// All slots of the pass together in this many bytes of a run, within the limits below.
constexpr std::int64_t run_bytes_of_all_slots = 24 << 10;
constexpr std::int64_t shortest_run_bytes = 512;
constexpr std::int64_t longest_run_bytes = 4096;

struct Slot {
    View view;
    bool in_place = false;
    int buffer = not_used;  // index of its buffer
    bool fill = false;      // is read before it is written
    bool write_back = false;
};

/// One statement with its coefficients in the arithmetic type.
template <class T>
struct Operation {
    std::size_t target = 0;
    std::vector<std::size_t> sources;
    std::vector<T> coefficients;
};

/// Moves `count` elements, `stride` apart, between memory and a buffer of the arithmetic type.
template <class T>
using Gather = void (*)(const KernelTable&, const void* from, std::int64_t stride, T* to, std::int64_t count);
template <class T>
using Scatter = void (*)(const KernelTable&, const T* from, void* to, std::int64_t stride, std::int64_t count);

template <class T>
void gather_same(const KernelTable&, const void* from, std::int64_t stride, T* to, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) {
        to[j] = static_cast<const T*>(from)[j * stride];
    }
}
template <class T>
void scatter_same(const KernelTable&, const T* from, void* to, std::int64_t stride, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) {
        static_cast<T*>(to)[j * stride] = from[j];
    }
}

template <auto widen>
void gather_half(const KernelTable& kernels, const void* from, std::int64_t stride, float* to, std::int64_t count) {
    const auto* halves = static_cast<const std::uint16_t*>(from);
    if (stride == 1) {
        (kernels.*widen)(halves, to, count);
        return;
    }
    for (std::int64_t j = 0; j < count; ++j) {
        (kernels.*widen)(halves + j * stride, to + j, 1);
    }
}
template <auto narrow>
void scatter_half(const KernelTable& kernels, const float* from, void* to, std::int64_t stride, std::int64_t count) {
    auto* halves = static_cast<std::uint16_t*>(to);
    if (stride == 1) {
        (kernels.*narrow)(from, halves, count);
        return;
    }
    for (std::int64_t j = 0; j < count; ++j) {
        (kernels.*narrow)(from + j, halves + j * stride, 1);
    }
}

/// Buffers of this thread, aligned to cache lines.
std::byte* thread_buffers(std::size_t bytes) {
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    thread_local std::unique_ptr<std::byte, Free> memory;
    thread_local std::size_t held_bytes = 0;
    if (held_bytes < bytes) {
        constexpr std::size_t line = 64;
        const std::size_t size = (bytes + line - 1) / line * line;
        memory.reset(static_cast<std::byte*>(std::aligned_alloc(line, size)));
        held_bytes = memory ? size : 0;
        if (!memory) {
            throw std::bad_alloc();
        }
    }
    return memory.get();
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
struct TypedState final : CombineTasks::State {
    const KernelTable* kernels = nullptr;
    SumKernel<T> sum = nullptr;
    Gather<T> gather = nullptr;
    Scatter<T> scatter = nullptr;
    std::vector<Slot> slots;
    std::vector<Operation<T>> operations;
    std::size_t most_terms = 0;
    std::int64_t run_length = 0;
    int buffer_count = 0;

    void run(std::int64_t row, std::int64_t row_count, std::int64_t col, std::int64_t col_count) const override;
};

template <class T>
void TypedState<T>::run(std::int64_t row, std::int64_t row_count, std::int64_t col, std::int64_t col_count) const {
    // A line of padding keeps equal positions of different buffers out of the same cache set.
    const std::size_t buffer_bytes = static_cast<std::size_t>(run_length) * sizeof(T) + 64;
    std::byte* buffers =
        buffer_count > 0 ? thread_buffers(buffer_bytes * static_cast<std::size_t>(buffer_count)) : nullptr;
    std::vector<T*> runs(slots.size());
    std::vector<const T*> sources(most_terms);
    for (std::int64_t i = row; i < row + row_count; ++i) {
        for (std::int64_t j = col; j < col + col_count; j += run_length) {
            const std::int64_t count = std::min(run_length, col + col_count - j);
            for (std::size_t s = 0; s < slots.size(); ++s) {
                const Slot& slot = slots[s];
                if (slot.in_place) {
                    runs[s] = static_cast<T*>(slot.view.data) + i * slot.view.row_stride + j;
                } else if (slot.buffer != not_used) {
                    runs[s] = reinterpret_cast<T*>(buffers + buffer_bytes * static_cast<std::size_t>(slot.buffer));
                    if (slot.fill) {
                        gather(*kernels, element_pointer(slot.view, i, j), slot.view.col_stride, runs[s], count);
                    }
                }
            }
            for (const Operation<T>& operation : operations) {
                for (std::size_t t = 0; t < operation.sources.size(); ++t) {
                    sources[t] = runs[operation.sources[t]];
                }
                sum(static_cast<int>(operation.sources.size()), runs[operation.target], sources.data(),
                    operation.coefficients.data(), count);
            }
            for (std::size_t s = 0; s < slots.size(); ++s) {
                const Slot& slot = slots[s];
                if (slot.write_back) {
                    scatter(*kernels, runs[s], element_pointer(slot.view, i, j), slot.view.col_stride, count);
                }
            }
        }
    }
}

/// For every slot the first slot with the same memory: equal views are one value of the pass.
std::vector<std::size_t> representatives(const std::vector<View>& slots) {
    std::vector<std::size_t> first(slots.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
        first[s] = s;
        for (std::size_t t = 0; t < s && slots[s].data != nullptr; ++t) {
            if (slots[t].data == slots[s].data) {
                first[s] = t;
                break;
            }
        }
    }
    return first;
}

template <class Test>
bool all_in_memory(const std::vector<View>& slots, Test test) {
    return std::all_of(slots.begin(), slots.end(), [&](const View& v) { return v.data == nullptr || test(v); });
}

/// The same pass over views that are walked as fast as possible: along columns where those are contiguous, and as one
/// long row where no view has gaps between rows.
std::vector<View> walked_views(const std::vector<View>& slots) {
    std::vector<View> views = slots;
    if (!all_in_memory(views, [](const View& v) { return is_row_contiguous(v); }) &&
        all_in_memory(views, [](const View& v) { return is_column_contiguous(v); })) {
        for (View& v : views) {
            v = transposed(v);
        }
    }
    if (all_in_memory(views, [](const View& v) { return is_row_contiguous(v) && v.row_stride == v.cols; })) {
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
std::int64_t compile(TypedState<T>& state, const CombinePass& pass, bool stored_as_t, T (*coefficient_of)(double),
                     bool drop_zero_coefficients) {
    const std::vector<std::size_t> first = representatives(pass.slots);
    const std::vector<View> views = walked_views(pass.slots);
    state.rows = views.front().rows;
    state.cols = views.front().cols;
    state.slots.resize(views.size());
    for (std::size_t s = 0; s < views.size(); ++s) {
        state.slots[s].view = views[s];
        state.slots[s].in_place = views[s].data != nullptr && stored_as_t && is_row_contiguous(views[s]);
    }
    std::vector<bool> written(views.size(), false), used(views.size(), false);
    for (const CombineStatement& statement : pass.statements) {
        Operation<T> operation;
        operation.target = first[static_cast<std::size_t>(statement.target)];
        for (const CombineTerm& term : statement.terms) {
            const std::size_t source = first[static_cast<std::size_t>(term.source)];
            const T coefficient = coefficient_of(term.coefficient);
            const bool scratch_is_zero = views[source].data == nullptr && !written[source];
            if (scratch_is_zero || (drop_zero_coefficients && coefficient == T{0})) {
                continue;
            }
            state.slots[source].fill = state.slots[source].fill || !written[source];
            used[source] = true;
            operation.sources.push_back(source);
            operation.coefficients.push_back(coefficient);
        }
        written[operation.target] = true;
        used[operation.target] = true;
        state.most_terms = std::max(state.most_terms, operation.sources.size());
        state.operations.push_back(std::move(operation));
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
    const std::int64_t run_bytes = std::clamp(run_bytes_of_all_slots / std::max<std::int64_t>(used_slots, 1),
                                              shortest_run_bytes, longest_run_bytes);
    state.run_length = run_bytes / 64 * 64 / static_cast<std::int64_t>(sizeof(T));
    return std::max<std::int64_t>(memory_slots, 1);
}

/// Cuts the walked rows and columns into tasks of about `task_bytes` of traffic.
void split(CombineTasks::State& state, std::int64_t bytes_per_position, std::int64_t task_bytes,
           std::int64_t run_length) {
    if (state.rows == 0 || state.cols == 0) {
        return;
    }
    const std::int64_t positions = std::max<std::int64_t>(task_bytes / bytes_per_position, 1);
    state.rows_per_task = std::clamp<std::int64_t>(positions / state.cols, 1, state.rows);
    state.cols_per_task = state.cols;
    if (positions < state.cols) {
        state.cols_per_task = std::min(round_up(positions, run_length), state.cols);
    }
    state.tasks_down = ceil_div(state.rows, state.rows_per_task);
    state.tasks_across = ceil_div(state.cols, state.cols_per_task);
}

template <class T>
std::unique_ptr<CombineTasks::State> make_state(const CombinePass& pass, const KernelTable& kernels, SumKernel<T> sum,
                                                Gather<T> gather, Scatter<T> scatter, bool stored_as_t,
                                                T (*coefficient_of)(double), bool drop_zero_coefficients,
                                                std::int64_t task_bytes) {
    auto state = std::make_unique<TypedState<T>>();
    state->kernels = &kernels;
    state->sum = sum;
    state->gather = gather;
    state->scatter = scatter;
    const std::int64_t elements_moved = compile(*state, pass, stored_as_t, coefficient_of, drop_zero_coefficients);
    const auto stored_bytes = static_cast<std::int64_t>(element_bytes(pass.slots.front().type));
    split(*state, elements_moved * stored_bytes, task_bytes, state->run_length);
    return state;
}

}  // namespace

CombineTasks::CombineTasks(const CombinePass& pass, std::int64_t task_bytes, InstructionSet set) {
    if (pass.slots.empty()) {
        return;
    }
    const KernelTable& kernels = kernel_table_of(set);
    const auto to_f32 = +[](double x) { return static_cast<float>(x); };
    switch (pass.slots.front().type) {
        case Type::f64:
            state_ = make_state<double>(
                pass, kernels, kernels.sum_f64, gather_same<double>, scatter_same<double>, true,
                +[](double x) { return x; }, false, task_bytes);
            break;
        case Type::f32:
        case Type::tf32:
            state_ = make_state<float>(pass, kernels, kernels.sum_f32, gather_same<float>, scatter_same<float>, true,
                                       to_f32, false, task_bytes);
            break;
        case Type::bf16:
            state_ = make_state<float>(pass, kernels, kernels.sum_f32, gather_half<&KernelTable::widen_bf16>,
                                       scatter_half<&KernelTable::narrow_bf16>, false, to_f32, false, task_bytes);
            break;
        case Type::f16:
            state_ = make_state<float>(pass, kernels, kernels.sum_f32, gather_half<&KernelTable::widen_f16>,
                                       scatter_half<&KernelTable::narrow_f16>, false, to_f32, false, task_bytes);
            break;
        case Type::i32:
            state_ = make_state<std::uint32_t>(pass, kernels, kernels.sum_i32, gather_same<std::uint32_t>,
                                               scatter_same<std::uint32_t>, true, residue_mod_2_32, true, task_bytes);
            break;
        case Type::gf2:
            state_ = make_state<std::uint8_t>(
                pass, kernels, kernels.sum_xor, gather_same<std::uint8_t>, scatter_same<std::uint8_t>, true,
                +[](double x) { return static_cast<std::uint8_t>(residue_mod_2(x) ? 1 : 0); }, true, task_bytes);
            break;
        case Type::boolean:
            state_ = make_state<std::uint8_t>(
                pass, kernels, kernels.sum_or, gather_same<std::uint8_t>, scatter_same<std::uint8_t>, true,
                +[](double x) { return static_cast<std::uint8_t>(x != 0 ? 1 : 0); }, true, task_bytes);
            break;
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

}  // namespace heptad::cpu
