// The last pass of outer levels: C_ij = alpha (sum of w Q_r) 2^-lines + beta C0_ij, band by band of the blocks' rows.
// Every product is read once and C is written once, in whole rows; reading, adding and writing overlap.
#pragma once

#include <functional>

#include "io/hooks.hpp"
#include "io/matrix_file.hpp"
#include "io/partial_file.hpp"
#include "kernels/backend.hpp"
#include "move/stage_trace.hpp"
#include "plan/search/file_layers.hpp"

namespace heptad {

struct LastPassFiles {
    const PartialFile* products = nullptr;
    const PartialFile* result = nullptr;
    const MatrixFile* c0 = nullptr;  ///< null: nothing is added
};

struct LastPassOptions {
    double alpha = 1, beta = 0;
    LineExponents lines = {};  ///< powers of two that the products were made with, by rows and columns of C
    int threads = 0;           ///< 0: all cores this process may use
    bool overlap = true;
    std::string io = "auto";
    std::function<void(double fraction)> progress;
    std::function<bool()> stop_wanted;
    /// Not empty: told of rows of C that are complete and in memory, and of what was added to them (null: nothing).
    std::function<void(const FileWindow& rows, const ConstView& c, const ConstView* c0)> completed = {};
};

/// False: a stop was wanted, and C is not complete.
bool run_last_pass(const OuterLaunch& layers, const LastPassFiles& files, const LastPassOptions& options,
                   StageTrace& trace);

}  // namespace heptad
