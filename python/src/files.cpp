// Products from file to file.
#include <memory>
#include <optional>
#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <heptad/files.hpp>

#include "interruptible.hpp"
#include "module.hpp"
#include "python_options.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace heptad::python {
namespace {

std::string path_of(const nb::bytes& name) {
    return {name.c_str(), name.size()};
}

/// Names of files are bytes, and need not be UTF-8.
FileReport multiply_paths(const nb::bytes& a, bool transpose_a, const nb::bytes& b, bool transpose_b,
                          const nb::bytes& c, nb::object type, std::optional<std::int64_t> columns, nb::handle accuracy,
                          nb::handle algorithm, int levels, nb::handle device, std::optional<std::int64_t> memory_bytes,
                          bool resume, bool verify, nb::object progress) {
    struct Product {
        std::string a, b, c;
        FileOptions options = {};
        FileReport report = {};
    };
    const auto product = std::make_shared<Product>(Product{path_of(a), path_of(b), path_of(c)});
    FileOptions& options = product->options;
    options.product = options_of(accuracy, algorithm, levels, device, -1);
    if (!type.is_none()) {
        options.type = type_from_name(word_of(type, "type", "gf2"));
    }
    options.columns = columns;
    options.transpose_a = transpose_a;
    options.transpose_b = transpose_b;
    options.memory_bytes = memory_bytes;
    options.resume = resume;
    options.verify = verify;
    Work work{.carry_out =
                  [product](const ProgressCallback& tell) {
                      product->options.progress = tell;
                      product->report = multiply_files(product->a, product->b, product->c, product->options);
                  },
              .cancel = options.cancel,
              .may_be_left = true,  // what is finished is kept for `resume`, as if the process had been killed
              .place = Place::files};
    if (!progress.is_none()) {
        work.listener = [progress = std::move(progress)](double fraction, const std::string& stage) {
            progress(fraction, stage);
        };
    }
    run(std::move(work));
    return product->report;
}

}  // namespace

void bind_files(nb::module_& module) {
    nb::class_<FileReport>(module, "FileReport")
        .def_prop_ro("type", [](const FileReport& report) { return type_name(report.type); })
        .def_prop_ro("shape", [](const FileReport& report) { return nb::make_tuple(report.size.m, report.size.n); })
        .def_ro("plan", &FileReport::plan)
        .def_ro("multiply_s", &FileReport::multiply_s)
        .def_ro("error_bound", &FileReport::error_bound)
        .def_ro("in_pieces", &FileReport::in_pieces)
        .def_ro("tiles", &FileReport::tiles)
        .def_ro("resumed_tiles", &FileReport::resumed_tiles)
        .def_ro("peak_resident_bytes", &FileReport::peak_resident_bytes)
        .def_ro("fell_back", &FileReport::fell_back)
        .def_ro("verified", &FileReport::verified)
        .def_ro("miss_chance", &FileReport::miss_chance);
    module.def("multiply_files", &multiply_paths, "a"_a, "transpose_a"_a, "b"_a, "transpose_b"_a, "c"_a,
               "type"_a.none(), "columns"_a.none(), "accuracy"_a.none(), "algorithm"_a.none(), "levels"_a,
               "device"_a.none(), "memory_bytes"_a.none(), "resume"_a, "verify"_a, "progress"_a.none());
}

}  // namespace heptad::python
