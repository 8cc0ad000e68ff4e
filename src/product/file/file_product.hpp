// C = alpha * op(A) * op(B) + beta * C0 from files to a file, in a memory that may be far smaller than the matrices.
//
// The result is made as NAME.partial beside a journal of finished tiles, and takes its name when it is complete and
// synced. A run that ends early (killed, interrupted, a failing disk) can be resumed: finished tiles are kept, and the
// bits are those of a run that was never interrupted.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <heptad/bits.hpp>

#include "check/verify.hpp"
#include "io/hooks.hpp"
#include "io/matrix_source.hpp"
#include "move/stage_trace.hpp"
#include "move/step_device.hpp"
#include "plan/model/plan.hpp"
#include "plan/search/file_layers.hpp"
#include "plan/search/file_plan.hpp"
#include "product/memory/product.hpp"

namespace heptad {

struct FileProductRequest {
    MatrixName a, b;
    std::optional<MatrixName> c0;  ///< may name the output itself
    bool transpose_a = false, transpose_b = false;
    bool conjugate_a = false, conjugate_b = false;  ///< of complex matrices
    Factor alpha = 1, beta = 0;
    std::string output;
    std::int64_t memory_bytes = 0;
    bool resume =
        false;  ///< go on where a run before was ended; from the beginning where there is nothing to go on with
    bool overlap = true;  ///< false: one stage after another
    bool verify = false;
    Accuracy accuracy = Accuracy::balanced;  ///< that the stage's plans keep: what the check allows
    std::string io = "auto";                 ///< "auto", "uring" or "threads"
    OuterLevels outer = {};                  ///< through files; see plan/search/file_layers.hpp
    std::optional<ProductPlan> plan = {};    ///< as made before, with its outer levels; empty: make one
};

/// How the products of strips and panels are planned and carried out: on the processor, or on a device.
struct StageProducts {
    std::function<ProductPlan(const StageProduct& product, Type type)> plan;
    /// On the processor.
    std::function<RunReport(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                            const ProductPlan& plan, void* workspace, std::int64_t workspace_bytes)>
        multiply;
    /// On a device, whose memory the plans' workspace is then; empty: on the processor.
    OpenStepDevice open_device = {};
    /// Throws Error(input) for a plan of a step that cannot be; empty: only its own plans are carried out.
    std::function<void(const ProductPlan& plan)> check = {};
    /// What a plan does not say and the bits of a result depend on, in words; empty: nothing.
    std::function<std::string(const ProductPlan& plan)> how = {};
};
/// On the processor.
StageProducts processor_stage(const Options& options, int threads);
/// The same of packed bits, gf2 or boolean. Fewer levels than pay are taken where the workspace leaves no room for
/// their copies.
StageProducts packed_bits_stage(Type algebra, const bits::BitOptions& options, int threads);

struct FileProductReport : FileLaunch {
    std::string no_layers;  ///< why outer levels that were asked for were given up; empty: they were not
    RunReport products;     ///< what became of them on the processor
    std::int64_t tiles = 0, resumed_tiles = 0;
    std::int64_t damaged_lines = 0;            ///< of the journal of an earlier run, which were not believed
    std::int64_t resident_at_start_bytes = 0;  ///< before the first buffer: the program, and the runtime of a device
    std::int64_t peak_resident_bytes = 0;      ///< at the end; see free_memory.hpp
    double wall_s = 0;
    StageTotal read, upload, multiply, download, write;
    std::string io;
    double error_bound = 0;  ///< max|C - computed| <= error_bound * max|A| * max|B|
    std::optional<VerifyResult> verified;
};

/// Sizes and layouts of a request, headers read and compared. Throws Error(input) where they do not fit together.
FileProblem file_problem(const FileProductRequest& request);
/// The plan that multiply_files() would choose, with the prediction of the stage; its steps are left open.
FileLaunch plan_file_product(const FileProblem& problem, const StageProducts& stage, const OuterLevels& outer = {});

/// The plan with its steps: how the one with the most work is multiplied, and the bound that the whole result keeps.
ProductPlan plan_steps(const FileProblem& problem, const FileLaunch& launch, const StageProducts& stage);

/// With outer levels, a NaN, an Inf or sums that might overflow where the product does not send it back to the start,
/// without those levels. Throws Error(cancelled) after the tile in flight when hooks.cancel is set; what is finished is
/// kept.
FileProductReport multiply_files(const FileProductRequest& request, const StageProducts& stage, const FileHooks& hooks,
                                 StageTrace& trace);

}  // namespace heptad
