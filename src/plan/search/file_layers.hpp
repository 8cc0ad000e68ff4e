// Outer levels of a product from file to file: the files' matrices are cut into blocks, and every product of the levels
// is a product from file to file of its own, of sums of blocks that are made while reading. Its result goes to a file
// of products beside C; a last pass adds those up and writes C once.
//
//   T_r = sum of blocks of A, S_r = sum of blocks of B, Q_r = T_r S_r      r = 1 ... R, in the memory that is allowed
//   C_ij = alpha (sum of w Q_r) + beta C0_ij                               band by band
//
// All sums refer to the files themselves, whatever the number of levels. Blocks have equal sizes, rounded up; what lies
// beyond the edge of a matrix is zero. Such a run moves more bytes than one without outer levels, and multiplies less.
// Pure functions: no file is touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/search/file_plan.hpp"
#include "plan/search/file_schedule.hpp"
#include "plan/search/host_layer.hpp"

namespace heptad {

struct OuterLevels {
    std::string algorithm = "strassen";
    int levels = 0;  ///< 0: none
};
std::vector<LevelPlan> levels_of(const OuterLevels& outer);

/// An operand as sums of blocks of its file.
struct BlockedOperand {
    FileLayout file;  ///< as the operand; block_bytes: as it is read
    std::int64_t block_rows = 0, block_cols = 0;
    std::vector<std::vector<Term<BlockPlace>>> sums;  ///< one for each product
    std::int64_t bounce_bytes = 0;                    ///< memory that pieces of a block pass through

    /// The windows of the file, each small enough for that memory, that make up a window of one block; nothing where
    /// the block lies beyond the edge.
    std::vector<FileWindow> pieces(const BlockPlace& block, const FileWindow& window) const;
    /// Bytes that reading a window of a sum moves.
    std::int64_t moved_bytes(std::int64_t sum, const FileWindow& window) const;
};
BlockedOperand transposed(BlockedOperand operand);

/// What carrying out outer levels takes, made from a plan and the problem.
struct OuterLaunch {
    OuterLevels outer;
    FileProblem whole;
    HostLayer layer;
    FileProblem part;     ///< one of its products, whose operands are no files
    DiskCut cut;          ///< of it
    FileTraffic traffic;  ///< likewise; its read and written bytes are those of files, not those of sums
    BlockedOperand a, b;
    std::int64_t product_bytes = 0;                ///< of one product in the file of products: whole pages
    std::int64_t band_rows = 0, band_bytes = 0;    ///< of the last pass: rows of a block at a time; all its buffers
    std::int64_t products_block = 1, c_block = 1;  ///< how that pass reads and writes

    /// Where C is to be checked (FileProblem::line_bytes): how A and B are read once more. One tile, all of C.
    DiskCut check_cut;
    std::int64_t check_read_bytes = 0;

    /// As issued.
    std::int64_t sample_bytes = 0;  ///< by which floats are judged and scaled before
    std::int64_t read_a_bytes = 0, read_b_bytes = 0, products_written_bytes = 0;
    std::int64_t products_read_bytes = 0, read_c0_bytes = 0, written_bytes = 0;

    std::int64_t products() const { return static_cast<std::int64_t>(layer.instances.size()); }
    std::int64_t scratch_bytes() const { return products() * product_bytes; }
    std::int64_t read_bytes() const {
        return sample_bytes + read_a_bytes + read_b_bytes + check_read_bytes + products_read_bytes + read_c0_bytes;
    }
    std::int64_t all_written_bytes() const { return products_written_bytes + written_bytes; }
    std::int64_t moved_bytes() const { return read_bytes() + all_written_bytes(); }
    std::int64_t used_bytes() const;
    double multiply_s() const { return static_cast<double>(products()) * traffic.multiply_s; }
    /// Where the result of a product lies in the file of products.
    FileLayout product_layout(std::int64_t product) const;
};

/// Buffers for reading A and B once more, one of each.
FileBuffers check_buffers(const OuterLaunch& layers);

/// The layout of the file of products; its rows are pages.
FileLayout products_layout(const OuterLaunch& layers);
/// The steps of all products, in their order.
FileSchedule layers_schedule(const OuterLaunch& layers);

/// A plan from file to file, with outer levels or without, and what it takes.
struct FileLaunch : FileChoice {
    std::optional<OuterLaunch> layers;  ///< outer levels; the traffic is that of one of their products

    std::int64_t read_bytes() const { return layers ? layers->read_bytes() : traffic.read_bytes(); }
    std::int64_t written_bytes() const { return layers ? layers->all_written_bytes() : traffic.written_bytes; }
    std::int64_t moved_bytes() const { return read_bytes() + written_bytes(); }
    std::int64_t used_bytes() const { return layers ? layers->used_bytes() : traffic.used_bytes(); }
    double multiply_s() const { return layers ? layers->multiply_s() : traffic.multiply_s; }
};
/// Its steps are left open. With outer levels, throws Error(usage) for types whose sums would be rounded to 16 bits,
/// for packed bits and for algorithms that do not admit the type; Error(resource) where the memory is too small.
/// `memory_bytes` of the problem is for everything.
FileLaunch plan_file_launch(const FileProblem& problem, const OuterLevels& outer, const PredictStage& predict);
/// The same of a plan that was made before. Throws Error(input) where it cannot be carried out.
FileLaunch file_launch(const FileProblem& problem, ProductPlan plan);
/// Its steps; with outer levels those of all their products, in their order.
FileSchedule schedule_of(const FileProblem& problem, const FileLaunch& launch);
/// With the rates of the problem and, with outer levels, of those.
double predicted_wall_s(const FileProblem& problem, const FileLaunch& launch);

/// Takes these rates of the disk, not those that plans for mul take.
void set_disk_rates(OuterLaunch& layers, double read_bytes_per_s, double write_bytes_per_s);
/// Seconds of the whole run with the rates of the problem: the products or the disk, and the last pass.
double predicted_wall_s(const OuterLaunch& layers);
/// Seconds of the last pass alone.
double last_pass_s(const OuterLaunch& layers);
/// Bound on max|C - computed| / (max|A| max|B|), if the products keep `of_product`.
double layers_error_bound(const OuterLaunch& layers, double of_product);
/// How much larger than without them the error is on random data.
double expected_growth(const OuterLevels& outer);

}  // namespace heptad
