#include "move/resident_memory.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

#include "io/transfer.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kKilobyte = 1024;

/// A line of proc(5), status: "VmHWM:     2080 kB". 0: there is none.
std::int64_t status_bytes(const std::string& wanted) {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        std::int64_t kilobytes = 0;
        if (word == wanted && status >> kilobytes) {
            return kilobytes * kKilobyte;
        }
        status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

}  // namespace

std::int64_t resident_bytes() {
    return status_bytes("VmRSS:");
}

std::int64_t peak_resident_bytes() {
    if (const std::int64_t bytes = status_bytes("VmHWM:"); bytes > 0) {
        return bytes;
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * kKilobyte;
}

bool forget_peak_resident() {
    constexpr char kForgetPeak = '5';  // proc(5), clear_refs
    const Descriptor file(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
    return file.get() >= 0 && ::write(file.get(), &kForgetPeak, 1) == 1;
}

}  // namespace heptad
