// One line of a benchmark: C = A * B by every vendor library and by Heptad's public multiply(), interleaved in one
// process, with the error of each against a higher-precision reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/matrix.hpp"
#include "bench/suites/bench_contest.hpp"
#include "cli/progress.hpp"

namespace heptad::cli {

struct BenchSettings {
    std::string suite;
    Accuracy accuracy = Accuracy::balanced;
    int threads = 1;
    std::string algorithm = "auto", leaf = "auto";
    int levels = -1;              // -1: as many as pay
    bool against_itself = false;  // every library takes part twice: what the machine's noise alone makes of a ratio
    const Matrix *uniform_a = nullptr, *uniform_b = nullptr;  // Heptad multiplies these, too, if there are any
    ContestRules rules;
};

struct BenchRecord {
    std::string suite;
    Type type = Type::f32;
    ProblemSize size;
    std::string device = "cpu";
    std::string vendor;                            // empty: there was nothing to compare with
    double vendor_s = 0, heptad_s = 0, ratio = 0;  // medians
    double vendor_min_s = 0, vendor_max_s = 0, heptad_min_s = 0, heptad_max_s = 0;
    double effective_tops = 0;
    double error = 0, vendor_error = 0;  // max|C - exact| / (max|A| * max|B|)
    double error_bound = 0;              // what the plan promises
    std::int64_t workspace_bytes = 0;
    std::optional<double> vendor_over_itself;     // the ratio of two times of the same library
    std::optional<double> over_uniform;           // Heptad's time over that for uniform data
    std::optional<double> joules, vendor_joules;  // of one product, where the machine counts them
    std::optional<double> host_joules;            // of the processors meanwhile
    double predicted_s = 0;
    int levels = 0, threads = 1, rounds = 0;
    std::string accuracy, plan;
    std::vector<std::pair<std::string, double>> libraries_s;  // every one that ran
    /// The vendor's own emulation of the type, with so many bits asked for and told.
    struct Emulated {
        int bits = 0, bits_used = 0;
        double seconds = 0, error = 0;
        std::optional<double> joules;
    };
    std::vector<Emulated> emulated;
    std::string variant;                                 // of the suite, if it has several
    std::vector<std::pair<std::string, double>> shares;  // of the time, by what was done

    bool is_compared() const { return vendor_s > 0; }
    /// Errors over the vendor's, or over one rounding where that has none; empty: nothing to compare.
    std::optional<double> error_ratio() const;
};

/// The times of a contest and what follows from them; type and size are there already.
void set_times(BenchRecord& record, const Timing& vendor, const Timing& heptad);
/// Where Heptad ran alone: its own times, and nothing in place of the vendor's.
void set_times_alone(BenchRecord& record, const Timing& heptad);

/// Fills `c`, whose last content is Heptad's result. Throws Error(verification) if that is above the plan's bound,
/// Error(resource) where there is nothing to compare with.
BenchRecord bench_product(const Matrix& a, const Matrix& b, Matrix& c, const BenchSettings& settings,
                          const std::function<void(int round, int rounds)>& progress);

/// Has this machine something to compare products of this type with?
bool has_vendor(Type type);

nlohmann::ordered_json to_json(const BenchRecord& record);
/// "2.31", or "-" where there is none.
std::string error_ratio_text(const BenchRecord& record);
/// What to add to a row; empty where only one kind of data was multiplied.
std::string over_uniform_text(const BenchRecord& record);
std::string table_head();
std::string table_row(const BenchRecord& record);

}  // namespace heptad::cli
