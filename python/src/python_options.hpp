// The words of Python's functions as Options.
#pragma once

#include <string>

#include <heptad/heptad.hpp>

namespace heptad::python {

/// Raises ValueError that lists the words.
Accuracy accuracy_of(const std::string& word);

/// levels -1: as many as pay; a limit below 0: none.
Options options_of(const std::string& accuracy, const std::string& algorithm, int levels, const std::string& device,
                   std::int64_t workspace_limit_bytes);

}  // namespace heptad::python
