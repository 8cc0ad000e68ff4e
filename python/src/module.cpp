#include "module.hpp"

#include <heptad/heptad.hpp>

#include "errors.hpp"
#include "interruptible.hpp"

NB_MODULE(_core, module) {
    nanobind::set_leak_warnings(false);  // work that was left when the process ends holds matrices
    heptad::python::register_errors();
    heptad::python::let_go_when_python_ends();
    module.attr("version") = heptad::version();
    heptad::python::bind_products(module);
    heptad::python::bind_tensors(module);
    heptad::python::bind_plans(module);
    heptad::python::bind_bits(module);
    heptad::python::bind_files(module);
    heptad::python::bind_jax(module);
}
