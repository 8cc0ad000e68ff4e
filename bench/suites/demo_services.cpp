#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include <heptad/check.hpp>
#include <heptad/files.hpp>

#include "base/error.hpp"
#include "base/quantity_text.hpp"
#include "base/timing.hpp"
#include "bench/suites/demo_lines.hpp"
#include "bench/suites/measured_error.hpp"
#include "cli/interrupt.hpp"
#include "io/generate.hpp"
#include "io/whole_matrix.hpp"

namespace heptad::cli {
namespace {

namespace fs = std::filesystem;

/// Gone when it goes out of scope.
class ScratchFolder {
public:
    ScratchFolder() {
        std::error_code missing;
        std::string pattern = (fs::temp_directory_path(missing) / "heptad-demo-XXXXXX").string();
        if (missing || ::mkdtemp(pattern.data()) == nullptr) {
            fail(ErrorCode::resource,
                 "no folder for temporary files can be made; set TMPDIR to one that can be written");
        }
        path_ = pattern;
    }
    ~ScratchFolder() {
        std::error_code failed;
        fs::remove_all(path_, failed);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    std::string file(const std::string& name) const { return (path_ / name).string(); }

private:
    fs::path path_;
};

template <class Work>
double seconds_of(Work work) {
    const auto start = Clock::now();
    work();
    return seconds_since(start);
}

DemoLine from_file_to_file(const DemoSettings& settings) {
    constexpr std::int64_t n = 1024;  // whatever the sizes of the others: pieces have a least size
    const ScratchFolder folder;
    const std::string a = folder.file("A.npy"), b = folder.file("B.npy"), c = folder.file("C.npy");
    const Matrix a_values = generate("uniform", n, n, Type::f64, 1), b_values = generate("uniform", n, n, Type::f64, 2);
    write_matrix(a, a_values, {});
    write_matrix(b, b_values, {});
    FileOptions options;
    options.threads = settings.threads;
    options.cancel = interrupt_token();
    double error[2];
    const auto product = [&](double& measured) {
        const double seconds = seconds_of([&] { multiply_files(a, b, c, options); });
        measured = measure_error(a_values, b_values, read_matrix({.path = c}, {})).normalised;
        return seconds;
    };
    product(error[0]);  // the files are in the system's cache from now on, for both
    const double whole_s = product(error[0]);
    options.memory_bytes = 2 * a_values.size_bytes();  // one matrix fewer than there are
    const double pieces_s = product(error[1]);
    return {"files",         fmt::format("f64 {} x {}, {}", n, n, format_bytes(*options.memory_bytes)),
            pieces_s,        whole_s / pieces_s,
            "all in memory", fmt::format("{:.2g} x that", error[1] / error[0])};
}

DemoLine check(const DemoSettings& settings) {
    const std::int64_t n = settings.size(1536);
    const Matrix a = generate("uniform", n, n, Type::i32, 1), b = generate("uniform", n, n, Type::i32, 2);
    Matrix c(Type::i32, n, n);
    Context context;
    context.set_threads(settings.threads).set_cancel(interrupt_token());
    multiply(1.0, a.view(), b.view(), 0.0, c.view(), {.device = "cpu"}, context);
    const double product_s =
        seconds_of([&] { multiply(1.0, a.view(), b.view(), 0.0, c.view(), {.device = "cpu"}, context); });
    CheckOptions options;
    options.threads = settings.threads;
    options.cancel = interrupt_token();
    ProductCheck right, wrong;
    const double check_s = seconds_of([&] { right = check_product(a.view(), b.view(), c.view(), options); });
    static_cast<std::int32_t*>(c.data())[n / 2] ^= 1;
    wrong = check_product(a.view(), b.view(), c.view(), options);
    if (!right.passed || wrong.passed) {
        fail(ErrorCode::verification, "the check {}",
             right.passed ? "let a wrong bit pass" : "refused a right product");
    }
    return {"verify",
            fmt::format("i32 {} x {}", n, n),
            check_s,
            product_s / check_s,
            "multiplying again",
            "finds one wrong bit"};
}

DemoLine prediction(const DemoSettings& settings) {
    const std::int64_t n = settings.size(2048);
    const Matrix a = generate("uniform", n, n, Type::f32, 1), b = generate("uniform", n, n, Type::f32, 2);
    Matrix c(Type::f32, n, n);
    Context context;
    context.set_threads(settings.threads).set_cancel(interrupt_token());
    const Plan chosen = plan({n, n, n}, Type::f32, {.device = "cpu"}, context);
    multiply(1.0, a.view(), b.view(), 0.0, c.view(), chosen, context);
    const double took_s = seconds_of([&] { multiply(1.0, a.view(), b.view(), 0.0, c.view(), chosen, context); });
    const double error = measure_error(a, b, c).normalised;
    return {"plan",
            fmt::format("f32 {} x {}, {} level{}", n, n, chosen.levels(), chosen.levels() == 1 ? "" : "s"),
            took_s,
            chosen.predicted_s() / took_s,
            "predicted time",
            fmt::format("{:.2g} of its bound", error / chosen.error_bound())};
}

}  // namespace

std::vector<DemoStep> demo_service_steps() {
    return {from_file_to_file, check, prediction};
}

}  // namespace heptad::cli
