// Runs the built heptad, and knows whether it finds an NVIDIA device.
#pragma once

#include "cli/heptad_process.hpp"

namespace heptad::testing {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Device : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        cuda_ = heptad_json({"info"})["cuda"];
        available_ = cuda_["available"].get<bool>();
        write_matrix("A.npy", a_);
        write_matrix("B.npy", b_);
    }
    /// Exit code 4 and the sentence that `heptad info` knows too.
    void expect_refused(const std::vector<std::string>& words) {
        const std::string said = heptad_fails(4, words);
        EXPECT_TRUE(contains(said, cuda_["problem"].get<std::string>())) << said;
        EXPECT_TRUE(contains(said, "device to cpu")) << said;
    }
    const TestMatrix a_ = integers(30, 20, 1), b_ = integers(20, 25, 2);
    nlohmann::json cuda_;
    bool available_ = false;
};

}  // namespace heptad::testing
