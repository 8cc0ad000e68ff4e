// What `heptad algorithms NAME` tells besides algorithms. Topics enter themselves, as commands do.
#pragma once

#include "command.hpp"

namespace heptad::cli {

struct AlgorithmTopic {
    const char* name = "";
    const char* does = "";  // in the help, after its name
    void (*run)(bool json) = nullptr;
};
using RegisterTopic = Registration<AlgorithmTopic>;

}  // namespace heptad::cli
