// Keeps two runs off one output: a lock on NAME.lock that the kernel drops when its holder ends, however that ends.
#pragma once

#include <string>

#include "place/file/hooks.hpp"
#include "place/file/transfer.hpp"

namespace heptad {

class OutputLock {
public:
    /// Throws Error(input) where another run holds it and does not let go within two seconds.
    OutputLock(const std::string& output, const IoWatch& watch);
    /// Removes the lock file.
    ~OutputLock();
    OutputLock(const OutputLock&) = delete;
    OutputLock& operator=(const OutputLock&) = delete;

private:
    std::string path_;
    Descriptor file_;
};

}  // namespace heptad
