// What a page tells of one measured product, from result files of any age, and the products that form one curve.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heptad::cli {

using Json = nlohmann::json;
using Figure = std::optional<double>;

/// Finite numbers; others count as missing.
Figure figure(const Json& object, const char* key);
/// Texts; "" where there is none.
std::string word(const Json& object, const char* key);

struct Record {
    std::string suite, type, variant, vendor, plan;  // vendor: as people write it; "" where nothing was compared
    double m = 0, k = 0, n = 0;
    Figure ratio;  // library's time over Heptad's, where there is one
    Figure own_s, vendor_s;
    Figure operations_per_s;  // 2 m k n over Heptad's time
    Figure error_ratio;       // Heptad's error over the library's
    Figure joules, vendor_joules;
    bool exact = false;            // no rounding in this type
    bool against_library = false;  // compared with a known library, not with a loop, a bound or a published figure
    bool is_library = false;       // the plan is the library's own product
    Json json;                     // the whole record

    bool square() const { return n >= 1 && m == n && k == n; }
    bool odd() const;
    /// By more than noise, and by a plan of Heptad's own.
    bool faster() const;
    /// Neither faster nor slower.
    bool only_as_fast() const;
    /// What a headline may claim: 1 where a larger ratio says nothing.
    double claim() const { return faster() ? *ratio : std::min(ratio.value_or(1), 1.0); }
    /// "8192 x 64 x 8192", or "n = 8192"
    std::string shape() const;
};
Record read_record(const Json& json);

/// "3.5", "1.47", "0.093": as many digits as a ratio deserves.
std::string ratio_text(double ratio);
std::string seconds_text(double seconds);
std::string bytes_text(double bytes);
/// "12.5 J", "1.02 kJ".
std::string joules_text(double joules);
std::string rate_text(double operations_per_s, bool exact);
/// "own" where Heptad is better, "other" where the library is, "same" where the difference says nothing.
const char* kind_of(double ratio, bool more_is_better = true);

/// Square products of one kind, by size.
struct Series {
    std::string label;                   // "f32", "gf2, density 0.5"
    std::vector<const Record*> squares;  // at least one
    std::string against;                 // one name, or "the fastest library"; "" where nothing was compared

    /// Has at least two sizes.
    bool curve() const { return squares.front()->n < squares.back()->n; }
    /// The even size from which on all are faster, odd ones too.
    Figure faster_from() const;
    /// The best of those; of all, where there are none. Libraries are poor at odd sizes, so these count only where
    /// there is no other.
    const Record* best() const;
    std::string sentence() const;
};
/// In the order of the records.
std::vector<Series> series_of(const std::vector<Record>& records);

}  // namespace heptad::cli
