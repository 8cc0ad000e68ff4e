# shellcheck shell=bash
# Sourced by the other scripts: finds the C++ compiler where CXX does not name one.
# g++ 12 or later is needed; releases whose plain g++ is older have one under its versioned name.

find_compiler() { # prints the command, or nothing
    local candidate major
    for candidate in g++ g++-{15..12} clang++ clang++-{20..14}; do
        command -v "$candidate" >/dev/null || continue
        major=$("$candidate" -dumpversion)
        major=${major%%.*}
        case $candidate in
            clang*) ((major >= 14)) || continue ;;
            *) ((major >= 12)) || continue ;;
        esac
        echo "$candidate"
        return
    done
}

# The C compiler that belongs to a C++ compiler: g++-12 -> gcc-12, clang++ -> clang.
c_compiler_of() {
    case $1 in
        *clang++*) echo "${1/clang++/clang}" ;;
        *g++*) echo "${1/g++/gcc}" ;;
        *) echo cc ;;
    esac
}
