#include "bench/suites/bench_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/complex_as_real.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "bench/suites/blocked_loop.hpp"
#include "bench/suites/cblas_entries.hpp"
#include "bench/suites/measured_error.hpp"
#include "cli/interrupt.hpp"
#include "cli/text.hpp"
#include "kernels/cpu/vendor_blas_calls.hpp"
#include "product/request/request.hpp"

namespace heptad::cli {
namespace {

constexpr const char* kUniform = "heptad, uniform data";  // in the contest
constexpr int kRowMajor = 101, kAsStored = 111, kTransposed = 112;

std::vector<const cpu::VendorLibrary*> vendor_libraries() {
    std::vector<const cpu::VendorLibrary*> libraries;
    for (const cpu::Vendor vendor : {cpu::Vendor::openblas, cpu::Vendor::blis, cpu::Vendor::mkl}) {
        if (const cpu::VendorLibrary* library = cpu::vendor_library(vendor)) {
            libraries.push_back(library);
        }
    }
    return libraries;
}

int stored_stride(const Matrix& matrix) {
    const std::int64_t length = matrix.order() == Order::row_major ? matrix.cols() : matrix.rows();
    return static_cast<int>(std::max<std::int64_t>(length, 1));
}

/// The library as its users call it: with all its own threads.
template <class T>
Contestant vendor_contestant(const cpu::VendorLibrary& library, int threads, const Matrix& a, const Matrix& b,
                             Matrix& c) {
    const auto gemm = cblas_entry<CblasGemmEntry<T>>(loaded_library(library.path), a.type(), "gemm");
    return {library.name,
            [&library, gemm, threads, &a, &b, &c](std::int64_t calls) {
                const cpu::VendorThreads all(library, threads);
                const cpu::VendorThreadsHere here(library, threads);
                const int transpose_a = a.order() == Order::row_major ? kAsStored : kTransposed;
                const int transpose_b = b.order() == Order::row_major ? kAsStored : kTransposed;
                const int m = static_cast<int>(a.rows()), k = static_cast<int>(a.cols());
                const int n = static_cast<int>(b.cols());
                const T one = 1, zero = 0;
                for (std::int64_t call = 0; call < calls; ++call) {
                    gemm(kRowMajor, transpose_a, transpose_b, m, n, k, cblas_factor(one),
                         static_cast<const T*>(a.data()), stored_stride(a), static_cast<const T*>(b.data()),
                         stored_stride(b), cblas_factor(zero), static_cast<T*>(c.data()), stored_stride(c));
                }
            },
            true};
}

Contestant loop_contestant(const std::string& name, int threads, const Matrix& a, const Matrix& b, Matrix& c) {
    return {name, [threads, &a, &b, &c](std::int64_t calls) {
                for (std::int64_t call = 0; call < calls; ++call) {
                    blocked_loop_i32(a.rows(), a.cols(), b.cols(), static_cast<const std::int32_t*>(a.data()),
                                     static_cast<const std::int32_t*>(b.data()), static_cast<std::int32_t*>(c.data()),
                                     threads);
                }
            }};
}

std::vector<Contestant> vendor_contestants(const Matrix& a, const Matrix& b, Matrix& c, int threads) {
    std::vector<Contestant> contestants;
    if (a.type() == Type::i32) {
        if (a.order() != Order::row_major || b.order() != Order::row_major) {
            fail(ErrorCode::input, "the integer baseline takes matrices in C order; store A and B that way");
        }
        contestants.push_back(loop_contestant("blocked-loop", 1, a, b, c));
        if (threads > 1) {
            contestants.push_back(loop_contestant("blocked-loop-threaded", threads, a, b, c));
        }
        return contestants;
    }
    if (std::max({a.rows(), a.cols(), b.cols()}) > std::numeric_limits<int>::max()) {
        fail(ErrorCode::input, "a size of {} x {} x {} is more than the vendor libraries can count; use sizes up to {}",
             a.rows(), a.cols(), b.cols(), std::numeric_limits<int>::max());
    }
    for (const cpu::VendorLibrary* library : vendor_libraries()) {
        const auto add = [&]<class T>() { contestants.push_back(vendor_contestant<T>(*library, threads, a, b, c)); };
        if (is_complex(a.type())) {
            with_part_type(a.type(), [&]<class T>() { add.template operator()<std::complex<T>>(); });
        } else {
            a.type() == Type::f32 ? add.operator()<float>() : add.operator()<double>();
        }
    }
    return contestants;
}

/// Quiet NaNs, or for integers a value that no benchmark yields everywhere.
void poison(Matrix& c) {
    std::memset(c.data(), 0xff, static_cast<std::size_t>(c.size_bytes()));
}

/// The best library; for integers the plain loop, whatever its threaded twin does.
std::size_t pick_vendor(const std::vector<Timing>& timings, std::size_t vendors, Type type) {
    return type == Type::i32 ? 0 : fastest(timings, vendors);
}

}  // namespace

bool has_vendor(Type type) {
    const bool in_blas = type == Type::f32 || type == Type::f64 || is_complex(type);
    return type == Type::i32 || (in_blas && !vendor_libraries().empty());
}

std::optional<double> BenchRecord::error_ratio() const {
    const double roundoff = unit_roundoff(type);
    if (!is_compared() || roundoff == 0 || !(error > 0 || vendor_error > 0)) {
        return std::nullopt;
    }
    return error / std::max(vendor_error, roundoff);
}

void set_times(BenchRecord& record, const Timing& vendor, const Timing& heptad) {
    set_times_alone(record, heptad);
    record.vendor = vendor.name;
    record.vendor_s = vendor.median_s;
    record.vendor_min_s = vendor.min_s;
    record.vendor_max_s = vendor.max_s;
    record.ratio = record.vendor_s / record.heptad_s;
}

void set_times_alone(BenchRecord& record, const Timing& heptad) {
    record.heptad_s = heptad.median_s;
    record.heptad_min_s = heptad.min_s;
    record.heptad_max_s = heptad.max_s;
    record.effective_tops = operation_count(record.size, record.type) / record.heptad_s / 1e12;
    record.rounds = static_cast<int>(heptad.samples_s.size());
}

BenchRecord bench_product(const Matrix& a, const Matrix& b, Matrix& c, const BenchSettings& settings,
                          const std::function<void(int round, int rounds)>& progress) {
    if (!has_vendor(a.type())) {
        fail(ErrorCode::resource,
             "there is no library to compare {} products with; install libopenblas-dev or libblis-dev and use f32, "
             "f64, c64, c128 or i32",
             type_name(a.type()));
    }
    std::vector<Contestant> contestants = vendor_contestants(a, b, c, settings.threads);
    const std::size_t vendors = contestants.size();
    if (settings.against_itself) {
        for (Contestant& again : vendor_contestants(a, b, c, settings.threads)) {
            contestants.push_back(std::move(again));
        }
    }
    Options options;
    options.device = "cpu";  // left open, large products may go to a GPU
    options.accuracy = settings.accuracy;
    options.algorithm = settings.algorithm;
    options.leaf = settings.leaf;
    options.levels = settings.levels;
    Context context;
    context.set_threads(settings.threads);
    context.set_cancel(interrupt_token());
    const View c_view = c.view();
    const auto by_heptad = [&](const std::string& name, const Matrix& left, const Matrix& right) {
        contestants.push_back({name, [&, left = left.view(), right = right.view()](std::int64_t calls) {
                                   for (std::int64_t call = 0; call < calls; ++call) {
                                       multiply(1.0, left, right, 0.0, c_view, options, context);
                                   }
                               }});
    };
    if (settings.uniform_a != nullptr) {
        by_heptad(kUniform, *settings.uniform_a, *settings.uniform_b);
    }
    by_heptad("heptad", a, b);

    std::vector<double> errors(contestants.size());
    ContestHooks hooks;
    hooks.poison = [&] { poison(c); };
    hooks.progress = [&](int round, int rounds) {
        stop_if_interrupted();
        progress(round, rounds);
    };
    hooks.after_last_sample = [&](std::size_t i) {
        ErrorOptions measure;
        measure.threads = settings.threads;
        measure.cancel = interrupt_token();
        errors[i] = contestants[i].name == kUniform ? 0 : measure_error(a, b, c, measure).normalised;
    };
    const std::vector<Timing> timings = run_contest(contestants, settings.rules, hooks);

    const std::size_t vendor = pick_vendor(timings, vendors, a.type());
    const ProblemSize size{a.rows(), a.cols(), b.cols()};
    const Plan chosen = plan(size, a.type(), options, context);
    BenchRecord record;
    record.suite = settings.suite;
    record.type = a.type();
    record.size = size;
    set_times(record, timings[vendor], timings.back());
    record.error = errors.back();
    record.vendor_error = errors[vendor];
    record.error_bound = chosen.error_bound();
    record.workspace_bytes = chosen.workspace_bytes();
    record.predicted_s = chosen.predicted_s();
    record.levels = chosen.levels();
    record.threads = settings.threads;
    record.accuracy = accuracy_name(settings.accuracy);
    record.plan = chosen.to_string();
    for (std::size_t i = 0; i < vendors; ++i) {
        record.libraries_s.emplace_back(timings[i].name, timings[i].median_s);
    }
    if (settings.against_itself) {
        record.vendor_over_itself = timings[vendor].median_s / timings[vendors + vendor].median_s;
    }
    if (settings.uniform_a != nullptr) {
        record.over_uniform = record.heptad_s / timings[timings.size() - 2].median_s;
    }
    // Written so that a NaN fails too.
    if (!(record.error <= record.error_bound)) {
        fail(ErrorCode::verification,
             "the {} product of {} x {} x {} has an error of {:.3g}, above its bound of {:.3g}", type_name(record.type),
             size.m, size.k, size.n, record.error, record.error_bound);
    }
    return record;
}

nlohmann::ordered_json to_json(const BenchRecord& record) {
    nlohmann::ordered_json libraries = nlohmann::ordered_json::object();
    for (const auto& [name, seconds] : record.libraries_s) {
        libraries[name] = seconds;
    }
    const auto compared = [&](const auto& value) {  // the fields stay where there is nothing to say
        return record.is_compared() ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
    };
    nlohmann::ordered_json object{
        {"suite", record.suite},
        {"type", type_name(record.type)},
        {"m", record.size.m},
        {"k", record.size.k},
        {"n", record.size.n},
        {"device", record.device},
        {"vendor", record.vendor.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(record.vendor)},
        {"vendor_s", compared(record.vendor_s)},
        {"vendor_min_s", compared(record.vendor_min_s)},
        {"vendor_max_s", compared(record.vendor_max_s)},
        {"heptad_s", record.heptad_s},
        {"heptad_min_s", record.heptad_min_s},
        {"heptad_max_s", record.heptad_max_s},
        {"ratio", compared(record.ratio)},
        {"effective_tops", record.effective_tops},
        {"error", record.error},
        {"vendor_error", compared(record.vendor_error)},
        {"error_bound", record.error_bound},
        {"workspace_bytes", record.workspace_bytes},
        {"predicted_s", record.predicted_s},
        {"levels", record.levels},
        {"threads", record.threads},
        {"rounds", record.rounds},
        {"accuracy", record.accuracy},
        {"libraries_s", libraries},
        {"plan", record.plan}};
    if (const std::optional<double> ratio = record.error_ratio()) {
        object["error_ratio"] = *ratio;
    }
    if (record.vendor_over_itself) {
        object["vendor_over_itself"] = *record.vendor_over_itself;
    }
    if (record.over_uniform) {
        object["over_uniform"] = *record.over_uniform;
    }
    if (!record.variant.empty()) {
        object["variant"] = record.variant;
    }
    for (const BenchRecord::Emulated& one : record.emulated) {
        nlohmann::ordered_json emulated{
            {"bits", one.bits}, {"bits_used", one.bits_used}, {"seconds", one.seconds}, {"error", one.error}};
        if (one.joules) {
            emulated["joules"] = *one.joules;
        }
        object["emulated"].push_back(emulated);
    }
    for (const auto& [part, share] : record.shares) {
        object["shares"][part] = share;
    }
    if (record.joules) {
        object["joules"] = *record.joules;
    }
    if (record.host_joules) {
        object["host_joules"] = *record.host_joules;
    }
    if (record.vendor_joules) {
        object["vendor_joules"] = *record.vendor_joules;
    }
    return object;
}

std::string error_ratio_text(const BenchRecord& record) {
    const std::optional<double> ratio = record.error_ratio();
    return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

std::string over_uniform_text(const BenchRecord& record) {
    return record.over_uniform ? fmt::format("  over uniform {:.3f}", *record.over_uniform) : "";
}

std::string table_head() {
    return fmt::format("{:>6} {:>7}  {:<4} {:>6} {:>6} {:>6}  {:<12} {:>10} {:>10} {:>14} {:>9} {:>9} {:>11} {:>6}\n",
                       "ratio", "error x", "type", "m", "k", "n", "vendor", "vendor", "heptad", "effective", "error",
                       "vendor's", "workspace", "levels");
}

std::string table_row(const BenchRecord& record) {
    const std::string itself =
        (record.vendor_over_itself ? fmt::format("  against itself {:.3f}", *record.vendor_over_itself) : "") +
        over_uniform_text(record);
    const bool compared = record.is_compared();
    return fmt::format(
        "{:>6} {:>7}  {:<4} {:>6} {:>6} {:>6}  {:<12} {:>10} {:>10} {:>14} {:>9.2g} {:>9} {:>11} {:>6}{}\n",
        compared ? fmt::format("{:.3f}", record.ratio) : "", error_ratio_text(record), type_name(record.type),
        record.size.m, record.size.k, record.size.n, record.vendor, compared ? format_seconds(record.vendor_s) : "",
        format_seconds(record.heptad_s), format_rate(record.effective_tops * 1e12, record.type), record.error,
        compared ? fmt::format("{:.2g}", record.vendor_error) : "", format_bytes(record.workspace_bytes), record.levels,
        itself);
}

}  // namespace heptad::cli
