#include "run/bits/bit_product.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/workspace.hpp"
#include "kernels/bits/word_buffer.hpp"
#include "run/bits/bit_level_runner.hpp"
#include "run/bits/boolean_products.hpp"

namespace heptad::bits {
namespace {

/// Two windows of the same rows may lie side by side; they overlap where a row of one shares a bit with a row of the
/// other. Views of different strides are taken for overlapping as soon as their extents do.
bool overlap(const ConstBitView& x, const ConstBitView& y) {
    const ByteRange of_x = byte_range(x), of_y = byte_range(y);
    if (of_x.begin == of_x.end || of_y.begin == of_y.end || of_x.end <= of_y.begin || of_y.end <= of_x.begin) {
        return false;
    }
    if (x.stride != y.stride || x.stride == 0) {
        return true;
    }
    // Bit of y's first column as seen from x's, reduced to the nearest row.
    const std::int64_t row_bits = x.stride * kWordBits;
    const std::int64_t distance = (y.words - x.words) * kWordBits + y.offset - x.offset;
    std::int64_t column = distance % row_bits;
    column += column < 0 ? row_bits : 0;
    return column < x.cols || column + y.cols > row_bits;
}

/// The classical product of some rows on all threads: parts of the result.
void multiply_in_parts(const BitLaunch& launch, const GroupRange& rows, const std::uint64_t* left,
                       const std::uint64_t* right, std::uint64_t* result, WorkMeter& meter) {
    const LeafPart all = whole(*launch.leaf, launch.shape);
    const LeafProduct multiply = launch.algebra == Type::gf2 ? launch.leaf->multiply : launch.leaf->multiply_boolean;
    // A part with many rows uses its tables, or its panel of B, more often: tiles first, then rows where there are
    // fewer tiles than a fair share of work for every thread takes.
    const std::int64_t wanted = launch.threads == 1 ? 1 : std::int64_t{4} * launch.threads;
    const std::int64_t count = rows.last - rows.first;
    const std::int64_t bands = std::clamp<std::int64_t>(ceil_div(wanted, all.last_tile), 1, count);
    const std::int64_t groups = ceil_div(count, bands);
    const double work = launch.work() * static_cast<double>(count) / static_cast<double>(all.last_group);
    const double part_work = work / static_cast<double>(all.last_tile * bands);
    shared_pool(launch.threads).run(all.last_tile * bands, [&](std::int64_t task) {
        meter.stop_if_cancelled();
        const std::int64_t tile = task / bands, first = rows.first + task % bands * groups;
        const std::int64_t last = std::min(first + groups, rows.last);
        if (first < last) {
            multiply(launch.shape, {first, last, tile, tile + 1}, left, right, result, false);
        }
        meter.advance(part_work);
    });
}

/// The Boolean product, of a packed right operand: rows of A as few rows of B, or else by tables.
void multiply_boolean(const BitLaunch& launch, const ConstBitView& a, std::uint64_t* packed_a,
                      const std::uint64_t* packed_b, std::uint64_t* packed_c, WorkMeter& meter) {
    ThreadPool& pool = shared_pool(launch.threads);
    const BooleanSlabs slabs(*launch.leaf, launch.shape, a, packed_b, pool);
    slabs.multiply(packed_c, meter);
    if (!slabs.left_to_tables().empty()) {
        pack(*launch.leaf->layout, launch.left(), a, {}, packed_a, pool);
    }
    for (const GroupRange& rows : slabs.left_to_tables()) {
        multiply_in_parts(launch, rows, packed_a, packed_b, packed_c, meter);
    }
}

}  // namespace

void require_apart(const ConstBitView& c, const ConstBitView& operand, const char* name) {
    fail_if(overlap(c, operand), ErrorCode::input,
            "C overlaps {}; a bit product does not work in place, so give C memory of its own", name);
}

void require_view(const ConstBitView& view, const char* name) {
    fail_if(view.rows < 0 || view.cols < 0 || view.offset < 0 || view.offset >= kWordBits, ErrorCode::input,
            "{} is a view of {} x {} bits from bit {} of a word; sizes start at 0 and the bit is 0 to 63", name,
            view.rows, view.cols, view.offset);
    if (view.rows > 1 && view.stride < words_of(checked_add(view.cols, view.offset))) {
        fail(ErrorCode::input, "{} has {} columns from bit {} on, but only {} words from row to row; {} are needed",
             name, view.cols, view.offset, view.stride, words_of(view.cols + view.offset));
    }
    fail_if(view.words == nullptr && view.rows > 0 && view.cols > 0, ErrorCode::input,
            "{} is {} x {} but has no memory (a null pointer)", name, view.rows, view.cols);
}

void require_product(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c) {
    require_view(a, "A");
    require_view(b, "B");
    require_view(c, "C");
    fail_if(a.cols != b.rows || c.rows != a.rows || c.cols != b.cols, ErrorCode::input,
            "A is {} x {}, B is {} x {} and C is {} x {}, but C = A * B needs m x k, k x n, m x n", a.rows, a.cols,
            b.rows, b.cols, c.rows, c.cols);
    require_apart(c, a, "A");
    require_apart(c, b, "B");
}

void multiply_packed(const BitLaunch& launch, const std::uint64_t* left, const std::uint64_t* right,
                     std::uint64_t* result, std::uint64_t* scratch, WorkMeter& meter) {
    if (launch.levels == 0) {
        multiply_in_parts(launch, {0, launch.shape.m / kGroupRows}, left, right, result, meter);
    } else {
        run_levels(launch, left, right, result, scratch, meter);
    }
}

ProductPlan make_bit_plan(Type algebra, const ProblemSize& size, const BitOptions& options, const BitContext& context) {
    ProductPlan plan = make_bit_plan(algebra, size, options, context.threads);
    const bool takes_own = context.workspace_bytes < 0;
    const std::int64_t limit_bytes = takes_own ? room_for_workspace(plan.workspace_bytes, {})
                                               : lent_memory(context.workspace, context.workspace_bytes).bytes;
    if (plan.workspace_bytes > limit_bytes) {
        plan = make_fitting_bit_plan(algebra, size, options, context.threads, limit_bytes);
    }
    fail_if(!takes_own && plan.workspace_bytes > limit_bytes, ErrorCode::resource,
            "a product of {} x {} x {} bits takes {} bytes of workspace on a 64-byte boundary, but the context has {} "
            "from such a boundary on; give it more, or none at all",
            size.m, size.k, size.n, plan.workspace_bytes, limit_bytes);
    return plan;
}

void multiply_bits(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                   const BitOptions& options, const BitContext& context) {
    require_product(a, b, c);
    const ProblemSize size{a.rows, a.cols, b.cols};
    if (context.workspace_bytes >= 0) {
        require_workspace_apart(context.workspace, context.workspace_bytes, byte_range(a), byte_range(b),
                                byte_range(c));
        if (c.rows == 0 || c.cols == 0) {
            return;  // nothing to do takes no workspace
        }
        multiply_bits(make_bit_plan(algebra, size, options, context), a, b, c, accumulate, context.hooks,
                      static_cast<std::uint64_t*>(lent_memory(context.workspace, context.workspace_bytes).data));
        return;
    }
    ProductPlan plan = make_bit_plan(algebra, size, options, context.threads);
    Workspace own;
    std::int64_t limit_bytes = 0;
    while (options.levels < 0 && !plan.levels.empty() &&
           !own.try_take(plan.workspace_bytes, byte_range(c), limit_bytes)) {
        plan = make_fitting_bit_plan(algebra, size, options, context.threads, limit_bytes);
    }
    multiply_bits(plan, a, b, c, accumulate, context.hooks, static_cast<std::uint64_t*>(own.data()));
}

void multiply_bits(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                   bool accumulate, const RunHooks& hooks, std::uint64_t* memory) {
    require_product(a, b, c);
    fail_if(plan.m != a.rows || plan.k != a.cols || plan.n != b.cols, ErrorCode::usage,
            "the plan is for a product of {} x {} x {}, but this one is {} x {} x {}", plan.m, plan.k, plan.n, a.rows,
            a.cols, b.cols);
    if (c.rows == 0 || c.cols == 0) {
        return;
    }
    ThreadPool& pool = shared_pool(plan.threads);
    if (plan.type == Type::boolean && memory == nullptr && meets_rows_once(a)) {
        multiply_boolean_rows(a, b, c, accumulate, pool, hooks);
        return;
    }
    const BitLaunch launch = bit_launch(plan);
    const PackedShape left = launch.left(), right = launch.right(), result = launch.result();
    WordBuffer own;
    if (memory == nullptr) {
        own = WordBuffer(plan.workspace_bytes / 8);
    }
    std::uint64_t* packed_a = memory == nullptr ? own.data() : memory;
    const Store adding = plan.type == Type::gf2 ? Store::exclusive_or : Store::inclusive_or;
    const Store mode = accumulate ? adding : Store::assign;
    std::uint64_t* packed_b = packed_a + left.words();
    std::uint64_t* packed_c = packed_b + right.words();
    const LeafLayout& layout = *launch.leaf->layout;
    pack(layout, right, b, launch.into(), packed_b, pool);
    WorkMeter meter(hooks, launch.work());
    if (plan.type == Type::boolean && memory == nullptr) {
        multiply_boolean(launch, a, packed_a, packed_b, packed_c, meter);
    } else {
        pack(layout, left, a, launch.into(), packed_a, pool);
        multiply_packed(launch, packed_a, packed_b, packed_c, packed_c + result.words(), meter);
    }
    unpack(layout, result, packed_c, launch.out_of(), c, mode, pool);
}

}  // namespace heptad::bits
