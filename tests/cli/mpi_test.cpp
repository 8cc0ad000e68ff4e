// heptad-mpi under mpirun, several ranks on this machine: bit-exact results, the bytes that ranks receive, and how jobs
// end that cannot succeed.
#include <chrono>
#include <cmath>

#include "cli/mpi_process.hpp"

namespace heptad::testing {
namespace {

TEST_F(Mpi, every_algorithm_equals_the_definition_on_1_to_8_ranks) {
    make_operands(61, 83, 47);
    const TestMatrix expected = product(a_, b_);
    std::filesystem::create_directory(folder_ / "scratch");
    for (const int ranks : {1, 2, 3, 4, 5, 7, 8}) {
        expect_product(ranks, {}, expected);
        expect_product(ranks, {"--algorithm", "pegmm", "--block", "7x10x9"}, expected);
        expect_product(ranks, {"--algorithm", "mod-pegmm", "--block", "7x10x5"}, expected);
    }
}

TEST_F(Mpi, grids_with_partial_sums_and_idle_ranks_equal_the_definition) {
    make_operands(61, 83, 47);
    const TestMatrix expected = product(a_, b_);
    expect_product(8, {"--grid", "2x2x2"}, expected);
    expect_product(7, {"--grid", "1x3x2"}, expected);
    expect_product(5, {"--grid", "1x5x1"}, expected);
    // C of a rank takes 1276 bytes, a column of three panels 648: 8 KiB are for panels of 9.
    const nlohmann::json object = report(5, {"--grid", "3x1x1", "--memory", "16000"});
    EXPECT_EQ(object["predicted"]["idle_ranks"], 2);
    EXPECT_NE(object["plan"].get<std::string>().find("panels="), std::string::npos);
    EXPECT_EQ(object["plan"].get<std::string>().find("panels=1"), std::string::npos) << object["plan"];
    EXPECT_TRUE(read_matrix("C.npy") == expected);
}

TEST_F(Mpi, operands_on_the_root_alone_are_scattered_and_the_result_collected) {
    make_operands(61, 83, 47, "<f4");
    const TestMatrix expected = product(a_, b_);
    std::filesystem::create_directory(folder_ / "scratch");
    const Words scatter{"--scatter", "--scratch", "scratch"};
    for (const Words& algorithm :
         {Words{"--algorithm", "grid"}, Words{"--algorithm", "mod-pegmm"}, Words{"--algorithm", "pegmm"},
          Words{"--algorithm", "pegmm", "--broadcast", "linear"}}) {
        for (const int ranks : {1, 2, 4, 5}) {
            Words words = scatter;
            words.insert(words.end(), algorithm.begin(), algorithm.end());
            expect_product(ranks, words, expected);
        }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder_ / "scratch"));
}

TEST_F(Mpi, every_type_transposes_orders_and_scalars) {
    const TestMatrix a = integers(30, 41, 1), b = integers(41, 29, 2), c0 = integers(30, 29, 3);
    for (const char* dtype : {"<f4", "<f8", "<i4"}) {
        write_matrix("A.npy", transposed(a), dtype);
        write_matrix("B.npy", b, dtype, true);
        write_matrix("C0.npy", c0, dtype);
        for (const Words& algorithm : {Words{"--grid", "2x2x1"}, Words{"--algorithm", "pegmm", "--block", "4x7x9"},
                                       Words{"--algorithm", "mod-pegmm", "--block", "4x7x3"}}) {
            Words words{"--transpose-a", "--alpha", "2", "--beta", "-3", "--add", "C0.npy"};
            words.insert(words.end(), algorithm.begin(), algorithm.end());
            expect_product(4, words, product(a, b, 2, -3, c0));
        }
    }
}

TEST_F(Mpi, bits_are_added_in_their_own_arithmetic) {
    TestMatrix a = integers(20, 33, 1), b = integers(33, 17, 2);
    for (TestMatrix* matrix : {&a, &b}) {
        for (double& value : matrix->values) {
            value = value > 0 ? 1 : 0;
        }
    }
    write_matrix("A.npy", a, "|b1");
    write_matrix("B.npy", b, "|b1");
    TestMatrix parity = product(a, b), any = parity;
    for (std::size_t i = 0; i < parity.values.size(); ++i) {
        any.values[i] = parity.values[i] > 0 ? 1 : 0;
        parity.values[i] = static_cast<double>(static_cast<int>(parity.values[i]) % 2);
    }
    expect_product(4, {"--grid", "1x2x2"}, any);
    expect_product(4, {"--grid", "1x2x2", "--type", "gf2"}, parity);
}

TEST_F(Mpi, matrices_smaller_than_the_job_and_empty_ones) {
    make_operands(3, 5, 2);
    const TestMatrix expected = product(a_, b_);
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_product(7, {"--algorithm", algorithm}, expected);
    }
    make_operands(4, 0, 3);
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_product(3, {"--algorithm", algorithm}, product(a_, b_));
    }
}

TEST_F(Mpi, ranks_receive_what_the_formula_says_and_at_most_1_35_times_the_bound) {
    make_operands(240, 240, 240, "<f4");
    for (const int ranks : {4, 6, 8, 9, 12, 16}) {
        const nlohmann::json object = report(ranks, {"--network", "10000G"});
        SCOPED_TRACE(object["plan"]);
        EXPECT_EQ(object["predicted"]["idle_ranks"], 0);
        const auto formula = object["predicted"]["formula_bytes_per_rank"].get<double>();
        const auto bound = object["predicted"]["lower_bound_bytes_per_rank"].get<double>();
        EXPECT_EQ(object["ranks"].size(), static_cast<std::size_t>(ranks));
        for (const nlohmann::json& rank : object["ranks"]) {
            const auto received = rank["received_bytes"].get<double>();
            EXPECT_EQ(rank["received_bytes"], rank["planned_bytes"]);
            EXPECT_GT(received, 0);
            EXPECT_LE(received, 1.03 * formula);
            EXPECT_LE(received, 1.35 * bound);
        }
    }
}

TEST_F(Mpi, a_block_of_b_crosses_the_network_once) {
    make_operands(60, 40, 80, "<f4");
    // Four block rows on every rank: printed as it is, the algorithm would send each block of B four times.
    const nlohmann::json object = report(4, {"--algorithm", "mod-pegmm", "--block", "4x10x10"});
    for (const nlohmann::json& rank : object["ranks"]) {
        EXPECT_EQ(rank["received_bytes"], 4 * 40 * 60);
    }
    const nlohmann::json scattered = [&] {
        std::filesystem::create_directory(folder_ / "scratch");
        return report(4, {"--algorithm", "pegmm", "--scatter", "--scratch", "scratch"});
    }();
    for (const nlohmann::json& rank : scattered["ranks"]) {
        EXPECT_EQ(rank["received_bytes"], 0);
        EXPECT_EQ(rank["distributed_bytes"], rank["rank"] == 0 ? 0 : 4 * (15 * 40 + 40 * 80));
    }
    EXPECT_EQ(scattered["predicted"]["equation"]["number"], 2);
}

TEST_F(Mpi, strassen_over_seven_ranks_equals_the_definition_and_its_count_of_bytes) {
    for (const char* dtype : {"<i4", "<f4", "<f8"}) {
        make_operands(61, 83, 47, dtype);
        expect_product(8, {"--algorithm", "caps", "--alpha", "3"}, product(a_, b_, 3));
    }
    make_operands(3, 2, 1);  // less than a row for every rank
    expect_product(7, {"--algorithm", "caps"}, product(a_, b_));
    make_operands(280, 280, 140, "<f4");
    const nlohmann::json object = report(7, {"--algorithm", "caps"});
    EXPECT_TRUE(read_matrix("C.npy") == product(a_, b_));
    for (const nlohmann::json& rank : object["ranks"]) {
        // Six sevenths of a quarter of A, B and C each.
        EXPECT_EQ(rank["received_bytes"], 4 * 6 * (140 * 140 + 2 * 140 * 70) / 7);
        EXPECT_EQ(rank["received_bytes"], rank["planned_bytes"]);
    }
}

TEST_F(Mpi, two_steps_of_strassen_on_49_ranks_equal_the_definition) {
    make_operands(200, 99, 31);
    expect_product(49, {"--algorithm", "caps", "--threads", "1"}, product(a_, b_));
}

TEST_F(Mpi, nan_and_overflow_are_left_to_the_classical_algorithm) {
    make_operands(20, 20, 20, "<f4");
    a_.at(3, 4) = 3e38;
    write_matrix("A.npy", a_, "<f4");
    const nlohmann::json object = report(7, {"--algorithm", "caps"});
    EXPECT_NE(object["plan"].get<std::string>().find("algorithm=grid"), std::string::npos);
    a_.at(3, 4) = std::nan("");
    write_matrix("A.npy", a_, "<f4");
    report(7, {"--algorithm", "caps"});
    const TestMatrix c = read_matrix("C.npy");
    a_.at(3, 4) = 0;
    const TestMatrix expected = product(a_, b_);
    for (std::int64_t i = 0; i < 20; ++i) {
        for (std::int64_t j = 0; j < 20; ++j) {
            EXPECT_TRUE(i == 3 ? std::isnan(c.at(i, j)) : c.at(i, j) == expected.at(i, j)) << i << ", " << j;
        }
    }
}

TEST_F(Mpi, uneven_rows_and_columns_are_scaled_for_strassen) {
    // Powers of two beside small integers: every entry of C is exact, as far as it is not lost beside larger ones.
    constexpr std::int64_t m = 70, k = 900, n = 83;
    make_operands(m, k, n, "<f4");
    for (std::vector<double>* const values : {&a_.values, &b_.values}) {
        std::replace(values->begin(), values->end(), 0.0, 1.0);  // a few zeros in few rows would count as uneven
    }
    for (std::int64_t p = 0; p < k; ++p) {
        const int inner = static_cast<int>(p % 12);
        for (std::int64_t i = 0; i < m; ++i) {
            a_.at(i, p) = std::ldexp(a_.at(i, p), static_cast<int>(i) - 40 + inner);
        }
        for (std::int64_t j = 0; j < n; ++j) {
            b_.at(p, j) = std::ldexp(b_.at(p, j), 30 - static_cast<int>(j) - inner);
        }
    }
    write_matrix("A.npy", a_, "<f4");
    write_matrix("B.npy", b_, "<f4");
    const nlohmann::json object = report(7, {"--algorithm", "caps"});
    EXPECT_NE(object["plan"].get<std::string>().find("algorithm=caps"), std::string::npos) << object["plan"];
    EXPECT_TRUE(object["scaled"]);
    EXPECT_TRUE(read_matrix("C.npy") == product(a_, b_));
    for (std::int64_t i = 0; i < m; ++i) {  // two blocks that never meet: no powers make that even
        for (std::int64_t p = 0; p < k; ++p) {
            a_.at(i, p) = (i < m / 2) == (p < k / 2) ? a_.at(i, p) : 0;
        }
    }
    write_matrix("A.npy", a_, "<f4");
    EXPECT_NE(report(7, {"--algorithm", "caps"})["plan"].get<std::string>().find("algorithm=grid"), std::string::npos);
}

TEST_F(Mpi, parts_that_are_kept_make_up_the_result) {
    make_operands(31, 20, 27);
    const TestMatrix expected = product(a_, b_);
    for (const Words& more : {Words{"--grid", "2x2x1"}, Words{"--algorithm", "mod-pegmm"}}) {
        Words words{"--keep-parts"};
        words.insert(words.end(), more.begin(), more.end());
        const nlohmann::json object = report(4, words);
        EXPECT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
        TestMatrix all{31, 27, std::vector<double>(31 * 27, -1e9)};
        for (const nlohmann::json& rank : object["ranks"]) {
            const TestMatrix part = read_matrix(rank["part_file"]);
            ASSERT_EQ(part.rows, rank["part"][2]);
            for (std::int64_t i = 0; i < part.rows; ++i) {
                for (std::int64_t j = 0; j < part.cols; ++j) {
                    all.at(rank["part"][0].get<std::int64_t>() + i, rank["part"][1].get<std::int64_t>() + j) =
                        part.at(i, j);
                }
            }
        }
        EXPECT_TRUE(all == expected);
    }
}

TEST_F(Mpi, report_and_trace_name_the_stages_of_p4) {
    make_operands(61, 83, 47);
    std::filesystem::create_directory(folder_ / "scratch");
    const nlohmann::json object =
        report(3, {"--algorithm", "mod-pegmm", "--scatter", "--scratch", "scratch", "--trace", "trace.json"});
    for (const char* stage :
         {"distribute NR", "distribute DW", "multiply DR", "multiply NR", "multiply MM", "multiply DW"}) {
        EXPECT_TRUE(object["ranks"][1]["stage_s"].contains(stage)) << stage;
    }
    EXPECT_TRUE(object["ranks"][0]["stage_s"].contains("distribute NS"));
    const nlohmann::json trace = nlohmann::json::parse(read("trace.json"), nullptr, false);
    ASSERT_TRUE(trace.is_object());
    EXPECT_GT(trace["traceEvents"].size(), 10U);
}

TEST_F(Mpi, trace_that_cannot_be_written_or_replaces_a_file_of_the_job_is_refused_before_the_product) {
    make_operands(6, 5, 4);
    write_matrix("C0.npy", integers(6, 4, 3), "<i4");
    std::filesystem::create_symlink("B.npy", folder_ / "link.json");
    std::filesystem::create_directory(folder_ / "scratch");
    const auto before = folder_contents();
    for (const char* trace : {"A.npy", "C0.npy", "link.json", "C.npy.partial", "scratch/../C.npy.part-1.journal"}) {
        expect_failure(2, started(2, mul({"--beta", "1", "--add", "C0.npy", "--trace", trace})), {"--trace"});
    }
    expect_failure(2, started(2, mul({"--scatter", "--scratch", "scratch", "--trace", "scratch/C.npy.part-0.npy"})),
                   {"--trace"});
    expect_failure(3, started(2, mul({"--trace", "none/trace.json"})), {"none/trace.json"});
    EXPECT_EQ(folder_contents(), before);
}

TEST_F(Mpi, what_cannot_be_done_is_said_once_with_its_exit_code) {
    make_operands(6, 5, 4);
    write_matrix("F.npy", a_, "<f4");
    expect_failure(3, started(3, {"mul", "A.npy", "missing.npy", "-o", "C.npy"}), {"rank 0", "missing.npy"});
    expect_failure(3, started(2, {"mul", "A.npy", "A.npy", "-o", "C.npy"}), {"columns of the first"});
    expect_failure(3, started(2, {"mul", "F.npy", "B.npy", "-o", "C.npy"}), {"the same type"});
    expect_failure(3, started(2, {"mul", "A.npy", "B.npy", "-o", "no/such/folder/C.npy"}), {"cannot be written"});
    expect_failure(2, started(2, mul({"--scatter"})), {"--scratch"});
    expect_failure(2, started(2, mul({"--scratch", "."})), {"--scatter"});
    expect_failure(2, started(2, mul({"--grid", "2x2x1"})), {"does not fit on 2 ranks"});
    expect_failure(2, started(2, mul({"--overlap", "yes"})), {"--overlap"});
    expect_failure(2, started(7, mul({"--algorithm", "caps", "--resume"})), {"nothing to resume"});
    expect_failure(2, started(2, mul({"--colour", "red"})), {"--colour"});
    expect_failure(2, started(2, mul({"--algorithm", "no-such-one"})), {"no-such-one"});
    expect_failure(3, started(2, mul({"--scatter", "--scratch", "no/such/folder"})), {"no/such/folder"});
    expect_failure(4, started(2, mul({"--memory", "10"})), {"--memory"});
    expect_failure(2, started(2, mul({"--algorithm", "caps"})), {"7 ranks"});
    expect_failure(2, started(7, mul({"--algorithm", "caps", "--keep-parts"})), {"--keep-parts"});
    expect_failure(2, started(7, mul({"--algorithm", "caps", "--accuracy", "strict"})), {"strict"});
}

TEST_F(Mpi, ranks_that_were_started_differently_are_refused) {
    make_operands(6, 5, 4);
    Words words = started(2, mul());
    words.emplace_back(":");
    const Words other = program(1, mul({"--alpha", "2"}));
    words.insert(words.end(), other.begin(), other.end());
    expect_failure(2, words, {"rank 2 was started as", "'--alpha'"});
}

TEST_F(Mpi, full_disk_on_one_rank_ends_the_job_and_names_the_rank) {
    if (!limits_of_files_spare_mpi()) {
        GTEST_SKIP() << "this MPI keeps large files in shared memory, which a limit on files forbids too";
    }
    make_operands(300, 50, 300, "<f8");
    Words words = started(2, mul({"--grid", "3x1x1"}));
    const Words other{
        ":",
        "-n",
        "1",
        "/bin/sh",
        "-c",
        std::string("trap '' XFSZ; ulimit -f 100; exec ") + HEPTAD_MPI_BINARY + " mul A.npy B.npy -o C.npy --grid 3x1x1"};
    words.insert(words.end(), other.begin(), other.end());
    const Outcome outcome = heptad(words);
    EXPECT_EQ(outcome.exit_code, 4);
    for (const char* part : {"rank 2", "File too large", "go on with --resume"}) {
        EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
}

TEST_F(Mpi, failure_of_one_stage_ends_the_job_within_a_minute_although_another_computes_for_long) {
    // The second block of B holds a byte that is no bit. It is read while the first one is multiplied, by plain loops
    // that heed no wish to stop and would take minutes.
    constexpr std::size_t kSide = 5000;
    const auto bits = [](std::size_t rows, std::size_t cols) {
        return npy_bytes("{'descr': '|b1', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", " +
                             std::to_string(cols) + "), }",
                         std::string(rows * cols, '\1'));
    };
    write("A.npy", bits(kSide, 2 * kSide));
    std::string b = bits(2 * kSide, kSide);
    b.back() = 7;
    write("B.npy", b);
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = heptad(started(
        2, mul({"--algorithm", "pegmm", "--block", "5000x5000x5000", "--device", "reference", "--threads", "1"})));
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("rank "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("'B.npy' holds 7"), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST_F(Mpi, killed_rank_ends_the_job_within_a_minute_and_no_result_appears) {
    make_operands(1200, 1200, 1200, "<f8");
    std::chrono::steady_clock::time_point begin;
    // The slowest backend: there is time to kill.
    const Outcome outcome = killed(3, mul({"--device", "reference", "--threads", "1"}), Victims::one, [&] {
        begin = std::chrono::steady_clock::now();
        return std::filesystem::exists(folder_ / "C.npy.partial");
    });
    EXPECT_NE(outcome.exit_code, 0);
    // The launcher says it, Open MPI's by rank, MPICH's by process and host.
    const std::string said = outcome.out + outcome.err;
    EXPECT_NE(said.find("signal 9"), std::string::npos) << said;
    EXPECT_NE(said.find(HEPTAD_OPEN_MPI ? "rank" : "RUNNING AT"), std::string::npos) << said;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "C.npy"));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

}  // namespace
}  // namespace heptad::testing
