// Checksums of the windows that a product from file to file has read. A window that is read again, in the same run or
// in one that goes on, must be what it was: so a file is known that was changed and given its old time back.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "base/names.hpp"
#include "base/view.hpp"
#include "io/matrix_file.hpp"

namespace heptad {

/// The matrices of a product as carried out.
enum class ReadOf : std::uint8_t { left, right, added };
inline constexpr Names<ReadOf, 3> kReadNames{{"left", "right", "added"}};

/// A window of one of them, by the number that the schedule gives it.
struct ReadWindow {
    ReadOf of = ReadOf::left;
    std::int64_t number = 0;
    auto operator<=>(const ReadWindow&) const = default;
};
using WindowSums = std::map<ReadWindow, std::uint64_t>;

/// Of all elements, line by line as they lie in memory.
std::uint64_t view_checksum(const ConstView& view);

class ReadSums {
public:
    /// What an earlier run has read.
    explicit ReadSums(WindowSums known) : sums_(std::move(known)) {}

    /// A window as it was read now. Throws InputChanged, naming the file, where it is not what it was.
    void take(const ReadWindow& window, const ConstView& view, const MatrixFile& file);
    /// Those that were taken since the last call for the first time.
    WindowSums take_new();

private:
    std::mutex mutex_;
    WindowSums sums_, new_;
};

}  // namespace heptad
