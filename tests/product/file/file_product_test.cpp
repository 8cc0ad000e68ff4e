// Products from files to a file in little memory: values against the same product in memory, bytes against the plan,
// refusals.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include "base/error.hpp"
#include "io/matrix_file.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

namespace fs = std::filesystem;

TEST_F(FileProductTest, every_cut_equals_the_product_in_memory) {
    std::map<Kept, int> kept;
    for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{{300, 210, 260},
                                                                        {128, 256, 384},
                                                                        {700, 33, 500},
                                                                        {40, 2000, 50},
                                                                        {1000, 40, 40},
                                                                        {40, 40, 1000},
                                                                        {1, 300, 1}}) {
        for (const std::int64_t memory : {24 << 10, 100 << 10, 400 << 10, 40 << 20}) {
            for (const Type type : {Type::f32, Type::f64, Type::i32, Type::i64}) {
                Case c{.m = m, .k = k, .n = n, .type = type, .memory_bytes = memory};
                const FileProductRequest request = prepare(c);
                const FileProductReport report = multiply(request);
                ++kept[report.plan.disk->kept];
                ASSERT_EQ(result(), expected_) << to_string(report.plan);
                ASSERT_LE(report.traffic.used_bytes(), memory);
            }
        }
    }
    EXPECT_EQ(kept.size(), 3U) << "some way of cutting was never taken";
}

TEST_F(FileProductTest, exact_has_the_bits_of_the_product_in_memory_for_every_cut) {
    Options options;
    options.accuracy = Accuracy::exact;
    int tiles = 0;
    for (const Type type : {Type::f32, Type::f64, Type::bf16, Type::c64, Type::c128}) {
        for (const auto& [m, k, n] : std::vector<std::tuple<int, int, int>>{{300, 210, 260}, {90, 900, 70}}) {
            FileProductRequest request = prepare({.m = m, .k = k, .n = n, .type = type, .adds = true});
            const Matrix a = generate("normal", m, k, type, 5), b = generate("uniform", k, n, type, 6);
            Matrix expected = generate("normal", m, n, type, 7);
            write_npy(folder_ / "A.npy", a.view());
            write_npy(folder_ / "B.npy", b.view());
            write_npy(folder_ / "C0.npy", expected.view());
            request.alpha = 3;
            request.beta = -0.1;
            request.accuracy = Accuracy::exact;
            if (type == Type::bf16) {
                request.a.as = request.b.as = request.c0->as = type;
            }
            multiply_in_memory(request.alpha, a, b, request.beta, expected.view(), options);
            for (const double share : {0.3, 0.6, 1.2, 10.0}) {
                const auto all = static_cast<double>(m * k + k * n + m * n);
                request.memory_bytes =
                    static_cast<std::int64_t>(share * all * static_cast<double>(element_bytes(type))) + (2 << 20);
                StageTrace trace(false);
                const FileProductReport report = multiply_watched(request, processor_stage(options, 2), {}, trace);
                ASSERT_EQ(bytes_of(read_npy(folder_ / "C.npy", type).view()), bytes_of(expected.view()))
                    << to_string(report.plan);
                EXPECT_EQ(report.plan.disk->depth, k) << to_string(report.plan);
                tiles += static_cast<int>(report.tiles);
            }
        }
    }
    EXPECT_GT(tiles, 60) << "nothing was cut";
}

TEST_F(FileProductTest, exact_without_products_rounds_beta_c_once) {
    Options options;
    options.accuracy = Accuracy::exact;
    for (const Type type : {Type::f32, Type::f64, Type::c64}) {
        FileProductRequest request = prepare({.m = 30, .k = 0, .n = 40, .type = type, .adds = true});
        Matrix expected = generate("normal", 30, 40, type, 7);
        write_npy(folder_ / "C0.npy", expected.view());
        request.beta = 0.1;
        request.accuracy = Accuracy::exact;
        const ConstView a(nullptr, type, 30, 0, 1, 1), b(nullptr, type, 0, 40, 40, 1);
        multiply_in_memory(1, a, b, request.beta, expected.view(), options);
        multiply(request);
        EXPECT_EQ(bytes_of(read_npy(folder_ / "C.npy", type).view()), bytes_of(expected.view())) << type_name(type);
    }
}

TEST_F(FileProductTest, exact_is_refused_where_it_would_not_be_exact) {
    Options options;
    options.accuracy = Accuracy::exact;
    FileProductRequest request = prepare({.m = 60, .k = 50, .n = 40, .type = Type::f64, .memory_bytes = 4 << 20});
    request.accuracy = Accuracy::exact;
    StageTrace trace(false);
    const auto refusal = [&] {
        try {
            multiply_watched(request, processor_stage(options, 2), {}, trace);
            return std::string("accepted");
        } catch (const Error& error) {
            return std::string(error.what());
        }
    };
    write_npy(folder_ / "C.npy", generate("ones", 2, 2, Type::f64, 1).view());
    Matrix wide = generate("normal", 60, 50, Type::f64, 5);
    static_cast<double*>(wide.view().data)[50] = 1e-60;
    static_cast<double*>(wide.view().data)[51] = 1e60;
    write_npy(folder_ / "A.npy", wide.view());
    EXPECT_NE(refusal().find("exact"), std::string::npos);
    EXPECT_EQ(read_npy(folder_ / "C.npy").view().rows, 2) << "what was there is still there";

    const FileProblem problem = file_problem(request);
    ProductPlan plan =
        plan_steps(problem, plan_file_product(problem, processor_stage(options, 2)), processor_stage(options, 2));
    plan.disk->depth = plan.disk->first_depth = 25;
    request.plan = plan;
    EXPECT_NE(refusal().find("rounds every number of C once"), std::string::npos);
    request.plan.reset();
    request.memory_bytes = 4 << 10;
    EXPECT_NE(refusal().find("give a larger --memory"), std::string::npos);
}

TEST_F(FileProductTest, orders_transposes_and_additions_mean_the_same_matrices) {
    for (int bits = 0; bits < 64; ++bits) {
        Case c = kTiled;
        c.a_fortran = (bits & 1) != 0;
        c.b_fortran = (bits & 2) != 0;
        c.transpose_a = (bits & 4) != 0;
        c.transpose_b = (bits & 8) != 0;
        c.adds = (bits & 16) != 0;
        c.c0_fortran = (bits & 32) != 0;
        const FileProductRequest request = prepare(c);
        const FileProductReport report = multiply(request);
        ASSERT_EQ(result(), expected_) << bits << " " << to_string(report.plan);
        ASSERT_GT(report.tiles, 1);
    }
}

TEST_F(FileProductTest, rows_of_whole_blocks_are_read_and_written_directly_by_every_queue) {
    for (const char* io : {"auto", "threads"}) {
        for (const bool overlap : {true, false}) {
            // B stays in memory and A comes in whole rows, whatever the machine is said to do.
            FileProductRequest request =
                prepare({.m = 4096, .k = 256, .n = 256, .memory_bytes = 1 << 20, .adds = true});
            request.io = io;
            request.overlap = overlap;
            const FileProductReport report = multiply(request);
            ASSERT_EQ(result(), expected_) << io << overlap;
            ASSERT_GT(report.tiles, 1);
            const Descriptor direct(::open((folder_ / "A.npy").c_str(), O_RDONLY | O_DIRECT));
            const std::int64_t block = direct.get() < 0 ? 1 : direct_block_bytes(direct.get());
            EXPECT_EQ(report.plan.disk->a_block, block) << to_string(report.plan);
            EXPECT_EQ(report.plan.disk->b_block, block) << to_string(report.plan);
            EXPECT_EQ(report.plan.disk->c_block, block) << to_string(report.plan);
        }
    }
}

TEST_F(FileProductTest, bytes_as_issued_are_those_of_the_plan) {
    for (const Case& c : {kTiled, Case{.m = 640, .k = 512, .n = 768, .memory_bytes = 1 << 20},
                          Case{.m = 1000, .k = 64, .n = 1000, .memory_bytes = 200 << 10, .adds = true}}) {
        const FileProductRequest request = prepare(c);
        std::atomic<std::int64_t> read{0}, written{0};
        WatchedHooks hooks;
        hooks.watch = [&](IoCall call, std::int64_t bytes) -> IoVerdict {
            (call == IoCall::read ? read : written) += bytes;
            return {};
        };
        const FileProductReport report = multiply(request, hooks);
        EXPECT_EQ(read.load(), report.traffic.read_bytes()) << to_string(report.plan);
        EXPECT_EQ(written.load(), report.traffic.written_bytes) << to_string(report.plan);
    }
}

TEST_F(FileProductTest, short_counts_go_on) {
    for (const char* io : {"auto", "threads"}) {
        FileProductRequest request = prepare({.m = 640, .k = 512, .n = 768, .memory_bytes = 1 << 20});
        request.io = io;
        std::atomic<int> calls{0};
        WatchedHooks hooks;
        hooks.watch = [&](IoCall, std::int64_t) -> IoVerdict { return {0, 300 + 700 * (++calls % 3)}; };
        multiply(request, hooks);
        EXPECT_EQ(result(), expected_);
    }
}

TEST_F(FileProductTest, raw_files_and_other_versions_are_read) {
    FileProductRequest request = prepare(kTiled);
    const Matrix a = read_npy(folder_ / "A.npy");
    write_text(folder_ / "A.bin", bytes_of(a.view()));
    request.a = {folder_ / "A.bin", {}, RawShape{Type::f32, 300, 210}};
    multiply(request);
    EXPECT_EQ(result(), expected_);
    request.a.raw->rows = 299;
    EXPECT_THROW(multiply(request), Error);
}

TEST_F(FileProductTest, added_matrix_may_be_the_output_itself) {
    Case c = kTiled;
    c.adds = true;
    FileProductRequest request = prepare(c);
    fs::copy_file(folder_ / "C0.npy", folder_ / "C.npy");
    request.c0 = {folder_ / "C.npy"};
    multiply(request);
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileProductTest, sum_in_place_is_not_added_twice_by_resuming_a_finished_run) {
    Case c = kTiled;
    c.adds = true;
    FileProductRequest request = prepare(c);
    fs::copy_file(folder_ / "C0.npy", folder_ / "C.npy");
    request.c0 = {folder_ / "C.npy"};
    WatchedHooks hooks;
    std::atomic<bool> renamed{false};
    hooks.watch = [&](IoCall call, std::int64_t) -> IoVerdict {
        if (call == IoCall::rename) {
            renamed = true;
        }
        return {renamed && call == IoCall::remove ? EIO : 0};  // the journal stays, as after a kill
    };
    try {
        multiply(request, hooks);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("is complete"), std::string::npos) << error.what();
        EXPECT_EQ(std::string(error.what()).find("--resume"), std::string::npos) << error.what();
    }
    EXPECT_EQ(result(), expected_);
    request.resume = true;
    try {
        multiply(request);
        FAIL() << "added twice";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        EXPECT_NE(std::string(error.what()).find("nothing to resume"), std::string::npos) << error.what();
    }
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileProductTest, output_that_is_an_input_is_refused_and_nothing_is_lost) {
    FileProductRequest request = prepare(kTiled);
    const std::string before = read_text(folder_ / "A.npy");
    for (const std::string& output : {folder_ / "A.npy", folder_ / "link.npy"}) {
        if (output != folder_ / "A.npy") {
            fs::create_symlink("A.npy", output);
        }
        request.output = output;
        try {
            multiply(request);
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        }
        EXPECT_EQ(read_text(folder_ / "A.npy"), before);
    }
}

TEST_F(FileProductTest, inputs_with_the_names_beside_the_output_are_refused_and_kept) {
    Case c = kTiled;
    c.adds = true;
    const FileProductRequest request = prepare(c);
    for (const char* end : {".partial", ".journal", ".lock"}) {
        const std::string own = folder_ / ("C.npy" + std::string(end));
        for (int operand = 0; operand < 3; ++operand) {
            FileProductRequest other = request;
            MatrixName& name = operand == 0 ? other.a : operand == 1 ? other.b : *other.c0;
            fs::copy_file(name.path, own);
            const std::string before = read_text(own);
            name.path = own;
            for (const bool resume : {false, true}) {
                other.resume = resume;
                try {
                    multiply(other);
                    ADD_FAILURE() << own;
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
                }
                ASSERT_TRUE(fs::exists(own)) << own;
                EXPECT_EQ(read_text(own), before);
            }
            fs::remove(own);
        }
    }
}

TEST_F(FileProductTest, bits_of_floats_do_not_depend_on_overlap_or_queue) {
    expect_same_bits_for_any_overlap_and_queue(prepare(kTiled));
}

TEST_F(FileProductTest, matrices_without_elements_are_multiplied_in_every_way) {
    for (const auto& [m, k, n] :
         std::vector<std::tuple<int, int, int>>{{0, 0, 0}, {0, 5, 7}, {5, 0, 7}, {5, 7, 0}, {0, 0, 7}, {300, 0, 260}}) {
        for (const Type type : {Type::f32, Type::f64, Type::i32, Type::f16}) {
            for (int bits = 0; bits < 8; ++bits) {
                SCOPED_TRACE(fmt::format("{}x{}x{} {} {}", m, k, n, type_name(type), bits));
                FileProductRequest request = prepare({.m = m,
                                                      .k = k,
                                                      .n = n,
                                                      .type = type,
                                                      .memory_bytes = 20 << 10,
                                                      .c0_fortran = (bits & 2) != 0,
                                                      .adds = (bits & 1) != 0});
                request.resume = request.verify = (bits & 4) != 0;
                request.overlap = (bits & 4) == 0;
                request.outer.levels = bits == 7 && type != Type::f16 ? 1 : 0;
                const FileProductReport report = multiply(request);
                EXPECT_EQ(report.verified.has_value(), request.verify);
                ASSERT_EQ(result(), expected_);
                ASSERT_FALSE(exists("C.npy.partial"));
            }
        }
    }
}

TEST_F(FileProductTest, second_run_on_one_output_is_refused) {
    const FileProductRequest request = prepare(kTiled);
    const int lock = ::open((folder_ / "C.npy.lock").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    try {
        multiply(request);
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("another run"), std::string::npos) << error.what();
    }
    ::close(lock);
    multiply(request);  // a lock file that nobody holds is no obstacle
    EXPECT_EQ(result(), expected_);
    EXPECT_FALSE(exists("C.npy.lock"));
}

TEST_F(FileProductTest, lock_of_a_run_that_is_just_ending_is_waited_for) {
    const FileProductRequest request = prepare(kTiled);
    const int lock = ::open((folder_ / "C.npy.lock").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::flock(lock, LOCK_EX), 0);
    std::thread ending([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        ::close(lock);
    });
    EXPECT_NO_THROW(multiply(request));
    ending.join();
    EXPECT_EQ(result(), expected_);
}

TEST_F(FileProductTest, input_that_changes_or_shrinks_under_way_is_an_error) {
    for (const bool shrinks : {false, true}) {
        const FileProductRequest request = prepare(kTiled);
        std::atomic<bool> done{false};
        WatchedHooks hooks;
        hooks.watch = [&](IoCall call, std::int64_t) -> IoVerdict {
            if (call == IoCall::write && !done.exchange(true)) {
                if (shrinks) {
                    fs::resize_file(folder_ / "B.npy", 5000);
                } else {
                    std::fstream file(folder_ / "B.npy", std::ios::in | std::ios::out | std::ios::binary);
                    file.seekp(4100);
                    file.put('\x01');
                }
            }
            return {};
        };
        try {
            multiply(request, hooks);
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
            EXPECT_NE(std::string(error.what()).find("B.npy"), std::string::npos) << error.what();
        }
        EXPECT_FALSE(exists("C.npy"));
    }
}

TEST_F(FileProductTest, trace_names_the_stages_and_counts_what_they_moved) {
    const FileProductRequest request = prepare(kTiled);
    StageTrace trace(true);
    const FileProductReport report = multiply_files(request, processor_stage({}, 2), {}, trace);
    const std::string json = trace.chrome_json();
    for (const char* name : {"\"DR\"", "\"MM\"", "\"DW\"", "traceEvents"}) {
        EXPECT_NE(json.find(name), std::string::npos) << name;
    }
    EXPECT_EQ(report.write.amount, static_cast<double>(report.traffic.written_bytes));
    EXPECT_EQ(report.read.amount, static_cast<double>(report.traffic.read_bytes()));
    EXPECT_EQ(report.multiply.amount, 2.0 * 300 * 210 * 260);
}

TEST_F(FileProductTest, wrong_shapes_types_and_memory_are_refused) {
    FileProductRequest request = prepare(kTiled);
    const auto code_of = [&](const FileProductRequest& asked) {
        try {
            multiply(asked);
            return ErrorCode{};
        } catch (const Error& error) {
            return error.code();
        }
    };
    FileProductRequest other = request;
    other.transpose_a = true;
    EXPECT_EQ(code_of(other), ErrorCode::input);
    other = request;
    other.memory_bytes = 100;
    EXPECT_EQ(code_of(other), ErrorCode::resource);
    other = request;
    other.output = folder_ / "none/C.npy";
    EXPECT_EQ(code_of(other), ErrorCode::input);
    other.output = "/dev/null";
    EXPECT_EQ(code_of(other), ErrorCode::input);
    other = request;
    other.b = {folder_ / "missing.npy"};
    EXPECT_EQ(code_of(other), ErrorCode::input);
    write_npy(folder_ / "D.npy", integers(Type::f64, 210, 260, 1));
    other.b = {folder_ / "D.npy"};
    EXPECT_EQ(code_of(other), ErrorCode::input);
    write_npy(folder_ / "E.npy", generate("bits", 210, 260, Type::gf2, 1));
    other.a = other.b = {folder_ / "E.npy"};
    EXPECT_EQ(code_of(other), ErrorCode::input);
    EXPECT_FALSE(exists("C.npy.partial"));
    EXPECT_FALSE(exists("C.npy.lock"));
}

}  // namespace
}  // namespace heptad
