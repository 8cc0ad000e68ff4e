#include "base/cores.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <sstream>
#include <string_view>

#include "base/cgroup.hpp"
#include "base/fail_if.hpp"

namespace heptad {
namespace {

constexpr int kWordBits = 8 * sizeof(unsigned long);
constexpr std::int64_t kAffinityLasts_ms = 10, kQuotaLasts_ms = 1000;

/// "max", "-1" and what is no number are no limit: 0.
double positive_number(const std::string& text) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::max(value, 0.0);
}

double quota_of(const CgroupFolder& folder) {
    std::string quota, period;
    if (folder.version == 2) {
        std::istringstream(first_line_of(folder.path + "/cpu.max")) >> quota >> period;
    } else {
        quota = first_line_of(folder.path + "/cpu.cfs_quota_us");
        period = first_line_of(folder.path + "/cpu.cfs_period_us");
    }
    const double granted = positive_number(quota), of = positive_number(period);
    return granted > 0 && of > 0 ? granted / of : std::numeric_limits<double>::infinity();
}

int recent_quota(std::int64_t now_ms) {
    static constinit std::atomic<std::int64_t> read_at_ms{-kQuotaLasts_ms};
    static constinit std::atomic<int> quota{0};
    if (now_ms - read_at_ms.load(std::memory_order_acquire) >= kQuotaLasts_ms) {
        quota.store(cores_by_quota(), std::memory_order_relaxed);
        read_at_ms.store(now_ms, std::memory_order_release);
    }
    return quota.load(std::memory_order_relaxed);
}

}  // namespace

bool CpuSet::contains(int cpu) const {
    const auto word = static_cast<std::size_t>(cpu / kWordBits);
    return cpu >= 0 && word < words_.size() && ((words_[word] >> (cpu % kWordBits)) & 1) != 0;
}

int CpuSet::count() const {
    int total = 0;
    for (const unsigned long word : words_) {
        total += std::popcount(word);
    }
    return total;
}

CpuSet CpuSet::without(int cpu) const {
    CpuSet others = *this;
    if (contains(cpu)) {
        others.words_[static_cast<std::size_t>(cpu / kWordBits)] &= ~(1UL << (cpu % kWordBits));
        others.drop_empty_end();
    }
    return others;
}

void CpuSet::add(int cpu) {
    const auto word = static_cast<std::size_t>(cpu / kWordBits);
    words_.resize(std::max(words_.size(), word + 1));
    words_[word] |= 1UL << (cpu % kWordBits);
}

void CpuSet::drop_empty_end() {
    while (!words_.empty() && words_.back() == 0) {
        words_.pop_back();
    }
}

CpuSet cpus_of(pid_t thread, const GetAffinity& get) {
    constexpr std::size_t most_bytes = std::size_t{1} << 20;
    CpuSet cpus;
    for (std::size_t bytes = sizeof(cpu_set_t); bytes <= most_bytes; bytes *= 2) {
        cpus.clear_to(bytes);
        if (get(thread, bytes, cpus.data()) == 0) {
            cpus.drop_empty_end();
            return cpus;
        }
        if (errno != EINVAL) {  // EINVAL: the machine has more processors than that
            break;
        }
    }
    return {};
}

bool bind_thread(pid_t thread, const CpuSet& cpus) noexcept {
    return !cpus.empty() && sched_setaffinity(thread, cpus.bytes(), cpus.data()) == 0;
}

int cores_by_quota(const std::string& root) {
    double least = std::numeric_limits<double>::infinity();
    for (const CgroupFolder& folder : cgroup_folders("cpu", root)) {
        least = std::min(least, quota_of(folder));
    }
    constexpr double most = 1 << 20;
    return least > most ? 0 : std::max(1, static_cast<int>(std::ceil(least - 1e-3)));
}

std::int64_t coarse_clock_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

int available_cores() {
    static thread_local constinit std::int64_t read_at_ms = -kAffinityLasts_ms;
    static thread_local constinit int cores = 1;
    const std::int64_t now_ms = coarse_clock_ms();
    if (now_ms - read_at_ms >= kAffinityLasts_ms) {
        const int quota = recent_quota(now_ms);
        const int allowed = std::max(1, cpus_of(0).count());
        cores = quota > 0 ? std::min(quota, allowed) : allowed;
        read_at_ms = now_ms;
    }
    return cores;
}

ThreadsAskedFor threads_in(const char* heptad, const char* omp) {
    constexpr int kMost = 4096;
    ThreadsAskedFor asked_for;
    if (heptad != nullptr && *heptad != '\0') {
        const std::string_view text(heptad);
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), asked_for.by_heptad);
        fail_if(error != std::errc() || end != text.data() + text.size() || asked_for.by_heptad < 1 ||
                    asked_for.by_heptad > kMost,
                ErrorCode::usage,
                "HEPTAD_THREADS is '{}', which is not a number of threads; set it to 1 to {}, or unset it", text,
                kMost);
    }
    if (omp != nullptr) {
        std::string_view text(omp);
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        int first = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), first);
        const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
        const bool ends_there = rest.empty() || rest.front() == ',' || rest.front() == ' ' || rest.front() == '\t';
        asked_for.by_omp = error == std::errc() && ends_there && first >= 1 ? std::min(first, kMost) : 0;
    }
    return asked_for;
}

int threads_by_environment() {
    // Read once: later changes by other threads of the process would be a race. Two who read at once read the same, and
    // no lock is left behind by a fork.
    static constinit std::atomic<bool> was_read{false};
    static constinit std::atomic<int> by_heptad{0}, by_omp{0};
    if (!was_read.load(std::memory_order_acquire)) {
        const ThreadsAskedFor asked_for = threads_in(std::getenv("HEPTAD_THREADS"), std::getenv("OMP_NUM_THREADS"));
        by_heptad = asked_for.by_heptad;
        by_omp = asked_for.by_omp;
        was_read.store(true, std::memory_order_release);
    }
    const int omp = by_omp;
    return by_heptad > 0 ? by_heptad.load() : omp > 0 ? std::min(omp, available_cores()) : 0;
}

int threads_or_default(int asked_for) {
    if (asked_for > 0) {
        return asked_for;
    }
    const int told = threads_by_environment();
    return told > 0 ? told : available_cores();
}

}  // namespace heptad
