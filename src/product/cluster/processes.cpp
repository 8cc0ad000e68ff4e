#include "product/cluster/processes.hpp"

#include <array>
#include <iterator>
#include <string_view>

#include "base/errors_only.hpp"
#include "base/fail_if.hpp"

namespace heptad {
namespace {

using Told = std::array<char, 1024>;  // a code and a sentence, or nothing

Told in_words(const std::exception_ptr& problem) {
    Told told{};
    const auto tell = [&](ErrorCode code, std::string_view sentence) {
        told[0] = static_cast<char>(code);
        sentence.copy(told.data() + 1, told.size() - 2);
    };
    try {
        try {
            if (problem) {
                std::rethrow_exception(problem);
            }
        } catch (...) {
            rethrow_as_error();
        }
    } catch (const Error& error) {
        tell(error.code(), error.what());
    } catch (const std::exception& error) {
        tell(ErrorCode::internal, error.what());
    } catch (...) {
        tell(ErrorCode::internal, "an exception that is not a std::exception was thrown");
    }
    return told;
}

}  // namespace

void Processes::throw_alike(const std::exception_ptr& problem) const {
    const Told told = in_words(problem);
    int first = count_;
    Told of_first{}, received{};
    in_rounds([&](int to, int from) {
        if (to == own_) {
            received = told;
        } else {
            exchange(to, told.data(), std::ssize(told), from, received.data(), std::ssize(received));
        }
        if (received[0] != 0 && from < first) {  // the same one everywhere
            first = from;
            of_first = received;
        }
    });
    if (first < count_) {
        const auto code = static_cast<ErrorCode>(static_cast<unsigned char>(of_first[0]));
        fail_if(code == ErrorCode::resource && count_ > 1, code, "process ({}, {}) of the grid: {}", first / grid_.cols,
                first % grid_.cols, of_first.data() + 1);
        fail(code, "{}", of_first.data() + 1);
    }
}

}  // namespace heptad
