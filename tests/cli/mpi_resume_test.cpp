// heptad-mpi mul --resume: after ranks were killed in the middle, the next job goes on with what was finished, and the
// result has the same bytes as that of a job that was never disturbed.
#include <algorithm>

#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

constexpr int kRanks = 3;

class MpiResume : public Mpi {
protected:
    void SetUp() override {
        Mpi::SetUp();
        std::filesystem::create_directory(folder_ / "scratch");
    }

    /// The slowest backend: there is time to kill.
    static Words slow(Words more) {
        more.insert(more.end(), {"--device", "reference", "--threads", "1"});
        return mul(more);
    }
    /// Random fractions, whose sums show any other order of additions.
    void make_fractions(std::int64_t n) {
        make_operands(n, n, n);
        for (TestMatrix* matrix : {&a_, &b_}) {
            for (std::size_t i = 0; i < matrix->values.size(); ++i) {
                matrix->values[i] = matrix->values[i] / 7 + static_cast<double>(i % 101) / 13;
            }
        }
        write_matrix("A.npy", a_, "<f4");
        write_matrix("B.npy", b_, "<f4");
    }
    std::int64_t units_in(const std::string& journal) {
        std::ifstream file(folder_ / journal);
        std::int64_t units = 0;
        for (std::string line; std::getline(file, line);) {
            units += line.starts_with("unit ") ? 1 : 0;
        }
        return units;
    }
    /// Kills the ranks when rank 0 has finished so many pieces.
    void leave_behind(const Words& words, std::int64_t pieces, const std::string& journal = "C.npy.part-0.journal") {
        const Outcome outcome = killed(kRanks, words, Victims::all, [&] { return units_in(journal) >= pieces; });
        ASSERT_NE(outcome.exit_code, 0);
        ASSERT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
    }
    /// Runs the words to their end and does something when rank 0 has finished a piece.
    Outcome disturbed(const Words& words, const std::function<void()>& disturb,
                      const std::string& journal = "C.npy.part-0.journal") {
        return heptad(started(kRanks, words), [&](int launcher) {
            while (units_in(journal) == 0) {
                siginfo_t ended{};
                ASSERT_EQ(waitid(P_PID, static_cast<id_t>(launcher), &ended, WEXITED | WNOHANG | WNOWAIT), 0);
                ASSERT_EQ(ended.si_pid, 0) << "the job ended before it could be disturbed";
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            }
            disturb();
        });
    }
    nlohmann::json resumed(Words words) {
        words.insert(words.end(), {"--resume", "--json"});
        const Outcome outcome = heptad(started(kRanks, words));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out, nullptr, false);
    }
    static std::int64_t resumed_units(const nlohmann::json& object) {
        std::int64_t units = 0;
        for (const nlohmann::json& rank : object["ranks"]) {
            units += rank["resumed_units"].get<std::int64_t>();
        }
        return units;
    }
    /// Of a job that nothing disturbs. Removes its result.
    std::string undisturbed(const Words& words) {
        const Outcome outcome = heptad(started(kRanks, words));
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        std::string bytes = read("C.npy");
        std::filesystem::remove(folder_ / "C.npy");
        return bytes;
    }
    void expect_nothing_left() {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
            names.push_back(entry.path().filename());
        }
        std::sort(names.begin(), names.end());
        EXPECT_EQ(names, (std::vector<std::string>{"A.npy", "B.npy", "C.npy", "scratch"}));
    }
};

TEST_F(MpiResume, blocks_and_columns_that_were_finished_are_not_computed_again) {
    make_fractions(1080);
    for (const char* algorithm : {"pegmm", "mod-pegmm"}) {
        SCOPED_TRACE(algorithm);
        const Words words = slow({"--algorithm", algorithm, "--block", "180x360x90"});
        const std::string expected = undisturbed(words);
        leave_behind(words, 2);
        const nlohmann::json object = resumed(words);
        EXPECT_GE(resumed_units(object), 2);
        EXPECT_GE(object["ranks"][0]["resumed_units"], 2);
        EXPECT_LT(object["ranks"][0]["resumed_units"], object["ranks"][0]["units"]);
        for (const nlohmann::json& rank : object["ranks"]) {
            // Nor sent again: the first four columns come from the rank's own B[id], each other one over the network.
            const std::int64_t sent_before = std::max<std::int64_t>(0, rank["resumed_units"].get<std::int64_t>() - 4);
            const std::int64_t planned = rank["planned_bytes"].get<std::int64_t>();
            EXPECT_EQ(rank["received_bytes"], planned == 0 ? 0 : planned - sent_before * 1080 * 90 * 4);
        }
        EXPECT_TRUE(read("C.npy") == expected);
        expect_nothing_left();
        std::filesystem::remove(folder_ / "C.npy");
    }
}

TEST_F(MpiResume, parts_of_a_grid_that_were_finished_are_not_computed_again) {
    if (!limits_of_files_spare_mpi()) {
        GTEST_SKIP() << "this MPI keeps large files in shared memory, which a limit on files forbids too";
    }
    make_fractions(240);
    const Words words = slow({"--grid", "3x1x1"});
    const std::string expected = undisturbed(words);
    // One rank cannot write its part; the job ends when it tries to.
    Words start = started(2, words);
    std::string limited = std::string("trap '' XFSZ; ulimit -f 40; sleep 2; exec ") + HEPTAD_MPI_BINARY;
    for (const std::string& word : words) {
        limited += " " + word;
    }
    const Words other{":", "-n", "1", "/bin/sh", "-c", limited};
    start.insert(start.end(), other.begin(), other.end());
    const Outcome outcome = heptad(start);
    EXPECT_EQ(outcome.exit_code, 4) << outcome.err;
    EXPECT_NE(outcome.err.find("rank 2"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("go on with --resume"), std::string::npos) << outcome.err;
    ASSERT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
    const std::int64_t finished = units_in("C.npy.part-0.journal") + units_in("C.npy.part-1.journal");
    const nlohmann::json object = resumed(words);
    EXPECT_EQ(resumed_units(object), finished);
    EXPECT_TRUE(read("C.npy") == expected);
    expect_nothing_left();
}

TEST_F(MpiResume, what_was_handed_out_is_not_handed_out_again) {
    make_fractions(900);
    const Words words =
        slow({"--algorithm", "mod-pegmm", "--block", "150x300x75", "--scatter", "--scratch", "scratch"});
    const std::string expected = undisturbed(words);
    leave_behind(words, 2, "scratch/C.npy.part-0.journal");
    const nlohmann::json object = resumed(words);
    EXPECT_GE(resumed_units(object), 2);
    for (const nlohmann::json& rank : object["ranks"]) {
        EXPECT_EQ(rank["distributed_bytes"], 0);
    }
    EXPECT_TRUE(read("C.npy") == expected);
    expect_nothing_left();
}

TEST_F(MpiResume, damaged_pieces_and_parts_are_made_again) {
    make_fractions(900);
    const Words words = slow({"--algorithm", "pegmm", "--block", "150x300x150", "--scatter", "--scratch", "scratch"});
    const std::string expected = undisturbed(words);
    leave_behind(words, 2, "scratch/C.npy.part-0.journal");
    for (const char* name : {"C.npy.partial", "scratch/C.npy.part-1-b.scratch"}) {
        std::string bytes = read(name);
        bytes[bytes.size() / 3] ^= 1;
        for (std::size_t i = 128; i < 1000; ++i) {
            bytes[i] = 'x';
        }
        write(name, bytes);
    }
    const nlohmann::json object = resumed(words);
    EXPECT_GT(object["ranks"][1]["distributed_bytes"], 0);
    EXPECT_TRUE(read("C.npy") == expected);
    expect_nothing_left();
}

TEST_F(MpiResume, other_inputs_words_and_ranks_are_refused_and_the_leftovers_stay) {
    make_fractions(1080);
    const Words words = slow({"--algorithm", "pegmm", "--block", "180x360x90"});
    const std::string expected = undisturbed(words);
    leave_behind(words, 2);
    const auto refused = [&](int exit_code, int ranks, Words other, const std::string& said) {
        other.emplace_back("--resume");
        const Outcome outcome = heptad(started(ranks, other));
        EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
        EXPECT_NE(outcome.err.find(said), std::string::npos) << said << "\n" << outcome.err;
        EXPECT_TRUE(std::filesystem::exists(folder_ / "C.npy.partial"));
    };
    Words scaled = words;
    scaled.insert(scaled.end(), {"--alpha", "2"});
    refused(3, kRanks, scaled, "alpha");
    refused(2, 2, words, "3 ranks");
    const std::string a = read("A.npy");
    write_matrix("A.npy", b_, "<f4");
    refused(3, kRanks, words, "input A");
    // Without --resume the product starts over, over what is there.
    write("A.npy", a);
    EXPECT_TRUE(undisturbed(words) == expected);
}

TEST_F(MpiResume, inputs_that_change_during_the_product_are_noticed_and_nothing_of_it_stays) {
    make_fractions(1080);
    const Outcome outcome = disturbed(slow({"--algorithm", "pegmm", "--block", "180x360x90"}), [&] {
        std::fstream file(folder_ / "B.npy", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-1, std::ios::end);
        file.put('\x41');
    });
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("were changed"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("--resume"), std::string::npos) << outcome.err;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
        EXPECT_FALSE(entry.path().filename().string().starts_with("C.npy")) << entry.path();
    }
}

TEST_F(MpiResume, where_the_result_cannot_take_its_name_the_finished_work_of_all_ranks_is_kept) {
    make_fractions(900);
    for (const Words& place : {Words{}, Words{"--scatter", "--scratch", "scratch"}}) {
        Words more{"--algorithm", "pegmm", "--block", "150x300x75"};
        more.insert(more.end(), place.begin(), place.end());
        const Words words = slow(more);
        SCOPED_TRACE(joined(words));
        const std::string journal = place.empty() ? "C.npy.part-0.journal" : "scratch/C.npy.part-0.journal";
        const Outcome outcome = disturbed(
            words, [&] { std::filesystem::create_directory(folder_ / "C.npy"); }, journal);
        EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
        EXPECT_NE(outcome.err.find("go on with --resume"), std::string::npos) << outcome.err;
        std::filesystem::remove(folder_ / "C.npy");
        const nlohmann::json object = resumed(words);
        for (const nlohmann::json& rank : object["ranks"]) {
            EXPECT_EQ(rank["resumed_units"], rank["units"]);
        }
        expect_nothing_left();
        std::filesystem::remove(folder_ / "C.npy");
    }
}

TEST_F(MpiResume, nothing_to_resume_is_a_start) {
    make_fractions(60);
    const Words words = slow({});
    const std::string expected = undisturbed(words);
    EXPECT_EQ(resumed_units(resumed(words)), 0);
    EXPECT_TRUE(read("C.npy") == expected);
    expect_nothing_left();
}

}  // namespace
}  // namespace heptad::testing
