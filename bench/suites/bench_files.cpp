#include "bench/suites/bench_files.hpp"

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_product.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/check_result.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "io/whole_matrix.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/operands.hpp"

namespace heptad::cli {
namespace {

std::string short_table(const BenchRecord& record, const VerifyResult& checked) {
    const auto row = [](const std::string& what, const std::string& heptad, const std::string& vendor) {
        return fmt::format("{:<16} {:>18} {:>18}\n", what, heptad, vendor);
    };
    const double operations = operation_count(record.size, record.type);
    std::string text = row("", "Heptad", record.vendor);
    text += row("ratio", fmt::format("{:.3f}", record.ratio), "1");
    text += row("error ratio", error_ratio_text(record), "1");
    text += row("time", format_seconds(record.heptad_s), format_seconds(record.vendor_s));
    text += row("effective rate", format_rate(operations / record.heptad_s, record.type),
                format_rate(operations / record.vendor_s, record.type));
    text += row("error", fmt::format("{:.2e}", record.error), fmt::format("{:.2e}", record.vendor_error));
    text += row("workspace", format_bytes(record.workspace_bytes), "");
    for (const auto& [name, seconds] : record.libraries_s) {
        if (name != record.vendor) {
            text += fmt::format("also timed: {} {}\n", name, format_seconds(seconds));
        }
    }
    text += fmt::format("predicted {}, error bound {:.2e}, {}\n", format_seconds(record.predicted_s),
                        record.error_bound, describe_passed(checked));
    return text + record.plan + "\n";
}

}  // namespace

void bench_files(const BenchFilesArguments& bench) {
    Request product;
    product.a = bench.a;
    product.b = bench.b;
    product.type = product_type({bench.a, bench.b}, product);
    const OperandFacts facts = read_operand_facts(product);
    check_matrix_writable(bench.output, facts.type);
    require_writable(bench.results);
    if (!has_vendor(facts.type)) {
        fail(ErrorCode::input, "{} holds {}, but there are vendor libraries to compare with only for f32, f64 and i32",
             bench.a, type_name(facts.type));
    }
    if (operation_count(facts.size) == 0) {
        fail(ErrorCode::input, "a product of {} x {} x {} takes no time to compare; use sizes of at least 1",
             facts.size.m, facts.size.k, facts.size.n);
    }
    workspace_after(facts.bytes, {});

    ProgressMeter meter;
    BenchSettings settings;
    settings.suite = "files";
    settings.accuracy = bench.accuracy;
    settings.threads = threads_or_default(bench.threads);
    settings.rules.rounds = bench.quick ? 3 : 5;
    const Matrix a = read_matrix(name_of(bench.a, product), file_hooks(meter, "read A", settings.threads));
    const Matrix b = read_matrix(name_of(bench.b, product), file_hooks(meter, "read B", settings.threads));
    Matrix c(facts.type, facts.size.m, facts.size.n);
    meter.begin("multiply");
    const BenchRecord record = bench_product(a, b, c, settings, [&](int round, int rounds) {
        meter.update(static_cast<double>(round) / rounds, fmt::format("round {} of {}", round, rounds));
    });
    meter.begin("verify");
    VerifyOptions options;
    options.by.accuracy = bench.accuracy;
    options.threads = settings.threads;
    options.cancel = interrupt_token();
    const VerifyResult checked = verify(a, b, c, options);
    meter.clear();
    require_passed_in_detail(checked, "the result", "; " + bench.output + " was not written");
    write_matrix(bench.output, c, file_hooks(meter, "write C", settings.threads));
    meter.clear();
    write_results(bench.results, bench.command, {record});
    print(fmt::format("{}{} x {} x {} {}: {}\n", machine_line(), facts.size.m, facts.size.k, facts.size.n,
                      type_name(facts.type), bench.output));
    print(short_table(record, checked));
}

}  // namespace heptad::cli
