#include "api/cublas/cublas_takeover.hpp"

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "api/drop_in/knobs.hpp"
#include "base/shared_state.hpp"

namespace heptad::cublas {
namespace {

/// Below these no plan for an H200 beats its cuBLAS by its measured figures (machines/h200.json); what pays above them,
/// the planner says.
struct Row {
    std::int64_t side;
    double cube_side;
};
constexpr std::array<Row, kTypes> kTable{
    {{512, 1024}, {4096, 8192}, {1024, 2048}, {4096, 8192}, {512, 1024}, {512, 1536}}};

constexpr std::int64_t kBeyondAll = std::numeric_limits<std::int64_t>::max();

constinit std::atomic<bool> is_on{true};
constinit std::array<std::atomic<std::uint64_t>, 1024> refused{};

/// NVIDIA_TF32_OVERRIDE goes before what callers say: with 0 no call may use tf32, with another number all of f32 and
/// c64 do.
bool is_overridden(std::size_t type) {
    const char* const word = std::getenv("NVIDIA_TF32_OVERRIDE");
    if (word == nullptr) {
        return false;
    }
    return std::strcmp(word, "0") == 0 ? type == type_index(Type::tf32)
                                       : type == type_index(Type::f32) || type == type_index(Type::c64);
}

void fill_limits() {
    const drop_in::Knobs& asked = drop_in::knobs();
    for (std::size_t i = 0; i < kTable.size(); ++i) {
        const auto [side, cube_side] = kTable[i];
        const bool by_table = asked.min_size == 0;
        const bool none = asked.off || asked.workspace_bytes == 0 || !is_on.load() || is_overridden(i);
        limits[i].cube.store(by_table ? cube_side * cube_side * cube_side : 0, std::memory_order_relaxed);
        limits[i].side.store(none ? kBeyondAll : by_table ? side : asked.min_size, std::memory_order_relaxed);
    }
}

}  // namespace

constinit std::array<Limits, kTypes> limits{
    {{kBeyondAll, 0}, {kBeyondAll, 0}, {kBeyondAll, 0}, {kBeyondAll, 0}, {kBeyondAll, 0}, {kBeyondAll, 0}}};

constinit std::atomic<std::int64_t> taken_over{0};

void set_limits() {
    static constinit Once<bool> done;
    done.get([] {
        fill_limits();
        return true;
    });
}

bool enable(bool on) {
    set_limits();
    const bool before = is_on.exchange(on);
    fill_limits();
    return before;
}

std::uint64_t question_hash(Type type, std::int64_t m, std::int64_t n, std::int64_t k, bool accumulates,
                            bool by_pointers) {
    std::uint64_t hash = 4 * static_cast<std::uint64_t>(type) + (accumulates ? 2 : 0) + (by_pointers ? 1 : 0);
    for (const std::int64_t size : {m, n, k}) {
        hash = (hash ^ static_cast<std::uint64_t>(size)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return hash | 1;  // 0 is what the table is filled with
}

bool was_refused(std::uint64_t question) {
    return refused[question / 2 % refused.size()].load(std::memory_order_relaxed) == question;
}

void keep_refusal(std::uint64_t question) {
    refused[question / 2 % refused.size()].store(question, std::memory_order_relaxed);
}

}  // namespace heptad::cublas
