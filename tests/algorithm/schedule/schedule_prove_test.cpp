// The symbolic prover: accepts what is right, refuses every kind of wrong schedule, and derives the shapes.
#include <gtest/gtest.h>

#include <map>

#include "algorithm/catalogue.hpp"
#include "algorithm/schedule.hpp"
#include "algorithm/schedule/schedule_text.hpp"

namespace heptad {
namespace {

std::string objection(const std::string& text) {
    Schedule schedule = parse_schedule(text, "s.sched");
    return prove_schedule(schedule, schedule.ring);
}

std::string one_block(const std::string& options, const std::string& steps) {
    return objection("schedule s\nalgorithm classical\nsize 1 1 1\n" + options + "\n" + steps);
}

TEST(ScheduleProve, every_shipped_schedule_holds_and_its_facts_are_known) {
    const struct {
        const char* name;
        std::size_t temporaries;
        int products, additions;
        bool accumulates, square_only, overwrites, operands_die;
    } facts[] = {
        {"p0-figure-4", 2, 7, 18, false, true, false, false},
        {"p0-figure-8", 2, 7, 18, false, true, false, false},
        {"p0-figure-5", 2, 7, 15, false, false, false, false},
        {"p0-figure-15", 2, 7, 16, false, false, false, false},
        {"p1-algorithm-1", 2, 7, 18, false, true, true, true},
        {"huss-lederman-3", 3, 7, 19, true, false, false, false},
        {"boyer-accumulate-2", 2, 7, 21, true, false, false, false},
        {"boyer-accumulate-overwrite", 0, 7, 21, true, false, true, false},
        {"boyer-in-place-overwrite", 0, 7, 15, false, true, true, true},
        {"boyer-in-place-read-only", 0, 58, 117, false, true, false, false},
        {"p3-winograd", 18, 7, 15, false, false, false, false},
        {"p3-self-inverse", 13, 7, 18, false, false, true, true},
        {"p3-chaining", 14, 7, 18, false, false, true, true},
        {"bits-winograd", 4, 7, 15, false, false, false, false},
        {"bits-self-inverse", 2, 7, 18, false, false, true, false},
        {"bits-chaining", 4, 7, 18, false, false, true, false},
    };
    EXPECT_EQ(schedule_names().size(), std::size(facts));
    for (const auto& fact : facts) {
        const Schedule& schedule = find_schedule(fact.name);
        EXPECT_EQ(schedule.temporaries.size(), fact.temporaries) << fact.name;
        EXPECT_EQ(count_products(schedule), fact.products) << fact.name;
        EXPECT_EQ(count_additions(schedule), fact.additions) << fact.name;
        EXPECT_EQ(schedule.accumulates, fact.accumulates) << fact.name;
        EXPECT_EQ(schedule.square_blocks_only, fact.square_only) << fact.name;
        EXPECT_EQ(schedule.overwrites_inputs, fact.overwrites) << fact.name;
        EXPECT_EQ(schedule.operands_die, fact.operands_die) << fact.name;
    }
}

TEST(ScheduleProve, shipped_schedules_carry_out_an_algorithm_of_the_catalogue) {
    for (const std::string& name : schedule_names()) {
        const Schedule& schedule = find_schedule(name);
        const Algorithm& algorithm = find_algorithm(schedule.algorithm).algorithm;
        EXPECT_EQ(schedule.ring, algorithm.ring) << name;
        EXPECT_EQ(schedule.m, algorithm.m) << name;
        EXPECT_EQ(schedule.k, algorithm.k) << name;
        EXPECT_EQ(schedule.n, algorithm.n) << name;
        EXPECT_GE(count_products(schedule), algorithm.rank()) << name;
    }
}

TEST(ScheduleProve, fused_kernels_of_the_papers_are_counted_as_they_say) {
    const auto kernels = [](const char* name) {
        std::map<std::string, int> counts;
        std::string last;
        for (const ScheduleStep& step : find_schedule(name).steps) {
            if (step.kernel != last) {
                ++counts[step.kernel.substr(0, step.kernel.find('#'))];
            }
            last = step.kernel;
        }
        return counts;
    };
    // P0 section V: A and B
    EXPECT_EQ(kernels("p0-figure-4"), (std::map<std::string, int>{{"add", 6},
                                                                  {"sub", 4},
                                                                  {"mul", 2},
                                                                  {"mulIncInc", 2},
                                                                  {"mulStoreDec", 1},
                                                                  {"mulStoreInc", 1},
                                                                  {"mulIncDec", 1}}));
    EXPECT_EQ(kernels("p0-figure-5"),
              (std::map<std::string, int>{
                  {"add", 1}, {"sub", 7}, {"mul", 3}, {"mulAdd", 2}, {"mulIncIncInc", 1}, {"mulSubInc", 1}}));
}

TEST(ScheduleProve, dropping_any_step_or_term_or_flipping_any_sign_is_noticed) {
    int mutants = 0;
    for (const std::string& name : schedule_names()) {
        const Schedule& right = find_schedule(name);
        const auto expect_refused = [&](Schedule wrong, const std::string& what, std::size_t step) {
            ++mutants;
            EXPECT_NE(prove_schedule(wrong, wrong.ring), "")
                << name << ": " << what << " of step " << step + 1 << ", " << print_step(right, right.steps[step]);
        };
        for (std::size_t s = 0; s < right.steps.size(); ++s) {
            Schedule wrong = right;
            wrong.steps.erase(wrong.steps.begin() + static_cast<std::ptrdiff_t>(s));
            expect_refused(wrong, "dropping", s);
            if (right.steps[s].kind == ScheduleStep::Kind::product) {
                wrong = right;
                std::swap(wrong.steps[s].left, wrong.steps[s].right);
                expect_refused(wrong, "swapped factors", s);
                const bool store = right.steps[s].update == ScheduleStep::Update::store;
                if (!store && right.ring != Ring::gf2) {
                    wrong = right;
                    const bool adds = right.steps[s].update == ScheduleStep::Update::add;
                    wrong.steps[s].update = adds ? ScheduleStep::Update::subtract : ScheduleStep::Update::add;
                    expect_refused(wrong, "flipped update", s);
                }
            }
            for (std::size_t o = 0; o < right.steps[s].outputs.size(); ++o) {
                for (std::size_t t = 0; t < right.steps[s].outputs[o].terms.size(); ++t) {
                    wrong = right;
                    auto& terms = wrong.steps[s].outputs[o].terms;
                    if (right.ring != Ring::gf2) {  // where -1 is 1
                        terms[t].coefficient = -terms[t].coefficient;
                        expect_refused(wrong, "flipped term", s);
                    }
                    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(t));
                    expect_refused(wrong, "dropped term", s);
                }
            }
        }
    }
    EXPECT_GT(mutants, 500);
}

TEST(ScheduleProve, plain_and_accumulating_products_differ) {
    EXPECT_EQ(one_block("", "C11 = A11 * B11"), "");
    EXPECT_EQ(one_block("accumulates", "C11 += A11 * B11"), "");
    EXPECT_NE(one_block("", "C11 += A11 * B11").find("C11 is read before it is written"), std::string::npos);
    EXPECT_NE(one_block("accumulates", "C11 = A11 * B11").find("-1 times the old C11 too much"), std::string::npos);
}

TEST(ScheduleProve, old_c_must_survive_exactly_once) {
    EXPECT_NE(one_block("accumulates", "C11 = 2*C11\nC11 += A11 * B11").find("1 times the old C11 too much"),
              std::string::npos);
    EXPECT_EQ(one_block("accumulates\ntemporaries T", "T = C11\nC11 = A11 * B11\nC11 += T"), "");
}

TEST(ScheduleProve, undefined_values_are_not_read) {
    EXPECT_NE(one_block("temporaries T", "C11 = A11 * B11\nC11 += T").find("T is read before it is written"),
              std::string::npos);
    EXPECT_NE(one_block("", "C11 = C11").find("C11 is read before it is written"), std::string::npos);
    EXPECT_NE(one_block("temporaries T", "T = A11").find("C11 is never computed"), std::string::npos);
}

TEST(ScheduleProve, shapes_do_not_mix) {
    EXPECT_NE(one_block("temporaries T", "T = A11 + B11\nC11 = A11 * B11").find("cannot be added"), std::string::npos);
    EXPECT_NE(one_block("", "C11 = B11 * A11").find("left factor B11 must be like A"), std::string::npos);
    EXPECT_NE(one_block("", "C11 = A11 * A11").find("right factor A11 must be like B"), std::string::npos);
    EXPECT_NE(one_block("", "C11 = A11").find("C11 ends as a value like A"), std::string::npos);
    EXPECT_NE(one_block("", "C11 = A11\nC11 += A11 * B11").find("no product can be added"), std::string::npos);
    EXPECT_NE(one_block("temporaries T", "T = 0\nC11 = T * B11").find("it is zero"), std::string::npos);
}

TEST(ScheduleProve, zero_is_a_start_for_sums) {
    EXPECT_EQ(one_block("", "C11 = 0\nC11 += A11 * B11"), "");
}

TEST(ScheduleProve, inputs_are_written_only_where_the_header_says_so) {
    EXPECT_NE(one_block("", "A11 = A11 * B11\nC11 = A11").find("A may be overwritten"), std::string::npos);
    EXPECT_NE(one_block("overwrites A", "A11 = A11 * B11\nC11 = A11").find("B may be overwritten"), std::string::npos);
    EXPECT_EQ(one_block("overwrites A B", "A11 = A11 * B11\nC11 = A11"), "");
    EXPECT_NE(one_block("overwrites A", "B11 = 2*B11\nC11 = A11 * B11").find("B may be overwritten"),
              std::string::npos);
}

TEST(ScheduleProve, an_in_place_product_destroys_both_operands) {
    const std::string text =
        "schedule s\nalgorithm classical\nsize 1 1 2\noverwrites A B\ntemporaries T\n"
        "T = A11\nT = T * B11\nC11 = T\n";
    EXPECT_EQ(objection(text + "C12 = A11 * B12\n"), "");
    EXPECT_NE(objection("schedule s\nalgorithm classical\nsize 1 1 2\noverwrites A B\n"
                        "B11 = A11 * B11\nC11 = B11\nC12 = A11 * B12\n")
                  .find("A11 is read after an in-place product destroyed it"),
              std::string::npos);
    EXPECT_NE(objection("schedule s\nalgorithm classical\nsize 2 1 1\noverwrites A B\n"
                        "A11 = A11 * B11\nC11 = A11\nC21 = A21 * B11\n")
                  .find("B11 is read after an in-place product destroyed it"),
              std::string::npos);
}

TEST(ScheduleProve, coefficients_must_lie_in_the_ring) {
    const std::string halves = "C11 = A11 * B11\nC11 = 1/2*C11\nC11 = 2*C11";
    EXPECT_NE(one_block("", halves).find("1/2 is not an integer"), std::string::npos);
    EXPECT_EQ(one_block("ring Z[1/2]", halves), "");
    EXPECT_EQ(one_block("ring Q", halves), "");
    EXPECT_NE(one_block("ring GF(2)", halves).find("no value in GF(2)"), std::string::npos);
    EXPECT_NE(one_block("ring Z[1/2]", "C11 = A11 * B11\nC11 = 1/3*C11").find("not in Z[1/2]"), std::string::npos);
    EXPECT_EQ(one_block("ring Q", "C11 = A11 * B11\nC11 = 1/3*C11\nC11 = 3*C11"), "");
    EXPECT_EQ(one_block("ring GF(2)", "C11 = A11 * B11\nC11 = 3*C11"), "");
    EXPECT_EQ(one_block("ring GF(2)", "C11 = A11 * B11\nC11 = -1/3*C11"), "");
    EXPECT_NE(one_block("", "C11 = A11 * B11\nC11 = 3*C11"), "");
    EXPECT_NE(one_block("ring GF(2)", "C11 = A11 * B11\nC11 = 2*C11"), "");
}

TEST(ScheduleProve, numbers_that_overflow_are_refused_not_wrapped) {
    std::string steps = "C11 = A11 * B11\n";
    for (int i = 0; i < 5; ++i) {
        steps += "C11 = 1000000007*C11\n";
    }
    EXPECT_NE(one_block("", steps), "");
}

TEST(ScheduleProve, several_outputs_read_before_they_write) {
    EXPECT_EQ(objection("schedule s\nalgorithm classical\nsize 1 1 2\n"
                        "C11 = A11 * B12\nC12 = A11 * B11\n(C11, C12) = (C12, C11)\n"),
              "");
}

TEST(ScheduleProve, shapes_of_temporaries_and_dying_operands_are_derived) {
    const Schedule& schedule = find_schedule("p0-figure-5");
    EXPECT_EQ(schedule.temporaries[0].holds, (std::vector<Shape>{Shape::a, Shape::c}));
    EXPECT_EQ(schedule.temporaries[1].holds, (std::vector<Shape>{Shape::b}));
    // C21 = T1 * T2 is followed by new values of both; T1 * B22 may not destroy B.
    EXPECT_TRUE(schedule.steps[2].left_dies && schedule.steps[2].right_dies);
    EXPECT_TRUE(schedule.steps[10].left_dies);
    EXPECT_FALSE(schedule.steps[10].right_dies);
    // T1 = S1 is needed for S2.
    EXPECT_FALSE(schedule.steps[5].left_dies);
    EXPECT_TRUE(find_schedule("boyer-in-place-overwrite").temporaries.empty());
}

TEST(ScheduleProve, unknown_names_are_answered_with_the_list) {
    try {
        find_schedule("nothing");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("p0-figure-5"), std::string::npos);
    }
}

}  // namespace
}  // namespace heptad
