// The .sched text: what it means, that it prints and parses back, and what is refused.
#include <gtest/gtest.h>

#include <random>

#include "algorithm/schedule.hpp"
#include "algorithm/schedule/schedule_text.hpp"

namespace heptad {
namespace {

const std::string header = "schedule s\nalgorithm classical\nsize 1 1 1\n";

Schedule parse(const std::string& text) {
    return parse_schedule(text, "s.sched");
}

std::string complaint(const std::string& text) {
    try {
        parse(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input);
        return error.what();
    }
    return "";
}

TEST(ScheduleParse, header_and_every_kind_of_step_are_read) {
    const Schedule schedule = parse(
        "# a comment\nschedule all\nalgorithm winograd\nsize 2 3 10  # m k n\nring Z[1/2]\n"
        "source a book, page 3\ntemporaries T1 sum_2\naccumulates\noverwrites B A\n\n"
        "T1 = A21 - 2*A_1_3 + 1/2*A12   @sub#2  # S3\n"
        "(T1, sum_2) = (-T1, B11 - B_3_10)\nC_2_10 += T1 * sum_2\nC11 -= T1*sum_2\nT1 = 0\nC11 -= 3*C12 - C13\n");
    EXPECT_EQ(schedule.name, "all");
    EXPECT_EQ(schedule.algorithm, "winograd");
    EXPECT_EQ(schedule.m, 2);
    EXPECT_EQ(schedule.k, 3);
    EXPECT_EQ(schedule.n, 10);
    EXPECT_EQ(schedule.ring, Ring::halves);
    EXPECT_EQ(schedule.source, "a book, page 3");
    EXPECT_TRUE(schedule.accumulates && schedule.overwrites_inputs && schedule.overwrites_a && schedule.overwrites_b);
    ASSERT_EQ(schedule.temporaries.size(), 2U);
    EXPECT_EQ(schedule.temporaries[1].name, "sum_2");
    ASSERT_EQ(schedule.steps.size(), 6U);

    const ScheduleStep& first = schedule.steps[0];
    EXPECT_EQ(first.kernel, "sub#2");
    EXPECT_EQ(first.line, 11);
    ASSERT_EQ(first.outputs.size(), 1U);
    ASSERT_EQ(first.outputs[0].terms.size(), 3U);
    EXPECT_EQ(first.outputs[0].terms[0].symbol, (Symbol{SymbolKind::a, 3}));
    EXPECT_EQ(first.outputs[0].terms[1].symbol, (Symbol{SymbolKind::a, 2}));
    EXPECT_EQ(first.outputs[0].terms[1].coefficient, Rational(-2));
    EXPECT_EQ(first.outputs[0].terms[2].coefficient, Rational(1, 2));

    ASSERT_EQ(schedule.steps[1].outputs.size(), 2U);
    EXPECT_EQ(schedule.steps[1].outputs[1].terms[1].symbol, (Symbol{SymbolKind::b, 29}));
    EXPECT_EQ(schedule.steps[2].kind, ScheduleStep::Kind::product);
    EXPECT_EQ(schedule.steps[2].update, ScheduleStep::Update::add);
    EXPECT_EQ(schedule.steps[2].target, (Symbol{SymbolKind::c, 19}));
    EXPECT_EQ(schedule.steps[3].update, ScheduleStep::Update::subtract);
    EXPECT_TRUE(schedule.steps[4].outputs[0].terms.empty());
    // a short form is written out: C11 = C11 - 3*C12 + C13
    ASSERT_EQ(schedule.steps[5].outputs[0].terms.size(), 3U);
    EXPECT_EQ(schedule.steps[5].outputs[0].terms[1].coefficient, Rational(-3));
    EXPECT_EQ(schedule.steps[5].outputs[0].terms[2].coefficient, Rational(1));
}

TEST(ScheduleParse, shipped_schedules_print_and_parse_back) {
    ASSERT_FALSE(schedule_names().empty());
    for (const std::string& name : schedule_names()) {
        const std::string text = print_schedule(find_schedule(name));
        const Schedule again = parse(text);
        EXPECT_EQ(print_schedule(again), text) << name;
        EXPECT_EQ(again.steps.size(), find_schedule(name).steps.size()) << name;
    }
}

TEST(ScheduleParse, mistakes_are_named_with_file_and_line) {
    const struct {
        std::string text, says;
    } cases[] = {
        {"", "s.sched:0: the header has no 'schedule' line"},
        {header, "s.sched:3: the schedule has no step"},
        {"schedule a b\n", "s.sched:1: 'schedule' takes one name"},
        {header + "size 1 1 1\n", "s.sched:4: 'size' is given twice"},
        {"schedule s\nalgorithm x\nC11 = A11*B11\n", "s.sched:3: the header has no 'size' line"},
        {"size 1 1\n", "takes three numbers"},
        {"size 0 1 1\n", "size '0' is not a number from 1 to 99"},
        {"size 1 -1 1\n", "size '-1'"},
        {"size 1 1 99999999999999999999\n", "is not a number from 1 to 99"},
        {header + "ring R\n", "'ring' takes one of Z"},
        {header + "temporaries A1\n", "would be taken for a block"},
        {header + "temporaries 1T\n", "not a name for a temporary"},
        {header + "temporaries T T\n", "named twice"},
        {header + "accumulates C\n", "takes no argument"},
        {header + "overwrites C\n", "takes A, B or both"},
        {header + "overwrites\n", "takes A, B or both"},
        {header + "C11 = A11*B11\ntemporaries T1\n", "s.sched:5: 'temporaries' belongs to the header"},
        {header + "\n\nC12 = A11*B11\n", "s.sched:6: block 'C12' is outside of its 1 x 1 grid"},
        {header + "C00 = A11*B11\n", "outside of its 1 x 1 grid"},
        {header + "C_1_ = A11*B11\n", "neither a block"},
        {header + "C_1_1000 = A11*B11\n", "neither a block"},
        {header + "T1 = A11\n", "'T1' is neither a block"},
        {header + "C11 = A11*B11*B11\n", "'*B11' is left over"},
        {header + "C11 = A11 A11\n", "'A11' is left over"},
        {header + "C11 == A11\n", "expected a block"},
        {header + "C11 A11\n", "expected '='"},
        {header + "C11 =\n", "expected a block"},
        {header + "C11 = A11 +\n", "expected a block"},
        {header + "C11 = A11 + A11\n", "occurs twice"},
        {header + "C11 += C11\n", "occurs twice"},
        {header + "C11 = 2\n", "a number stands alone"},
        {header + "C11 = A11 + 0\n", "a number stands alone"},
        {header + "C11 = 0*A11\n", "has the coefficient 0"},
        {header + "C11 = 1/0*A11\n", "s.sched:4: "},
        {header + "C11 = 1/2/3*A11\n", "s.sched:4: "},
        {header + "C11 = 99999999999999999999999*A11\n", "s.sched:4: "},
        {header + "(C11, C11) = (A11, A11)\n", "written twice"},
        {header + "(C11) += (A11)\n", "several targets take '=' only"},
        {header + "(C11 = A11\n", "expected ')'"},
        {header + "(C11) = (A11, A11)\n", "expected ')'"},
        {header + "C11 = A11*B11 @\n", "'@' takes one word"},
        {header + "C11 = A11*B11 @x y\n", "'@' takes one word"},
        {header + "C11 = -A11*B11\n", "left over"},
    };
    for (const auto& c : cases) {
        EXPECT_NE(complaint(c.text).find(c.says), std::string::npos)
            << c.text << "\nexpected: " << c.says << "\nfound:    " << complaint(c.text);
    }
}

TEST(ScheduleParse, random_damage_is_read_or_refused_but_never_worse) {
    const std::string text = print_schedule(find_schedule("p0-figure-5"));
    std::mt19937 random(7);
    int refused = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        std::string damaged = text;
        for (unsigned change = 0; change <= random() % 3; ++change) {
            const std::size_t place = random() % damaged.size();
            switch (random() % 3) {
                case 0:
                    damaged[place] = static_cast<char>(random() % 256);
                    break;
                case 1:
                    damaged.erase(place, 1 + random() % 5);
                    break;
                default:
                    damaged.insert(place, 1, "()=+-*,@#/0129ABCT_\n"[random() % 20]);
            }
        }
        try {
            Schedule schedule = parse(damaged);
            prove_schedule(schedule, schedule.ring);
        } catch (const Error& error) {
            ++refused;
            EXPECT_EQ(std::string(error.what()).rfind("s.sched:", 0), 0U) << error.what();
        }
    }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace heptad
