// The journal of a rank: what was noted is read back, what was torn or damaged is not believed.
#include "io/rank_journal.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "io/scratch_folder.hpp"
#include "product/cluster/job_record.hpp"

namespace heptad {
namespace {

class Journal : public ::testing::Test {
protected:
    std::string path() const { return folder_ / "C.npy.part-1.journal"; }
    void append(const std::string& bytes) const { std::ofstream(path(), std::ios::app) << bytes; }
    ScratchFolder folder_;
};

const std::vector<std::string> kJob{"plan cluster ...", "memory 5", "input A 1 2 3"};

TEST_F(Journal, what_was_noted_is_read_back_and_gone_on_with) {
    {
        RankJournal journal(path(), kJob);
        journal.add_held("a", 17);
        journal.add_unit(4, 99);
    }
    const auto first = read_rank_journal(path());
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->job, kJob);
    EXPECT_EQ(first->held.at("a"), 17U);
    EXPECT_EQ(first->units, (std::map<std::int64_t, std::uint64_t>{{4, 99}}));
    append("unit 5 100 #0123");  // torn
    RankJournal(path(), *read_rank_journal(path())).add_unit(6, 101);
    EXPECT_EQ(read_rank_journal(path())->units, (std::map<std::int64_t, std::uint64_t>{{4, 99}, {6, 101}}));
}

TEST_F(Journal, damaged_line_ends_what_is_believed) {
    {
        RankJournal journal(path(), kJob);
        journal.add_unit(1, 2);
    }
    append("unit 3 4 #0000000000000000\n");
    RankJournal(path(),
                RankJournalContents{kJob, {}, {}, static_cast<std::int64_t>(std::filesystem::file_size(path()))})
        .add_unit(5, 6);
    EXPECT_EQ(read_rank_journal(path())->units, (std::map<std::int64_t, std::uint64_t>{{1, 2}}));
}

TEST_F(Journal, none_or_one_with_half_a_head_is_nothing) {
    EXPECT_FALSE(read_rank_journal(path()).has_value());
    append("heptad-cluster-jour");
    EXPECT_FALSE(read_rank_journal(path()).has_value());
    EXPECT_THROW(RankJournal(folder_ / "no/such/folder", kJob), Error);
}

TEST_F(Journal, damaged_head_is_told_and_not_passed_over) {
    RankJournal(path(), kJob).add_unit(1, 2);
    std::string text = (std::ostringstream() << std::ifstream(path()).rdbuf()).str();
    const std::size_t head = text.find("unit ");
    ASSERT_NE(head, std::string::npos);
    for (std::size_t at = 0; at + 1 < head; ++at) {
        std::string damaged = text;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        std::ofstream(path(), std::ios::trunc) << damaged;
        EXPECT_THROW(read_rank_journal(path()), Error) << at;
    }
}

TEST_F(Journal, first_line_that_differs_is_named) {
    EXPECT_NO_THROW(require_same_job(kJob, kJob, path()));
    try {
        require_same_job(kJob, {"plan cluster ...", "memory 5", "input A 1 2 4"}, path());
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("there 'input A 1 2 3', here 'input A 1 2 4'"), std::string::npos);
    }
    EXPECT_THROW(require_same_job(kJob, {"plan cluster ..."}, path()), Error);
}

}  // namespace
}  // namespace heptad
