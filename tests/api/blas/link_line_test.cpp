// A program that is linked as docs/drop-in.md says, and calls nothing but gemm: it needs the drop-in and, after it, the
// BLAS, also where the compiler passes --as-needed to the linker (as Ubuntu's does).
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "api/blas/preloaded.hpp"

namespace {

using heptad::blas_testing::Outcome;
using heptad::blas_testing::run_in;

/// The first text that stands between these two; empty: there is none.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
    const std::size_t from = text.find(before);
    const std::size_t end = from == std::string::npos ? from : text.find(after, from + before.size());
    return end == std::string::npos ? "" : text.substr(from + before.size(), end - from - before.size());
}

std::string contents(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// What pkg-config prints; the build has no folder lib.
std::string flags_of(const std::string& name) {
    return "-L" HEPTAD_BUILD " " + between(contents(HEPTAD_BUILD "/" + name + ".pc"), "Libs: -L${libdir} ", "\n");
}

/// The libraries that a program of one call needs, in order, without the C library's.
std::string needed(const std::string& function, const std::string& flags) {
    const auto folder = std::filesystem::temp_directory_path() / ("heptad_link_line_" + std::to_string(getpid()));
    const Outcome outcome =
        run_in(folder, "echo 'void " + function + "(void); int main(void) { " + function +
                           "(); return 0; }' > program.c && " HEPTAD_CC " program.c -o program " + flags +
                           " '" HEPTAD_MADE_UP_BLAS
                           "' && readelf -d program | sed -n '/NEEDED/s/.*lib\\(heptad[^.]*\\|"
                           "api[^.]*\\)[.].*/\\1/p' | paste -sd ' '");
    std::filesystem::remove_all(folder);
    return outcome.text;
}

}  // namespace

TEST(link_line, flags_of_pkg_config_keep_the_blas_after_the_drop_in) {
    const std::string state = "-Wl,--no-as-needed ";  // whatever this compiler's own is
    EXPECT_EQ(needed("dgemm_", state + flags_of("heptad_blas")), "heptad_blas api_made_up_blas\n");
    EXPECT_EQ(needed("heptad_dgemm_", state + flags_of("heptad_blas_prefixed")),
              "heptad_blas_prefixed api_made_up_blas\n");
}

TEST(link_line, the_line_of_the_page_keeps_the_blas_where_linkers_drop_libraries) {
    const std::string page = contents(HEPTAD_DROP_IN_PAGE);
    const std::string before = between(page, "gfortran -o program program.f90 ", "$(pkg-config --libs heptad_blas) -l");
    EXPECT_EQ(needed("dgemm_", "-Wl,--as-needed " + before + flags_of("heptad_blas")),
              "heptad_blas api_made_up_blas\n");
}
