#include "api/drop_in/pass_on.hpp"

namespace heptad::drop_in {

thread_local constinit int PassOn::depth_ = 0;

}  // namespace heptad::drop_in
