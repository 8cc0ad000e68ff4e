// What the command line asked of a product, as plain structs of values that were checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

#include "product/request/cluster_outlook.hpp"
#include "product/request/report.hpp"

namespace heptad::cli {

struct MulArguments {
    Request request;
    bool json = false;
};

struct PlanArguments {
    ProblemSize size;
    Request request;
    std::optional<ClusterQuestion> cluster;  // empty: one machine
    bool files = false;                      // from file to file
    std::optional<double> disk_bytes_per_s;  // empty: measured
    bool json = false;
};

}  // namespace heptad::cli
