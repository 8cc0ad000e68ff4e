#include "welcome.hpp"

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "command.hpp"

namespace heptad::cli {

std::string welcome_text() {
    // Those of bench/ are there where they were linked.
    const bool compares = holds_commands("bench");
    return fmt::format(
        "Heptad {} multiplies matrices with fewer multiplications.\n\n"
        "  heptad mul A.npy B.npy -o C.npy                multiply two files; add --verify to have C checked\n"
        "  heptad gen uniform --shape 4096x4096 -o A.npy  make a matrix to play with\n"
        "{}"
        "  heptad plan 8192 8192 8192                     what a product would take, and how exact it would be\n"
        "  heptad tune                                    measure this machine once, in two minutes: plans get "
        "better\n\n"
        "'heptad --help' lists all commands, 'heptad mul --help' the options of one of them.\n",
        version(),
        compares ? "  heptad demo                                    a product of every kind, in under a minute\n"
                 : "");
}

}  // namespace heptad::cli
