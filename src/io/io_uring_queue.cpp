#include "io/io_queue.hpp"

#ifdef HEPTAD_HAS_URING
#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "base/error.hpp"
#include "io/transfer.hpp"

namespace heptad {
namespace {

constexpr unsigned kDepth = 64;                                      // pieces under way at a time
constexpr std::int64_t kMostPerPiece_bytes = std::int64_t{1} << 30;  // the kernel takes 32-bit counts

class UringQueue : public IoQueue {
public:
    UringQueue() = default;
    ~UringQueue() override {
        if (is_open_) {
            io_uring_queue_exit(&ring_);
        }
    }
    UringQueue(const UringQueue&) = delete;
    UringQueue& operator=(const UringQueue&) = delete;
    /// False: the kernel does not offer it.
    bool open() {
        is_open_ = io_uring_queue_init(kDepth, &ring_, 0) >= 0;
        return is_open_;
    }
    const char* name() const override { return "io_uring"; }

protected:
    /// Keeps up to kDepth pieces under way. After a failure no more are begun, and those under way are waited for: the
    /// kernel must not write into memory that is given back.
    void transfer(const Batch& batch) override {
        std::vector<std::size_t> waiting(batch.pieces.size());
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            waiting[i] = waiting.size() - 1 - i;  // taken from the back: first piece first
        }
        std::exception_ptr failure;
        unsigned under_way = 0;
        while (under_way > 0 || (!waiting.empty() && !failure)) {
            while (!failure && !waiting.empty() && under_way < kDepth) {
                try {
                    begin(batch, waiting.back());
                } catch (...) {
                    failure = std::current_exception();
                    break;
                }
                waiting.pop_back();
                ++under_way;
            }
            if (under_way == 0) {
                break;
            }
            const int submitted = io_uring_submit_and_wait(&ring_, 1);
            if (submitted < 0 && submitted != -EINTR && submitted != -EAGAIN && submitted != -EBUSY) {
                fail(ErrorCode::resource, "io_uring refused '{}': {}", batch.target.name,
                     system_error_text(-submitted));
            }
            io_uring_cqe* done = nullptr;
            while (io_uring_peek_cqe(&ring_, &done) == 0) {
                const auto index = static_cast<std::size_t>(io_uring_cqe_get_data64(done));
                const int result = done->res;
                io_uring_cqe_seen(&ring_, done);
                --under_way;
                if (result == -EINTR || result == -EAGAIN) {
                    waiting.push_back(index);
                    continue;
                }
                try {
                    if (!take(batch, batch.pieces[index], result)) {
                        waiting.push_back(index);
                    }
                } catch (...) {
                    failure = failure ? failure : std::current_exception();
                }
            }
        }
        if (failure) {
            std::rethrow_exception(failure);
        }
    }

private:
    void begin(const Batch& batch, std::size_t index) {
        const IoPiece& piece = batch.pieces[index];
        const auto bytes = static_cast<unsigned>(std::min(bytes_to_move(batch, piece), kMostPerPiece_bytes));
        io_uring_sqe* const entry = io_uring_get_sqe(&ring_);  // never null: kDepth entries, at most kDepth under way
        const auto offset = static_cast<__u64>(piece.offset);
        if (batch.writing) {
            io_uring_prep_write(entry, batch.target.descriptor, piece.memory, bytes, offset);
        } else {
            io_uring_prep_read(entry, batch.target.descriptor, piece.memory, bytes, offset);
        }
        io_uring_sqe_set_data64(entry, index);
    }

    io_uring ring_{};
    bool is_open_ = false;
};

}  // namespace

bool has_uring() {
    return true;
}

std::unique_ptr<IoQueue> make_uring_queue() {
    auto queue = std::make_unique<UringQueue>();
    if (!queue->open()) {
        return nullptr;
    }
    return queue;
}

}  // namespace heptad
#else

namespace heptad {

bool has_uring() {
    return false;
}

std::unique_ptr<IoQueue> make_uring_queue() {
    return nullptr;
}

}  // namespace heptad
#endif
