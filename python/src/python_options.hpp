// The words of Python's functions as Options.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include <heptad/heptad.hpp>

namespace heptad::python {

/// Raises ValueError that lists the words.
Accuracy accuracy_of(const std::string& word);

/// Raises TypeError with an example where `given` is not a str.
std::string word_of(nanobind::handle given, const char* name, const char* example);

/// levels -1: as many as pay; a limit below 0: none.
Options options_of(const std::string& accuracy, const std::string& algorithm, int levels, const std::string& device,
                   std::int64_t workspace_limit_bytes);
/// The same of what Python was called with.
Options options_of(nanobind::handle accuracy, nanobind::handle algorithm, int levels, nanobind::handle device,
                   std::int64_t workspace_limit_bytes);

}  // namespace heptad::python
