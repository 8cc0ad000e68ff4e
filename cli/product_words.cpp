// The options of a product, which mul, plan and verify share.
#include "option_words.hpp"

#include <CLI/CLI.hpp>
#include <array>

#include "base/fail_if.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// A name of ours, or numpy's for the same elements.
Type raw_type(const std::string& name) {
    struct Alias {
        const char *numpy, *descriptor;
        Type type;
    };
    constexpr std::array<Alias, 7> kAliases{{{"float64", "<f8", Type::f64},
                                             {"float32", "<f4", Type::f32},
                                             {"float16", "<f2", Type::f16},
                                             {"int32", "<i4", Type::i32},
                                             {"int64", "<i8", Type::i64},
                                             {"complex64", "<c8", Type::c64},
                                             {"complex128", "<c16", Type::c128}}};
    for (const Alias& alias : kAliases) {
        if (name == alias.numpy || name == alias.descriptor) {
            return alias.type;
        }
    }
    return type_from_name(name);
}

/// "f32:4096x1024"
std::optional<RawShape> raw_shape(const std::string& option, const std::string& word) {
    if (word.empty()) {
        return std::nullopt;
    }
    const auto colon = word.find(':');
    fail_if(colon == std::string::npos, ErrorCode::usage, "{} takes a type and a shape such as f32:4096x1024, not '{}'",
            option, word);
    const std::vector<std::int64_t> shape = parse_shape(option, word.substr(colon + 1), 2);
    return RawShape{raw_type(word.substr(0, colon)), shape[0], shape[1]};
}

/// Empty where nothing was typed.
std::optional<bool> overlap_of(const ProductWords& words) {
    return words.overlap.empty() ? std::nullopt
                                 : std::optional(parse_choice("--overlap", words.overlap, {"on", "off"}) == "on");
}

}  // namespace

void add_operands(CLI::App& command, Request& request) {
    add_value(command, "A", request.a, "left matrix: .npy, file.h5:/dataset, .mtx, or .pbm .png of bits").required();
    add_value(command, "B", request.b, "right matrix").required();
}

void add_plan_options(CLI::App& command, ProductWords& words) {
    add_value(command, "--type T", words.type,
              "element type: f64 f32 tf32 bf16 f16 c64 c128 i32 i64 gf2 bool; f64 also reads f32, f16 and i32, f32 "
              "reads f16, i64 reads i32");
    add_value(command, "--device D", words.device,
              "auto, cpu, reference, cuda or cuda:N; several: cuda:0,1 or cpu:N (cores)");
    add_value(command, "--algorithm NAME", words.algorithm,
              "auto, a name from 'heptad algorithms', or a file such as mine.alg");
    add_value(command, "--levels N", words.levels, "auto, or how many levels to nest");
    add_value(command, "--accuracy WORD", words.accuracy, kAccuracyHelp);
    add_value(command, "--leaf NAME", words.leaf, "auto, or a library from 'heptad info'");
    add_value(command, "--mode MODE", words.mode,
              "auto, serial (little memory), parallel or fused (no extra memory; on cuda)");
    add_threads_option(command, words.threads);
    add_value(command, "--memory SIZE", words.memory,
              "maximum memory, such as 8G; matrices that do not fit are multiplied from file to file");
    add_host_options(command, words.host);
    command.add_flag("--count", words.plain.count,
                     "bit matrices, on cuda: count the ones that a row and a column share, as i32");
}

void add_update_options(CLI::App& command, ProductWords& words) {
    add_value(command, "--alpha X", words.alpha, "factor of the product (default 1); complex matrices: also 1+2i");
    add_value(command, "--beta Y", words.beta, "factor of the matrix given by --add");
    add_value(command, "--add C0", words.plain.add, "matrix C0: the result is X*A*B + Y*C0");
    command.add_flag("--transpose-a", words.plain.transpose_a, "use the transpose of A");
    command.add_flag("--transpose-b", words.plain.transpose_b, "use the transpose of B");
    command.add_flag("--conjugate-a", words.plain.conjugate_a,
                     "complex matrices: use the conjugate of A, transposed or not");
    command.add_flag("--conjugate-b", words.plain.conjugate_b, "complex matrices: use the conjugate of B");
    add_columns_option(command, words.columns);
}

void add_run_options(CLI::App& command, ProductWords& words) {
    command.add_flag("--verify", words.plain.verify, "check the result before it is written");
    add_value(command, "--raw-a T:MxN", words.raw_a, "A has no header: its type and shape, e.g. f32:4096x1024");
    add_value(command, "--raw-b T:MxN", words.raw_b, "B has no header");
    command.add_flag("--resume", words.plain.resume, "from file to file: continue a run that was interrupted");
    add_value(command, "--overlap on|off", words.overlap,
              "from file to file: on (default); off: read, multiply and write one after another");
    add_value(command, "--trace FILE", words.plain.trace_file,
              "from file to file: write a timeline for chrome://tracing");
}

Request request_of(const ProductWords& words) {
    Request request = words.plain;
    if (!words.type.empty()) {
        request.type = type_from_name(words.type);
    }
    if (!words.device.empty()) {
        request.options.device = parse_device(words.device);
    }
    request.options.host = host_options(words.host, request.options.device, true);
    if (!words.algorithm.empty()) {
        request.options.algorithm = words.algorithm;
    }
    if (!words.levels.empty() && words.levels != "auto") {
        request.options.levels = static_cast<int>(parse_integer("--levels", words.levels, 0, kMostProductLevels));
    }
    if (!words.accuracy.empty()) {
        request.options.accuracy = parse_accuracy("--accuracy", words.accuracy);
    }
    if (!words.leaf.empty()) {
        request.options.leaf = words.leaf;
    }
    if (!words.mode.empty()) {
        request.options.mode = parse_choice("--mode", words.mode, {"auto", "serial", "parallel", "fused"});
    }
    request.threads = thread_count(words.threads);
    if (!words.memory.empty()) {
        request.memory_bytes = parse_bytes("--memory", words.memory);
    }
    request.raw_a = raw_shape("--raw-a", words.raw_a);
    request.raw_b = raw_shape("--raw-b", words.raw_b);
    if (!words.alpha.empty()) {
        request.alpha = parse_factor("--alpha", words.alpha);
    }
    if (!words.beta.empty()) {
        request.beta = parse_factor("--beta", words.beta);
    }
    request.columns = column_count(words.columns);
    request.overlap = overlap_of(words);
    return request;
}

void require_beta_with_add(const ProductWords& words) {
    fail_if(words.beta.empty() != words.plain.add.empty(), ErrorCode::usage,
            "--beta and --add belong together; give both or neither");
}

namespace {

constexpr std::int64_t kMostHostLevels = 16;
constexpr std::int64_t kMostPipelines = 16;

}  // namespace

void add_host_options(CLI::App& command, HostWords& words) {
    add_value(command, "--device-memory SIZE", words.device_memory,
              "maximum memory on each device; the host cuts the product up to fit");
    add_value(command, "--host-levels N", words.levels,
              "over devices: auto, or levels at the host; 0: segments of C; on the processor, from file to file: "
              "outer levels through files");
    add_value(command, "--host-algorithm NAME", words.algorithm, "algorithm of those levels");
    add_value(command, "--pipelines N", words.pipelines, "over devices: auto, or how many feed each device");
}

HostOptions host_options(const HostWords& words, const std::string& device, bool may_go_by_files) {
    const bool over_devices = is_device_list(device) || is_device_product(device);
    const bool for_devices_alone = !words.device_memory.empty() || !words.pipelines.empty();
    fail_if(words.given() && !over_devices && (for_devices_alone || !may_go_by_files), ErrorCode::usage,
            "--device-memory, --host-levels, --host-algorithm and --pipelines are for products over devices; name them "
            "by --device, such as cuda, cuda:0,1 or cpu:4");
    HostOptions host;
    if (!words.device_memory.empty()) {
        host.device_memory_bytes = parse_bytes("--device-memory", words.device_memory);
    }
    if (!words.levels.empty() && words.levels != "auto") {
        host.levels = static_cast<int>(parse_integer("--host-levels", words.levels, 0, kMostHostLevels));
    }
    if (!words.algorithm.empty()) {
        host.algorithm = words.algorithm;
    }
    if (!words.pipelines.empty() && words.pipelines != "auto") {
        host.pipelines = static_cast<int>(parse_integer("--pipelines", words.pipelines, 1, kMostPipelines));
    }
    fail_if(!over_devices && host.levels < 0 && host.algorithm != "auto", ErrorCode::usage,
            "--host-algorithm {} names the algorithm of outer levels, and there are none; give --host-levels 1, too",
            host.algorithm);
    return host;
}

MulWords add_mul_words(CLI::App& root) {
    CLI::App* command = root.add_subcommand("mul", "multiply two matrices from files into a file");
    auto words = std::make_shared<ProductWords>();
    add_operands(*command, words->plain);
    add_value(*command, "-o,--output C", words->plain.output,
              "result: .npy, file.h5:/dataset, or .pbm .png of bits; may be one of the inputs; - is standard output")
        .required();
    add_plan_options(*command, *words);
    add_update_options(*command, *words);
    add_run_options(*command, *words);
    add_value(*command, "--plan FILE", words->plain.plan_file, "carry out the plan that 'heptad plan' printed");
    add_json_flag(*command, words->json);
    command->footer(
        "The result appears under its name only when it is complete; an input that has the same name is replaced "
        "then.\n"
        "Example: heptad mul A.npy B.npy -o C.npy --verify");
    return {command, [words] {
                require_beta_with_add(*words);
                Request request = request_of(*words);
                fail_if(!words->plain.plan_file.empty() &&
                            !(words->algorithm.empty() && words->levels.empty() && words->accuracy.empty() &&
                              words->leaf.empty() && words->mode.empty() && words->threads.empty() &&
                              (words->device.empty() || is_device_product(words->device))),
                        ErrorCode::usage,
                        "--plan already decides the algorithm, levels, accuracy, leaf, mode, threads and device; leave "
                        "those options out (only --device cuda:N may name the device of a plan for cuda)");
                return MulArguments{request, words->json};
            }};
}

}  // namespace heptad::cli
