// A product that is short of memory at one allocation after another: it is right, or it ends with Error(resource), and
// the next one is right.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <new>
#include <string>

#include <heptad/heptad.hpp>

#include "citizen/failing_memory.hpp"

namespace heptad::citizen {

struct TriedProduct {
    std::function<void()> prepare;   ///< puts everything as it was before the first run
    std::function<void()> multiply;  ///< what is short of memory
    std::function<bool()> is_right;
    /// A layer that the public functions stand in front of: they turn its std::bad_alloc into an Error.
    bool is_inner = false;
};

enum class Ended : std::uint8_t { right, wrong, out_of_memory, other };

struct Trial {
    Ended ended = Ended::other;
    std::int64_t allocations = 0;
    std::string sentence;
};

inline Trial try_without(const TriedProduct& product, std::int64_t number, Shortage shortage) {
    product.prepare();
    Trial trial;
    let_allocation_fail(number, shortage);
    try {
        product.multiply();
        trial.allocations = serve_allocations();
        trial.ended = product.is_right() ? Ended::right : Ended::wrong;
    } catch (const Error& error) {
        trial.allocations = serve_allocations();  // before anything here asks for memory
        trial.ended = error.code() == ErrorCode::resource ? Ended::out_of_memory : Ended::other;
        trial.sentence = error.what();
    } catch (const std::bad_alloc&) {
        trial.allocations = serve_allocations();
        trial.ended = product.is_inner ? Ended::out_of_memory : Ended::other;
        trial.sentence = "std::bad_alloc";
    } catch (const std::exception& error) {
        trial.allocations = serve_allocations();
        trial.sentence = error.what();
    }
    return trial;
}

/// Lets up to `most` of the allocations of a product fail, each once and each with all that follow.
inline void expect_survives(const TriedProduct& product, std::int64_t most) {
    const auto nowhere = std::numeric_limits<std::int64_t>::max();
    try_without(product, nowhere, Shortage::once);  // the first one makes what is made once: first_use_test.cpp
    const Trial whole = try_without(product, nowhere, Shortage::once);
    ASSERT_EQ(whole.ended, Ended::right) << whole.sentence;
    std::int64_t failures = 0;
    for (const Shortage shortage : {Shortage::once, Shortage::for_good}) {
        for (const std::int64_t number : chosen_allocations(whole.allocations, most)) {
            SCOPED_TRACE("allocation " + std::to_string(number) + " of " + std::to_string(whole.allocations) +
                         (shortage == Shortage::once ? " fails" : " and all that follow fail"));
            const Trial trial = try_without(product, number, shortage);
            ASSERT_TRUE(trial.ended == Ended::right || trial.ended == Ended::out_of_memory) << trial.sentence;
            ASSERT_EQ(trial.sentence.find('\n'), std::string::npos) << trial.sentence;
            failures += trial.ended == Ended::out_of_memory ? 1 : 0;
            const Trial next = try_without(product, nowhere, Shortage::once);
            ASSERT_EQ(next.ended, Ended::right) << next.sentence;
        }
    }
    EXPECT_GT(failures, 0) << whole.allocations << " allocations, and none that mattered";
    ::testing::Test::RecordProperty("allocations", std::to_string(whole.allocations));
}

}  // namespace heptad::citizen
