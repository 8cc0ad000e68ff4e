// Many reads or writes at once: a window of a matrix is hundreds of pieces of its file, and a disk is fast only when it
// has several of them to work on. By io_uring where the library was found and the kernel allows it, else by threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heptad {

struct IoPiece {
    std::byte* memory = nullptr;
    std::int64_t offset = 0, bytes = 0;
    std::int64_t needed_bytes = 0;  ///< of those; the rest may lie beyond the end of the file
};

/// One open file for a batch of pieces.
struct IoTarget {
    int descriptor = -1;
    std::int64_t block_bytes = 1;  ///< direct I/O: a piece goes on at a multiple of this
    std::string name;              ///< for error sentences
};

class IoQueue {
public:
    virtual ~IoQueue() = default;
    virtual const char* name() const = 0;
    /// All pieces, in any order; short counts go on, interruptions are repeated. Throws Error(input) for an early end
    /// or an unreadable file; nothing is under way any more then.
    void read(const IoTarget& target, std::vector<IoPiece> pieces);
    /// Throws Error(resource) for a full disk and the like, Error(input) for other refusals.
    void write(const IoTarget& target, std::vector<IoPiece> pieces);

protected:
    struct Batch {
        const IoTarget& target;
        std::vector<IoPiece>& pieces;
        bool writing;
    };
    virtual void transfer(const Batch& batch) = 0;
    /// All of the piece, unless a test wants fewer or an error.
    static std::int64_t bytes_to_move(const Batch& batch, const IoPiece& piece);
    /// Takes note of what a call moved (or minus an errno). True: the piece is complete.
    static bool take(const Batch& batch, IoPiece& piece, std::int64_t result);
};

/// `by`: "auto", "uring" or "threads". Throws Error(usage) where io_uring is insisted on and cannot be had.
std::unique_ptr<IoQueue> make_io_queue(const std::string& by);

/// Was liburing found when this was built?
bool has_uring();
/// Null where this build or the kernel does not have it.
std::unique_ptr<IoQueue> make_uring_queue();

}  // namespace heptad
