// HEPTAD_LOG: at exit one line per shape that was taken over, with its calls, plan and the seconds that it saved.
#pragma once

#include <string>

#include "plan/model/plan.hpp"

namespace heptad::drop_in {

/// Is there a log?
bool is_logged();

/// One call of an entry, only where there is a log. `seconds`: that it took; `library_seconds`: that the library would
/// have taken, about.
void log_product(const char* entry, const ProblemSize& size, const ProductPlan& plan, double seconds,
                 double library_seconds);

/// Once for every process, only where there is a log: why something that was asked for is not done.
void log_sentence(const std::string& sentence);

}  // namespace heptad::drop_in
