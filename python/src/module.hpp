// The module heptad._core: what heptad's Python files are written with. One function for each file beside this one.
#pragma once

#include <nanobind/nanobind.h>

namespace heptad::python {

void bind_products(nanobind::module_& module);
void bind_tensors(nanobind::module_& module);
void bind_plans(nanobind::module_& module);
void bind_bits(nanobind::module_& module);
void bind_files(nanobind::module_& module);
void bind_jax(nanobind::module_& module);

}  // namespace heptad::python
