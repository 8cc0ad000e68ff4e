#include "product/cluster/same_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <sstream>

#include "base/fail_if.hpp"

namespace heptad {
namespace {

struct Seen {
    std::string host;
    std::vector<FileIdentity> files;
};

std::string to_text(const Seen& seen) {
    std::string text = seen.host + "\n";
    for (const FileIdentity& file : seen.files) {
        text += fmt::format("{} {} {}\n", file.bytes, file.changed_ns, file.samples);
    }
    return text;
}

Seen parse_seen(const std::string& text) {
    std::istringstream lines(text);
    Seen seen;
    std::getline(lines, seen.host);
    for (FileIdentity file; lines >> file.bytes >> file.changed_ns >> file.samples;) {
        seen.files.push_back(file);
    }
    return seen;
}

/// What all ranks know, so that all of them throw.
[[noreturn]] void refuse(const std::string& path, std::size_t rank, const std::vector<Seen>& all,
                         const std::string& difference) {
    throw AgreedError(ErrorCode::input,
                      fmt::format("rank {} ({}) sees another '{}' than rank 0 ({}): {}; put one file where every node "
                                  "sees it, or use --scatter",
                                  rank, all[rank].host, path, all[0].host, difference));
}

/// Copies with times of their own: equal samples are not enough.
void compare_whole(const MatrixWindows& file, std::size_t index, const std::vector<Seen>& all, Communicator& ranks) {
    const auto has_other_time = [&](const Seen& seen) {
        return seen.files[index].changed_ns != all[0].files[index].changed_ns;
    };
    if (std::none_of(all.begin(), all.end(), has_other_time)) {
        return;
    }
    std::string hash;
    ranks.agree([&] {
        if (ranks.rank() == 0 || has_other_time(all[static_cast<std::size_t>(ranks.rank())])) {
            hash = std::to_string(file.hash_of_all());
        }
    });
    const std::vector<std::string> hashes = ranks.gather_texts(hash);
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (!hashes[rank].empty() && hashes[rank] != hashes[0]) {
            refuse(file.path(), rank, all, "of the same length, but with other contents and another time of change");
        }
    }
}

}  // namespace

void require_same_inputs(const JobInputs& inputs, const std::vector<FileIdentity>& identities, Communicator& ranks) {
    std::vector<Seen> all;
    for (const std::string& text : ranks.gather_texts(to_text({ranks.host(), identities}))) {
        all.push_back(parse_seen(text));
    }
    const std::vector<const MatrixWindows*> files = inputs.all();
    for (std::size_t index = 0; index < files.size(); ++index) {
        const FileIdentity& root = all[0].files[index];
        for (std::size_t rank = 1; rank < all.size(); ++rank) {
            const FileIdentity& other = all[rank].files[index];
            if (other.bytes != root.bytes) {
                refuse(files[index]->path(), rank, all,
                       fmt::format("one of {} bytes, not {}", other.bytes, root.bytes));
            }
            if (other.samples != root.samples) {
                refuse(files[index]->path(), rank, all, "of the same length, but with other contents");
            }
        }
        compare_whole(*files[index], index, all, ranks);
    }
}

void require_same_folder(const std::string& output, Communicator& ranks) {
    const std::string path = output + ".lock";
    std::random_device device;
    const std::string word = ranks.broadcast_text(fmt::format("{:08x}{:08x}", device(), device()));
    ranks.agree([&] {
        if (ranks.rank() != 0) {
            return;
        }
        const Descriptor file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW));
        if (file.get() < 0) {
            const int why = errno;
            fail(write_error_code(why), "'{}' cannot be written: {}; choose another place for the result", path,
                 system_error_text(why));
        }
        write_exactly(write_to(file.get()), word.data(), static_cast<std::int64_t>(word.size()), path);
        ::fsync(file.get());  // other nodes see it then; where it is refused they say so
    });
    ranks.agree([&] {
        const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
        std::array<char, 64> found{};
        const ssize_t bytes = file.get() < 0 ? 0 : ::pread(file.get(), found.data(), found.size(), 0);
        fail_if(std::string(found.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))) != word,
                ErrorCode::input,
                "'{}' is in another folder here than on rank 0; name a folder that every node sees, or use "
                "--keep-parts",
                output);
    });
}

std::int64_t distance_to_checked(const std::vector<std::string>& hosts) {
    const std::size_t ranks = hosts.size();
    std::int64_t best = ranks > 1 ? 1 : 0;
    std::size_t most = 0;
    for (std::size_t distance = 1; distance < ranks; ++distance) {
        std::size_t others = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            others += static_cast<std::size_t>(hosts[rank] != hosts[(rank + distance) % ranks]);
        }
        if (others > most) {
            most = others;
            best = static_cast<std::int64_t>(distance);
        }
    }
    return best;
}

}  // namespace heptad
