// heptad verify: is C = alpha * op(A) * op(B) + beta * C0? Prints the residual and the chance of a miss.
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/size.hpp"
#include "bit_operands.hpp"
#include "check_result.hpp"
#include "commands.hpp"
#include "interrupt.hpp"
#include "io/matrix_read.hpp"
#include "operands.hpp"
#include "output.hpp"

namespace heptad::cli {
namespace {

/// Draws of signs for floats: who asks for nothing but the check gets a chance of a miss of 2^-20.
constexpr int kRounds = 20;

void require_result_shape(const VerifyArguments& arguments, const OperandFacts& facts, const MatrixFacts& c) {
    if (c.type != facts.type) {
        fail(ErrorCode::input, "{} holds {} and {} holds {}; all matrices of a product must have one type", arguments.a,
             type_name(facts.type), arguments.c, type_name(c.type));
    }
    if (c.rows != facts.size.m || c.cols != facts.size.n) {
        fail(ErrorCode::input, "{} is {} x {}, but the product of {} and {} is {} x {}", arguments.c, c.rows, c.cols,
             arguments.a, arguments.b, facts.size.m, facts.size.n);
    }
}

}  // namespace

void run(const VerifyArguments& given) {
    VerifyArguments arguments = given;
    arguments.product.type = product_type({given.a, given.b, given.c, given.product.add}, given.product);
    const ProductOptions& product = arguments.product;
    if (const std::optional<Type> algebra = packed_algebra(arguments.a, arguments.b, product)) {
        run_bits(arguments, *algebra);
        return;
    }
    const OperandFacts facts = read_operand_facts(arguments.a, arguments.b, product);
    require_result_shape(arguments, facts, matrix_facts(name_of(arguments.c, product, {})));
    const bool adds = product.beta != 0;
    std::int64_t operand_bytes = checked_add(checked_add(facts.a_bytes, facts.b_bytes), facts.c_bytes);
    workspace_after(adds ? checked_add(operand_bytes, facts.c_bytes) : operand_bytes, product);

    ProgressMeter meter;
    const auto read = [&](const std::string& path, const char* stage) {
        return read_matrix(name_of(path, product, {}), file_hooks(meter, stage, product.threads));
    };
    const Matrix a = read(arguments.a, "read A");
    const Matrix b = read(arguments.b, "read B");
    const Matrix c = read(arguments.c, "read C");
    std::optional<Matrix> c0;
    if (adds) {
        c0 = read(product.add, "read C0");
    }

    meter.begin("verify");
    VerifyOptions options;
    options.alpha = product.alpha;
    options.beta = product.beta;
    if (c0) {
        options.c0 = std::as_const(*c0).view();
    }
    options.by.accuracy = product.options.accuracy;
    options.rounds = kRounds;
    options.all_rows = arguments.all_rows;
    options.seed = arguments.seed;
    options.threads = product.threads;
    options.cancel = interrupt_token();
    const VerifyResult result = verify(oriented(a, product.transpose_a), oriented(b, product.transpose_b), c, options);
    meter.clear();

    if (!product.json) {
        print(describe(result));
    }
    require_passed(result, arguments.c, "");
    if (product.json) {
        print(to_json(result));
    }
}

}  // namespace heptad::cli
