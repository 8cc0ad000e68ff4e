// Schedules that are made: proven for every algorithm, and as small as the papers'.
#include <gtest/gtest.h>

#include <algorithm>

#include "algorithm/catalogue.hpp"
#include "algorithm/schedule.hpp"
#include "algorithm/schedule/schedule_text.hpp"

namespace heptad {
namespace {

Schedule make(const std::string& name, bool accumulate) {
    const CatalogueEntry& entry = find_algorithm(name);
    return make_schedule(entry.standard, entry.sums, accumulate);
}

Schedule make(const Algorithm& algorithm, bool accumulate) {
    return make_schedule(algorithm, shared_sums(algorithm), accumulate);
}

class EveryAlgorithm : public testing::TestWithParam<std::string> {};

TEST_P(EveryAlgorithm, schedules_hold_and_print_and_parse_back) {
    const CatalogueEntry& entry = find_algorithm(GetParam());
    for (const bool accumulate : {false, true}) {
        Schedule schedule = make(GetParam(), accumulate);
        EXPECT_EQ(prove_schedule(schedule, entry.standard.ring), "") << schedule.name;
        EXPECT_EQ(count_products(schedule), entry.standard.rank()) << schedule.name;
        EXPECT_EQ(schedule.accumulates, accumulate);
        EXPECT_FALSE(schedule.overwrites_inputs);
        EXPECT_FALSE(schedule.square_blocks_only) << schedule.name;
        if (!accumulate) {
            EXPECT_TRUE(std::none_of(schedule.steps.begin(), schedule.steps.end(), [](const ScheduleStep& s) {
                return s.update != ScheduleStep::Update::store;
            })) << schedule.name;
        }
        const Schedule again = parse_schedule(print_schedule(schedule), "again");
        EXPECT_EQ(print_schedule(again), print_schedule(schedule));
    }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Scheduler, EveryAlgorithm, testing::ValuesIn(algorithm_names(true)), test_name);

TEST(Scheduler, strassen_and_winograd_need_the_temporaries_of_the_papers) {
    EXPECT_EQ(make("strassen", false).temporaries.size(), 2U);
    const Schedule winograd = make("winograd", false);
    EXPECT_EQ(winograd.temporaries.size(), 2U);
    EXPECT_EQ(count_additions(winograd), 15);
    const Schedule accumulating = make("winograd", true);
    EXPECT_EQ(accumulating.temporaries.size(), 3U);
    EXPECT_EQ(count_additions(accumulating), 15 + 4);
    EXPECT_EQ(make("classical", true).temporaries.size(), 0U);
}

TEST(Scheduler, same_call_gives_the_same_schedule) {
    for (const char* name : {"winograd", "3x3x3-23", "4x4x4-49"}) {
        EXPECT_EQ(print_schedule(make(name, false)), print_schedule(make(name, false)));
    }
}

TEST(Scheduler, the_core_of_an_alternative_basis_is_scheduled_for_what_it_computes) {
    for (const char* name : {"alternative-basis", "self-inverse", "chaining"}) {
        Algorithm core = find_algorithm(name).algorithm;
        core.basis.reset();
        for (const bool accumulate : {false, true}) {
            Schedule schedule = make(core, accumulate);
            EXPECT_EQ(prove_schedule_of(schedule, core), "");
            EXPECT_NE(prove_schedule(schedule, core.ring), "") << "the core is not a product by itself";
            EXPECT_EQ(count_products(schedule), 7);
            schedule.steps.pop_back();
            EXPECT_NE(prove_schedule_of(schedule, core), "");
        }
    }
    Schedule schedule = make("2x2x3-11", false);
    EXPECT_NE(prove_schedule_of(schedule, find_algorithm("winograd").standard).find("2 x 2 x 3"), std::string::npos);
}

TEST(Scheduler, bad_requests_are_refused) {
    EXPECT_THROW(make(find_algorithm("alternative-basis").algorithm, false), Error);
    Algorithm idle = find_algorithm("classical").standard;
    for (int l = 0; l < idle.w.cols; ++l) {
        idle.w(0, l) = 0;
    }
    EXPECT_THROW(make(idle, false), Error);
    idle = find_algorithm("classical").standard;
    idle.u(0, 0) = 0;
    EXPECT_THROW(make(idle, false), Error);
}

}  // namespace
}  // namespace heptad
