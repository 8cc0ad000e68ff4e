// heptad gen: a random or special matrix as a file.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "commands.hpp"
#include "io/bit_file.hpp"
#include "io/generate.hpp"
#include "io/matrix_write.hpp"
#include "io/npy.hpp"
#include "output.hpp"
#include "product/request/bit_operands.hpp"
#include "product/request/memory_limits.hpp"
#include "stage_hooks.hpp"
#include "text.hpp"

namespace heptad::cli {
void run(const GenArguments& arguments) {
    GenArguments gen = arguments;
    gen.output = claim_output(gen.output);
    const bool as_bits = gen.packed || is_bit_file_name(gen.output);
    if (as_bits) {
        require_writable_format(gen.output);
        if (gen.type != Type::gf2 && gen.type != Type::boolean) {
            fail(ErrorCode::usage,
                 "{} holds bits, not {}; say --type gf2 or --type bool, or write a .npy without --packed", gen.output,
                 type_name(gen.type));
        }
        check_writable(gen.output);
    } else {
        check_matrix_writable(gen.output, gen.type);
    }
    const std::int64_t bytes = as_bits ? bit_bytes(gen.rows, gen.cols) : matrix_bytes(gen.type, gen.rows, gen.cols);
    workspace_after(bytes, {});
    GenerateOptions options;
    options.low = gen.low;
    options.high = gen.high;
    if (gen.density) {
        options.density = *gen.density;
        options.average_degree = *gen.density * static_cast<double>(std::max<std::int64_t>(gen.cols - 1, 0));
    }
    ProgressMeter meter;
    if (as_bits) {
        const BitMatrix matrix =
            generate_bits(gen.kind, gen.rows, gen.cols, gen.seed, options, file_hooks(meter, "generate", 0));
        write_bits(gen.output, matrix, gen.packed, file_hooks(meter, "write", 0));
    } else {
        const Matrix matrix =
            generate(gen.kind, gen.rows, gen.cols, gen.type, gen.seed, options, file_hooks(meter, "generate", 0));
        write_matrix(gen.output, matrix, file_hooks(meter, "write", 0));
    }
    meter.clear();
    if (gen.json) {
        print(nlohmann::ordered_json{{"output", gen.output},
                                     {"kind", gen.kind},
                                     {"type", type_name(gen.type)},
                                     {"rows", gen.rows},
                                     {"cols", gen.cols},
                                     {"seed", gen.seed},
                                     {"data_bytes", bytes}});
        return;
    }
    print(fmt::format("{}: {} x {} {}, {}, seed {}\n", visible(gen.output), gen.rows, gen.cols, type_name(gen.type),
                      gen.kind, gen.seed));
}

}  // namespace heptad::cli
