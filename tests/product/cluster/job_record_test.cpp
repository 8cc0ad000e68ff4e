// What makes parts of an earlier job unfit for this one, and what does not.
#include "product/cluster/job_record.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace heptad {
namespace {

TEST(JobRecord, a_product_is_known_by_what_decides_its_bits) {
    ProductPlan plan;
    plan.m = plan.k = plan.n = plan.core_m = plan.core_k = plan.core_n = 100;
    plan.leaf = plan.fringe_leaf = "reference";
    plan.predicted_s = 1.5;
    plan.workspace_bytes = 4096;
    const std::string fact = product_fact(plan);

    ProductPlan slower = plan;  // as a machine that was measured again says
    slower.predicted_s = 2;
    slower.workspace_bytes = 8192;
    EXPECT_NO_THROW(require_same_job({fact}, {product_fact(slower)}, "journal"));

    ProductPlan deeper = plan, other_leaf = plan, other_threads = plan;
    deeper.levels.emplace_back().algorithm = "strassen";
    other_leaf.leaf = "own";
    other_threads.threads = 2;
    for (const ProductPlan& other : {deeper, other_leaf, other_threads}) {
        EXPECT_THROW(require_same_job({fact}, {product_fact(other)}, "journal"), Error) << to_string(other);
    }
}

}  // namespace
}  // namespace heptad
