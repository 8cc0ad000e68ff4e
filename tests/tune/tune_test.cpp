// The tune file: what is saved is loaded, what is damaged or foreign is ignored, unless the user named it.
#include "tune/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "base/thread_pool.hpp"
#include "io/machine_file.hpp"
#include "kernels/cpu/cpu_backend.hpp"

namespace heptad {
namespace {

class tune_file_test : public testing::Test {
protected:
    void SetUp() override {
        std::string pattern = (std::filesystem::temp_directory_path() / "heptad-tune-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        unsetenv("HEPTAD_TUNE_FILE");
        setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    static Machine measured(int threads, double combine) {
        Machine machine = default_machine(threads);
        machine.measured = true;
        machine.combine_bytes_per_s = combine;
        return machine;
    }

    std::filesystem::path folder_;
};

TEST_F(tune_file_test, without_a_file_the_defaults_are_used) {
    const Machine machine = load_machine(2);
    EXPECT_FALSE(machine.measured);
    EXPECT_EQ(machine.threads, 2);
    for (const Type type : {Type::f32, Type::f64, Type::i32}) {
        const std::string leaf = best_leaf(machine, type, 1000, 1000, 1000);
        const std::vector<std::string> leaves = cpu::CpuBackend(shared_pool(2)).leaves(type);
        EXPECT_NE(std::find(leaves.begin(), leaves.end(), leaf), leaves.end());
        EXPECT_LT(leaf_seconds(machine, leaf, type, 100, 100, 100), leaf_seconds(machine, leaf, type, 999, 999, 999));
    }
}

TEST_F(tune_file_test, without_a_file_a_whole_product_is_what_users_of_the_library_call) {
    const std::vector<std::string> leaves = cpu::CpuBackend(shared_pool(2)).leaves(Type::f64);
    if (std::none_of(leaves.begin(), leaves.end(), is_whole_call)) {
        GTEST_SKIP() << "there is no library with threads of its own";
    }
    EXPECT_TRUE(is_whole_call(best_leaf(load_machine(2), Type::f64, 1000, 1000, 1000)));
    EXPECT_FALSE(is_whole_call(best_leaf(load_machine(2), Type::f64, 1000, 1000, 1000, LeafUse::below_levels)));
}

TEST_F(tune_file_test, saved_descriptions_are_loaded_by_number_of_threads) {
    save_machine(measured(1, 11e9));
    save_machine(measured(2, 22e9));
    save_machine(measured(2, 23e9));
    EXPECT_EQ(load_machine(1).combine_bytes_per_s, 11e9);
    EXPECT_EQ(load_machine(2).combine_bytes_per_s, 23e9);
    EXPECT_TRUE(load_machine(2).measured);
    EXPECT_FALSE(load_machine(3).measured);
    // Nothing but the file itself is left behind.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "heptad"), {}), 1);
}

TEST_F(tune_file_test, damaged_files_fall_back_to_the_defaults_and_can_be_saved_over) {
    save_machine(measured(2, 22e9));
    const std::string path = tune_file();
    std::string good;
    std::getline(std::ifstream(path), good, '\0');
    for (const std::string& bad : {std::string(), std::string("\0\0\0", 3), good.substr(0, good.size() / 2),
                                   std::string("{\"key\":1,\"machines\":{}}"), std::string("[[[[")}) {
        std::ofstream(path, std::ios::trunc) << bad;
        EXPECT_FALSE(load_machine(2).measured);
    }
    save_machine(measured(2, 24e9));
    EXPECT_EQ(load_machine(2).combine_bytes_per_s, 24e9);
}

/// Valid, and deep enough to end a process that walks it by recursion.
std::string deep(const std::string& before, const std::string& after) {
    constexpr std::size_t kDeep = 1000000;
    return before + std::string(kDeep, '[') + std::string(kDeep, ']') + after;
}

TEST_F(tune_file_test, deeply_nested_json_is_no_description_and_no_crash) {
    save_machine(measured(2, 22e9));
    for (const std::string& text :
         {deep("", ""), deep("{\"key\": \"x\", \"machines\": [", "]}"), std::string(1000000, '['),
          deep("{\"key\": \"x\", \"machines\": [{\"cpu\": ", "}]}")}) {
        std::ofstream(tune_file(), std::ios::trunc) << text;
        EXPECT_FALSE(load_machine(2).measured);
        EXPECT_THROW(parse_machine(text), Error);
    }
}

TEST_F(tune_file_test, saving_at_the_same_time_loses_nothing) {
    constexpr int kSavers = 8, kRounds = 5;
    const Machine like = measured(1, 22e9);
    std::vector<std::thread> savers;
    for (int saver = 1; saver <= kSavers; ++saver) {
        savers.emplace_back([&like, saver] {
            Machine machine = like;
            machine.threads = saver;
            for (int round = 1; round <= kRounds; ++round) {
                machine.combine_bytes_per_s = 1e9 * saver + round;
                save_machine(machine);
            }
        });
    }
    for (std::thread& saver : savers) {
        saver.join();
    }
    const std::vector<Machine> kept = read_machines({"", tune_file(), true, "HEPTAD_TUNE_FILE"});
    ASSERT_EQ(kept.size(), static_cast<std::size_t>(kSavers));
    for (const Machine& machine : kept) {
        EXPECT_EQ(machine.combine_bytes_per_s, 1e9 * machine.threads + kRounds);
    }
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "heptad"), {}), 1) << "a lock is left behind";
}

/// The sentence of the Error(code) that it throws.
template <class Call>
std::string sentence_of(ErrorCode code, const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
}

TEST_F(tune_file_test, a_named_file_that_is_missing_is_an_error_where_plans_are_made_and_none_where_it_is_tuned) {
    const std::string path = (folder_ / "mistyped.json").string();
    setenv("HEPTAD_TUNE_FILE", path.c_str(), 1);
    const std::string sentence = sentence_of(ErrorCode::input, [] { load_machine(2); });
    EXPECT_NE(sentence.find(path), std::string::npos) << sentence;
    EXPECT_NE(sentence.find("HEPTAD_TUNE_FILE"), std::string::npos) << sentence;
    EXPECT_FALSE(load_machine(2, NamedFile::may_be_missing).measured);
    require_savable();
    EXPECT_FALSE(std::filesystem::exists(path));
    save_machine(measured(2, 22e9));
    EXPECT_TRUE(load_machine(2).measured);
}

TEST_F(tune_file_test, a_named_file_that_is_missing_is_no_error_for_whoever_plans_while_it_is_tuned) {
    setenv("HEPTAD_TUNE_FILE", (folder_ / "new.json").c_str(), 1);
    {
        const TuningScope tuning;
        EXPECT_FALSE(load_machine(2).measured);
    }
    sentence_of(ErrorCode::input, [] { load_machine(2); });
}

TEST_F(tune_file_test, the_way_back_is_told_where_there_is_a_file) {
    EXPECT_EQ(way_back(tune_file()), "");
    EXPECT_EQ(way_back(""), "");
    save_machine(measured(2, 22e9));
    EXPECT_NE(way_back(tune_file()).find(tune_file()), std::string::npos);
}

TEST_F(tune_file_test, beside_others_all_figures_stay_as_they_were) {
    Machine before = measured(1, 12e9);
    before.scan_bytes_per_s = 13e9;
    for (LeafProfile& profile : before.leaves) {
        for (LeafSample& sample : profile.samples) {
            sample.seconds *= 1.5;
        }
    }
    save_machine(before);
    LoadRules rules;
    rules.wall_s = [now = 0.0]() mutable { return ++now; };
    rules.ours_s = rules.all_s = [] { return 0.0; };  // whatever passed, nothing of it was ours
    rules.sleep = [](double) {};
    rules.patience_s = 0;
    LoadWatch watch(rules);
    const Machine machine = measure_machine(1, 0.2, {}, &watch);
    EXPECT_FALSE(watch.stored_something());
    EXPECT_FALSE(watch.notice().empty());
    EXPECT_EQ(machine.combine_bytes_per_s, 12e9);
    EXPECT_EQ(machine.scan_bytes_per_s, 13e9);
    for (const LeafProfile& profile : machine.leaves) {
        for (const LeafSample& sample : profile.samples) {
            const double before_s = leaf_seconds(before, profile.leaf, profile.type, sample.m, sample.k, sample.n);
            EXPECT_NEAR(sample.seconds, before_s, 1e-9 * before_s) << profile.leaf << " " << sample.n;
        }
    }
}

// It stored the rate of small products for our kernel: repetitions had taken the time of the large ones. Then it called
// leaves hopeless that had been disturbed, and believed what a disturbance between two readings of the clocks had left.
TEST_F(tune_file_test, a_busy_machine_has_figures_of_every_size_and_none_far_below_the_earlier_ones) {
    Machine before = measured(1, 12e9);
    for (LeafProfile& profile : before.leaves) {
        for (LeafSample& sample : profile.samples) {
            sample.seconds /= 1000;  // so that whatever is measured seems to be far slower
        }
    }
    save_machine(before);
    // Somebody else has the processor for the first seconds; then it is ours alone, as far as the clocks tell.
    const auto wall_s = std::make_shared<double>(0);
    LoadRules rules;
    rules.wall_s = [wall_s] { return *wall_s += 0.2; };
    rules.ours_s = [wall_s] { return *wall_s; };
    rules.all_s = [wall_s] { return *wall_s + std::min(*wall_s, 5.0); };
    rules.sleep = [](double) {};
    rules.patience_s = 0;
    LoadWatch watch(rules);
    const Machine machine = measure_machine(1, 0.2, {}, &watch);
    EXPECT_TRUE(watch.noticed_others() && watch.stored_something());
    for (const LeafProfile& profile : machine.leaves) {
        const auto has = [&](std::int64_t n) {
            return std::ranges::any_of(profile.samples,
                                       [&](const LeafSample& s) { return s.m == n && s.k == n && s.n == n; });
        };
        for (const std::int64_t n : {128, 512, 2048}) {
            EXPECT_TRUE(has(n)) << profile.leaf << " " << type_name(profile.type) << " " << n;
            const double before_s = leaf_seconds(before, profile.leaf, profile.type, n, n, n);
            EXPECT_TRUE(is_whole_call(profile.leaf) ||  // these are scaled to what our own threads do
                        leaf_seconds(machine, profile.leaf, profile.type, n, n, n) <= 2.01 * before_s)
                << profile.leaf << " " << n;
        }
    }
}

TEST_F(tune_file_test, a_named_file_that_holds_something_else_is_an_error_and_is_not_written_over) {
    const std::string path = (folder_ / "notes.txt").string();
    setenv("HEPTAD_TUNE_FILE", path.c_str(), 1);
    for (const std::string& text : {std::string("my notes"), std::string("{\"plan\": 1}"), deep("", "")}) {
        std::ofstream(path, std::ios::trunc) << text;
        EXPECT_NE(sentence_of(ErrorCode::input, [] { load_machine(2); }).find(path), std::string::npos);
        sentence_of(ErrorCode::input, [] { require_savable(); });
        sentence_of(ErrorCode::input, [] { save_machine(measured(2, 22e9)); });
        std::string left;
        std::getline(std::ifstream(path), left, '\0');
        EXPECT_EQ(left, text);
    }
    std::ofstream(path, std::ios::trunc).close();  // as mktemp makes it
    save_machine(measured(2, 22e9));
    EXPECT_TRUE(load_machine(2).measured);
}

TEST_F(tune_file_test, file_of_another_machine_is_ignored_unless_the_user_names_it) {
    save_machine(measured(2, 22e9));
    const std::string path = tune_file();
    std::string text;
    std::getline(std::ifstream(path), text, '\0');
    text.replace(text.find("\"key\": \"") + 8, 3, "XYZ");
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_FALSE(load_machine(2).measured);
    setenv("HEPTAD_TUNE_FILE", path.c_str(), 1);
    EXPECT_TRUE(load_machine(2).measured);
}

TEST_F(tune_file_test, file_of_earlier_kernels_is_ignored) {
    save_machine(measured(2, 22e9));
    ASSERT_EQ(machines_of_this_processor().size(), 1U);
    const std::string path = tune_file();
    std::string text;
    std::getline(std::ifstream(path), text, '\0');
    const std::string edition = " edition 7;";
    ASSERT_NE(text.find(edition), std::string::npos) << text;
    std::ofstream(path, std::ios::trunc) << text.replace(text.find(edition), edition.size(), " edition 6;");
    EXPECT_FALSE(load_machine(2).measured);
    EXPECT_TRUE(machines_of_this_processor().empty());
}

TEST_F(tune_file_test, leaves_that_this_machine_lacks_are_left_out) {
    Machine machine = measured(2, 22e9);
    LeafProfile fantasy = machine.leaves.front();
    fantasy.leaf = "fantasy";
    fantasy.samples = {{64, 64, 64, 1e-9}};
    machine.leaves.push_back(fantasy);
    machine.measured_plans = {{Type::f32, 64, 64, 64, {{}, "heptad"}, 1, 0, 3, 1},
                              {Type::f32, 64, 64, 64, {{}, "fantasy"}, 0.5, 0, 3, 1},
                              {Type::f32, 128, 128, 128, {{}, "heptad"}, 1, 0, 3, 1}};
    save_machine(machine);
    ASSERT_EQ(load_machine(2).measured_plans.size(), 1U);
    EXPECT_EQ(load_machine(2).measured_plans.front().n, 128);
    EXPECT_NE(best_leaf(load_machine(2), Type::f32, 64, 64, 64), "fantasy");
}

TEST_F(tune_file_test, place_that_cannot_be_written_is_a_resource_error) {
    std::ofstream(folder_ / "heptad") << "a file where the folder should be";
    const std::string saving = sentence_of(ErrorCode::resource, [] { save_machine(measured(1, 1e9)); });
    EXPECT_NE(saving.find("HEPTAD_TUNE_FILE"), std::string::npos);
    EXPECT_EQ(sentence_of(ErrorCode::resource, [] { require_savable(); }), saving) << "said before measuring";
    setenv("HEPTAD_TUNE_FILE", folder_.c_str(), 1);
    sentence_of(ErrorCode::resource, [] { require_savable(); });  // a folder
    unsetenv("HEPTAD_TUNE_FILE");
    unsetenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const std::string kept = home != nullptr ? home : "";
    unsetenv("HOME");
    sentence_of(ErrorCode::resource, [] { require_savable(); });
    if (home != nullptr) {
        setenv("HOME", kept.c_str(), 1);
    }
}

TEST(tune, tight_budget_still_measures_every_leaf_and_tells_progress) {
    double last = -1;
    bool rises = true;
    LoadRules rules = load_rules(1, 0);
    rules.all_s = [] { return -1.0; };
    rules.ours_s = rules.wall_s;  // nobody is in the way, whatever else this machine does
    LoadWatch watch(rules);
    const Machine machine = measure_machine(
        1, 0.2,
        [&](double fraction, const std::string& stage) {
            rises = rises && fraction >= last && fraction <= 1 && !stage.empty();
            last = fraction;
        },
        &watch);
    EXPECT_TRUE(rises);
    EXPECT_EQ(last, 1);
    EXPECT_TRUE(machine.measured);
    EXPECT_GT(machine.combine_bytes_per_s, 1e7);
    EXPECT_GT(machine.scan_bytes_per_s, 1e7);
    const cpu::CpuBackend backend(shared_pool(1));
    for (const Type type : {Type::f32, Type::f64, Type::i32}) {
        for (const std::string& leaf : backend.leaves(type)) {
            const auto found = std::find_if(machine.leaves.begin(), machine.leaves.end(),
                                            [&](const LeafProfile& p) { return p.leaf == leaf && p.type == type; });
            ASSERT_NE(found, machine.leaves.end()) << leaf;
            EXPECT_GE(found->samples.size(), 8U) << leaf;
        }
    }
    EXPECT_THROW(measure_machine(0), Error);
}

}  // namespace
}  // namespace heptad
