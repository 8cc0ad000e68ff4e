// How much memory this process has, and how much it can still take before the system refuses it, or kills for it.
#pragma once

#include <cstdint>
#include <string>

namespace heptad {

/// The least of what the machine has available, of what every memory cgroup leaves from the process's own one up to the
/// root (versions 1 and 2), and of what the process's limits of address space and data leave. Pages of files that can
/// be dropped at once count as free. The largest number where nothing tells. Takes a tenth of a millisecond.
/// `root` stands before every path that is read: for tests.
std::int64_t free_memory_bytes(const std::string& root = {});

/// What the limit of address space (RLIMIT_AS) leaves; the largest number where there is none.
std::int64_t free_address_bytes(const std::string& root = {});

/// Address space to leave to products beside their matrices where it is limited: stacks and arenas of threads and the
/// buffers of libraries reserve much more of it than they ever use.
std::int64_t reserved_address_bytes();

/// What this process has now.
std::int64_t resident_bytes();
/// The most that it ever had since it was started, or since forget_peak_resident(). Not what the program had that
/// started it, which getrusage(2) would count as well.
std::int64_t peak_resident_bytes();
/// Lets that count begin anew with what it has now, for the whole process. False: the kernel does not allow it.
bool forget_peak_resident();

}  // namespace heptad
