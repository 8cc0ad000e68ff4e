// Large calls of libheptad_blas.so, of which one allocation fails, or one and all that follow: the result is right all
// the same, ours or the library's. What anybody else asks for is served.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "api/blas/made_up_blas.hpp"
#include "citizen/child.hpp"

namespace {

std::atomic<bool> counts{false};
std::atomic<std::int64_t> seen{0}, failing_number{0};
bool fails_for_good = false;
std::uintptr_t drop_in_begin = 0, drop_in_end = 0;

bool fails_for(const void* caller) {
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    if (!counts || address < drop_in_begin || address >= drop_in_end) {
        return false;
    }
    const std::int64_t number = ++seen;
    const bool fails = fails_for_good ? number >= failing_number : number == failing_number;
    errno = fails ? ENOMEM : errno;
    return fails;
}

void find_drop_in() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void*) {
            if (std::strstr(info->dlpi_name, "libheptad_blas") != nullptr) {
                drop_in_begin = info->dlpi_addr;
                for (int i = 0; i < info->dlpi_phnum; ++i) {
                    const auto& part = info->dlpi_phdr[i];
                    const std::uintptr_t end = info->dlpi_addr + part.p_vaddr + part.p_memsz;
                    drop_in_end = part.p_type == PT_LOAD ? std::max(drop_in_end, end) : drop_in_end;
                }
            }
            return 0;
        },
        nullptr);
}

}  // namespace

// Before those of the C library, for all libraries of the process.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
    return fails_for(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t bytes) {
    return fails_for(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return fails_for(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                                                  off_t offset) noexcept {
    using Mmap = void* (*)(void*, std::size_t, int, int, int, off_t);
    static const auto real = reinterpret_cast<Mmap>(dlsym(RTLD_NEXT, "mmap"));
    return fails_for(__builtin_return_address(0)) ? MAP_FAILED : real(address, bytes, protection, flags, file, offset);
}
}

namespace {

using heptad::citizen::in_child;

/// C = A A + beta C of small integers, by columns.
class SquareProduct {
public:
    SquareProduct(int n, double beta) : n_(n), beta_(beta), a_(size()), c_(size()), right_(size()) {
        for (int i = 0; i < n * n; ++i) {
            a_[static_cast<std::size_t>(i)] = i * 7 % 9 - 4;
        }
        reset();
        const double one = 1;
        right_ = c_;
        made_up_dgemm(&one, right_.data());
        made_up_calls.dgemm = 0;
    }
    bool is_right_now() {
        reset();
        const double one = 1;
        dgemm_("N", "N", &n_, &n_, &n_, &one, a_.data(), &n_, a_.data(), &n_, &beta_, c_.data(), &n_, 1, 1);
        return c_ == right_;
    }

private:
    std::size_t size() const { return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_); }
    void reset() {
        for (int i = 0; i < n_ * n_; ++i) {
            c_[static_cast<std::size_t>(i)] = i % 5 - 2;
        }
    }
    void made_up_dgemm(const double* one, double* c) const {
        const auto real = reinterpret_cast<decltype(&dgemm_)>(
            dlsym(dlopen("libapi_made_up_blas.so", RTLD_LAZY | RTLD_NOLOAD), "dgemm_"));
        real("N", "N", &n_, &n_, &n_, one, a_.data(), &n_, a_.data(), &n_, &beta_, c, &n_, 1, 1);
    }

    int n_;
    double beta_;
    std::vector<double> a_, c_, right_;
};

/// How a child ends whose allocation with this number fails: 0: right, and so is the next call; 1 or 2: they are not.
/// `is_warm`: after a call that had all it wanted.
std::string without(std::int64_t number, bool for_good, bool is_warm, double beta,
                    std::int64_t* allocations = nullptr) {
    return in_child([&] {
        setenv("HEPTAD_MIN_SIZE", "16", 1);
        setenv("HEPTAD_LEVELS", "1", 1);
        made_up_calls.threads = 2;
        SquareProduct product(131, beta);  // with rows and columns that are left over
        if (is_warm) {
            product.is_right_now();
        }
        seen = 0;
        failing_number = number;
        fails_for_good = for_good;
        counts = true;
        const bool right = product.is_right_now();
        counts = false;
        if (allocations != nullptr) {
            *allocations = seen;
        }
        return !right ? 1 : product.is_right_now() ? 0 : 2;
    });
}

}  // namespace

TEST(short_of_memory, products_are_right_whichever_allocation_fails) {
    find_drop_in();
    ASSERT_GT(drop_in_end, drop_in_begin);
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(shared, MAP_FAILED);
    auto* const allocations = static_cast<std::int64_t*>(shared);
    for (const bool is_warm : {false, true}) {
        for (const double beta : {0.0, 2.0}) {
            *allocations = 0;
            ASSERT_EQ(without(std::numeric_limits<std::int64_t>::max(), false, is_warm, beta, allocations), "exit 0");
            ASSERT_GT(*allocations, 50);
            const std::int64_t step = 1 + *allocations / 150;
            for (const bool for_good : {false, true}) {
                for (std::int64_t number = 1; number <= *allocations; number += step) {
                    EXPECT_EQ(without(number, for_good, is_warm, beta), "exit 0")
                        << "allocation " << number << " of " << *allocations << (for_good ? " and all that follow" : "")
                        << (is_warm ? ", warm" : ", first call") << ", beta " << beta;
                }
            }
        }
    }
    munmap(shared, 4096);
}
