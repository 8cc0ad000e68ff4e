// What readers and writers of whole files share: opening with suspicion, telling how far they are, stopping.
#pragma once

#include "io/hooks.hpp"
#include "io/transfer.hpp"

namespace heptad {

/// A regular file that was opened for reading.
struct OpenFile {
    Descriptor file;
    std::int64_t bytes = 0;
};
/// Throws Error(input) for what is missing, unreadable or no regular file; `wanted` says what to give instead.
OpenFile open_to_read(const std::string& path, const char* wanted);

/// Of a file's name, in small letters: ".npy". Empty: it has none.
std::string suffix_of(const std::string& path);

/// Bit matrices hold zeros and ones, one in each byte; another one would spread through sums. Throws Error(input);
/// `first_index` is the number of the first element.
void require_bits(const void* bytes, std::int64_t count, std::int64_t first_index, const std::string& path);

/// Throws Error(cancelled).
void stop_if_cancelled(const FileHooks& hooks, const std::string& path);
void report(const FileHooks& hooks, std::int64_t done, std::int64_t all, const char* stage);

}  // namespace heptad
