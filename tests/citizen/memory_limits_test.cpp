// Products in processes with little memory: what the classical product survives, no product fails or is killed for want
// of workspace. The limits are those of a memory cgroup, where one can be made, and of the address space.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <string>

#include <heptad/bits.hpp>

#include "citizen/counts.hpp"
#include "product/memory/product.hpp"

namespace heptad::citizen {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// One product: C = A * B of small integers, so that every plan gives the same bits.
struct Job {
    std::int64_t m = 0, k = 0, n = 0;
    Options options;
    bool result_is_touched = false;
    bool whatever_is_free = false;  // the plan of a machine with memory enough
};

std::string to_string(const Job& job) {
    return std::to_string(job.m) + " x " + std::to_string(job.k) + " x " + std::to_string(job.n) + ", levels " +
           std::to_string(job.options.levels) + ", mode " + job.options.mode +
           (job.result_is_touched ? ", C touched" : "");
}

struct Outcome {
    int status = -1;
    std::int64_t workspace_bytes = -1, wished_bytes = -1;
    std::uint64_t sum = 0;  // of C
    bool survived() const { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }
};

float* floats(std::int64_t count) {
    void* const memory = mmap(nullptr, static_cast<std::size_t>(count) * sizeof(float), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<float*>(memory);
}

void fill(float* values, std::int64_t count, std::uint32_t state) {
    for (std::int64_t i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;
        values[i] = static_cast<float>(static_cast<int>(state >> 29) - 3);
    }
}

/// In a process of its own, after `enter`, which sets the limit. Nothing of ours has run in the parent.
template <class Enter>
Outcome run_limited(const Job& job, const Options& options, const Enter& enter) {
    int ends[2];
    if (pipe(ends) != 0) {
        return {};
    }
    const pid_t child = fork();
    if (child == 0) {
        constexpr unsigned kHangs_s = 300;
        alarm(kHangs_s);
        if (!enter()) {
            _exit(3);
        }
        float* const a = floats(job.m * job.k);
        float* const b = floats(job.k * job.n);
        float* const c = floats(job.m * job.n);
        if (a == nullptr || b == nullptr || c == nullptr) {
            _exit(4);
        }
        fill(a, job.m * job.k, 1);
        fill(b, job.k * job.n, 2);
        if (job.result_is_touched) {
            fill(c, job.m * job.n, 3);
        }
        Outcome outcome;
        try {
            Options without_limit = options;
            without_limit.workspace_limit_bytes -= 1;  // the largest number stands for what is free
            const ProductPlan wished = plan_product(job.m, job.k, job.n, Type::f32, without_limit, {});
            outcome.wished_bytes = wished.workspace_bytes;
            const auto view_a = MatrixView<float>::row_major(a, job.m, job.k);
            const auto view_b = MatrixView<float>::row_major(b, job.k, job.n);
            const AnyView view_c = MatrixView<float>::row_major(c, job.m, job.n);
            ProductPlan used = wished;
            for (int round = 0; round < 2; ++round) {  // once more, with what is kept
                if (job.whatever_is_free) {
                    multiply_in_memory(1, view_a, view_b, 0, view_c, wished, {});
                } else {
                    multiply_in_memory(1, view_a, view_b, 0, view_c, options, {}, &used);
                }
            }
            outcome.workspace_bytes = used.workspace_bytes;
        } catch (const std::exception& problem) {
            std::fprintf(stderr, "%s\n", problem.what());
            _exit(5);
        }
        for (std::int64_t i = 0; i < job.m * job.n; ++i) {
            outcome.sum = outcome.sum * 31 + static_cast<std::uint64_t>(static_cast<std::int64_t>(c[i]));
        }
        _exit(write(ends[1], &outcome, sizeof outcome) == sizeof outcome ? 0 : 6);
    }
    close(ends[1]);
    Outcome outcome;
    if (read(ends[0], &outcome, sizeof outcome) != sizeof outcome) {
        outcome = {};
    }
    close(ends[0]);
    waitpid(child, &outcome.status, 0);
    return outcome;
}

/// A memory cgroup below the process's own, removed at the end.
class Cgroup {
public:
    /// Nothing where the system does not let us.
    static std::optional<Cgroup> make() {
        std::ifstream memberships("/proc/self/cgroup");
        for (std::string line; std::getline(memberships, line);) {
            const std::size_t first = line.find(':'), second = line.find(':', first + 1);
            const std::string controllers = line.substr(first + 1, second - first - 1), own = line.substr(second + 1);
            const bool is_first = controllers == "memory";
            if (!is_first && !controllers.empty()) {
                continue;
            }
            Cgroup made;
            made.path_ = (is_first ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + (own == "/" ? "" : own) +
                         "/heptad-test-" + std::to_string(getpid());
            made.limit_ = made.path_ + (is_first ? "/memory.limit_in_bytes" : "/memory.max");
            if (mkdir(made.path_.c_str(), 0755) != 0) {
                made.path_.clear();
                continue;
            }
            if (made.set_limit(std::int64_t{1} << 40)) {
                return made;
            }
        }
        return std::nullopt;
    }
    ~Cgroup() {
        if (!path_.empty()) {
            rmdir(path_.c_str());
        }
    }
    Cgroup(Cgroup&& other) noexcept : path_(std::move(other.path_)), limit_(std::move(other.limit_)) {
        other.path_.clear();
    }
    Cgroup& operator=(Cgroup&&) = delete;

    bool set_limit(std::int64_t bytes) const {
        std::ofstream file(limit_);
        file << bytes << std::flush;
        return file.good();
    }
    /// The calling process becomes a member.
    bool enter() const {
        std::ofstream file(path_ + "/cgroup.procs");
        file << getpid() << std::flush;
        return file.good();
    }

private:
    Cgroup() = default;
    std::string path_, limit_;
};

/// Limits shrink from 4 GB to 64 MB; the matrices take a part of each. Little depth, so that the products are short;
/// and levels that are forced, so that they want workspace all the same.
class Jobs {
public:
    Jobs(std::int64_t count, std::int64_t largest_limit) : count_(count), largest_(largest_limit), random_(seed()) {}

    std::int64_t limit_bytes(std::int64_t index) const {
        const double smallest = 64.0 * static_cast<double>(kMiB), ratio = static_cast<double>(largest_) / smallest;
        const double part = count_ > 1 ? static_cast<double>(index) / static_cast<double>(count_ - 1) : 0;
        return static_cast<std::int64_t>(static_cast<double>(largest_) * std::pow(ratio, -part));
    }
    Job job(std::int64_t limit_bytes) {
        const auto pick = [&](double low, double high) {
            return std::uniform_real_distribution<double>(low, high)(random_);
        };
        Job job;
        job.k = static_cast<std::int64_t>(pick(32, 96));
        const double bytes = pick(0.1, 0.9) * static_cast<double>(limit_bytes), aspect = pick(0.5, 2);
        job.m = static_cast<std::int64_t>(std::sqrt(bytes / sizeof(float) * aspect));
        job.n = static_cast<std::int64_t>(std::sqrt(bytes / sizeof(float) / aspect));
        job.options.levels = static_cast<int>(pick(0, 3.99)) - 1;
        if (job.options.levels == 0) {
            job.options.levels = 1;
        }
        const char* const modes[] = {"auto", "parallel", "serial"};
        job.options.mode = modes[static_cast<int>(pick(0, 2.99))];
        job.result_is_touched = pick(0, 1) < 0.5;
        return job;
    }

private:
    std::int64_t count_, largest_;
    std::mt19937_64 random_;
};

/// For every limit: where the classical product survives, so does the other, with the same result.
template <class EnterOf>
void expect_survivors(const Jobs& given, std::int64_t count, const EnterOf& enter_of) {
    Jobs jobs = given;
    std::int64_t survived = 0, limited = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t limit = jobs.limit_bytes(i);
        const Job job = jobs.job(limit);
        const auto enter = enter_of(limit);
        const Outcome classical = run_limited(job, without_levels(job.options), enter);
        if (!classical.survived()) {
            continue;
        }
        const Outcome outcome = run_limited(job, job.options, enter);
        ++survived;
        EXPECT_TRUE(outcome.survived()) << "limit " << limit / kMiB << " MiB, " << to_string(job) << ": status "
                                        << outcome.status << "; seed " << seed();
        EXPECT_EQ(outcome.sum, classical.sum) << to_string(job);
        limited += outcome.workspace_bytes < outcome.wished_bytes ? 1 : 0;
    }
    std::printf("%ld of %ld runs fit without workspace, %ld of them with less than wished\n",
                static_cast<long>(survived), static_cast<long>(count), static_cast<long>(limited));
    EXPECT_GE(survived, count / 4) << "the test has hardly tried anything";
    EXPECT_GE(limited, 1) << "no limit was ever felt";
}

TEST(memory_limits, what_the_classical_product_survives_in_a_cgroup_every_product_survives) {
    const std::optional<Cgroup> cgroup = Cgroup::make();
    if (!cgroup) {
        GTEST_SKIP() << "no memory cgroup can be made here";
    }
    const std::int64_t count = repetitions(5, 100);
    expect_survivors(Jobs(count, (is_soak() ? 4096 : 512) * kMiB), count, [&](std::int64_t limit) {
        return [&cgroup, limit] { return cgroup->set_limit(limit) && cgroup->enter(); };
    });
}

TEST(memory_limits, a_product_survives_where_the_workspace_it_wishes_for_would_get_it_killed) {
    const std::optional<Cgroup> cgroup = Cgroup::make();
    if (!cgroup) {
        GTEST_SKIP() << "no memory cgroup can be made here";
    }
    constexpr std::int64_t kSize = 6000, kDepth = 200, kLimit = 290 * kMiB, kMatrices = 147 * kMiB;
    const auto enter = [&] { return cgroup->set_limit(kLimit) && cgroup->enter(); };
    Job job{kSize, kDepth, kSize, {}};
    job.options.levels = 3;
    job.options.mode = "parallel";
    for (const bool touched : {false, true}) {
        job.result_is_touched = touched;
        const Outcome outcome = run_limited(job, job.options, enter);
        EXPECT_TRUE(outcome.survived()) << "status " << outcome.status;
        EXPECT_GT(outcome.wished_bytes, kLimit - kMatrices);
        EXPECT_LT(outcome.workspace_bytes, kLimit - kMatrices);
    }
    job.whatever_is_free = true;
    const Outcome killed = run_limited(job, job.options, enter);
    EXPECT_TRUE(WIFSIGNALED(killed.status))
        << "the limit is none, and this test says nothing: status " << killed.status;
}

TEST(memory_limits, what_the_classical_product_survives_in_little_address_space_every_product_survives) {
    const std::int64_t count = repetitions(5, 100);
    expect_survivors(Jobs(count, (is_soak() ? 4096 : 1024) * kMiB), count, [](std::int64_t limit) {
        return [limit] {
            const rlimit most{static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
            return setrlimit(RLIMIT_AS, &most) == 0;
        };
    });
}

/// The cube of a matrix that moves every row one further, in a process that has so much address space. 0: right.
int cube_of_bits_within(std::int64_t limit, int levels) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit most{static_cast<rlim_t>(limit), static_cast<rlim_t>(limit)};
        constexpr std::int64_t kSize = 8192;
        try {
            BitMatrix shift(kSize, kSize);
            for (std::int64_t i = 0; i < kSize; ++i) {
                shift.set(i, (i + 1) % kSize, true);
            }
            if (setrlimit(RLIMIT_AS, &most) != 0) {
                _exit(3);
            }
            bits::BitOptions options;
            options.levels = levels;
            Context one_thread;  // stacks of others take address space that says nothing about levels
            one_thread.set_threads(1);
            const BitMatrix cube = bits::power(Type::gf2, shift, 3, options, one_thread);
            for (std::int64_t i = 0; i < kSize; ++i) {
                if (!cube(i, (i + 3) % kSize)) {
                    _exit(4);
                }
            }
            _exit(bits::count_ones(cube) == kSize ? 0 : 4);
        } catch (const Error& error) {
            _exit(error.code() == ErrorCode::resource ? 5 : 6);
        } catch (const std::bad_alloc&) {
            _exit(5);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(memory_limits, a_power_of_bits_takes_fewer_levels_where_memory_is_short) {
    int survivors = 0, out_of_memory = 0;
    for (std::int64_t limit = 32 * kMiB; limit <= 288 * kMiB; limit += 16 * kMiB) {
        const int plain = cube_of_bits_within(limit, 0), by_default = cube_of_bits_within(limit, -1);
        EXPECT_TRUE(plain == 0 || plain == 5) << plain;
        EXPECT_TRUE(by_default == 0 || (plain == 5 && by_default == 5))
            << limit / kMiB << " MiB: " << by_default << " where the product without levels gives " << plain;
        survivors += plain == 0 ? 1 : 0;
        out_of_memory += cube_of_bits_within(limit, 5) == 5 ? 1 : 0;
    }
    EXPECT_GT(survivors, 0);
    EXPECT_GT(out_of_memory, 0) << "no limit was short for five levels";
}

}  // namespace
}  // namespace heptad::citizen
