#include "base/errors_only.hpp"

#include <new>
#include <system_error>

#include "base/shared_state.hpp"

namespace heptad {
namespace {

const Error& out_of_threads() noexcept {
    static constinit Once<Error> error;
    return error.get([] {
        return Error(ErrorCode::resource,
                     "the system allows no more threads; use fewer of them, or raise its limit (ulimit -u)");
    });
}

}  // namespace

// A function, because a caller's static objects may multiply before ours are made.
const Error& out_of_memory() noexcept {
    static constinit Once<Error> error;
    return error.get([] {
        return Error(ErrorCode::resource, "memory ran out; use smaller matrices, fewer threads or a workspace limit");
    });
}

void rethrow_as_error() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        throw Error(out_of_memory());
    } catch (const std::system_error& error) {  // as std::thread throws it
        if (error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory) {
            throw Error(out_of_threads());
        }
        throw;
    }
}

namespace {
// Made now, while there is memory.
[[maybe_unused]] const Error& memory_error = out_of_memory();
[[maybe_unused]] const Error& thread_error = out_of_threads();
}  // namespace

}  // namespace heptad
