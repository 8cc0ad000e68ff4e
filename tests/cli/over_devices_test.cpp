// Several devices on the command line: cores as devices give the product; plans, limits and mistakes are told.
#include "cli/heptad_process.hpp"

namespace heptad::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class OverDevices : public HeptadProcess {
protected:
    void SetUp() override {
        HeptadProcess::SetUp();
        write_matrix("A.npy", a_);
        write_matrix("B.npy", b_);
        write_matrix("C0.npy", c0_);
    }
    std::vector<std::string> mul(const std::vector<std::string>& options) const {
        std::vector<std::string> words{"mul", "A.npy", "B.npy", "-o", "C.npy"};
        words.insert(words.end(), options.begin(), options.end());
        return words;
    }
    const TestMatrix a_ = integers(90, 70, 1), b_ = integers(70, 110, 2), c0_ = integers(90, 110, 3);
};

TEST_F(OverDevices, cores_as_devices_give_the_product) {
    const std::vector<std::vector<std::string>> choices{
        {"--device", "cpu:1"},
        {"--device", "cpu:3", "--host-levels", "1", "--verify"},
        {"--device", "cpu:2", "--host-levels", "2", "--host-algorithm", "winograd", "--pipelines", "2"},
        {"--device", "cpu:8", "--device-memory", "64K"},
        {"--device", "cpu:2", "--host-levels", "0", "--pipelines", "1", "--verify"}};
    for (const auto& choice : choices) {
        heptad_ok(mul(choice));
        EXPECT_EQ(read_matrix("C.npy"), product(a_, b_)) << choice[1];
    }
    heptad_ok(mul({"--device", "cpu:2", "--alpha", "2", "--beta", "-1", "--add", "C0.npy", "--host-levels", "1"}));
    EXPECT_EQ(read_matrix("C.npy"), product(a_, b_, 2, -1, c0_));
}

TEST_F(OverDevices, bits_are_multiplied_packed) {
    heptad_ok({"gen", "bits", "--shape", "300x200", "--seed", "1", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "200x250", "--seed", "2", "-o", "B.pbm"});
    for (const char* type : {"gf2", "bool"}) {
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "one.pbm", "--type", type});
        const nlohmann::json object = heptad_json(
            {"mul", "A.pbm", "B.pbm", "-o", "many.pbm", "--type", type, "--device", "cpu:3", "--device-memory", "32K"});
        EXPECT_EQ(read("one.pbm"), read("many.pbm")) << type;
        EXPECT_EQ(object["device_count"], 3);
        EXPECT_LE(object["device_bytes"].get<std::int64_t>(), 32 << 10);
        const double bound_s = object["bound_s"];
        EXPECT_GT(bound_s, 0);
        EXPECT_DOUBLE_EQ(object["wall_over_bound"].get<double>(), object["multiply_s"].get<double>() / bound_s);
    }
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "one.pbm", "--type", "gf2"});
    heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "many.pbm", "--type", "gf2", "--device", "cpu:2", "--host-levels", "1",
               "--host-algorithm", "self-inverse", "--verify"});
    EXPECT_EQ(read("one.pbm"), read("many.pbm"));
}

TEST_F(OverDevices, plans_are_taken_back_and_refused_for_other_products_and_devices) {
    const std::vector<std::string> size{"plan", "90", "70", "110", "--device"};
    for (const std::vector<std::string>& options : {std::vector<std::string>{"cpu:2"},
                                                    {"cpu:3", "--host-levels", "1", "--pipelines", "2"},
                                                    {"cpu:1", "--host-levels", "0", "--device-memory", "32K"}}) {
        std::vector<std::string> words = size;
        words.insert(words.end(), options.begin(), options.end());
        const std::string text = heptad_ok(words);
        write("plan.txt", text);
        const nlohmann::json done = heptad_json(mul({"--plan", "plan.txt"}));
        EXPECT_EQ(read_matrix("C.npy"), product(a_, b_)) << text;
        EXPECT_EQ(done["plan"].get<std::string>(), last_line(text));
        write("plan.json", heptad_json(words).dump());
        heptad_ok(mul({"--plan", "plan.json", "--verify"}));
    }
    const std::string text = heptad_ok({"plan", "90", "70", "110", "--device", "cpu:2"});
    const auto refused = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        write("changed.txt", changed);
        return heptad_fails(3, mul({"--plan", "changed.txt"}));
    };
    EXPECT_TRUE(contains(refused("90x70x110", "91x70x110"), "plan"));
    EXPECT_TRUE(contains(refused("plan 90x70x110 f32", "plan 90x70x110 f64"), "plan"));
    EXPECT_TRUE(contains(refused("pipelines=", "pipelines=9"), "pipelines"));
    EXPECT_TRUE(contains(refused("devices=cpu:2", "devices=cpu:0"), "cpu:0"));
    EXPECT_TRUE(contains(refused("block=", "block=1"), "block"));
    write("plan.txt", text);
    EXPECT_TRUE(contains(heptad_fails(3, mul({"--plan", "plan.txt", "--beta", "1", "--add", "C0.npy"})), "--beta"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--plan", "plan.txt", "--device", "cuda"})), "plan for cpu:2"));
}

TEST_F(OverDevices, plans_of_packed_bits_are_taken_back) {
    heptad_ok({"gen", "bits", "--shape", "300x200", "--seed", "1", "-o", "A.pbm"});
    heptad_ok({"gen", "bits", "--shape", "200x250", "--seed", "2", "-o", "B.pbm"});
    for (const char* type : {"gf2", "bool"}) {
        heptad_ok({"mul", "A.pbm", "B.pbm", "-o", "one.pbm", "--type", type});
        for (const char* memory : {"1M", "32K"}) {
            write("plan.txt", heptad_ok({"plan", "300", "200", "250", "--type", type, "--device", "cpu:2",
                                         "--device-memory", memory}));
            const nlohmann::json done =
                heptad_json({"mul", "A.pbm", "B.pbm", "-o", "many.pbm", "--type", type, "--plan", "plan.txt"});
            EXPECT_EQ(read("one.pbm"), read("many.pbm")) << type;
            EXPECT_EQ(last_line(read("plan.txt")), done["plan"].get<std::string>());
            EXPECT_GT(done["bound_s"].get<double>(), 0);
        }
    }
    heptad_fails(3, {"mul", "A.pbm", "B.pbm", "-o", "many.pbm", "--type", "gf2", "--plan", "plan.txt"});
}

TEST_F(OverDevices, plan_tells_memory_stages_and_what_binds_without_any_device) {
    const std::string text = heptad_ok(
        {"plan", "60000", "60000", "60000", "--type", "f64", "--device", "cuda:0,1", "--device-memory", "8G"});
    EXPECT_EQ(last_line(text).rfind("plan 60000x60000x60000 f64 host={devices=cuda:0,1;", 0), 0U) << text;
    for (const char* part :
         {"d_h", "on each device", "of buffers on the host", "upload", "bottleneck", "error bound"}) {
        EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
    }
    const nlohmann::json object = heptad_json({"plan", "524288", "524288", "524288", "--type", "gf2", "--device",
                                               "cpu:8", "--device-memory", "16G", "--host-levels", "2"});
    EXPECT_EQ(object["tasks"], 49);
    EXPECT_LE(object["device_bytes"].get<std::int64_t>(), std::int64_t{16} << 30);
    EXPECT_GT(object["predicted_s"].get<double>(), 0);
}

TEST_F(OverDevices, mistakes_are_answered_by_a_sentence) {
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cpu:0"})), "cpu:0"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cuda:0,0"})), "twice"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cuda:0,x"})), "cuda:0,x"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device-memory", "1G"})), "--device"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cpu", "--host-levels", "1"})), "--host-levels"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cpu:2", "--host-levels", "x"})), "--host-levels"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cpu:2", "--pipelines", "0"})), "--pipelines"));
    EXPECT_TRUE(contains(heptad_fails(2, mul({"--device", "cpu:2", "--host-levels", "9"})), "9 levels"));
    EXPECT_TRUE(contains(heptad_fails(4, mul({"--device", "cpu:2", "--device-memory", "1000"})), "1000 are available"));
    if (!heptad_json({"info"})["cuda"]["available"].get<bool>()) {
        EXPECT_TRUE(contains(heptad_fails(4, mul({"--device", "cuda:0,1"})), "device to cpu"));
        EXPECT_TRUE(contains(heptad_fails(4, mul({"--device", "cuda", "--device-memory", "1G"})), "device to cpu"));
    }
}

}  // namespace
}  // namespace heptad::testing
