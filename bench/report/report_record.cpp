#include "bench/report/report_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/quantity_text.hpp"

namespace heptad::cli {
namespace {

/// Differences below this are noise on every machine that was measured so far.
constexpr double kFaster = 1.02;
/// What is said in words takes more.
constexpr double kGain = 1.05;
constexpr double kLargestSize = 1e15, kLargest = 1e60;  // ratios of what lies within are finite

constexpr std::array<std::pair<const char*, const char*>, 7> kLibraries{{{"cublas", "cuBLAS"},
                                                                         {"cublaslt", "cuBLASLt"},
                                                                         {"mkl", "MKL"},
                                                                         {"openblas", "OpenBLAS"},
                                                                         {"blis", "BLIS"},
                                                                         {"armpl", "Arm PL"},
                                                                         {"m4ri", "M4RI"}}};

/// What products are compared with where no library has them.
constexpr std::array<std::pair<const char*, const char*>, 3> kOthers{
    {{"heptad-cuda-cores", "a kernel without tensor cores"}, {"loop", "a loop"}, {"3 products", "three products"}}};

constexpr std::array<const char*, 6> kByteUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};

/// "122", "12.2", "1.22": columns of a table are compared by eye.
std::string three_digits(double value) {
    return fmt::format(fmt::runtime(value >= 100 ? "{:.0f}" : value >= 10 ? "{:.1f}" : "{:.2f}"), value);
}

double size_of(const Json& json, const char* key) {
    const double size = figure(json, key).value_or(0);
    return size >= 1 && size <= kLargestSize ? size : 0;
}

Figure positive(Figure value) {
    return value && *value > 1 / kLargest && *value < kLargest ? value : std::nullopt;
}

/// What sets a record apart from others of its type and size. `bench bits` has no field for it.
std::string variant_of(const Json& json) {
    const std::string variant = word(json, "variant"), plan = word(json, "plan");
    if (variant.empty() && word(json, "vendor") == "3 products") {
        return "A^8";
    }
    const std::size_t density = plan.find("density ");
    return variant == "p4-set-1"                             ? "Set 1 of Ryu and Kim"
           : variant.empty() && density != std::string::npos ? plan.substr(density)
                                                             : variant;
}

/// What tells curves of one type apart.
std::string label_of(const Record& record) {
    std::string label = record.type;
    if (const std::string algorithm = word(record.json, "algorithm"); !algorithm.empty()) {
        label += ", " + algorithm;
        if (const Figure levels = figure(record.json, "levels")) {
            label += fmt::format(", {:.0f} level{}", *levels, *levels == 1 ? "" : "s");
        }
    }
    if (const Figure ranks = figure(record.json, "ranks")) {
        label += fmt::format(", {:.0f} ranks", *ranks);
    }
    return record.variant.empty() ? label : label + ", " + record.variant;
}

/// Is this the plan "levels=none leaf=cublas" where cuBLAS is what it is compared with? PyTorch multiplies by it, and
/// "-mt" are a library's own threads.
bool is_product_of(const std::string& vendor, const std::string& plan) {
    const std::string before = " levels=none leaf=";
    const std::size_t at = plan.find(before);
    if (at == std::string::npos || plan.find(" arithmetic=") != std::string::npos) {
        return false;
    }
    const std::size_t leaf = at + before.size();
    const std::string name = plan.substr(leaf, plan.find(' ', leaf) - leaf);
    return name == vendor || name == vendor + "-mt" || (name == "cublas" && vendor == "torch");
}

}  // namespace

Figure figure(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() && std::isfinite(found->get<double>())
               ? Figure(found->get<double>())
               : std::nullopt;
}

std::string word(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

bool Record::odd() const {
    return std::fmod(n, 2) == 1;
}

bool Record::faster() const {
    return !is_library && ratio.value_or(0) >= kGain;
}

bool Record::only_as_fast() const {
    return !faster() && claim() > 1 / kFaster;
}

std::string Record::shape() const {
    return square() ? fmt::format("n = {:.0f}", n) : fmt::format("{:.0f} \u00d7 {:.0f} \u00d7 {:.0f}", m, k, n);
}

Record read_record(const Json& json) {
    Record record;
    record.suite = word(json, "suite");
    record.type = word(json, "type");
    record.variant = variant_of(json);
    record.vendor = word(json, "vendor");
    record.plan = word(json, "plan");
    record.m = size_of(json, "m");
    record.k = size_of(json, "k");
    record.n = size_of(json, "n");
    record.exact = record.type == "i32" || record.type == "gf2" || record.type == "bool";
    record.own_s = positive(figure(json, json.contains("heptad_s") ? "heptad_s" : "total_s"));
    if (record.own_s && record.m * record.k * record.n > 0) {
        record.operations_per_s = 2 * record.m * record.k * record.n / *record.own_s;
    }
    record.joules = positive(figure(json, "joules"));
    // Files from before the field was optional have 0 where there was nothing to compare with.
    record.ratio = positive(figure(json, "ratio"));
    if (record.ratio) {
        record.vendor_s = positive(figure(json, "vendor_s"));
        record.vendor_joules = positive(figure(json, "vendor_joules"));
        const Figure own = figure(json, "error"), vendor = positive(figure(json, "vendor_error"));
        record.error_ratio = positive(figure(json, "error_ratio"));
        if (!record.error_ratio && own && vendor) {  // files from before the field was written for all
            record.error_ratio = positive(*own / *vendor);
        }
    } else {
        record.vendor.clear();
    }
    record.is_library = is_product_of(record.vendor, record.plan);
    for (const auto& [name, shown] : kLibraries) {
        if (record.vendor == name) {
            record.vendor = shown;
            record.against_library = true;
            break;
        }
    }
    for (const auto& [name, shown] : kOthers) {
        record.vendor = record.vendor == name ? shown : record.vendor;
    }
    record.json = json;
    return record;
}

std::string ratio_text(double ratio) {
    return ratio >= 1e6    ? fmt::format("{:.3g}", ratio)
           : ratio >= 9.95 ? fmt::format("{:.0f}", ratio)
           : ratio >= 2    ? fmt::format("{:.1f}", ratio)
           : ratio >= .1   ? fmt::format("{:.2f}", ratio)
                           : fmt::format("{:.2g}", ratio);
}

std::string seconds_text(double seconds) {
    const std::string text = format_seconds(seconds);
    return text.ends_with(" us") ? text.substr(0, text.size() - 2) + "\u00b5s" : text;
}

std::string bytes_text(double bytes) {
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < kByteUnits.size(); bytes /= 1024) {
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{} {}", three_digits(bytes), kByteUnits[unit]);
}

std::string joules_text(double joules) {
    return joules < 999.5 ? fmt::format("{:.3g} J", joules) : fmt::format("{} kJ", three_digits(joules / 1000));
}

const char* kind_of(double ratio, bool more_is_better) {
    return ratio > 1 / kFaster && ratio < kFaster ? "same" : (ratio > 1) == more_is_better ? "own" : "other";
}

std::string rate_text(double operations_per_s, bool exact) {
    constexpr std::array<std::pair<double, char>, 4> kPrefixes{{{1e15, 'P'}, {1e12, 'T'}, {1e9, 'G'}, {1e6, 'M'}}};
    for (const auto& [unit, prefix] : kPrefixes) {
        if (operations_per_s >= unit || unit == 1e6) {
            return fmt::format("{} {}{}/s", three_digits(operations_per_s / unit), prefix, exact ? "op" : "FLOP");
        }
    }
    return "";
}

Figure Series::faster_from() const {
    Figure from;
    for (auto record = squares.rbegin(); record != squares.rend() && (*record)->faster(); ++record) {
        from = (*record)->odd() ? from : (*record)->n;
    }
    return from;
}

const Record* Series::best() const {
    const double from = faster_from().value_or(0);
    const auto rank = [&](const Record* record) {
        return std::tuple(record->n >= from, !record->odd(),
                          record->ratio ? record->claim() : record->operations_per_s.value_or(0));
    };
    return *std::max_element(squares.begin(), squares.end(),
                             [&](const Record* a, const Record* b) { return rank(a) < rank(b); });
}

std::string Series::sentence() const {
    const Record& record = *best();
    if (!record.ratio) {
        return fmt::format("{}: {}{}, at n = {:.0f}", label, curve() ? "up to " : "",
                           rate_text(*record.operations_per_s, record.exact), record.n);
    }
    if (!record.faster()) {
        return fmt::format("{}: no faster than {}", label, against);
    }
    const Figure from = curve() ? faster_from() : std::nullopt;
    return fmt::format("{}: {}{} times as fast as {}, {} n = {:.0f}{}", label, curve() ? "up to " : "",
                       ratio_text(*record.ratio), against, from ? "from" : "at", from.value_or(record.n),
                       from ? " on" : "");
}

std::vector<Series> series_of(const std::vector<Record>& records) {
    std::vector<Series> all;
    for (const Record& record : records) {
        if (!record.square() || !(record.ratio || record.operations_per_s)) {
            continue;
        }
        const std::string label = label_of(record);
        auto found = std::find_if(all.begin(), all.end(), [&](const Series& one) {
            return one.label == label && one.squares.front()->ratio.has_value() == record.ratio.has_value();
        });
        if (found == all.end()) {
            found = all.insert(all.end(), Series{label, {}, record.vendor});
        }
        found->squares.push_back(&record);
        found->against = found->against == record.vendor ? record.vendor : "the fastest library";
    }
    for (Series& series : all) {
        std::stable_sort(series.squares.begin(), series.squares.end(),
                         [](const Record* a, const Record* b) { return a->n < b->n; });
    }
    return all;
}

}  // namespace heptad::cli
