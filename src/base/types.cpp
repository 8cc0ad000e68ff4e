// Names, sizes and roundings of the element types, and the cancel token.
#include "base/types.hpp"

#include <array>
#include <atomic>

#include "base/error.hpp"
#include "base/errors_only.hpp"
#include "base/nearest_word.hpp"

namespace heptad {
namespace {

struct TypeFacts {
    const char* name;
    std::size_t bytes;
    double unit_roundoff;
};

// In the order of enum Type.
constexpr std::array<TypeFacts, 11> kTypes{{{"f64", 8, 0x1p-53},
                                            {"f32", 4, 0x1p-24},
                                            {"tf32", 4, 0x1p-11},
                                            {"bf16", 2, 0x1p-8},
                                            {"f16", 2, 0x1p-11},
                                            {"i32", 4, 0},
                                            {"gf2", 1, 0},
                                            {"bool", 1, 0},
                                            {"i64", 8, 0},
                                            {"c64", 8, 0x1p-24},
                                            {"c128", 16, 0x1p-53}}};

}  // namespace

const char* type_name(Type type) noexcept {
    return kTypes[static_cast<std::size_t>(type)].name;
}

std::size_t element_bytes(Type type) noexcept {
    return kTypes[static_cast<std::size_t>(type)].bytes;
}

double unit_roundoff(Type type) {
    return kTypes[static_cast<std::size_t>(type)].unit_roundoff;
}

Type type_from_name(const std::string& name) try {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
        if (name == kTypes[i].name) {
            return static_cast<Type>(i);
        }
        known.emplace_back(kTypes[i].name);
    }
    fail(ErrorCode::usage, "'{}' is not an element type{}; the types are {}", name, nearest_hint(name, known),
         fmt::join(known, " "));
} catch (...) {
    rethrow_as_error();
}

CancelToken::CancelToken() try : flag_(std::make_shared<std::atomic<bool>>(false)) {
} catch (...) {
    rethrow_as_error();
}
// A token that was moved from has no flag: nobody listens to it, and it is never cancelled.
void CancelToken::cancel() const noexcept {
    if (flag_) {
        static_cast<std::atomic<bool>*>(flag_.get())->store(true, std::memory_order_relaxed);
    }
}
void CancelToken::reset() const noexcept {
    if (flag_) {
        static_cast<std::atomic<bool>*>(flag_.get())->store(false, std::memory_order_relaxed);
    }
}
bool CancelToken::cancelled() const noexcept {
    return flag_ && static_cast<std::atomic<bool>*>(flag_.get())->load(std::memory_order_relaxed);
}

}  // namespace heptad
