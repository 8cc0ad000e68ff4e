// Keeps two runs off one output: a lock on NAME.lock.
#pragma once

#include <string>

#include "base/file_lock.hpp"
#include "io/hooks.hpp"

namespace heptad {

class OutputLock {
public:
    /// Throws Error(input) where another run holds it and does not let go within two seconds.
    OutputLock(const std::string& output, const IoWatch& watch);

private:
    FileLock lock_;
};

}  // namespace heptad
