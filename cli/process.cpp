#include "process.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <csignal>
#include <initializer_list>

#include "product/device/device_facts.hpp"

namespace heptad::cli {

void prepare_process() {
    allow_library_corrections();
    // A write beyond the limit on file sizes then fails like one on a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    // A reader of progress lines that went away does not end a run of hours.
    std::signal(SIGPIPE, SIG_IGN);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        // The lowest free number is handed out next: what is printed would end up in a matrix. Printing still fails.
        if (::fcntl(stream, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) {
            break;  // then nothing can be opened at all, and the command will say so
        }
    }
}

}  // namespace heptad::cli
