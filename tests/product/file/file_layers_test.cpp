// Outer levels through files: values against the same product in memory, bytes against the plan, ends that come too
// early, inputs that sums would spoil, refusals.
#include <atomic>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <limits>

#include "base/error.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

namespace fs = std::filesystem;

#ifdef HEPTAD_REDUCED_TESTS
constexpr int kFaultStep = 37;
#else
constexpr int kFaultStep = 1;
#endif

class FileLayersTest : public FileProductTest {
protected:
    FileProductRequest prepare_layers(const Case& c, const OuterLevels& outer = {"strassen", 1}) {
        FileProductRequest request = prepare(c);
        request.outer = outer;
        return request;
    }
    void expect_nothing_beside() {
        for (const char* end : {".partial", ".journal", ".lock", ".products.partial"}) {
            EXPECT_FALSE(exists("C.npy" + std::string(end))) << end;
        }
    }
    void expect_error(const FileProductRequest& request, ErrorCode code, const std::string& word) {
        try {
            multiply(request);
            ADD_FAILURE() << "multiplied";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    }
    /// Ends a run after so many tiles of products.
    void interrupt_after(FileProductRequest& request, int tiles) {
        interrupt_after_writes(request, 3 + tiles);  // two headers, that of the journal, and a line for each tile
        for (const char* end : {".partial", ".journal", ".products.partial"}) {
            EXPECT_TRUE(exists("C.npy" + std::string(end))) << end;
        }
    }
};

TEST_F(FileLayersTest, every_cut_equals_the_product_in_memory) {
    for (const OuterLevels& outer : {OuterLevels{"strassen", 1}, {"winograd", 2}, {"3x2x3-15", 1}}) {
        for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{{300, 210, 260},
                                                                            {128, 256, 384},
                                                                            {301, 33, 259},
                                                                            {40, 901, 51},
                                                                            {401, 40, 41},
                                                                            {41, 40, 401},
                                                                            {1, 301, 1}}) {
            for (const std::int64_t memory : {130 << 10, 400 << 10}) {
                for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64}) {
                    SCOPED_TRACE(fmt::format("{} {} {}x{}x{} {}", outer.algorithm, outer.levels, m, k, n, memory));
                    const FileProductRequest request = prepare_layers({m, k, n, type, memory}, outer);
                    const FileProductReport report = multiply(request);
                    ASSERT_TRUE(report.layers);
                    ASSERT_LE(report.layers->used_bytes(), memory);
                    ASSERT_EQ(result(), expected_);
                    expect_nothing_beside();
                }
            }
        }
    }
}

TEST_F(FileLayersTest, layouts_transposes_factors_and_an_added_matrix) {
    for (int bits = 0; bits < 32; ++bits) {
        const auto bit = [bits](int i) { return (bits >> i & 1) != 0; };
        for (const Type type : {Type::f32, Type::i32}) {
            SCOPED_TRACE(bits);
            const FileProductRequest request = prepare_layers({.m = 151,
                                                               .k = 90,
                                                               .n = 133,
                                                               .type = type,
                                                               .memory_bytes = 60 << 10,
                                                               .a_fortran = bit(0),
                                                               .b_fortran = bit(1),
                                                               .c0_fortran = bit(2),
                                                               .transpose_a = bit(3),
                                                               .transpose_b = bit(4),
                                                               .adds = true});
            multiply(request);
            ASSERT_EQ(result(), expected_);
        }
    }
}

TEST_F(FileLayersTest, added_matrix_may_be_the_output_itself) {
    Case c = kTiled;
    c.adds = true;
    FileProductRequest request = prepare_layers(c);
    fs::copy_file(folder_ / "C0.npy", folder_ / "C.npy");
    request.c0 = {folder_ / "C.npy"};
    multiply(request);
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileLayersTest, bits_of_floats_do_not_depend_on_overlap_or_queue) {
    expect_same_bits_for_any_overlap_and_queue(prepare_layers(kTiled));
}

TEST_F(FileLayersTest, bytes_issued_are_those_of_the_plan) {
    for (const Case& c : {Case{.m = 640, .k = 512, .n = 768, .memory_bytes = 1 << 20},
                          Case{.m = 2048, .k = 2048, .n = 1024, .memory_bytes = 4 << 20},
                          Case{.m = 301, .k = 211, .n = 257, .memory_bytes = 100 << 10, .adds = true}}) {
        FileProductRequest request = prepare_layers(c);
        std::atomic<std::int64_t> read{0}, written{0};
        WatchedHooks hooks;
        hooks.watch = [&](IoCall call, std::int64_t bytes) -> IoVerdict {
            (call == IoCall::read ? read : written) += call == IoCall::read || call == IoCall::write ? bytes : 0;
            return {};
        };
        const FileProductReport report = multiply(request, hooks);
        EXPECT_EQ(read.load(), report.layers->read_bytes());
        EXPECT_EQ(written.load(), report.layers->all_written_bytes());
        EXPECT_EQ(report.read.amount, static_cast<double>(report.layers->read_bytes()));
        EXPECT_EQ(report.write.amount, static_cast<double>(report.layers->all_written_bytes()));
        EXPECT_EQ(result(), expected_);
    }
}

TEST_F(FileLayersTest, failure_of_any_call_is_an_error_and_resuming_gives_the_same_bits) {
    for (const bool overlap : {true, false}) {
        FileProductRequest request =
            prepare_layers({.m = 40, .k = 20, .n = 48, .memory_bytes = 16 << 10, .adds = true});
        request.overlap = overlap;
        request.io = "threads";
        int resumed_somewhere = 0;
        bool clean = false;
        for (int number = 1; !clean; number += overlap ? 13 * kFaultStep : 3 * kFaultStep) {
            SCOPED_TRACE(number);
            for (const char* name : {"C.npy", "C.npy.partial", "C.npy.journal", "C.npy.products.partial"}) {
                fs::remove(folder_ / name);
            }
            std::atomic<int> calls{0};
            WatchedHooks hooks;
            hooks.watch = [number, &calls](IoCall, std::int64_t) -> IoVerdict {
                return {++calls >= number ? (number % 2 == 0 ? EIO : ENOSPC) : 0};
            };
            request.resume = false;
            try {
                multiply(request, hooks);
                clean = true;
            } catch (const Error& error) {
                ASSERT_TRUE(error.code() == ErrorCode::input || error.code() == ErrorCode::resource) << error.what();
                ASSERT_GE(calls, number) << error.what();
            }
            if (exists("C.npy")) {  // the name appears only with the whole result
                ASSERT_EQ(result(), expected_);
                ASSERT_FALSE(exists("C.npy.products.partial"));
            } else {
                ASSERT_EQ(exists("C.npy.partial"), exists("C.npy.journal"));
                ASSERT_EQ(exists("C.npy.partial"), exists("C.npy.products.partial"));
            }
            request.resume = true;
            const FileProductReport report = multiply(request);
            resumed_somewhere += report.resumed_tiles > 0 ? 1 : 0;
            ASSERT_EQ(result(), expected_);
            expect_nothing_beside();
        }
        EXPECT_GT(resumed_somewhere, 0);
    }
}

TEST_F(FileLayersTest, interrupted_run_keeps_its_products_and_goes_on) {
    FileProductRequest request = prepare_layers(kTiled);
    interrupt_after(request, 3);
    const FileProductReport report = multiply(request);
    EXPECT_GE(report.resumed_tiles, 3);
    EXPECT_LT(report.resumed_tiles, report.tiles);
    EXPECT_EQ(result(), expected_);
    expect_nothing_beside();
}

TEST_F(FileLayersTest, others_see_no_more_of_the_products_than_of_an_old_result) {
    FileProductRequest request = prepare_layers(kTiled);
    write_text(folder_ / "C.npy", "old");
    const fs::perms old = fs::perms::owner_read | fs::perms::group_read;
    fs::permissions(folder_ / "C.npy", old);
    interrupt_after(request, 2);
    EXPECT_EQ(fs::status(folder_ / "C.npy.products.partial").permissions(), old | fs::perms::owner_write);
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(fs::status(folder_ / "C.npy").permissions(), old);
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileLayersTest, damaged_product_is_made_again) {
    FileProductRequest request = prepare_layers(kTiled);
    interrupt_after(request, 3);
    std::fstream file(folder_ / "C.npy.products.partial", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(40);
    file.put('\x55');
    file.close();
    EXPECT_GE(multiply(request).resumed_tiles, 2);
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileLayersTest, run_with_other_levels_does_not_go_on) {
    FileProductRequest request = prepare_layers(kTiled);
    interrupt_after(request, 3);
    for (const OuterLevels& outer : {OuterLevels{"strassen", 0}, {"strassen", 2}, {"winograd", 1}}) {
        FileProductRequest other = request;
        other.outer = outer;
        expect_error(other, ErrorCode::input, "--host-levels");
    }
    EXPECT_GE(multiply(request).resumed_tiles, 3);
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileLayersTest, fresh_run_of_any_kind_removes_what_an_interrupted_one_left) {
    for (const int levels : {0, 1}) {
        FileProductRequest request = prepare_layers(kTiled);
        interrupt_after(request, 2);
        request.resume = false;
        request.outer.levels = levels;
        EXPECT_EQ(multiply(request).resumed_tiles, 0);
        EXPECT_EQ(result(), expected_);
        expect_nothing_beside();
    }
}

/// Replaces one element of a file of f32.
void put_value(const std::string& path, std::int64_t index, float value) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 + index * 4);
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

TEST_F(FileLayersTest, values_that_sums_would_spoil_are_multiplied_without_levels) {
    constexpr float kInf = std::numeric_limits<float>::infinity(), kHuge = 3e38F;
    for (const float value : {std::nanf(""), kInf, -kInf, kHuge}) {
        for (const char* name : {"A.npy", "B.npy"}) {
            SCOPED_TRACE(fmt::format("{} in {}", value, name));
            FileProductRequest request = prepare_layers(kTiled);
            ASSERT_EQ(fs::file_size(folder_ / name) % 4096 % 4, 0U);
            put_value(folder_ / name, 20000, value);
            const FileProductReport report = multiply(request);
            EXPECT_FALSE(report.layers);
            EXPECT_NE(report.no_layers.find("without outer levels"), std::string::npos);
            const std::string got = result();
            request.outer = {};
            multiply(request);
            EXPECT_EQ(got, result());
            expect_nothing_beside();
        }
    }
}

TEST_F(FileLayersTest, largest_values_that_an_earlier_run_has_read_are_remembered) {
    FileProductRequest request = prepare_layers(kTiled);
    write_npy(folder_ / "A.npy", generate("uniform", 300, 210, Type::f32, 5));
    put_value(folder_ / "A.npy", 0, 1e30F);
    request.accuracy = Accuracy::fast;  // the levels, however uneven that is
    interrupt_after(request, 3);
    const std::string journal = read_text(folder_ / "C.npy.journal");
    EXPECT_NE(journal.find(fmt::format(" seen {:a} ", static_cast<double>(1e30F))), std::string::npos) << journal;
    EXPECT_GE(multiply(request).resumed_tiles, 3);
}

TEST_F(FileLayersTest, uneven_rows_have_outer_levels_only_where_fast_is_asked_for) {
    FileProductRequest request = prepare_layers(kTiled);
    write_npy(folder_ / "A.npy", generate("uniform", 300, 210, Type::f32, 5));
    write_npy(folder_ / "B.npy", generate("uniform", 210, 260, Type::f32, 6));
    EXPECT_TRUE(multiply(request).layers) << "even data";
    put_value(folder_ / "A.npy", 0, 1e4F);
    FileProductReport report = multiply(request);
    EXPECT_FALSE(report.layers);
    EXPECT_NE(report.no_layers.find("lose more than a digit"), std::string::npos) << report.no_layers;
    interrupt_after(request, 3);  // what an earlier run has read is looked at again
    EXPECT_FALSE(multiply(request).layers);
    request.accuracy = Accuracy::fast;
    EXPECT_TRUE(multiply(request).layers);
}

TEST_F(FileLayersTest, numbers_so_short_that_only_levels_would_round_have_none) {
    FileProductRequest request = prepare_layers({.m = 200, .k = 1600, .n = 180, .memory_bytes = 400 << 10});
    for (const auto& [most, has_layers] : {std::pair{511, false}, {3, true}}) {
        const auto whole_numbers = [most = most](const char* seed_kind, std::int64_t rows, std::int64_t cols,
                                                 int seed) {
            Matrix matrix = generate(seed_kind, rows, cols, Type::f32, static_cast<std::uint64_t>(seed));
            auto* const x = static_cast<float*>(matrix.data());
            std::transform(x, x + rows * cols, x,
                           [most](float y) { return 1 + std::floor(y * static_cast<float>(most)); });
            return matrix;
        };
        write_npy(folder_ / "A.npy", whole_numbers("positive", 200, 1600, 5).view());
        write_npy(folder_ / "B.npy", whole_numbers("positive", 1600, 180, 6).view());
        const FileProductReport report = multiply(request);
        EXPECT_EQ(report.layers.has_value(), has_layers) << most;
        EXPECT_EQ(report.no_layers.find("so short") != std::string::npos, !has_layers) << report.no_layers;
    }
}

TEST_F(FileLayersTest, error_bound_counts_the_outer_level) {
    const FileProductReport report = multiply(prepare_layers(kTiled));
    const LayerGrowth growth = layer_growth(report.layers->layer);
    const double of_sums = growth.growth * growth.roundings * 0x1p-24 * static_cast<double>(report.layers->part.k);
    EXPECT_GT(report.error_bound, of_sums);
    const FileSchedule schedule = layers_schedule(*report.layers);
    const FileWindow strip = schedule.left_window(0, 0, 0), panel = schedule.right_window(0, 0);
    const double of_step =
        processor_stage({}, 2).plan({strip.rows, strip.cols, panel.cols, true, 0}, Type::f32).error_bound;
    EXPECT_GT(report.error_bound, growth.growth * of_step);
    EXPECT_EQ(report.error_bound, report.plan.error_bound);
    EXPECT_EQ(report.error_bound, plan_steps(report.layers->whole, report, processor_stage({}, 2)).error_bound);
    EXPECT_EQ(multiply(prepare_layers({.m = 300, .k = 210, .n = 260, .type = Type::i32, .memory_bytes = 100 << 10}))
                  .error_bound,
              0);
}

TEST_F(FileLayersTest, what_cannot_be_had_is_refused_before_anything_is_touched) {
    FileProductRequest request = prepare_layers(kTiled, {"no-such-algorithm", 1});
    expect_error(request, ErrorCode::usage, "no-such-algorithm");
    request = prepare_layers(kTiled);
    request.memory_bytes = 9 << 10;
    expect_error(request, ErrorCode::resource, "--memory");
    request = prepare_layers({.m = 30, .k = 21, .n = 26, .type = Type::bf16, .memory_bytes = 100 << 10});
    request.a.as = request.b.as = Type::bf16;
    expect_error(request, ErrorCode::usage, "--host-levels");
    EXPECT_FALSE(exists("C.npy"));
    expect_nothing_beside();
}

TEST_F(FileLayersTest, whole_result_is_verified_while_it_is_added_up) {
    for (const OuterLevels& outer : {OuterLevels{"strassen", 1}, {"winograd", 2}}) {
        for (const Type type : {Type::f32, Type::f64, Type::i32}) {
            for (const bool adds : {false, true}) {
                SCOPED_TRACE(fmt::format("{} {}", outer.algorithm, type_name(type)));
                FileProductRequest request = prepare_layers({.m = 301,
                                                             .k = 211,
                                                             .n = 257,
                                                             .type = type,
                                                             .memory_bytes = 700 << 10,
                                                             .b_fortran = adds,
                                                             .c0_fortran = adds,
                                                             .transpose_a = adds,
                                                             .adds = adds},
                                                            outer);
                request.verify = true;
                std::atomic<std::int64_t> read{0};
                WatchedHooks hooks;
                hooks.watch = [&](IoCall call, std::int64_t bytes) -> IoVerdict {
                    read += call == IoCall::read ? bytes : 0;
                    return {};
                };
                const FileProductReport report = multiply(request, hooks);
                ASSERT_TRUE(report.layers && report.verified);
                EXPECT_TRUE(report.verified->passed()) << report.verified->explanation;
                EXPECT_EQ(read.load(), report.layers->read_bytes());
                EXPECT_LE(report.layers->used_bytes(), request.memory_bytes);
                EXPECT_EQ(result(), expected_);
                expect_nothing_beside();
            }
        }
    }
}

TEST_F(FileLayersTest, wrong_product_is_found_by_verify_and_nothing_of_it_is_kept) {
    for (const Type type : {Type::f32, Type::f64, Type::i32}) {
        FileProductRequest request =
            prepare_layers({.m = 300, .k = 210, .n = 260, .type = type, .memory_bytes = 700 << 10});
        request.verify = true;
        StageProducts stage = processor_stage({}, 2);
        int products = 0;
        stage.multiply = [&, right = stage.multiply](Factor alpha, const ConstView& a, const ConstView& b, Factor beta,
                                                     const View& c, const ProductPlan& plan, void* workspace,
                                                     std::int64_t workspace_bytes) {
            const RunReport done = right(alpha, a, b, beta, c, plan, workspace, workspace_bytes);
            if (++products == 3) {
                *element_pointer(c, c.rows / 2, c.cols / 2) ^= std::byte{0xff};  // the lowest bits of an integer
                std::byte* const last = element_pointer(c, c.rows / 2, c.cols / 2) + element_bytes(type) - 1;
                *last ^= std::byte{0x40};  // an exponent
            }
            return done;
        };
        StageTrace trace(false);
        try {
            multiply_files(request, stage, {}, trace);
            ADD_FAILURE() << "not found in " << type_name(type);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::verification) << error.what();
            EXPECT_EQ(std::string(error.what()).find("--resume"), std::string::npos) << error.what();
        }
        EXPECT_FALSE(exists("C.npy"));
        expect_nothing_beside();
    }
}

TEST_F(FileLayersTest, memory_too_small_for_the_vectors_of_a_check_is_refused) {
    FileProductRequest request = prepare_layers(kTiled);
    request.verify = true;
    expect_error(request, ErrorCode::resource, "--verify");
    expect_nothing_beside();
}

TEST_F(FileLayersTest, interrupted_run_is_verified_whole_when_it_went_on) {
    FileProductRequest request =
        prepare_layers({.m = 300, .k = 210, .n = 260, .type = Type::i32, .memory_bytes = 700 << 10});
    interrupt_after(request, 3);
    request.verify = true;
    const FileProductReport report = multiply(request);
    EXPECT_GE(report.resumed_tiles, 3);
    EXPECT_TRUE(report.verified && report.verified->passed());
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileLayersTest, input_with_the_name_of_the_products_is_refused_and_kept) {
    FileProductRequest request = prepare_layers(kTiled);
    fs::rename(folder_ / "A.npy", folder_ / "C.npy.products.partial");
    request.a = {folder_ / "C.npy.products.partial"};
    const std::string before = read_text(folder_ / "C.npy.products.partial");
    for (const int levels : {0, 1}) {
        request.outer.levels = levels;
        expect_error(request, ErrorCode::input, "uses that name for itself");
        EXPECT_EQ(read_text(folder_ / "C.npy.products.partial"), before);
    }
}

}  // namespace
}  // namespace heptad
