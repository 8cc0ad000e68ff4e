#include "bench/suites/m4ri_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"

namespace heptad::cli {
namespace {

std::string program_path() {
    std::error_code ignored;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const std::filesystem::path beside = own.parent_path() / "heptad-m4ri";
    return !own.empty() && std::filesystem::exists(beside, ignored) ? beside.string() : "";
}

}  // namespace

M4riProcess::M4riProcess() {
    const std::string program = program_path();
    std::array<int, 2> in{}, out{};
    if (program.empty() || ::pipe2(in.data(), O_CLOEXEC) != 0) {
        return;
    }
    if (::pipe2(out.data(), O_CLOEXEC) != 0) {
        ::close(in[0]);
        ::close(in[1]);
        return;
    }
    std::signal(SIGPIPE, SIG_IGN);  // a program that ended is told by ask(), not by a signal
    child_ = ::fork();
    if (child_ == 0) {
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
        ::execl(program.c_str(), program.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = ::fdopen(in[1], "w");
    from_ = ::fdopen(out[0], "r");
}

M4riProcess::~M4riProcess() {
    if (to_ != nullptr) {
        std::fclose(to_);  // the program ends with its input
    }
    if (from_ != nullptr) {
        std::fclose(from_);
    }
    if (child_ > 0) {
        ::waitpid(child_, nullptr, 0);
    }
}

std::string M4riProcess::ask(const std::string& line) {
    std::array<char, 256> answer{};
    if (to_ == nullptr || from_ == nullptr || std::fputs((line + "\n").c_str(), to_) < 0 || std::fflush(to_) != 0 ||
        std::fgets(answer.data(), static_cast<int>(answer.size()), from_) == nullptr) {
        fail(ErrorCode::resource, "heptad-m4ri ended while it was asked to '{}'; memory may have run out", line);
    }
    return answer.data();
}

void M4riProcess::prepare(const ProblemSize& size, int threads) {
    ask(fmt::format("prepare {} {} {} {}", size.m, size.k, size.n, threads));
}

double M4riProcess::run(std::int64_t calls) {
    return std::strtod(ask(fmt::format("run {}", calls)).c_str(), nullptr);
}

}  // namespace heptad::cli
