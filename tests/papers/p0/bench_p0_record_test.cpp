// What follows from the times of P0's plans: ratios, correlations, and the fields of a record.
#include "papers/p0/bench_p0_record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "papers/p0/c1060.hpp"

namespace heptad::cli {
namespace {

P0Record record_of(int levels, double heptad_s) {
    P0Record record;
    record.algorithm = "winograd";
    record.thresholds = thresholds_for_levels(16384, levels);
    record.counts = p0_counts(16384, "winograd", record.thresholds);
    record.classical_counts = p0_counts(16384, "winograd", {16384, 16384});
    record.product.suite = "p0";
    record.product.size = {16384, 16384, 16384};
    record.product.levels = levels;
    record.product.vendor_s = 2;
    record.product.heptad_s = heptad_s;
    record.product.ratio = 2 / heptad_s;
    return record;
}

TEST(P0Record, correlation_is_pearsons) {
    EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {2, 4, 6}), 1);
    EXPECT_DOUBLE_EQ(correlation({1, 2, 3}, {5, 3, 1}), -1);
    EXPECT_NEAR(correlation({1, 2, 3, 4}, {1, 3, 2, 4}), 0.8, 1e-12);
    EXPECT_TRUE(std::isnan(correlation({1, 2, 3}, {7, 7, 7})));
}

TEST(P0Record, counts_are_the_papers) {
    EXPECT_EQ(p0_counts(16384, "winograd", thresholds_for_levels(16384, 4)),
              (P0Counts{5164836585472, 11851595776, 848033742848}));
    EXPECT_NEAR(record_of(3, 1).count_ratio(2), 0.721, 5e-4);
    EXPECT_THROW(p0_counts(100, "winograd", {100, 100}), Error);
}

TEST(P0Record, a_time_that_follows_the_volume_is_found_to_do_so) {
    std::vector<P0Record> records;
    for (int levels = 1; levels <= 4; ++levels) {
        const double volume_ratio = record_of(levels, 1).count_ratio(2);
        records.push_back(record_of(levels, 2 * volume_ratio));
    }
    const std::optional<P0Trend> trend = p0_trend(records);
    ASSERT_TRUE(trend.has_value());
    EXPECT_EQ(trend->points, 5);
    EXPECT_EQ(trend->n, 16384);
    EXPECT_NEAR(trend->correlation[2], 1, 1e-12);
    EXPECT_LT(trend->correlation[0], 1 - 1e-6);
    EXPECT_NEAR(trend->rms_difference[2], 0, 1e-12);
    EXPECT_GT(trend->rms_difference[0], trend->rms_difference[1]);
    EXPECT_GT(trend->rms_difference[1], 0.005);
}

TEST(P0Record, two_points_make_no_trend_and_level_0_is_not_counted_twice) {
    EXPECT_FALSE(p0_trend({}).has_value());
    EXPECT_FALSE(p0_trend({record_of(1, 1.8)}).has_value());
    EXPECT_FALSE(p0_trend({record_of(0, 2), record_of(1, 1.8)}).has_value());
    EXPECT_EQ(p0_trend({record_of(0, 2), record_of(1, 1.8), record_of(2, 1.7)})->points, 3);
}

TEST(P0Record, json_has_the_fields_of_every_result_file_and_the_counts) {
    P0Record record = record_of(2, 1.5);
    record.errors = {{"uniform", 4e-4, 1e-6, 1e-4, 5e-7}, {"kaporin", 2e-6, 1e-9, 1e-6, 1e-10}};
    const nlohmann::ordered_json object = to_json(record);
    for (const char* field : {"suite",
                              "type",
                              "m",
                              "k",
                              "n",
                              "device",
                              "vendor",
                              "vendor_s",
                              "heptad_s",
                              "ratio",
                              "effective_tops",
                              "error",
                              "vendor_error",
                              "workspace_bytes",
                              "plan",
                              "algorithm",
                              "tau1",
                              "tau2",
                              "arithmetics",
                              "transactions",
                              "volume_bytes",
                              "arithmetics_ratio",
                              "transactions_ratio",
                              "volume_bytes_ratio"}) {
        EXPECT_TRUE(object.contains(field)) << field;
    }
    EXPECT_EQ(object["suite"], "p0");
    EXPECT_EQ(object["tau2"], 8192);
    EXPECT_DOUBLE_EQ(object["time_ratio"].get<double>(), 0.75);
    EXPECT_EQ(object["errors"]["kaporin"]["vendor_mean_error"], 1e-10);
    EXPECT_EQ(to_json(*p0_trend({record_of(1, 1.8), record_of(2, 1.7)}))["points"], 3);
    const std::string row = p0_table_row(record);
    EXPECT_NE(row.find("uniform 4x 2x, kaporin 2x 10x"), std::string::npos) << row;
}

}  // namespace
}  // namespace heptad::cli
