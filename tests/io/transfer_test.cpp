// Injected faults: short reads and writes, interruptions, early ends and errors in the middle.
#include "io/transfer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace heptad {
namespace {

const std::string kContent = [] {
    std::string text;
    for (int i = 0; i < 5000; ++i) {
        text += static_cast<char>(i * 7 + i / 256);
    }
    return text;
}();

/// Serves kContent in pieces of 1 to 13 bytes, interrupted every third call.
struct PiecewiseReader {
    int calls = 0;
    ssize_t operator()(void* to, std::size_t bytes, std::int64_t offset) {
        if (++calls % 3 == 0) {
            errno = EINTR;
            return -1;
        }
        if (offset >= static_cast<std::int64_t>(kContent.size())) {
            return 0;
        }
        const std::size_t piece = std::min(
            {bytes, static_cast<std::size_t>(1 + calls % 13), kContent.size() - static_cast<std::size_t>(offset)});
        std::memcpy(to, kContent.data() + offset, piece);
        return static_cast<ssize_t>(piece);
    }
};

TEST(Transfer, short_and_interrupted_reads_are_continued_until_all_is_there) {
    for (const std::int64_t offset : {0, 1, 1000}) {
        const auto bytes = static_cast<std::int64_t>(kContent.size()) - offset;
        std::string got(static_cast<std::size_t>(bytes), '?');
        read_exactly(PiecewiseReader(), got.data(), bytes, offset, "x");
        EXPECT_EQ(got, kContent.substr(static_cast<std::size_t>(offset)));
    }
}

TEST(Transfer, early_end_is_bad_input_that_names_both_lengths) {
    std::string got(6000, '?');
    try {
        read_exactly(PiecewiseReader(), got.data(), 6000, 0, "some.npy");
        FAIL() << "an early end went unnoticed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input);
        const std::string sentence = error.what();
        EXPECT_NE(sentence.find("some.npy"), std::string::npos);
        EXPECT_NE(sentence.find("5000"), std::string::npos);
        EXPECT_NE(sentence.find("6000"), std::string::npos);
    }
}

TEST(Transfer, read_error_in_the_middle_is_told) {
    int calls = 0;
    const ReadSome failing = [&](void* to, std::size_t, std::int64_t) -> ssize_t {
        if (++calls > 4) {
            errno = EIO;
            return -1;
        }
        *static_cast<char*>(to) = 'x';
        return 1;
    };
    std::string got(100, '?');
    try {
        read_exactly(failing, got.data(), 100, 0, "x");
        FAIL() << "a read error went unnoticed";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("byte 4"), std::string::npos) << error.what();
    }
    EXPECT_EQ(calls, 5);
}

TEST(Transfer, short_and_interrupted_writes_are_continued_until_all_is_out) {
    std::string out;
    int calls = 0;
    const WriteSome piecewise = [&](const void* from, std::size_t bytes) -> ssize_t {
        if (++calls % 4 == 0) {
            errno = EINTR;
            return -1;
        }
        const std::size_t piece = std::min(bytes, static_cast<std::size_t>(1 + calls % 29));
        out.append(static_cast<const char*>(from), piece);
        return static_cast<ssize_t>(piece);
    };
    write_exactly(piecewise, kContent.data(), static_cast<std::int64_t>(kContent.size()), "x");
    EXPECT_EQ(out, kContent);
}

TEST(Transfer, write_errors_are_resources_or_bad_paths) {
    struct Case {
        int system_error;
        ErrorCode code;
    };
    for (const Case& c :
         {Case{ENOSPC, ErrorCode::resource}, Case{EDQUOT, ErrorCode::resource}, Case{EFBIG, ErrorCode::resource},
          Case{EIO, ErrorCode::resource}, Case{EACCES, ErrorCode::input}, Case{EPIPE, ErrorCode::resource}}) {
        int calls = 0;
        const WriteSome failing = [&](const void*, std::size_t) -> ssize_t {
            if (++calls == 1) {
                return 3;
            }
            errno = c.system_error;
            return -1;
        };
        try {
            write_exactly(failing, "0123456789", 10, "x");
            FAIL() << "a write error went unnoticed";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), c.code) << error.what();
            EXPECT_NE(std::string(error.what()).find(system_error_text(c.system_error)), std::string::npos);
        }
    }
}

TEST(Transfer, device_that_takes_nothing_ends_with_an_error_and_not_in_a_loop) {
    EXPECT_THROW(write_exactly([](const void*, std::size_t) -> ssize_t { return 0; }, "0", 1, "x"), Error);
}

TEST(Transfer, full_device_is_a_resource_error) {
    const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    ASSERT_GE(full.get(), 0);
    try {
        write_exactly(write_to(full.get()), kContent.data(), static_cast<std::int64_t>(kContent.size()), "/dev/full");
        FAIL() << "a full disk went unnoticed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::resource);
    }
}

}  // namespace
}  // namespace heptad
