// A folder that stands for "/": tests of what the kernel tells about this process write its files there.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace heptad {

class MadeUpRoot {
public:
    MadeUpRoot() {
        std::string name = (std::filesystem::temp_directory_path() / "heptad-root-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~MadeUpRoot() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    MadeUpRoot(const MadeUpRoot&) = delete;
    MadeUpRoot& operator=(const MadeUpRoot&) = delete;

    const std::string& path() const { return path_; }

    void write(const std::string& file, const std::string& text) const {
        const std::filesystem::path full = path_ + file;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }

private:
    std::string path_;
};

}  // namespace heptad
