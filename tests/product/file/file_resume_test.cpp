// Products from file to file that end too early, at any call, and what comes after them.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "io/matrix_file.hpp"
#include "io/sealed_journal.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

namespace fs = std::filesystem;

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kFaultStep = 17;
#else
constexpr int kFaultStep = 1;
#endif

/// Fails the call with that number, and every one after it: a disk that is gone.
WatchedHooks dying_at(int number, std::atomic<int>& calls, int error) {
    WatchedHooks hooks;
    hooks.watch = [number, &calls, error](IoCall, std::int64_t) -> IoVerdict {
        return {++calls >= number ? error : 0};
    };
    return hooks;
}

TEST_F(FileProductTest, failure_of_any_call_is_an_error_and_resuming_gives_the_same_bits) {
    for (const bool overlap : {true, false}) {
        FileProductRequest request = prepare({.m = 40, .k = 20, .n = 48, .memory_bytes = 9 << 10, .adds = true});
        request.overlap = overlap;
        request.io = "threads";
        int resumed_somewhere = 0;
        bool clean = false;
        for (int number = 1; !clean; number += overlap ? 7 * kFaultStep : kFaultStep) {
            SCOPED_TRACE(number);
            for (const char* name : {"C.npy", "C.npy.partial", "C.npy.journal"}) {
                fs::remove(folder_ / name);
            }
            std::atomic<int> calls{0};
            request.resume = false;
            try {
                multiply(request, dying_at(number, calls, number % 2 == 0 ? EIO : ENOSPC));
                clean = true;
            } catch (const Error& error) {
                ASSERT_TRUE(error.code() == ErrorCode::input || error.code() == ErrorCode::resource) << error.what();
                ASSERT_EQ(std::string(error.what()).find('\n'), std::string::npos);
                ASSERT_GE(calls, number) << error.what();
            }
            ASSERT_FALSE(exists("C.npy.lock"));
            if (exists("C.npy")) {  // the name appears only with the whole result
                ASSERT_EQ(result(), expected_);
            } else {
                ASSERT_EQ(exists("C.npy.partial"), exists("C.npy.journal"));
            }
            request.resume = true;
            const FileProductReport report = multiply(request);
            resumed_somewhere += report.resumed_tiles > 0 ? 1 : 0;
            ASSERT_EQ(result(), expected_);
            ASSERT_FALSE(exists("C.npy.partial"));
            ASSERT_FALSE(exists("C.npy.journal"));
        }
        EXPECT_GT(resumed_somewhere, 0);
    }
}

TEST_F(FileProductTest, failure_of_one_call_alone_is_an_error_too) {
    FileProductRequest request = prepare({.m = 40, .k = 20, .n = 48, .memory_bytes = 9 << 10});
    bool clean = false;
    for (int number = 1; !clean; number += kFaultStep) {
        std::atomic<int> calls{0};
        WatchedHooks hooks;
        hooks.watch = [&](IoCall, std::int64_t) -> IoVerdict { return {++calls == number ? EIO : 0}; };
        try {
            multiply(request, hooks);
            clean = calls < number;
            ASSERT_TRUE(clean) << "call " << number << " failed and nobody noticed";
        } catch (const Error& error) {
            ASSERT_GE(calls, number) << error.what();
        }
        if (exists("C.npy")) {
            ASSERT_EQ(result(), expected_);
            fs::remove(folder_ / "C.npy");
        }
    }
}

/// Ends a run after so many tiles.
class Interrupted : public FileProductTest {
protected:
    void interrupt_after(FileProductRequest& request, int tiles) {
        const bool had_result = exists("C.npy");
        interrupt_after_writes(request, 2 + tiles);  // a header, that of the journal, and a line for each tile
        EXPECT_EQ(exists("C.npy"), had_result);
        EXPECT_TRUE(exists("C.npy.partial"));
        EXPECT_TRUE(exists("C.npy.journal"));
    }
    /// Expects that resuming is refused with that code, and changes nothing.
    void expect_refused(const FileProductRequest& request, ErrorCode code, const std::string& word) {
        const std::string partial = read_text(folder_ / "C.npy.partial"),
                          journal = read_text(folder_ / "C.npy.journal");
        try {
            multiply(request);
            FAIL() << "resumed";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
        EXPECT_EQ(read_text(folder_ / "C.npy.partial"), partial);
        EXPECT_EQ(read_text(folder_ / "C.npy.journal"), journal);
    }
};

TEST_F(Interrupted, run_keeps_its_tiles_and_goes_on) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    const FileProductReport report = multiply(request);
    EXPECT_GE(report.resumed_tiles, 2);
    EXPECT_LT(report.resumed_tiles, report.tiles);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, damaged_tile_is_made_again) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 3);
    std::fstream file(folder_ / "C.npy.partial", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 + 40);
    file.put('\x55');
    file.close();
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, torn_last_line_of_the_journal_is_not_believed) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 3);
    const std::string whole = read_text(folder_ / "C.npy.journal");
    for (const std::size_t cut : {std::size_t{1}, std::size_t{9}, std::size_t{20}}) {
        const std::string partial = read_text(folder_ / "C.npy.partial");
        write_text(folder_ / "C.npy.journal", whole.substr(0, whole.size() - cut));
        EXPECT_GE(multiply(request).resumed_tiles, 2);
        EXPECT_EQ(result(), expected_);
        fs::remove(folder_ / "C.npy");
        write_text(folder_ / "C.npy.partial", partial);
    }
}

TEST_F(Interrupted, journal_with_a_damaged_header_is_refused_and_everything_is_kept) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    const std::string whole = read_text(folder_ / "C.npy.journal");
    std::string flipped = whole;
    flipped[whole.find("plan 300x") + 20] ^= 1;
    for (const auto& [journal, word] : std::map<std::string, std::string>{
             {whole.substr(0, 200), "damaged at line"},
             {whole.substr(0, whole.find("\nscalars") + 1), "damaged at line"},
             {"", "damaged at line 1"},
             {flipped, "damaged at line 2"},
             {"no journal at all\n", "damaged at line 1"},
             {sealed("something else") + whole.substr(whole.find('\n') + 1), "is not a journal"},
             {sealed("heptad-journal 1") + whole.substr(whole.find('\n') + 1), "another version"},
             {sealed("heptad-journal 3") + whole.substr(whole.find('\n') + 1), "another version"}}) {
        write_text(folder_ / "C.npy.journal", journal);
        expect_refused(request, ErrorCode::input, word);
    }
    write_text(folder_ / "C.npy.journal", whole);
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, damaged_line_after_the_header_costs_its_tile_only_and_is_told) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 3);
    std::string journal = read_text(folder_ / "C.npy.journal");
    journal[journal.find("\ntile 1 ") + 6] = '2';
    write_text(folder_ / "C.npy.journal", journal);
    const FileProductReport report = multiply(request);
    EXPECT_EQ(report.damaged_lines, 1);
    EXPECT_GE(report.resumed_tiles, 2);
    EXPECT_LT(report.resumed_tiles, report.tiles);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, kill_before_the_journal_has_its_name_starts_at_the_beginning) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    fs::rename(folder_ / "C.npy.journal", folder_ / "C.npy.journal.new");
    EXPECT_EQ(multiply(request).resumed_tiles, 0);
    EXPECT_EQ(result(), expected_);
    EXPECT_FALSE(exists("C.npy.journal.new"));
}

TEST_F(Interrupted, names_with_line_ends_and_backslashes_survive) {
    FileProductRequest request = prepare(kTiled);
    const std::string strange = folder_ / "A\nbegin\\n \n.npy";
    fs::rename(folder_ / "A.npy", strange);
    request.a = {strange};
    request.output = folder_ / "C\n.npy";
    interrupt_after_writes(request, 4);
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(bytes_of(read_npy(folder_ / "C\n.npy").view()), expected_);
}

/// Larger than all samples of its identity together.
const Case kBeyondSamples{.m = 1500, .k = 700, .n = 300, .memory_bytes = 700 << 10};

/// Inverts a byte that no sample covers, and gives the file its time back.
void change_unseen(const std::string& path) {
    const fs::file_time_type time = fs::last_write_time(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    constexpr std::int64_t kBetweenSamples = 20000;
    file.seekg(kBetweenSamples);
    const char old = static_cast<char>(file.get());
    file.seekp(kBetweenSamples);
    file.put(static_cast<char>(~old));
    file.close();
    fs::last_write_time(path, time);
}

TEST_F(Interrupted, input_changed_with_its_time_restored_is_refused_with_one_piece_of_advice) {
    FileProductRequest request = prepare(kBeyondSamples);
    interrupt_after(request, 2);
    const std::string a = folder_ / "A.npy";
    const FileIdentity before = MatrixFile(find_matrix({a})).identity();
    change_unseen(a);
    ASSERT_EQ(MatrixFile(find_matrix({a})).identity(), before) << "the samples would have told";
    const std::string partial = read_text(folder_ / "C.npy.partial");
    try {
        multiply(request);
        ADD_FAILURE() << "resumed";
    } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_EQ(error.code(), ErrorCode::input) << said;
        EXPECT_NE(said.find("A.npy' was changed"), std::string::npos) << said;
        EXPECT_EQ(said.find("go on with"), std::string::npos) << said;
    }
    EXPECT_EQ(read_text(folder_ / "C.npy.partial"), partial);
    change_unseen(a);  // back to what it was, though touched: it is read again, and goes on
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileProductTest, input_changed_under_way_with_its_time_restored_is_noticed_where_it_is_read_again) {
    FileProductRequest request = prepare(kBeyondSamples);
    request.overlap = false;
    std::atomic<int> lines{0};
    WatchedHooks hooks;
    hooks.watch = [&](IoCall call, std::int64_t bytes) -> IoVerdict {
        if (call == IoCall::write && bytes == 0 && ++lines == 3) {  // the first tile is finished
            change_unseen(folder_ / "A.npy");
            change_unseen(folder_ / "B.npy");
        }
        return {};
    };
    try {
        multiply(request, hooks);
        ADD_FAILURE() << "not noticed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        EXPECT_NE(std::string(error.what()).find("was changed"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(exists("C.npy"));
}

TEST_F(Interrupted, other_inputs_or_factors_are_refused) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    FileProductRequest other = request;
    other.alpha = 2;
    expect_refused(other, ErrorCode::input, "another product");
    other = request;
    other.memory_bytes = 20 << 10;
    expect_refused(other, ErrorCode::resource, "--memory");
    std::fstream file(folder_ / "B.npy", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4, std::ios::end);
    file.put('\x01');
    file.close();
    expect_refused(request, ErrorCode::input, "B.npy");
}

TEST_F(Interrupted, journal_that_cannot_be_read_is_not_taken_for_none) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    const std::string partial = read_text(folder_ / "C.npy.partial");
    fs::rename(folder_ / "C.npy.journal", folder_ / "kept");
    for (const bool is_folder : {false, true}) {  // one cannot be opened, the other is opened and cannot be read
        if (is_folder) {
            fs::create_directory(folder_ / "C.npy.journal");
        } else {
            fs::create_symlink("C.npy.journal", folder_ / "C.npy.journal");
        }
        try {
            multiply(request);
            ADD_FAILURE() << "started over";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
            EXPECT_NE(std::string(error.what()).find("cannot be read"), std::string::npos) << error.what();
        }
        EXPECT_EQ(read_text(folder_ / "C.npy.partial"), partial);
        fs::remove(folder_ / "C.npy.journal");
    }
    fs::rename(folder_ / "kept", folder_ / "C.npy.journal");
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, result_over_a_read_only_one_can_be_resumed_and_keeps_its_permissions) {
    FileProductRequest request = prepare(kTiled);
    write_text(folder_ / "C.npy", "old");
    const fs::perms old = fs::perms::owner_read | fs::perms::group_read;
    fs::permissions(folder_ / "C.npy", old);
    interrupt_after(request, 2);
    EXPECT_EQ(fs::status(folder_ / "C.npy.partial").permissions(), old | fs::perms::owner_write);
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(fs::status(folder_ / "C.npy").permissions(), old);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, same_file_read_in_another_way_is_refused) {
    FileProductRequest request = prepare({.m = 210, .k = 210, .n = 260, .memory_bytes = 100 << 10});
    interrupt_after(request, 2);
    FileProductRequest other = request;
    other.transpose_a = true;
    expect_refused(other, ErrorCode::input, "read differently");
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, partial_file_of_another_length_is_refused) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    fs::resize_file(folder_ / "C.npy.partial", 5000);
    expect_refused(request, ErrorCode::input, "has 5000 bytes");
    try {
        multiply(request);
    } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_EQ(said.find("--resume"), said.rfind("--resume")) << "one piece of advice: " << said;
        EXPECT_EQ(said.find("go on with"), std::string::npos) << said;
    }
}

TEST_F(Interrupted, tiles_that_no_run_has_checked_are_not_called_verified) {
    for (const bool checked_before : {false, true}) {
        FileProductRequest request =
            prepare({.m = 300, .k = 210, .n = 260, .type = Type::i32, .memory_bytes = 200 << 10});
        request.verify = checked_before;
        interrupt_after(request, 2);
        request.verify = true;
        request.memory_bytes = 1 << 20;
        const FileProductReport report = multiply(request);
        EXPECT_GE(report.resumed_tiles, 2);
        EXPECT_EQ(report.verified->verdict, checked_before ? Verdict::passed : Verdict::not_verifiable)
            << report.verified->explanation;
        EXPECT_NE(report.verified->explanation.find("earlier run"), std::string::npos) << report.verified->explanation;
        EXPECT_EQ(result(), expected_);
        fs::remove(folder_ / "C.npy");
    }
}

TEST_F(Interrupted, memory_to_check_with_counts_though_the_earlier_run_did_not_check) {
    FileProductRequest request = prepare({.m = 300, .k = 210, .n = 260, .type = Type::i32, .memory_bytes = 200 << 10});
    interrupt_after(request, 1);
    request.verify = true;
    expect_refused(request, ErrorCode::resource, "for --verify");
    request.memory_bytes = 1 << 20;
    const FileProductReport report = multiply(request);
    EXPECT_GT(report.traffic.check_bytes, 0);
    EXPECT_EQ(result(), expected_);
}

TEST_F(Interrupted, without_resume_the_product_starts_over) {
    FileProductRequest request = prepare(kTiled);
    interrupt_after(request, 2);
    request.resume = false;
    EXPECT_EQ(multiply(request).resumed_tiles, 0);
    EXPECT_EQ(result(), expected_);
}

}  // namespace
}  // namespace heptad
