// The program heptad-m4ri (bench/m4ri), which times M4RI in a process of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad::cli {

class M4riProcess {
public:
    /// Starts the program, with huge pages for its memory, if it lies beside this one; started() says whether.
    M4riProcess();
    ~M4riProcess();
    M4riProcess(const M4riProcess&) = delete;
    M4riProcess& operator=(const M4riProcess&) = delete;

    bool started() const { return child_ > 0; }
    void prepare(const ProblemSize& size, int threads);
    /// Seconds of so many products.
    double run(std::int64_t calls);

private:
    std::string ask(const std::string& line);

    pid_t child_ = -1;
    FILE* to_ = nullptr;
    FILE* from_ = nullptr;
};

}  // namespace heptad::cli
