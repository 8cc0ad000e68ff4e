// A check and the sentence of its failure, as one statement. Arguments are evaluated in any case, perhaps before the
// check: for those that are costly, depend on it or exist only when it fails, write `if` and fail().
#pragma once

#include "base/error.hpp"

namespace heptad {

template <class... Args>
void fail_if(bool wrong, ErrorCode code, fmt::format_string<Args...> sentence, Args&&... args) {
    if (wrong) [[unlikely]] {
        fail(code, sentence, std::forward<Args>(args)...);
    }
}

}  // namespace heptad
