// A process ends while other threads are in the midst of products: with the exit code it was given, and by no signal.
#include <gtest/gtest.h>
#include <spawn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "citizen/child.hpp"
#include "citizen/counts.hpp"
#include "citizen/permuted_products.hpp"
#include "kernels/cpu/vendor_blas.hpp"

extern char** environ;

namespace heptad::citizen {
namespace {

constexpr const char* kRole = "--end-in-mid-product";
constexpr int kWays = 5;
constexpr int kCode = 7;

/// Multiplies when static objects are destroyed.
struct MultipliesAtTheEnd {
    bool wanted = false;
    ~MultipliesAtTheEnd() {
        if (wanted && !make_product(2)->is_right()) {
            std::_Exit(1);
        }
    }
} at_the_end;

/// What the started process does: two threads multiply without end, and then it ends in one of several ways.
int end_in_mid_product(int kind, int way, int delay_us) {
    if (way % 2 == 1) {
        cpu::allow_vendor_corrections();  // as our own programs do, for libraries that are not used otherwise
    }
    static std::atomic<int> begun = 0;
    const bool is_warm = delay_us % 3 != 0;  // otherwise libraries are being loaded and plans made
    for (const int mine : {kind, kind + 1}) {
        std::thread([mine, is_warm] {
            const auto product = make_product(mine);
            if (is_warm && !product->is_right()) {
                std::_Exit(1);
            }
            ++begun;
            for (;;) {
                if (!product->is_right()) {
                    std::_Exit(1);
                }
            }
        }).detach();
    }
    while (begun < 2) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
    switch (way) {
        case 0:
            std::exit(kCode);
        case 1:
            std::quick_exit(kCode);
        case 2:
            at_the_end.wanted = true;
            std::exit(kCode);
        case 3:
            std::thread([] { std::exit(kCode); }).detach();
            for (;;) {
                make_product(1)->is_right();
            }
        default:
            return kCode;  // from main
    }
}

std::string end_of_process(int kind, int way, int delay_us) {
    std::string program = "/proc/self/exe", role = kRole,
                words[3] = {std::to_string(kind), std::to_string(way), std::to_string(delay_us)};
    char* const arguments[] = {program.data(), role.data(), words[0].data(), words[1].data(), words[2].data(), nullptr};
    pid_t child = 0;
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) != 0) {
        return "not started";
    }
    return end_of(child);
}

TEST(exit, in_the_midst_of_products_is_quiet) {
    std::mt19937_64 random(seed());
    const std::int64_t count = repetitions(kReduced ? 12 : 30, 1000);
    for (std::int64_t i = 0; i < count; ++i) {
        const int kind = static_cast<int>(random() % kProductKinds), way = static_cast<int>(i % kWays);
        const int delay_us = static_cast<int>(random() % 30000);
        ASSERT_EQ(end_of_process(kind, way, delay_us), "exit " + std::to_string(kCode))
            << "run " << i << ": kind " << kind << ", way " << way << ", after " << delay_us << " us";
    }
}

}  // namespace
}  // namespace heptad::citizen

int main(int argc, char** argv) {
    if (argc == 5 && std::strcmp(argv[1], heptad::citizen::kRole) == 0) {
        heptad::citizen::looks_for_leaks = false;  // what the other threads use is not lost
        return heptad::citizen::end_in_mid_product(std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
    }
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
