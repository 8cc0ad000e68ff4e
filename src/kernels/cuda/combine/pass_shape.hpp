// How combine passes are cut into threads. P1 tunes four numbers of its addition kernel by trying them all: rows and
// columns per thread (TM, TN) and per block (BM, BN). Here a thread always moves 16 bytes of every matrix at once,
// which is P1's own finding for TN; what is left are the places that one thread goes over and the threads of a block.
// The values computed do not depend on either.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

struct PassShape {
    int threads = 128;  // of a block: a multiple of 32, at most kMostPassThreads; passes over many blocks take half
    int places = 1;     // of 16 bytes that one thread goes over
    bool operator==(const PassShape&) const = default;
};
inline constexpr int kMostPassThreads = 256;
inline constexpr int kMostPassPlaces = 64;
/// What `heptad tune` tries.
inline constexpr std::array<int, 3> kTriedThreads{64, 128, 256};
inline constexpr std::array<int, 4> kTriedPlaces{1, 2, 4, 8};

/// Passes that want the same shape: a few blocks in and out, many more out than in, many more in than out.
enum class PassClass : std::uint8_t { few, spread, gather };
inline constexpr std::array<PassClass, 3> kPassClasses{PassClass::few, PassClass::spread, PassClass::gather};
inline constexpr std::size_t kMostOfFew = 8;

inline PassClass pass_class(std::size_t inputs, std::size_t outputs) {
    return inputs <= kMostOfFew && outputs <= kMostOfFew ? PassClass::few
           : outputs > inputs                            ? PassClass::spread
                                                         : PassClass::gather;
}
inline const char* pass_class_name(PassClass pass) {
    return pass == PassClass::few ? "few" : pass == PassClass::spread ? "spread" : "gather";
}

/// Passes over many blocks need the registers of more threads than that.
inline constexpr int most_threads(PassClass pass) {
    return pass == PassClass::few ? kMostPassThreads : kMostPassThreads / 2;
}

/// One shape per element type and class; tf32 is f32 here.
class PassShapes {
public:
    PassShape& of(Type type, PassClass pass) { return shapes_[index(type)][static_cast<std::size_t>(pass)]; }
    const PassShape& of(Type type, PassClass pass) const {
        return shapes_[index(type)][static_cast<std::size_t>(pass)];
    }

private:
    static std::size_t index(Type type) { return static_cast<std::size_t>(type == Type::tf32 ? Type::f32 : type); }
    std::array<std::array<PassShape, 3>, 8> shapes_{};
};

}  // namespace heptad::cuda
