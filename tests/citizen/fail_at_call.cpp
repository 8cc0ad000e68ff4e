// Preloaded into a rank of heptad-mpi: at the n-th call that the program itself makes to the system or to MPI the rank
// dies, or the n-th request for memory since it first read a matrix is refused. What libraries call inside of
// themselves does not count, so that the n-th call is the same one in every run, as far as threads allow. Reads in a
// row count as one.
//
//   HEPTAD_TEST_FAIL   die:RANK:N       SIGKILL at call N (from 1) of rank RANK
//                      memory:RANK:N    its request N for memory is refused
//   HEPTAD_TEST_COUNT  FILE              every rank appends "RANK CALLS REQUESTS" when it ends
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include <mpi.h>

namespace {

std::atomic<long> calls{0}, requests{0};
std::atomic<bool> has_read{false};  // before, while words are parsed, the parser could not answer a refusal
thread_local bool has_just_read = false;
long own_rank = -1, die_at = -1, refuse_at = -1;
const char* count_file = nullptr;
const void* program = nullptr;  // where it is loaded

const void* base_of(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

__attribute__((constructor)) void begin() {
    const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
    rank = rank != nullptr ? rank : std::getenv("PMI_RANK");
    if (rank == nullptr) {
        return;  // not a rank
    }
    own_rank = std::atol(rank);
    program = base_of(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
    count_file = std::getenv("HEPTAD_TEST_COUNT");
    const char* const fail = std::getenv("HEPTAD_TEST_FAIL");
    long victim = -1, at = -1;
    if (fail != nullptr && std::sscanf(fail, "die:%ld:%ld", &victim, &at) == 2 && victim == own_rank) {
        die_at = at;
    } else if (fail != nullptr && std::sscanf(fail, "memory:%ld:%ld", &victim, &at) == 2 && victim == own_rank) {
        refuse_at = at;
    }
}

__attribute__((destructor)) void end() {
    if (own_rank >= 0 && count_file != nullptr) {
        char line[80];
        const int length = std::snprintf(line, sizeof line, "%ld %ld %ld\n", own_rank, calls.load(), requests.load());
        const int file = ::open(count_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (file >= 0) {
            if (::write(file, line, static_cast<std::size_t>(length)) != length) {
                std::abort();
            }
            ::close(file);
        }
    }
}

bool is_counted(const void* caller) {
    return own_rank >= 0 && base_of(caller) == program;
}
void count_call(const void* caller, bool reads = false) {
    if (!is_counted(caller)) {
        return;
    }
    const bool again = reads && has_just_read;
    has_just_read = reads;
    if (!again && ++calls == die_at) {
        ::kill(::getpid(), SIGKILL);
        for (;;) {
            ::pause();
        }
    }
}
bool is_refused(const void* caller) {
    return has_read && is_counted(caller) && ++requests == refuse_at;
}

/// The function of that name that this one stands before.
template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define CALLER __builtin_return_address(0)
/// A function that is counted and then carried out.
#define COUNTED(result, name, parameters, arguments)              \
    extern "C" result name parameters {                           \
        count_call(CALLER);                                       \
        static auto* const real = next<result parameters>(#name); \
        return real arguments;                                    \
    }

extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
    has_read = true;
    count_call(CALLER, true);
    static auto* const real = next<ssize_t(int, void*, size_t, off_t)>("pread");
    return real(file, to, bytes, offset);
}
COUNTED(ssize_t, pwrite, (int file, const void* from, size_t bytes, off_t offset), (file, from, bytes, offset))
COUNTED(ssize_t, write, (int file, const void* from, size_t bytes), (file, from, bytes))
COUNTED(int, fsync, (int file), (file))
COUNTED(int, rename, (const char* from, const char* to), (from, to))
COUNTED(int, unlink, (const char* path), (path))
COUNTED(int, fallocate, (int file, int mode, off_t offset, off_t bytes), (file, mode, offset, bytes))
COUNTED(int, ftruncate, (int file, off_t bytes), (file, bytes))

extern "C" int open(const char* path, int flags, ...) {
    count_call(CALLER);
    va_list more;
    va_start(more, flags);
    const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
    va_end(more);
    static auto* const real = next<int(const char*, int, ...)>("open");
    return real(path, flags, mode);
}

COUNTED(int, MPI_Init_thread, (int* argc, char*** argv, int wanted, int* got), (argc, argv, wanted, got))
COUNTED(int, MPI_Finalize, (), ())
COUNTED(int, MPI_Isend,
        (const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks, MPI_Request* request),
        (from, count, type, to, tag, ranks, request))
COUNTED(int, MPI_Irecv,
        (void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks, MPI_Request* request),
        (to, count, type, from, tag, ranks, request))
COUNTED(int, MPI_Iallgather,
        (const void* from, int count, MPI_Datatype type, void* to, int counts, MPI_Datatype types, MPI_Comm ranks,
         MPI_Request* request),
        (from, count, type, to, counts, types, ranks, request))
COUNTED(int, MPI_Iallgatherv,
        (const void* from, int count, MPI_Datatype type, void* to, const int* counts, const int* starts,
         MPI_Datatype types, MPI_Comm ranks, MPI_Request* request),
        (from, count, type, to, counts, starts, types, ranks, request))
COUNTED(int, MPI_Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm ranks, MPI_Request* request),
        (data, count, type, root, ranks, request))
COUNTED(int, MPI_Ibarrier, (MPI_Comm ranks, MPI_Request* request), (ranks, request))

// Memory: what C++ asks for, and maps of memory that belong to no file.
void* operator new(std::size_t bytes) {
    void* const memory = is_refused(CALLER) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void* operator new[](std::size_t bytes) {
    void* const memory = is_refused(CALLER) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    const auto block = static_cast<std::size_t>(alignment);
    return is_refused(CALLER) ? nullptr : std::aligned_alloc(block, (bytes + block - 1) / block * block);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
    if ((flags & MAP_ANONYMOUS) != 0 && is_refused(CALLER)) {
        return MAP_FAILED;
    }
    static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
    return real(address, bytes, protection, flags, file, offset);
}
