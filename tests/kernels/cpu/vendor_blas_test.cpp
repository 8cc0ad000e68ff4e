// Finding vendor libraries, questions to child processes, the table of corrections, and the switch of vendor threads.
#include "kernels/cpu/vendor_blas.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <thread>

#include "kernels/cpu/vendor_blas_correction.hpp"
#include "kernels/cpu/vendor_blas_probe.hpp"

namespace heptad::cpu {
namespace {

/// As in our own programs; vendor_blas_foreign_test.cpp is about the others. Before the first library is loaded.
const bool corrections_are_allowed = [] {
    allow_vendor_corrections();
    return true;
}();

std::vector<const VendorLibrary*> found_libraries() {
    std::vector<const VendorLibrary*> found;
    for (const Vendor vendor : {Vendor::openblas, Vendor::blis, Vendor::mkl}) {
        if (const VendorLibrary* library = vendor_library(vendor)) {
            found.push_back(library);
        }
    }
    return found;
}

TEST(vendor_blas, every_library_is_reported_found_or_with_the_reason_why_not) {
    const std::vector<VendorReport> reports = vendor_reports();
    ASSERT_EQ(reports.size(), 3U);
    for (const VendorReport& report : reports) {
        EXPECT_FALSE(report.text().empty()) << report.name;
        EXPECT_NE(report.found, report.path.empty()) << report.name;
        EXPECT_NE(report.found, !report.problem.empty()) << report.name;
        if (report.found) {
            EXPECT_FALSE(report.version.empty()) << report.name;
        }
    }
}

TEST(vendor_blas, no_library_runs_with_a_kernel_that_is_too_old_for_the_processor) {
    ASSERT_TRUE(corrections_are_allowed);
    if (std::getenv("OPENBLAS_CORETYPE") != nullptr || std::getenv("BLIS_ARCH_TYPE") != nullptr) {
        GTEST_SKIP() << "the environment chooses";
    }
    if (const VendorLibrary* openblas = vendor_library(Vendor::openblas)) {
        EXPECT_EQ(better_openblas_core(cpu_info(), openblas->core), "") << openblas->correction;
    }
    if (const VendorLibrary* blis = vendor_library(Vendor::blis)) {
        EXPECT_EQ(better_blis_core(cpu_info(), blis->core), "") << blis->correction;
    }
    EXPECT_EQ(std::getenv("OPENBLAS_CORETYPE"), nullptr);  // set around the load only
    EXPECT_EQ(std::getenv("BLIS_ARCH_TYPE"), nullptr);
}

TEST(vendor_blas, loading_from_many_threads_at_once_gives_one_library) {
    std::atomic<const VendorLibrary*> seen[8] = {};
    std::vector<std::thread> threads;
    for (auto& slot : seen) {
        threads.emplace_back([&slot] { slot = vendor_library(Vendor::blis); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const auto& slot : seen) {
        EXPECT_EQ(slot.load(), vendor_library(Vendor::blis));
    }
}

TEST(vendor_threads, setting_is_restored_when_the_last_holder_is_gone) {
    for (const VendorLibrary* library : found_libraries()) {
        if (library->set_threads == nullptr) {
            continue;
        }
        const int before = library->get_threads();
        {
            const VendorThreads outer(*library, 1);
            EXPECT_EQ(library->get_threads(), 1) << library->name;
            {
                const VendorThreads inner(*library, 1);
                EXPECT_EQ(library->get_threads(), 1) << library->name;
            }
            EXPECT_EQ(library->get_threads(), 1) << library->name;
        }
        EXPECT_EQ(library->get_threads(), before) << library->name;
    }
}

TEST(vendor_threads, threaded_holders_meet_nobody) {
    for (const VendorLibrary* library : found_libraries()) {
        if (library->set_threads == nullptr) {
            continue;
        }
        const int before = library->get_threads();
        std::atomic<int> inside[3] = {};
        std::atomic<int> clashes{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 200; ++i) {
                    const int number = 1 + (t + i) % 2;
                    const VendorThreads guard(*library, number);
                    ++inside[number];
                    clashes += inside[3 - number] != 0 || inside[2] > 1 ? 1 : 0;
                    --inside[number];
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(clashes, 0) << library->name;
        EXPECT_EQ(library->get_threads(), before) << library->name;
    }
}

/// Of a made-up library; written without a lock, so that the thread sanitizer sees who changes it at the same time.
int made_up_setting = 4;

TEST(vendor_threads, the_setting_of_a_made_up_library_is_never_changed_by_two_at_once) {
    VendorLibrary library;
    library.vendor = Vendor::mkl;  // whose switch nobody else uses: MKL's setting is per thread
    library.get_threads = [] { return made_up_setting; };
    library.set_threads = [](int threads) { made_up_setting = threads; };
    constexpr unsigned kThreads = 6, kRounds = 3000;
    std::atomic<int> wrong{0};
    unsigned threaded = 0;  // changed by those who are to be alone
    std::atomic<unsigned> expected_threaded{0};
    std::vector<std::thread> all;
    for (unsigned t = 0; t < kThreads; ++t) {
        all.emplace_back([&, t] {
            std::mt19937 random(t);
            for (unsigned round = 0; round < kRounds; ++round) {
                const int number = 1 + static_cast<int>(random() % 3);
                const VendorThreads guard(library, number);
                wrong += made_up_setting != number ? 1 : 0;
                if (number > 1) {
                    ++threaded;
                    ++expected_threaded;
                }
                if (random() % 50 == 0) {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::thread& thread : all) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(threaded, expected_threaded);
    EXPECT_EQ(made_up_setting, 4);
}

TEST(vendor_threads, who_came_while_a_threaded_holder_was_alone_gets_in_after_him) {
    for (const VendorLibrary* library : found_libraries()) {
        if (library->set_threads == nullptr) {
            continue;
        }
        const int before = library->get_threads();
        for (int round = 0; round < 50; ++round) {
            std::atomic<bool> left{false};
            std::atomic<int> early{0}, let_in{0};
            std::vector<std::thread> waiting;
            {
                const VendorThreads alone(*library, 2);
                for (const int number : {1, 2, 1}) {
                    waiting.emplace_back([&, number] {
                        const VendorThreads guard(*library, number);
                        early += left ? 0 : 1;
                        ++let_in;
                    });
                }
                std::this_thread::sleep_for(std::chrono::microseconds(200 * (round % 3)));
                left = true;
            }
            for (std::thread& thread : waiting) {
                thread.join();
            }
            EXPECT_EQ(early, 0) << library->name;
            EXPECT_EQ(let_in, 3) << library->name;
        }
        EXPECT_EQ(library->get_threads(), before) << library->name;
    }
}

TEST(vendor_probe, answer_of_a_child_comes_back) {
    EXPECT_EQ(ask_child([] { return std::string("skx"); }), "skx");
    EXPECT_EQ(ask_child([] { return std::string(); }), "");
    EXPECT_EQ(ask_child([] { return std::string(100000, 'x'); }), std::string(100000, 'x'));
}

TEST(vendor_probe, child_that_aborts_crashes_or_throws_gives_no_answer) {
    EXPECT_EQ(ask_child([]() -> std::string { std::abort(); }), std::nullopt);
    EXPECT_EQ(ask_child([]() -> std::string {
                  raise(SIGSEGV);
                  return "alive";
              }),
              std::nullopt);
    EXPECT_EQ(ask_child([]() -> std::string { throw std::runtime_error("no"); }), std::nullopt);
    EXPECT_EQ(ask_child([]() -> std::string { _exit(0); }), std::nullopt);
}

TEST(vendor_probe, child_that_hangs_is_given_up) {
    EXPECT_EQ(ask_child(
                  []() -> std::string {
                      for (;;) {
                          pause();
                      }
                  },
                  200),
              std::nullopt);
}

TEST(vendor_probe, what_a_child_does_to_its_environment_stays_there) {
    ask_child([] {
        setenv("HEPTAD_PROBE_TEST", "child", 1);
        return std::string("done");
    });
    EXPECT_EQ(std::getenv("HEPTAD_PROBE_TEST"), nullptr);
}

TEST(vendor_probe, scoped_environment_restores_value_and_absence) {
    setenv("HEPTAD_PROBE_TEST", "before", 1);
    {
        const ScopedEnvironment scope("HEPTAD_PROBE_TEST", "within");
        EXPECT_STREQ(std::getenv("HEPTAD_PROBE_TEST"), "within");
    }
    EXPECT_STREQ(std::getenv("HEPTAD_PROBE_TEST"), "before");
    unsetenv("HEPTAD_PROBE_TEST");
    { const ScopedEnvironment scope("HEPTAD_PROBE_TEST", "within"); }
    EXPECT_EQ(std::getenv("HEPTAD_PROBE_TEST"), nullptr);
}

CpuInfo processor(const std::string& vendor, const std::string& brand, std::vector<std::string> features) {
    CpuInfo info;
    info.architecture = "x86-64";
    info.vendor = vendor;
    info.brand = brand;
    info.features = std::move(features);
    return info;
}

const std::vector<std::string> kAvx2{"sse2", "avx", "fma", "avx2"};
const std::vector<std::string> kAvx512{"sse2",     "avx",      "fma",      "avx2",    "avx512f",
                                       "avx512dq", "avx512bw", "avx512vl", "avx512cd"};

TEST(vendor_correction, sse_kernel_of_openblas_on_a_new_intel_core_becomes_avx512) {
    const CpuInfo cpu = processor("GenuineIntel", "Intel(R) Xeon(R) Processor", kAvx512);
    EXPECT_EQ(better_openblas_core(cpu, "Prescott"), "SkylakeX");
    EXPECT_EQ(better_openblas_core(cpu, "Haswell"), "SkylakeX");
    EXPECT_EQ(better_openblas_core(cpu, "SkylakeX"), "");
    EXPECT_EQ(better_openblas_core(cpu, "Sapphirerapids"), "");
    EXPECT_EQ(better_openblas_core(cpu, "Cooperlake"), "");
}

TEST(vendor_correction, kernels_wider_than_the_processor_are_never_asked_for) {
    const CpuInfo intel = processor("GenuineIntel", "Intel(R) Core(TM) i7-8700", kAvx2);
    const CpuInfo amd = processor("AuthenticAMD", "AMD EPYC 7R13", kAvx2);
    const CpuInfo old = processor("GenuineIntel", "Intel(R) Xeon(R) CPU X5650", {"sse2"});
    EXPECT_EQ(better_openblas_core(intel, "Prescott"), "Haswell");
    EXPECT_EQ(better_openblas_core(amd, "Prescott"), "Zen");
    EXPECT_EQ(better_openblas_core(old, "Nehalem"), "");
    EXPECT_EQ(better_blis_core(intel, "generic"), "haswell");
    EXPECT_EQ(better_blis_core(amd, "generic"), "zen2");
    EXPECT_EQ(better_blis_core(amd, "zen3"), "");
    EXPECT_EQ(better_blis_core(old, "generic"), "");
}

TEST(vendor_correction, avx2_kernel_of_blis_under_a_masked_brand_becomes_skx) {
    const CpuInfo masked = processor("GenuineIntel", "Intel(R) Xeon(R) Processor @ 2.70GHz", kAvx512);
    EXPECT_EQ(better_blis_core(masked, "haswell"), "skx");
    EXPECT_EQ(better_blis_core(masked, "skx"), "");
}

TEST(vendor_correction, avx2_kernel_of_blis_stays_where_the_brand_tells_of_one_vector_unit) {
    const CpuInfo silver = processor("GenuineIntel", "Intel(R) Xeon(R) Silver 4114 CPU @ 2.20GHz", kAvx512);
    EXPECT_EQ(better_blis_core(silver, "haswell"), "");
    std::vector<std::string> ice_lake = kAvx512;
    ice_lake.emplace_back("avx512_vbmi2");
    EXPECT_EQ(better_blis_core(processor("GenuineIntel", "Intel(R) Xeon(R) Silver 4310", ice_lake), "haswell"), "skx");
}

}  // namespace
}  // namespace heptad::cpu
