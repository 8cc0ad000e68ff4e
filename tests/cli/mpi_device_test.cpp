// heptad-mpi with a device: ranks that share one multiply on it, blocks come and go through host memory, and P4's
// stages bear their names.
#include "cli/mpi_process.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::testing {
namespace {

class MpiDevice : public Mpi {
protected:
    void SetUp() override {
        if (cuda::report().devices.empty()) {
            GTEST_SKIP() << "there is no CUDA device: " << cuda::report().problem;
        }
        Mpi::SetUp();
    }
    void TearDown() override {
        if (!folder_.empty()) {
            Mpi::TearDown();
        }
    }
};

TEST_F(MpiDevice, every_algorithm_equals_the_definition_on_ranks_that_share_a_device) {
    std::filesystem::create_directory(folder_ / "scratch");
    for (const char* dtype : {"<f4", "<f8", "<i4", "<i8"}) {
        make_operands(61, 83, 47, dtype);
        const TestMatrix c0 = integers(61, 47, 3);
        write_matrix("C0.npy", c0, dtype);
        for (const Words& algorithm :
             {Words{"--grid", "2x1x1"}, Words{"--grid", "1x2x1"}, Words{"--algorithm", "pegmm", "--block", "7x10x9"},
              Words{"--algorithm", "mod-pegmm", "--block", "7x10x5"}}) {
            Words words = algorithm;
            words.insert(words.end(), {"--device", "cuda"});
            expect_product(2, words, product(a_, b_));
            words.insert(words.end(), {"--verify", "--alpha", "2", "--beta", "-3", "--add", "C0.npy"});
            expect_product(2, words, product(a_, b_, 2, -3, c0));
        }
        expect_product(2, {"--device", "cuda", "--algorithm", "pegmm", "--scatter", "--scratch", "scratch"},
                       product(a_, b_));
    }
}

/// Products of i64 on a device are always by residues.
TEST_F(MpiDevice, blocks_of_ranks_go_by_residues) {
    make_operands(150, 130, 141, "<f4");
    for (const Words& algorithm :
         {Words{"--grid", "2x1x1"}, Words{"--grid", "1x2x1"}, Words{"--algorithm", "pegmm", "--block", "40x70x50"}}) {
        Words words = algorithm;
        words.insert(words.end(), {"--device", "cuda", "--leaf", "heptad-int8", "--verify"});
        expect_product(2, words, product(a_, b_));
    }
}

TEST_F(MpiDevice, exact_products_are_made_or_refused_by_all_ranks) {
    make_operands(150, 130, 141, "<f8");
    const TestMatrix c0 = integers(150, 141, 3);
    write_matrix("C0.npy", c0, "<f8");
    const Words exact{"--device", "cuda", "--accuracy", "exact", "--alpha", "2", "--beta", "-3", "--add", "C0.npy"};
    const auto with = [&](const char* algorithm) {
        Words words = exact;
        words.insert(words.end(), {"--algorithm", algorithm});
        return words;
    };
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_product(2, with(algorithm), product(a_, b_, 2, -3, c0));
    }
    a_.at(149, 0) = 1e-90;  // of the last rank
    a_.at(149, 1) = 1e90;
    write_matrix("A.npy", a_, "<f8");
    for (const char* algorithm : {"grid", "pegmm", "mod-pegmm"}) {
        expect_failure(3, started(2, mul(with(algorithm))), {"an exact product of these matrices takes"});
    }
}

TEST_F(MpiDevice, ranks_take_devices_by_their_place_on_the_machine_and_name_their_stages) {
    make_operands(300, 200, 100, "<f4");
    const nlohmann::json object =
        report(2, {"--device", "cuda", "--algorithm", "mod-pegmm", "--block", "50x50x50", "--trace", "trace.json"});
    const std::size_t devices = cuda::report().devices.size();
    for (const nlohmann::json& rank : object["ranks"]) {
        EXPECT_EQ(rank["device"], "cuda:" + std::to_string(rank["rank"].get<std::size_t>() % devices));
        for (const char* stage :
             {"multiply DR", "multiply NR", "multiply M2G", "multiply MM", "multiply G2M", "multiply DW"}) {
            EXPECT_TRUE(rank["stage_s"].contains(stage)) << stage;
        }
    }
    EXPECT_NE(read("trace.json").find("multiply M2G"), std::string::npos);
    EXPECT_TRUE(read_matrix("C.npy") == product(a_, b_));
}

}  // namespace
}  // namespace heptad::testing
