#include "io/io_queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fail_if.hpp"
#include "base/thread_pool.hpp"
#include "io/io_watch.hpp"
#include "io/transfer.hpp"

namespace heptad {
namespace {

constexpr int kThreads = 8;  // they wait for the disk, not for a processor

class ThreadQueue : public IoQueue {
public:
    ThreadQueue() : pool_(kThreads) {}
    const char* name() const override { return "threads"; }

protected:
    void transfer(const Batch& batch) override {
        pool_.run(static_cast<std::int64_t>(batch.pieces.size()), [&](std::int64_t i) {
            IoPiece& piece = batch.pieces[static_cast<std::size_t>(i)];
            for (bool complete = false; !complete;) {
                const auto bytes = static_cast<std::size_t>(bytes_to_move(batch, piece));
                const auto offset = static_cast<off_t>(piece.offset);
                const ssize_t moved = batch.writing ? ::pwrite(batch.target.descriptor, piece.memory, bytes, offset)
                                                    : ::pread(batch.target.descriptor, piece.memory, bytes, offset);
                if (moved < 0 && (errno == EINTR || errno == EAGAIN)) {
                    continue;
                }
                complete = take(batch, piece, moved < 0 ? -errno : moved);
            }
        });
    }

private:
    ThreadPool pool_;
};

[[noreturn]] void fail_piece(const IoTarget& target, bool writing, std::int64_t offset, int why) {
    if (writing) {
        fail(write_error_code(why), "'{}' cannot be written at byte {}: {}; choose a place with enough room",
             target.name, offset, system_error_text(why));
    }
    fail(ErrorCode::input, "'{}' cannot be read at byte {}: {}", target.name, offset, system_error_text(why));
}

}  // namespace

void IoQueue::read(const IoTarget& target, std::vector<IoPiece> pieces) {
    transfer({target, pieces, false});
}

void IoQueue::write(const IoTarget& target, std::vector<IoPiece> pieces) {
    transfer({target, pieces, true});
}

std::int64_t IoQueue::bytes_to_move(const Batch& batch, const IoPiece& piece) {
    if (io_watch == nullptr) {
        return piece.bytes;
    }
    const IoVerdict verdict = (*io_watch)(batch.writing ? IoCall::write : IoCall::read, piece.bytes);
    if (verdict.error != 0) {
        fail_piece(batch.target, batch.writing, piece.offset, verdict.error);
    }
    const std::int64_t block = batch.target.block_bytes;
    return verdict.most_bytes >= piece.bytes
               ? piece.bytes
               : std::min(piece.bytes, std::max(verdict.most_bytes / block, std::int64_t{1}) * block);
}

bool IoQueue::take(const Batch& batch, IoPiece& piece, std::int64_t result) {
    if (result < 0) {
        fail_piece(batch.target, batch.writing, piece.offset, static_cast<int>(-result));
    }
    if (result >= piece.needed_bytes) {
        return true;
    }
    // Direct I/O can go on only at a block; a read that ends inside one has met the end of the file.
    const std::int64_t gone = result / batch.target.block_bytes * batch.target.block_bytes;
    if (gone == 0) {
        if (batch.writing) {
            fail_piece(batch.target, true, piece.offset, ENOSPC);  // a device that takes nothing and does not say why
        }
        fail(ErrorCode::input,
             "'{}' ended at byte {} where {} bytes were expected; the file is truncated or shrank while it was read",
             batch.target.name, piece.offset + result, piece.offset + piece.needed_bytes);
    }
    piece.memory += gone;
    piece.offset += gone;
    piece.bytes -= gone;
    piece.needed_bytes -= gone;
    return false;
}

std::unique_ptr<IoQueue> make_io_queue(const std::string& by) {
    if (by != "threads") {
        if (std::unique_ptr<IoQueue> queue = make_uring_queue()) {
            return queue;
        }
        fail_if(by == "uring", ErrorCode::usage, "io_uring cannot be used: {}; leave the choice to the program",
                has_uring() ? "the kernel refuses it here" : "this build does not have liburing");
    }
    return std::make_unique<ThreadQueue>();
}

}  // namespace heptad
