#include "kernels/cpu/vendor_blas_probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

namespace heptad::cpu {
namespace {

constexpr char kComplete = '\n';  // ends an answer: a child that died while writing is not believed

[[noreturn]] void answer_in_child(const std::function<std::string()>& question, int write_end, int limit_ms) {
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGINT, SIGALRM}) {
        signal(number, SIG_DFL);
    }
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    alarm(static_cast<unsigned>(limit_ms / 1000 + 1));  // should the parent die first
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    try {
        const std::string answer = question() + kComplete;
        std::size_t sent = 0;
        while (sent < answer.size()) {
            const ssize_t n = write(write_end, answer.data() + sent, answer.size() - sent);
            if (n <= 0) {
                break;
            }
            sent += static_cast<std::size_t>(n);
        }
    } catch (...) {
        _exit(1);
    }
    _exit(0);
}

/// Everything the child writes until it closes the pipe; gives up at the limit.
std::string read_until_closed(int read_end, int limit_ms) {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::milliseconds(limit_ms);
    std::string answer;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd ready{read_end, POLLIN, 0};
        if (left <= 0 || (poll(&ready, 1, static_cast<int>(left)) < 0 && errno != EINTR)) {
            return "";
        }
        if (ready.revents == 0) {
            continue;
        }
        char buffer[512];
        const ssize_t n = read(read_end, buffer, sizeof buffer);
        if (n <= 0) {
            return answer;
        }
        answer.append(buffer, static_cast<std::size_t>(n));
    }
}

}  // namespace

std::optional<std::string> ask_child(const std::function<std::string()>& question, int limit_ms) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return std::nullopt;
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        answer_in_child(question, ends[1], limit_ms);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return std::nullopt;
    }
    std::string answer = read_until_closed(ends[0], limit_ms);
    close(ends[0]);
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (answer.empty() || answer.back() != kComplete) {
        return std::nullopt;
    }
    answer.pop_back();
    return answer;
}

ScopedEnvironment::ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) {
        before_ = before;
    }
    value != nullptr ? setenv(name, value, 1) : unsetenv(name);
}

ScopedEnvironment::~ScopedEnvironment() {
    before_ ? setenv(name_.c_str(), before_->c_str(), 1) : unsetenv(name_.c_str());
}

}  // namespace heptad::cpu
