// Schedules that are made: proven for every algorithm and option, as small as the papers', side by side in groups.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithm/catalogue.hpp"
#include "algorithm/schedule.hpp"

namespace heptad {
namespace {

Schedule make(const std::string& name, const SchedulerOptions& options) {
    const CatalogueEntry& entry = find_algorithm(name);
    return make_schedule(entry.standard, entry.sums_a, entry.sums_b, entry.sums_c, options);
}

SchedulerOptions options_with(bool accumulate, bool c_as_scratch, int width = 1) {
    SchedulerOptions options;
    options.accumulate = accumulate;
    options.c_as_scratch = c_as_scratch;
    options.width = width;
    return options;
}

/// Runs of products without another step between them, none of which touches what another one writes.
void expect_groups(const Schedule& schedule, int width) {
    std::vector<int> runs;
    std::set<Symbol> written, read;
    int length = 0;
    const auto close = [&] {
        if (length > 0) {
            runs.push_back(length);
        }
        length = 0;
        written.clear();
        read.clear();
    };
    for (const ScheduleStep& step : schedule.steps) {
        if (step.kind != ScheduleStep::Kind::product) {
            close();
            continue;
        }
        if (length == width) {
            close();
        }
        EXPECT_TRUE(written.insert(step.target).second) << schedule.name << ": " << print_step(schedule, step);
        read.insert({step.left, step.right});
        for (const Symbol& symbol : read) {
            EXPECT_EQ(written.count(symbol), 0U) << schedule.name << ": " << print_step(schedule, step);
        }
        ++length;
    }
    close();
    const int products = count_products(schedule);
    ASSERT_EQ(static_cast<int>(runs.size()), (products + width - 1) / width) << schedule.name;
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        EXPECT_EQ(runs[i], width) << schedule.name;
    }
}

class EveryAlgorithm : public testing::TestWithParam<std::string> {};

TEST_P(EveryAlgorithm, schedules_hold_for_every_option_and_keep_their_groups) {
    const CatalogueEntry& entry = find_algorithm(GetParam());
    const int rank = entry.standard.rank();
    for (const bool accumulate : {false, true}) {
        for (const bool scratch : {false, true}) {
            for (const int width : {1, 2, 4, rank}) {
                Schedule schedule = make(GetParam(), options_with(accumulate, scratch, width));
                EXPECT_EQ(prove_schedule(schedule, entry.standard.ring), "") << schedule.name;
                EXPECT_EQ(count_products(schedule), rank) << schedule.name;
                EXPECT_EQ(schedule.accumulates, accumulate);
                EXPECT_FALSE(schedule.overwrites_inputs);
                EXPECT_TRUE(scratch || !schedule.square_blocks_only) << schedule.name;
                if (!accumulate) {
                    EXPECT_TRUE(std::none_of(schedule.steps.begin(), schedule.steps.end(), [](const ScheduleStep& s) {
                        return s.update != ScheduleStep::Update::store;
                    })) << schedule.name;
                }
                expect_groups(schedule, width);
                const Schedule again = parse_schedule(print_schedule(schedule), "again");
                EXPECT_EQ(print_schedule(again), print_schedule(schedule));
            }
        }
    }
}

TEST_P(EveryAlgorithm, overwriting_inputs_and_adding_products_and_few_temporaries_hold) {
    const CatalogueEntry& entry = find_algorithm(GetParam());
    for (const bool accumulate : {false, true}) {
        SchedulerOptions options = options_with(accumulate, true);
        const Schedule plain = make(GetParam(), options);
        const auto price = [&](const Schedule& schedule) {
            return count_additions(schedule) +
                   options.additions_per_temporary * static_cast<int>(schedule.temporaries.size());
        };
        options.overwrite_inputs = true;
        Schedule schedule = make(GetParam(), options);
        EXPECT_EQ(prove_schedule(schedule, entry.standard.ring), "");
        EXPECT_LE(price(schedule), price(plain)) << GetParam();
        options.c_as_scratch = false;
        schedule = make(GetParam(), options);
        EXPECT_EQ(prove_schedule(schedule, entry.standard.ring), "");
        EXPECT_FALSE(schedule.square_blocks_only);
        options = options_with(accumulate, false);
        options.adding_products = true;
        schedule = make(GetParam(), options);
        EXPECT_EQ(prove_schedule(schedule, entry.standard.ring), "");
        options = options_with(accumulate, true);
        options.additions_per_temporary = 1000000;
        schedule = make(GetParam(), options);
        EXPECT_EQ(prove_schedule(schedule, entry.standard.ring), "");
        EXPECT_LE(schedule.temporaries.size(), plain.temporaries.size());
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
    EXPECT_EQ(make("strassen", options_with(false, true)).temporaries.size(), 2U);
    EXPECT_EQ(make("strassen", options_with(false, false)).temporaries.size(), 2U);
    const Schedule winograd = make("winograd", options_with(false, true));
    EXPECT_EQ(winograd.temporaries.size(), 2U);
    EXPECT_EQ(count_additions(winograd), 15);
    const Schedule rectangular = make("winograd", options_with(false, false));
    EXPECT_EQ(rectangular.temporaries.size(), 2U);
    EXPECT_EQ(count_additions(rectangular), 15);
    for (const bool scratch : {false, true}) {
        const Schedule accumulating = make("winograd", options_with(true, scratch));
        EXPECT_EQ(accumulating.temporaries.size(), 3U);
        EXPECT_EQ(count_additions(accumulating), 15 + 4);
    }
    EXPECT_EQ(make("classical", options_with(true, false)).temporaries.size(), 0U);
}

TEST(Scheduler, overwriting_both_inputs_needs_no_temporary) {
    SchedulerOptions options = options_with(false, true);
    options.overwrite_inputs = true;
    EXPECT_EQ(make("winograd", options).temporaries.size(), 0U);
    EXPECT_EQ(make("strassen", options).temporaries.size(), 0U);
}

TEST(Scheduler, dear_temporaries_are_traded_for_additions) {
    SchedulerOptions options = options_with(false, true);
    options.additions_per_temporary = 1000;
    const Schedule lean = make("winograd", options);
    EXPECT_EQ(lean.temporaries.size(), 1U);
    EXPECT_GT(count_additions(lean), 15);
}

TEST(Scheduler, width_costs_temporaries) {
    std::size_t before = 0;
    for (const int width : {1, 2, 4, 7}) {
        const std::size_t needed = make("winograd", options_with(false, false, width)).temporaries.size();
        EXPECT_GE(needed, before);
        before = needed;
    }
    EXPECT_GT(before, 7U);
}

TEST(Scheduler, same_call_gives_the_same_schedule) {
    for (const char* name : {"winograd", "3x3x3-23", "4x4x4-49"}) {
        EXPECT_EQ(print_schedule(make(name, options_with(false, true))),
                  print_schedule(make(name, options_with(false, true))));
    }
}

TEST(Scheduler, without_programs_the_sums_are_shared_here) {
    const Schedule schedule = make_schedule(find_algorithm("winograd").standard, options_with(false, true));
    EXPECT_EQ(schedule.temporaries.size(), 2U);
    EXPECT_EQ(count_additions(schedule), 15);
}

TEST(Scheduler, the_core_of_an_alternative_basis_is_scheduled_for_what_it_computes) {
    for (const char* name : {"alternative-basis", "self-inverse", "chaining"}) {
        Algorithm core = find_algorithm(name).algorithm;
        core.basis.reset();
        for (const bool accumulate : {false, true}) {
            Schedule schedule = make_schedule(core, options_with(accumulate, false));
            EXPECT_EQ(prove_schedule_of(schedule, core), "");
            EXPECT_NE(prove_schedule(schedule, core.ring), "") << "the core is no product by itself";
            EXPECT_EQ(count_products(schedule), 7);
            schedule.steps.pop_back();
            EXPECT_NE(prove_schedule_of(schedule, core), "");
        }
    }
    Schedule schedule = make("2x2x3-11", options_with(false, false));
    EXPECT_NE(prove_schedule_of(schedule, find_algorithm("winograd").standard).find("2 x 2 x 3"), std::string::npos);
}

TEST(Scheduler, bad_requests_are_refused) {
    EXPECT_THROW(make("winograd", options_with(false, true, 0)), Error);
    SchedulerOptions options;
    options.additions_per_temporary = -1;
    EXPECT_THROW(make("winograd", options), Error);
    EXPECT_THROW(make_schedule(find_algorithm("alternative-basis").algorithm, SchedulerOptions{}), Error);
    Algorithm idle = find_algorithm("classical").standard;
    for (int l = 0; l < idle.w.cols; ++l) {
        idle.w(0, l) = 0;
    }
    EXPECT_THROW(make_schedule(idle, SchedulerOptions{}), Error);
    idle = find_algorithm("classical").standard;
    idle.u(0, 0) = 0;
    EXPECT_THROW(make_schedule(idle, SchedulerOptions{}), Error);
}

}  // namespace
}  // namespace heptad
