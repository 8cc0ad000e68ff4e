#include "interrupt.hpp"

#include <unistd.h>
#include <csignal>

#include "base/fail_if.hpp"

namespace heptad::cli {
namespace {

// A handler may touch only what exists already: the token is made before the handler is installed and never freed.
const CancelToken* token = nullptr;
volatile std::sig_atomic_t signals_seen = 0;

void on_signal(int) {
    if (signals_seen != 0) {
        _exit(static_cast<int>(ErrorCode::cancelled));
    }
    signals_seen = 1;
    token->cancel();
}

}  // namespace

const CancelToken& interrupt_token() {
    if (token == nullptr) {
        token = new CancelToken;
        struct sigaction action {};
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART;
        sigaction(SIGINT, &action, nullptr);
        sigaction(SIGTERM, &action, nullptr);
    }
    return *token;
}

void stop_if_interrupted() {
    fail_if(interrupt_token().cancelled(), ErrorCode::cancelled, "interrupted; no output was written");
}

}  // namespace heptad::cli
