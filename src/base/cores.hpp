// The processors that may be used: by affinity, of this thread and of the process, and by the quotas of control groups.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heptad {

/// A set of processors of any number: beyond 1024, which is where cpu_set_t ends, too.
class CpuSet {
public:
    bool contains(int cpu) const;
    int count() const;
    bool empty() const { return count() == 0; }
    CpuSet without(int cpu) const;
    void add(int cpu);
    bool operator==(const CpuSet& other) const = default;

    std::size_t bytes() const { return words_.size() * sizeof(unsigned long); }
    cpu_set_t* data() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
    const cpu_set_t* data() const { return reinterpret_cast<const cpu_set_t*>(words_.data()); }
    /// Room for this many bytes, all empty.
    void clear_to(std::size_t bytes) { words_.assign(bytes / sizeof(unsigned long), 0); }
    /// Equal sets have equal words.
    void drop_empty_end();

private:
    std::vector<unsigned long> words_;
};

/// As sched_getaffinity: another one stands in for a machine with more processors.
using GetAffinity = std::function<int(pid_t, std::size_t, cpu_set_t*)>;

/// The processors that a thread may run on; 0 is the calling one, getpid() the process's first. Empty if the kernel
/// does not say.
CpuSet cpus_of(pid_t thread, const GetAffinity& get = sched_getaffinity);

/// Binds a thread to these; false, and nothing done, if the kernel refuses.
bool bind_thread(pid_t thread, const CpuSet& cpus) noexcept;

/// How many cores' worth of time the control groups grant, rounded up; 0: no limit. v1 (cpu.cfs_quota_us) and v2
/// (cpu.max), the tightest from the process's own group up. root: see cgroup_folders.
int cores_by_quota(const std::string& root = "");

/// Cores that the calling thread may use (affinity and quotas respected), at least 1. Looked up again every few
/// milliseconds (the quota: every second), so that a later `taskset` is noticed; otherwise some nanoseconds.
int available_cores();

/// How many threads the environment asks for; 0: it does not. `heptad` (HEPTAD_THREADS) wins and is taken at its word;
/// of `omp` (OMP_NUM_THREADS, which means other libraries too) the first number counts, "4,2" being 4, and anything
/// else is ignored. Null or empty: not set. Throws Error(usage) for a `heptad` that is no number from 1 to 4096.
struct ThreadsAskedFor {
    int by_heptad = 0, by_omp = 0;
};
ThreadsAskedFor threads_in(const char* heptad, const char* omp);
/// The same of the environment of this process, as it was when first asked: HEPTAD_THREADS, or OMP_NUM_THREADS as far
/// as there are available_cores().
int threads_by_environment();

/// What whoever asked for a number of threads gets, and what he gets who did not (0): what the environment asks for, or
/// all available_cores(). The one place where that is decided.
int threads_or_default(int asked_for = 0);

/// A clock of some milliseconds' resolution that takes a few nanoseconds.
std::int64_t coarse_clock_ms() noexcept;

}  // namespace heptad
