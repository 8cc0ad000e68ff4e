// Products of files: a request of src/product/request.
#include <heptad/files.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/errors_only.hpp"
#include "base/fail_if.hpp"
#include "product/request/report.hpp"

namespace heptad {
namespace {

Request request_of(const std::string& a, const std::string& b, const std::string& c, const FileOptions& options) {
    Request request;
    request.a = a;
    request.b = b;
    request.add = options.c0;
    request.output = c;
    request.type = options.type;
    request.columns = options.columns;
    request.transpose_a = options.transpose_a;
    request.transpose_b = options.transpose_b;
    request.conjugate_a = options.conjugate_a;
    request.conjugate_b = options.conjugate_b;
    request.alpha = options.alpha;
    request.beta = options.beta;
    request.options = options.product;
    request.threads = options.threads;
    request.memory_bytes = options.memory_bytes;
    request.resume = options.resume;
    request.verify = options.verify;
    request.trace_file = options.trace_file;
    return request;
}

/// Sentences of requests name the options of the command line; here they are fields.
std::string with_field_names(const std::string& sentence) {
    using Names = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Names, 19> kFields{{{"conjugate-a", "conjugate_a"},
                                             {"conjugate-b", "conjugate_b"},
                                             {"alpha", "alpha"},
                                             {"beta", "beta"},
                                             {"device-memory", "product.host.device_memory_bytes"},
                                             {"host-levels", "product.host.levels"},
                                             {"host-algorithm", "product.host.algorithm"},
                                             {"pipelines", "product.host.pipelines"},
                                             {"memory", "memory_bytes"},
                                             {"add", "c0"},
                                             {"trace", "trace_file"},
                                             {"transpose-a", "transpose_a"},
                                             {"transpose-b", "transpose_b"},
                                             {"accuracy", "product.accuracy"},
                                             {"algorithm", "product.algorithm"},
                                             {"levels", "product.levels"},
                                             {"device", "product.device"},
                                             {"leaf", "product.leaf"},
                                             {"mode", "product.mode"}}};
    std::string told;
    for (std::size_t i = 0; i < sentence.size(); ++i) {
        const bool begins_word = i == 0 || sentence[i - 1] == ' ' || sentence[i - 1] == '(';
        if (!begins_word || sentence.compare(i, 2, "--") != 0) {
            told += sentence[i];
            continue;
        }
        const std::size_t end = std::min(sentence.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", i), sentence.size());
        const std::string option = sentence.substr(i + 2, end - i - 2);
        const auto* field =
            std::find_if(kFields.begin(), kFields.end(), [&](const Names& names) { return names.first == option; });
        told += field != kFields.end() ? field->second : option;
        i = end - 1;
    }
    return told;
}

FileReport public_report(const Report& report) {
    FileReport told;
    told.type = report.plan.type;
    told.size = report.plan.size;
    told.multiply_s = report.multiply_s;
    told.fell_back = report.products.fell_back;
    told.uneven = report.products.uneven;
    told.scaled = report.products.scaled;
    told.short_numbers = report.products.short_numbers;
    const Outlook outlook = report.outlook();
    told.expected_error_growth = outlook.error.growth;
    told.typical_error = outlook.error.typical;
    told.predicted_speedup = outlook.speedup;
    if (const std::optional<FileProductReport>& files = report.files) {
        told.plan = to_string(files->plan);
        told.error_bound = files->error_bound;
        told.in_pieces = true;
        told.tiles = files->tiles;
        told.resumed_tiles = files->resumed_tiles;
        told.peak_resident_bytes = files->peak_resident_bytes;
    } else {
        told.plan = to_string(report.plan.decided);
        told.error_bound = report.plan.decided.error_bound;
    }
    if (report.verified) {
        told.verified = report.verified->passed();
        told.miss_chance = report.verified->miss_chance;
    }
    return told;
}

}  // namespace

FileReport multiply_files(const std::string& a, const std::string& b, const std::string& c,
                          const FileOptions& options) try {
    if (options.threads < 0 || options.threads > 4096) {
        fail(ErrorCode::usage, "{} threads are not possible; use 1 to 4096, or 0 for all cores", options.threads);
    }
    fail_if((options.beta != 0.0) == options.c0.empty(), ErrorCode::usage,
            "beta is {} and c0 is '{}'; they belong together, give both or neither", factor_text(options.beta),
            options.c0);
    RequestHooks hooks;
    std::string stage;
    if (options.progress) {
        hooks.stage = [&](const std::string& name, double /*operations*/, Type /*type*/) { stage = name; };
        hooks.progress = [&](double fraction, const std::string& /*detail*/) {
            options.progress({fraction, stage.c_str()});
        };
    }
    hooks.cancel = options.cancel;
    const Report report = multiply_request(request_of(a, b, c, options), hooks);
    if (report.verified) {
        require_passed(*report.verified, "the result", "; " + c + " was written");
    }
    return public_report(report);
} catch (const Error& error) {
    throw Error(error.code(), with_field_names(error.what()));
} catch (...) {
    rethrow_as_error();
}

}  // namespace heptad
