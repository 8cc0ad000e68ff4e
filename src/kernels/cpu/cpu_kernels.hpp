// The single-threaded kernels of the cpu backend. Everything here is thread safe and deals with a part of the work, so
// that a backend can hand the parts to threads as dynamic tasks. Preconditions are those of kernels/backend.hpp.
//
// Every kernel exists once per instruction set, from one source (microkernel_*.hpp and what they include), and is
// chosen at run time; an argument forces one, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/backend.hpp"

namespace heptad::cpu {

enum class InstructionSet : std::uint8_t { scalar, neon, i8mm, avx2, avx512, avx512bf16, amx };
inline constexpr std::size_t instruction_set_count = 7;

/// "scalar", "neon", "i8mm" (NEON and its matrix instructions on bytes), "avx2", "avx512", "avx512bf16" (and its
/// instructions on bf16), "amx" (AVX-512 and tiles of bf16).
const char* instruction_set_name(InstructionSet set) noexcept;
/// Those that this build has and this processor can run, best first; never empty.
const std::vector<InstructionSet>& available_instruction_sets();
inline InstructionSet best_instruction_set() {
    return available_instruction_sets().front();
}

/// A combine pass made ready once, then carried out task by task in any order, each task by one thread.
/// Tasks are parts of the blocks of about `task_bytes` of memory traffic, and write disjoint memory.
/// The pass is copied: it need not outlive the constructor. Does every type (boolean: OR).
class CombineTasks {
public:
    static constexpr std::int64_t default_task_bytes = std::int64_t{1} << 20;
    explicit CombineTasks(const CombinePass& pass, std::int64_t task_bytes = default_task_bytes,
                          InstructionSet set = best_instruction_set());
    ~CombineTasks();
    CombineTasks(CombineTasks&&) noexcept;
    CombineTasks& operator=(CombineTasks&&) noexcept;

    std::int64_t count() const;
    void run(std::int64_t task) const;

    struct State;  // of combine.cpp

private:
    std::unique_ptr<State> state_;
};

/// The whole pass on the calling thread.
void combine(const CombinePass& pass, InstructionSet set = best_instruction_set());

/// Largest absolute values of a view, its rows and its columns, as ScanResult says.
ScanResult scan_view(const ConstView& view, InstructionSet set = best_instruction_set());
/// The scan of a view from those of its bands, from the top down or (by_rows = false) from the left to the right.
ScanResult merge_scans(const std::vector<ScanResult>& bands, bool by_rows);

/// c = beta * c; beta == 0 writes zeros and does not read c. Any strides and type.
void scale_view(double beta, const View& c, InstructionSet set = best_instruction_set());

/// view = 2^rows(i) view 2^cols(j) on the calling thread, for floats.
void scale_lines(const View& view, const LineExponents& lines);

/// The types of A and B that gemm() can do: floats, i32 and i64. C has the same, or is f32 where those are bf16 or f16.
bool gemm_supports(Type type) noexcept;
/// c = alpha * a * b + beta * c on the calling thread; any strides and sizes. Parts: call it on tiles of c with the
/// matching rows of a and columns of b. An element's value does not depend on the tile it is computed in, as long as
/// k is not split. Throws Error(resource) if the scratch memory cannot be allocated.
void gemm(const Product& product, InstructionSet set = best_instruction_set());
/// The same for tf32, bf16 and f16.
void gemm_short(const Product& product, InstructionSet set);
/// gemm() makes products of f32 of bf16 here (microkernel_amx_f32.cpp): faster than libraries, with smaller errors.
bool multiplies_f32_by_bf16();
/// Bytes of packing memory that a thread holds (once, for all its calls) after its first gemm().
std::int64_t gemm_scratch_bytes(InstructionSet set = best_instruction_set());
}  // namespace heptad::cpu
