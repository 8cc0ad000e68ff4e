// Words of the command line into values: sizes in bytes, shapes, numbers, rates.
// Parsers take the whole word or throw Error(usage) with a sentence that names the option and the word.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/quantity_text.hpp"

namespace heptad::cli {

std::int64_t parse_integer(const std::string& option, const std::string& word, std::int64_t low, std::int64_t high);
/// A finite number.
double parse_real(const std::string& option, const std::string& word);
/// A real or a complex number, such as 1.5, 1+2i or -i.
std::complex<double> parse_factor(const std::string& option, const std::string& word);
/// "8G", "512M", "1.5GiB", "4096": G, GB and GiB all mean 2^30 bytes.
std::int64_t parse_bytes(const std::string& option, const std::string& word);
/// What a rate without a unit counts: networks are sold in bits, disks in bytes, processors in operations.
enum class RateUnit : std::uint8_t { bits, bytes, operations };
/// "10G", "25Gbit", "1.2GB", "800MB": per second, powers of ten, more than 0. Bytes or operations per second.
double parse_rate(const std::string& option, const std::string& word, RateUnit unit);
/// "1024x512" with two sizes, "1024x512x2048" with three; every size from 0 up.
std::vector<std::int64_t> parse_shape(const std::string& option, const std::string& word, std::size_t dimensions);
Accuracy parse_accuracy(const std::string& option, const std::string& word);
/// The word, if it is one of the choices.
std::string parse_choice(const std::string& option, const std::string& word, const std::vector<std::string>& choices);
std::vector<std::string> split(const std::string& text, char separator);

/// A name for a line of text: line ends and other control characters as "\n", "\x1b".
std::string visible(const std::string& name);

}  // namespace heptad::cli
