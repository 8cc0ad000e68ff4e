// What the files of the C interface share: handles, statuses and the last sentence of each thread.
#pragma once

#include <heptad/heptad.h>

#include <heptad/heptad.hpp>
#include <new>

struct heptad_context {
    heptad::Context context;
    heptad::CancelToken cancel;
};

namespace heptad::c {

/// The sentence that heptad_last_error() gives on this thread from now on.
void remember(const char* sentence) noexcept;

/// Throws Error(usage) for a number that is none of heptad_type.
Type type_of(heptad_type type);
/// A null pointer stands for the defaults. Throws Error(usage).
Options options_of(const heptad_options* options);
Context context_of(const heptad_context* context);
/// Throws Error(usage) for a null pointer.
void require(const void* pointer, const char* name);

/// Runs `body`; exceptions become statuses.
template <class Body>
heptad_status guarded(Body&& body) noexcept {
    try {
        body();
        return HEPTAD_OK;
    } catch (const Error& error) {
        remember(error.what());
        return static_cast<heptad_status>(error.code());
    } catch (const std::bad_alloc&) {
        remember("memory ran out; use smaller matrices or set a workspace limit");
        return HEPTAD_RESOURCE;
    } catch (const std::exception& error) {
        remember(error.what());
        return HEPTAD_INTERNAL;
    } catch (...) {  // a callback may throw anything, and nothing may leave through C
        remember("an exception that is not a std::exception was thrown; look at the callbacks of the context");
        return HEPTAD_INTERNAL;
    }
}

}  // namespace heptad::c
