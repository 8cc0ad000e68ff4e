#include "api/blas/without_library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace heptad::blas {

void report_wrong_argument(const char* routine, int number) {
    using Xerbla = void (*)(const char*, const int*, std::size_t);
    if (const auto xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, "xerbla_"))) {
        xerbla(routine, &number, 6);
    } else {
        std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", routine, number);
    }
}

void no_library(const char* entry) {
    std::fprintf(stderr, "heptad: %s was called, and this process has no BLAS; link or load one\n", entry);
    std::abort();
}

}  // namespace heptad::blas
