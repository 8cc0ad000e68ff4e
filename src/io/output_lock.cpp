#include "io/output_lock.hpp"

#include <cerrno>

#include "base/fail_if.hpp"
#include "io/matrix_file.hpp"
#include "io/transfer.hpp"

namespace heptad {
namespace {

/// So long a run that was killed may hold its lock: the system closes its files after it, once transfers under way are
/// through.
constexpr std::chrono::seconds kLettingGo{2};

std::string watched(const std::string& path, const IoWatch& watch) {
    ask_watch(watch, IoCall::lock, path, true);
    return path;
}

}  // namespace

OutputLock::OutputLock(const std::string& output, const IoWatch& watch)
    : lock_(watched(output + ".lock", watch), kLettingGo) {
    const int why = lock_.error();
    if (why == 0) {
        return;
    }
    const std::string path = output + ".lock";
    if (!lock_.was_opened()) {
        fail(write_error_code(why), "'{}' cannot be written: {}; choose another place for the result", path,
             system_error_text(why));
    }
    fail_if(why == EWOULDBLOCK, ErrorCode::input,
            "another run is writing '{}' (it holds '{}'); wait for it or choose another output", output, path);
    fail(ErrorCode::resource, "'{}' cannot be locked: {}", path, system_error_text(why));
}

}  // namespace heptad
