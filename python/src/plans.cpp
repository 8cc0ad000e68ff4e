// Plans, and checks of results.
#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <heptad/bits.hpp>
#include <heptad/check.hpp>

#include "arrays.hpp"
#include "interruptible.hpp"
#include "module.hpp"
#include "python_options.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace heptad::python {
namespace {

Plan plan_of(std::int64_t m, std::int64_t k, std::int64_t n, const std::string& type_name, nb::handle accuracy,
             nb::handle algorithm, int levels, nb::handle device, std::int64_t workspace_limit, bool accumulate) {
    const Type type = type_from_name(type_name);
    Options options = options_of(accuracy, algorithm, levels, device, workspace_limit);
    options.accumulate = accumulate;
    const nb::gil_scoped_release release;
    if (type == Type::gf2) {  // of which Python has packed matrices only
        return bits::plan(type, {m, k, n},
                          {.algorithm = options.algorithm, .levels = levels, .device = options.device});
    }
    const bool several = options.device.find(',') != std::string::npos || options.device.starts_with("cpu:");
    return several ? plan_over_devices({m, k, n}, type, options) : plan({m, k, n}, type, options);
}

ProductCheck check_arrays(const std::string& type_name, nb::handle a_array, nb::handle b_array, nb::handle c_array,
                          nb::handle accuracy, bool all_rows, std::optional<std::uint64_t> seed) {
    const Type type = type_from_name(type_name);
    struct Check {
        BufferArray a, b, c;
        CheckOptions options = {};
        ProductCheck told = {};
    };
    const auto check =
        std::shared_ptr<Check>(new Check{{a_array, type, false}, {b_array, type, false}, {c_array, type, false}});
    check->options.accuracy = accuracy_of(word_of(accuracy, "accuracy", "balanced"));
    check->options.all_rows = all_rows;
    check->options.seed = seed;
    run({.carry_out =
             [check](const ProgressCallback& /*progress*/) {
                 check->told = check_product(check->a.matrix(), check->b.matrix(), check->c.matrix(), check->options);
             },
         .cancel = check->options.cancel,
         .may_be_left = true});
    return check->told;
}

}  // namespace

void bind_plans(nb::module_& module) {
    nb::class_<Plan>(module, "Plan")
        .def_static("parse", &Plan::parse, "text"_a)
        .def_prop_ro("m", [](const Plan& plan) { return plan.size().m; })
        .def_prop_ro("k", [](const Plan& plan) { return plan.size().k; })
        .def_prop_ro("n", [](const Plan& plan) { return plan.size().n; })
        .def_prop_ro("type", [](const Plan& plan) { return type_name(plan.type()); })
        .def_prop_ro("levels", &Plan::levels)
        .def_prop_ro("workspace_bytes", &Plan::workspace_bytes)
        .def_prop_ro("predicted_s", &Plan::predicted_s)
        .def_prop_ro("error_bound", &Plan::error_bound)
        .def_prop_ro("expected_error_growth", [](const Plan& plan) { return error_outlook(plan).expected_growth; })
        .def_prop_ro("typical_error", [](const Plan& plan) { return error_outlook(plan).typical_error; })
        .def_prop_ro("guaranteed_bound", [](const Plan& plan) { return error_outlook(plan).bound; })
        .def_prop_ro("guaranteed_bound_over", [](const Plan& plan) { return error_outlook(plan).bound_over; })
        .def("__str__", &Plan::to_string);
    module.def("plan", &plan_of, "m"_a, "k"_a, "n"_a, "type"_a, "accuracy"_a.none(), "algorithm"_a.none(), "levels"_a,
               "device"_a.none(), "workspace_limit"_a, "accumulate"_a);

    nb::class_<ProductCheck>(module, "Verification")
        .def_ro("passed", &ProductCheck::passed)
        .def_ro("decided", &ProductCheck::decided)
        .def_ro("miss_chance", &ProductCheck::miss_chance)
        .def_ro("detectable_error", &ProductCheck::detectable_error)
        .def_ro("residual", &ProductCheck::residual)
        .def_ro("tolerance", &ProductCheck::tolerance)
        .def_ro("bad_row", &ProductCheck::bad_row)
        .def_ro("bad_col", &ProductCheck::bad_col)
        .def_ro("explanation", &ProductCheck::explanation)
        .def("__bool__", [](const ProductCheck& told) { return told.passed; })
        .def("__repr__", [](const ProductCheck& told) {
            const char* verdict = told.passed ? "passed" : told.decided ? "failed" : "not verifiable";
            return "<heptad.Verification: " + std::string(verdict) + "; " + told.explanation + ">";
        });
    module.def("verify", &check_arrays, "type"_a, "a"_a, "b"_a, "c"_a, "accuracy"_a.none(), "all_rows"_a,
               "seed"_a.none());
}

}  // namespace heptad::python
