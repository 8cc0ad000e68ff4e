// Shows the stages of a request, a file operation or a product on a meter, and stops them at a signal. The meter must
// outlive what is made of it.
#pragma once

#include "product/request/request.hpp"
#include "progress.hpp"

namespace heptad::cli {

RequestHooks request_hooks(ProgressMeter& meter);
FileHooks file_hooks(ProgressMeter& meter, const std::string& stage, int threads);
Context product_context(ProgressMeter& meter, int threads);

}  // namespace heptad::cli
