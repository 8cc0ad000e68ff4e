// Interpolation over samples, the choice of a leaf, print and parse of the machine description.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "plan/model/machine.hpp"

namespace heptad {
namespace {

/// A machine whose leaf runs at `rate` for squares, with a constant cost per call, and at `thin_rate` for thin shapes.
LeafProfile profile(const std::string& leaf, double call_s, double rate, double thin_rate) {
    LeafProfile result{leaf, Type::f32, 2, {}};
    for (std::int64_t s = 1; s <= 2048; s *= 2) {
        const auto x = static_cast<double>(s);
        result.samples.push_back({s, s, s, call_s + 2 * x * x * x / rate});
    }
    for (const std::int64_t large : {512, 2048}) {
        for (const std::int64_t thin : {1, 4, 16, 64}) {
            const double seconds = call_s + 2.0 * static_cast<double>(large * large * thin) / thin_rate;
            result.samples.push_back({thin, large, large, seconds});
            result.samples.push_back({large, thin, large, seconds});
            result.samples.push_back({large, large, thin, seconds});
        }
    }
    return result;
}

Machine two_leaves() {
    Machine machine;
    machine.cpu = "test \"core\"";
    machine.threads = 2;
    machine.measured = true;
    machine.leaves = {profile("openblas", 1e-7, 50e9, 10e9), profile("blis", 1e-5, 60e9, 30e9)};
    return machine;
}

TEST(machine, samples_are_met_exactly) {
    const Machine machine = two_leaves();
    for (const LeafProfile& p : machine.leaves) {
        for (const LeafSample& s : p.samples) {
            EXPECT_NEAR(leaf_seconds(machine, p.leaf, p.type, s.m, s.k, s.n) / s.seconds, 1, 1e-6)
                << p.leaf << " " << s.m << "x" << s.k << "x" << s.n;
        }
    }
}

TEST(machine, squares_between_and_beyond_samples_are_near_the_truth) {
    const Machine machine = two_leaves();
    for (const std::int64_t s : {3, 11, 100, 700, 1500, 3000, 8192}) {
        const auto x = static_cast<double>(s);
        const double truth = 1e-7 + 2 * x * x * x / 50e9;
        EXPECT_NEAR(leaf_seconds(machine, "openblas", Type::f32, s, s, s) / truth, 1, 0.25) << s;
    }
}

TEST(machine, thin_shapes_follow_the_thin_samples) {
    const Machine machine = two_leaves();
    for (const std::int64_t large : {1024, 3000, 4096}) {
        for (const std::int64_t thin : {2, 8, 30, 64}) {
            const double truth = 1e-7 + 2.0 * static_cast<double>(large * large * thin) / 10e9;
            EXPECT_NEAR(leaf_seconds(machine, "openblas", Type::f32, large, large, thin) / truth, 1, 0.3) << large;
            EXPECT_NEAR(leaf_seconds(machine, "openblas", Type::f32, thin, large, large) / truth, 1, 0.3) << large;
            EXPECT_NEAR(leaf_seconds(machine, "openblas", Type::f32, large, thin, large) / truth, 1, 0.3) << large;
        }
    }
}

TEST(machine, best_leaf_is_the_faster_one_by_shape) {
    const Machine machine = two_leaves();
    EXPECT_EQ(best_leaf(machine, Type::f32, 8, 8, 8), "openblas");
    EXPECT_EQ(best_leaf(machine, Type::f32, 2048, 2048, 2048), "blis");
    EXPECT_EQ(best_leaf(machine, Type::f32, 2000, 2000, 16), "blis");
    EXPECT_EQ(best_leaf(machine, Type::gf2, 8, 8, 8), "");
    EXPECT_EQ(best_leaf(Machine{}, Type::f32, 8, 8, 8), "");
}

TEST(machine, noise_of_two_percent_does_not_overrule_the_order_of_the_leaves) {
    Machine machine;
    machine.leaves = {profile("openblas", 1e-7, 50e9, 10e9), profile("blis", 0.98e-7, 51e9, 10.2e9)};
    EXPECT_EQ(best_leaf(machine, Type::f32, 1024, 1024, 1024), "openblas");
}

TEST(machine, products_below_levels_take_what_they_took_in_batches) {
    Machine machine = two_leaves();
    LeafProfile& leaf = machine.leaves.front();
    leaf.in_batches = {{128, 128, 128, 1e-4}, {1024, 1024, 1024, 2e-2}};
    const auto seconds = [&](std::int64_t size, LeafUse use) {
        return leaf_seconds(machine, "openblas", Type::f32, size, size, size, use);
    };
    EXPECT_NEAR(seconds(1024, LeafUse::below_levels), 2e-2, 1e-8);
    EXPECT_NEAR(seconds(2048, LeafUse::below_levels), 16e-2, 1e-7);  // the rate of the largest one
    EXPECT_GT(seconds(400, LeafUse::below_levels), 1e-4);
    EXPECT_LT(seconds(400, LeafUse::below_levels), 2e-2);
    EXPECT_NEAR(seconds(1024, LeafUse::whole_product) * 50e9 / (2.0 * 1024 * 1024 * 1024), 1, 0.01);
    // A leaf that loses alone but wins among others is taken below levels, and only there.
    leaf.in_batches = {{1024, 1024, 1024, 1e-3}};
    EXPECT_EQ(best_leaf(machine, Type::f32, 1024, 1024, 1024, LeafUse::below_levels), "openblas");
    EXPECT_EQ(best_leaf(machine, Type::f32, 1024, 1024, 1024, LeafUse::whole_product), "blis");
    EXPECT_EQ(parse_machine(print_machine(machine)).leaves.front().in_batches.front().seconds, 1e-3);
}

TEST(machine, unknown_leaf_type_and_empty_sizes_give_positive_finite_seconds) {
    const Machine machine = two_leaves();
    for (const Type type : {Type::f64, Type::i32, Type::bf16, Type::boolean}) {
        for (const std::int64_t s : {0, 1, 1000}) {
            const double seconds = leaf_seconds(machine, "mkl", type, s, s, s);
            EXPECT_TRUE(std::isfinite(seconds) && seconds > 0);
        }
    }
    EXPECT_GT(leaf_seconds(machine, "blis", Type::f32, 0, 5, 5), 0);
}

TEST(machine, cuts_of_bit_products_at_the_host_are_kept_and_checked) {
    Machine machine = two_leaves();
    EXPECT_TRUE(parse_machine(print_machine(machine)).bit_hosts.empty());
    machine.bit_hosts = {{65536, 1 << 30, 1, 2, 0.2, 0.25}};
    const Machine again = parse_machine(print_machine(machine));
    ASSERT_EQ(again.bit_hosts.size(), 1U);
    EXPECT_EQ(again.bit_hosts[0].n, 65536);
    EXPECT_EQ(again.bit_hosts[0].device_memory_bytes, 1 << 30);
    EXPECT_EQ(again.bit_hosts[0].host_levels, 1);
    EXPECT_EQ(again.bit_hosts[0].pipelines, 2);
    EXPECT_EQ(again.bit_hosts[0].predicted_s, 0.2);
    EXPECT_EQ(again.bit_hosts[0].seconds, 0.25);
    for (const BitHostSample& wrong :
         {BitHostSample{0, 1, 0, 1, 1, 1}, BitHostSample{64, 0, 0, 1, 1, 1}, BitHostSample{64, 1, -1, 1, 1, 1},
          BitHostSample{64, 1, 0, 0, 1, 1}, BitHostSample{64, 1, 0, 1, 0, 1}, BitHostSample{64, 1, 0, 1, 1, -1}}) {
        machine.bit_hosts = {wrong};
        EXPECT_THROW(parse_machine(print_machine(machine)), Error);
    }
}

TEST(machine, splits_of_bit_products_are_kept_and_checked) {
    Machine machine = two_leaves();
    machine.bit_splits = {{65536, 1, 3, 0.04}, {16384, 0, 0, 8e-4}};
    const Machine again = parse_machine(print_machine(machine));
    ASSERT_EQ(again.bit_splits.size(), 2U);
    EXPECT_EQ(again.bit_splits[0].n, 65536);
    EXPECT_EQ(again.bit_splits[0].serial_levels, 1);
    EXPECT_EQ(again.bit_splits[0].parallel_levels, 3);
    EXPECT_EQ(again.bit_splits[0].seconds, 0.04);
    machine.bit_splits[1].seconds = 0;
    EXPECT_THROW(parse_machine(print_machine(machine)), Error);
    machine.bit_splits[1] = {0, 0, 0, 1};
    EXPECT_THROW(parse_machine(print_machine(machine)), Error);
}

TEST(machine, measured_plans_are_kept_and_checked) {
    Machine machine = two_leaves();
    machine.measured_plans = {{Type::f64, 4096, 64, 4096, {{}, "blis-mt"}, 1, 0, 5, 1},
                              {Type::f64, 4096, 64, 4096, {{"winograd", "3x3x3-23"}, "heptad"}, 0.75, 0.125, 4, 0.5}};
    EXPECT_EQ(print_machine(machine).find("error_growth"), std::string::npos) << "files from before have none";
    EXPECT_EQ(parse_machine(print_machine(machine)).measured_plans, machine.measured_plans);
    machine.measured_plans.back().error_growth = 3.5;
    EXPECT_EQ(parse_machine(print_machine(machine)).measured_plans, machine.measured_plans);
    const auto refused = [&](const auto& damage) {
        Machine damaged = machine;
        damage(damaged.measured_plans.back());
        EXPECT_THROW(parse_machine(print_machine(damaged)), Error);
    };
    refused([](MeasuredPlan& row) { row.k = 0; });
    refused([](MeasuredPlan& row) { row.rounds = 0; });
    refused([](MeasuredPlan& row) { row.relative_time = -1; });
    refused([](MeasuredPlan& row) { row.modelled_time = 0; });
    refused([](MeasuredPlan& row) { row.std_error = -1; });
    refused([](MeasuredPlan& row) { row.error_growth = HUGE_VAL; });
    refused([](MeasuredPlan& row) { row.plan.levels[0] = "nobody"; });
}

/// Files of tune were written by any version, and by each in the same way.
TEST(machine, text_is_byte_for_byte_what_it_always_was) {
    Machine machine;
    machine.cpu = "a \"CPU\"";
    machine.threads = 3;
    machine.measured = true;
    machine.leaves = {
        {"heptad", Type::f64, 2, {{8, 8, 8, 1e-7}, {64, 32, 16, 0.125, "fast"}}, 1.25, {{128, 128, 128, 1e-4}}},
        {"blis", Type::boolean, 1, {}}};
    machine.measured_plans = {{Type::f64, 4096, 64, 4096, {{}, "blis-mt"}, 1, 0, 5, 1},
                              {Type::c64, 1, 2, 3, {{"winograd", "3x3x3-23"}, "heptad"}, 0.75, 0.125, 4, 0.5, 3.5}};
    machine.passes = {{Type::bf16, "gather", 64, 1, 4.1e12, 4e12}};
    machine.fused_device = {132, 3e-6, 1e-7};
    machine.fused = {{.tile = FusedTile::tall, .regular = true, .flops_per_s = 1e13, .atomic_flops = 2.5}};
    machine.bit_splits = {{65536, 1, 3, 0.04}};
    machine.bit_hosts = {{65536, 1 << 30, 1, 2, 0.2, 0.25}};
    const char* const text = R"({"cpu": "a \"CPU\"", "threads": 3, "measured": true,
        "combine_bytes_per_s": 20000000000.0, "scan_bytes_per_s": 20000000000.0, "call_s": 2e-06, "leaves": [
        {"leaf": "heptad", "type": "f64", "threads": 2, "misaligned": 1.25,
         "samples_m_k_n_s": [[8, 8, 8, 1e-07], [64, 32, 16, 0.125, "fast"]],
         "in_batches_m_k_n_s": [[128, 128, 128, 0.0001]]},
        {"leaf": "blis", "type": "bool", "threads": 1, "misaligned": 1.0,
         "samples_m_k_n_s": [], "in_batches_m_k_n_s": []}], "measured_plans": [
        {"type": "f64", "m": 4096, "k": 64, "n": 4096, "levels": [], "leaf": "blis-mt",
         "relative_time": 1.0, "std_error": 0.0, "rounds": 5, "modelled_time": 1.0},
        {"type": "c64", "m": 1, "k": 2, "n": 3, "levels": ["winograd", "3x3x3-23"], "leaf": "heptad",
         "relative_time": 0.75, "std_error": 0.125, "rounds": 4, "modelled_time": 0.5, "error_growth": 3.5}],
        "passes": [{"type": "bf16", "pass": "gather", "threads": 64, "places": 1,
         "bytes_per_s": 4100000000000.0, "usual_bytes_per_s": 4000000000000.0}],
        "fused_device": {"multiprocessors": 132, "launch_s": 3e-06, "product_s": 1e-07}, "fused": [
        {"type": "f32", "tile": "tall", "tile_m": 128, "tile_n": 128, "blocks_of_multiprocessor": 1,
         "most_terms": 4, "most_targets": 4, "regular": true, "flops_per_s": 10000000000000.0,
         "addition_flops": 1.0, "update_flops": 1.0, "global_bytes_per_s": 1000000000000.0, "alone": 1.0,
         "misaligned": 1.0, "atomic_flops": 2.5, "edge": 1.0, "turn_s": 0.0}],
        "bit_splits_n_serial_parallel_s": [[65536, 1, 3, 0.04]], "bit_hosts": [{"n": 65536,
         "device_memory_bytes": 1073741824, "host_levels": 1, "pipelines": 2, "predicted_s": 0.2, "seconds": 0.25}]})";
    EXPECT_EQ(print_machine(machine), nlohmann::ordered_json::parse(text).dump(1));
    EXPECT_EQ(print_machine(parse_machine(text)), print_machine(machine));
}

TEST(machine, what_files_from_before_do_not_have_is_as_usual) {
    Machine machine = two_leaves();
    machine.fused = {{.flops_per_s = 1e13, .addition_flops = 1.5, .update_flops = 2.5}};
    nlohmann::ordered_json old = nlohmann::ordered_json::parse(print_machine(machine));
    old["leaves"][0].erase("misaligned");
    old["leaves"][0].erase("in_batches_m_k_n_s");
    old["fused_device"].erase("product_s");
    for (const char* key : {"regular", "atomic_flops", "edge", "turn_s"}) {
        old["fused"][0].erase(key);
    }
    const Machine again = parse_machine(old.dump());
    EXPECT_EQ(again.leaves[0].misaligned, 1);
    EXPECT_EQ(again.fused_device.product_s, 0);
    EXPECT_FALSE(again.fused[0].regular);
    EXPECT_EQ(again.fused[0].atomic_flops, 2.5) << "an update";
    EXPECT_EQ(again.fused[0].edge, 1);
    EXPECT_EQ(again.fused[0].turn_s, 0);
    EXPECT_EQ(again.fused[0].addition_flops, 1.5);
}

TEST(machine, print_parses_back) {
    const Machine machine = two_leaves();
    const Machine again = parse_machine(print_machine(machine));
    EXPECT_TRUE(again.passes.empty());
    EXPECT_EQ(print_machine(again), print_machine(machine));
    EXPECT_EQ(again.cpu, machine.cpu);
    EXPECT_EQ(again.threads, 2);
    EXPECT_TRUE(again.measured);
    ASSERT_EQ(again.leaves.size(), 2U);
    EXPECT_EQ(again.leaves[1].samples.size(), machine.leaves[1].samples.size());
    EXPECT_EQ(again.leaves[1].samples[3].seconds, machine.leaves[1].samples[3].seconds);
}

TEST(machine, damaged_descriptions_are_input_errors) {
    const std::string good = print_machine(two_leaves());
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    for (const std::string& bad :
         {std::string(), std::string("{}"), std::string("[1,2"), good.substr(0, good.size() / 2),
          with("\"threads\": 2", "\"threads\": 0"), with("\"f32\"", "\"f33\""), with("\"call_s\": ", "\"call_s\": -"),
          with("\"measured\": true", "\"measured\": \"yes\""), with("\"leaves\"", "\"leafs\""),
          std::string("\xff\xfe{\"cpu\":1}")}) {
        try {
            parse_machine(bad);
            ADD_FAILURE() << "accepted: " << bad.substr(0, 60);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        }
    }
}

TEST(machine, shapes_of_passes_print_and_parse_back_and_bad_ones_are_refused) {
    Machine machine = two_leaves();
    machine.passes = {{Type::f32, "few", 256, 2, 4e12, 3.9e12}, {Type::bf16, "gather", 64, 1, 4.1e12, 4e12}};
    const Machine again = parse_machine(print_machine(machine));
    ASSERT_EQ(again.passes.size(), 2U);
    EXPECT_EQ(again.passes[1].type, Type::bf16);
    EXPECT_EQ(again.passes[1].pass, "gather");
    EXPECT_EQ(again.passes[0].threads, 256);
    EXPECT_EQ(again.passes[0].places, 2);
    EXPECT_EQ(again.passes[0].bytes_per_s, 4e12);
    machine.passes[0].places = 0;
    EXPECT_THROW(parse_machine(print_machine(machine)), Error);
    machine.passes[0].places = 1;
    machine.passes[0].bytes_per_s = -1;
    EXPECT_THROW(parse_machine(print_machine(machine)), Error);
}

}  // namespace
}  // namespace heptad
