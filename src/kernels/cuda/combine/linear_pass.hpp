// A combine pass as one linear map: what every output is in terms of what was in memory before the pass.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "kernels/backend.hpp"

namespace heptad::cuda {

struct LinearPass {
    std::vector<View> inputs, outputs;
    std::vector<double> coefficients;  // outputs.size() rows of inputs.size()
    double keep = 0;                   // every output also keeps so much of its old value, which nothing else reads
    /// Beside the inputs as they are read and the outputs as they are written; empty: no slot has any.
    std::vector<LineExponents> input_lines = {}, output_lines = {};
};

/// Does it write what it reads, and where it reads it? Then only powers of two change, if any.
bool changes_lines_only(const LinearPass& pass);

/// Statements are substituted into one another, so scratch slots disappear. A watched pass has all slots that exist
/// before it among its inputs, those without a part in any sum too.
LinearPass linear_pass(const CombinePass& pass);

/// The same map with slots of a pass in place of the views.
struct LinearMap {
    std::vector<std::size_t> inputs, outputs;
    std::vector<double> coefficients;
    double keep = 0;
};

/// linear_pass() for passes that come again: the map is worked out once, which for two levels at a time takes longer
/// than a device needs to start. Only matrices change from one product to the next.
class LinearPasses {
public:
    LinearPass of(const CombinePass& pass);

private:
    std::map<std::vector<std::uint64_t>, LinearMap> kept_;
};

/// Does a pass write over what it reads?
bool writes_an_input(const LinearPass& pass);
/// The same statements as two passes, one after the other; the second is empty where no cut is possible because scratch
/// values are needed on both sides of every one.
std::pair<CombinePass, CombinePass> cut_in_two(const CombinePass& pass);

}  // namespace heptad::cuda
