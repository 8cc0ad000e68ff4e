#include "api/blas/without_library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <string>

namespace heptad::blas {

void report_wrong_argument(Type type, const char* routine, int number, bool is_cblas) {
    using Xerbla = void (*)(const char*, const int*, std::size_t);
    const std::string name = "SDCZ"[type_index(type)] + std::string(routine);
    number = !is_cblas ? number : number < 0 ? 1 : number + 1;
    if (const auto xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, "xerbla_"))) {
        xerbla(name.c_str(), &number, name.size());
    } else {
        std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", name.c_str(), number);
    }
}

}  // namespace heptad::blas
