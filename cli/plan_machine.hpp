// Machines other than this one that `heptad plan --machine NAME` plans for. They enter themselves, as commands do.
#pragma once

#include <functional>

#include "command.hpp"
#include "option_words.hpp"

namespace heptad::cli {

using PrintPlan = std::function<void(const PlanArguments&)>;
/// Called once the words are parsed; `named` says whether --machine names this machine. Returns how the plan is printed
/// then, and nothing otherwise. Throws Error(usage) for what the machine has no choice of, and for options of its own
/// where it is not named.
using AskMachine = std::function<PrintPlan(const ProductWords& words, bool named)>;

struct PlanMachine {
    const char* name = "";  // after --machine
    const char* does = "";  // in the help, after its name
    /// Adds the machine's own options to `plan`.
    AskMachine (*add)(CLI::App& plan) = nullptr;
};
using RegisterMachine = Registration<PlanMachine>;

}  // namespace heptad::cli
