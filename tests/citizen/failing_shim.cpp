// Preloaded into a program, fails one of its allocations, or one and all that follow, counted from the start of main():
// those of operator new, and those that the program itself asks of aligned_alloc() and mmap(). What other libraries ask
// for, such as MPI, is served and not counted.
//
//   HEPTAD_SHIM_FAIL_AT=N          the number that fails; none where it is not set
//   HEPTAD_SHIM_FOR_GOOD=1         and all that follow
//   HEPTAD_SHIM_RANK=R             only in the rank R of an MPI job
//   HEPTAD_SHIM_COUNT_FILE=PATH    is told the number of allocations at the end
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <initializer_list>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace {

using Main = int (*)(int, char**, char**);

std::atomic<bool> counts{false};
std::atomic<std::int64_t> seen{0};
std::int64_t failing_number = std::numeric_limits<std::int64_t>::max();
bool for_good = false;
const char* count_file = nullptr;
const void* program = nullptr;  // where the program was loaded
Main real_main = nullptr;

bool next_fails() noexcept {
    if (!counts.load(std::memory_order_relaxed)) {
        return false;
    }
    const std::int64_t number = seen.fetch_add(1) + 1;
    return for_good ? number >= failing_number : number == failing_number;
}

const void* object_of(const void* address) {
    Dl_info info{};
    return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool next_fails_for(const void* caller) noexcept {
    return counts.load(std::memory_order_relaxed) && object_of(caller) == program && next_fails();
}

template <class Function>
Function next_of(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool is_chosen_rank() {
    const char* const wanted = std::getenv("HEPTAD_SHIM_RANK");
    if (wanted == nullptr) {
        return true;
    }
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        if (const char* const rank = std::getenv(name)) {
            return std::strcmp(rank, wanted) == 0;
        }
    }
    return false;
}

void tell_count() {
    counts = false;
    if (count_file == nullptr) {
        return;
    }
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%lld", static_cast<long long>(seen.load()));
    const int file = ::open(count_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0 && ::write(file, text, static_cast<std::size_t>(length)) == length) {
        ::close(file);
    }
}

int counted_main(int argc, char** argv, char** environment) {
    program = object_of(reinterpret_cast<const void*>(real_main));
    if (is_chosen_rank()) {
        const char* const number = std::getenv("HEPTAD_SHIM_FAIL_AT");
        failing_number = number != nullptr ? std::atoll(number) : failing_number;
        for_good = std::getenv("HEPTAD_SHIM_FOR_GOOD") != nullptr;
        count_file = std::getenv("HEPTAD_SHIM_COUNT_FILE");
        counts = true;
        ::alarm(300);  // a program that hangs ends by a signal
    }
    const int code = real_main(argc, argv, environment);
    tell_count();
    return code;
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
    real_main = main;
    const auto start = next_of<decltype(&__libc_start_main)>("__libc_start_main");
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    static const auto real = next_of<void* (*)(std::size_t, std::size_t)>("aligned_alloc");
    if (next_fails_for(__builtin_return_address(0))) {
        errno = ENOMEM;
        return nullptr;
    }
    return real(alignment, bytes);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    static const auto real = next_of<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
    if (next_fails_for(__builtin_return_address(0))) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(address, bytes, protection, flags, file, offset);
}
}

namespace {

void* allocate(std::size_t bytes) {
    void* const memory = next_fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

void* allocate(std::size_t bytes, std::align_val_t alignment) noexcept {
    void* memory = nullptr;
    return next_fails() || ::posix_memalign(&memory, static_cast<std::size_t>(alignment), bytes == 0 ? 1 : bytes) != 0
               ? nullptr
               : memory;
}

}  // namespace

// The other forms of the standard library call these two, but for the aligned one that does not throw.
void* operator new(std::size_t bytes) {
    return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    void* const memory = allocate(bytes, alignment);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
