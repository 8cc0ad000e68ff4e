// heptad info: this machine (cores, caches, vector features, BLAS libraries and what was put right in them, NVIDIA
// devices, the leaf that products end in), or a matrix file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/fail_if.hpp"
#include "base/thread_pool.hpp"
#include "command.hpp"
#include "io/bit_file.hpp"
#include "io/device_machine.hpp"
#include "io/machine_file.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_source.hpp"
#include "io/npy.hpp"
#include "machine_text.hpp"
#include "option_words.hpp"
#include "output.hpp"
#include "product/device/device_facts.hpp"
#include "product/request/memory_limits.hpp"
#include "product/request/operands.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

struct InfoArguments {
    std::string file;  // empty: this machine
    std::optional<Type> type;
    std::optional<std::int64_t> columns;  // the .npy holds packed bits
    bool json = false;
};

/// Where the figures of a device are kept, if somebody measured it.
struct DeviceFile {
    std::string name, file;
    bool measured = false;
};
std::vector<DeviceFile> device_files() {
    std::vector<DeviceFile> all;
    const DeviceReport report = nvidia_devices();
    for (const DeviceInfo& device : report.devices) {
        if (report.available) {
            const TuneFile file = device_tune_file(device.index);
            all.push_back({fmt::format("cuda:{}", device.index), file.path,
                           !read_machines(file, NamedFile::may_be_missing).empty()});
        }
    }
    return all;
}

/// Whether figures are measured or built in, where they are or will be, and the way back.
std::string figures_text(bool measured, const std::string& file, const std::string& command) {
    if (measured) {
        return fmt::format("measured: {} ({})", file, way_back(file));
    }
    return fmt::format("not measured: built-in defaults; {} measures{}", command,
                       file.empty() ? "" : fmt::format(" and writes {}", file));
}

std::string device_figures_text() {
    std::string text;
    for (const DeviceFile& device : device_files()) {
        text += fmt::format(
            "{:<12} {}\n", device.name,
            figures_text(device.measured, device.file, fmt::format("'heptad tune --device {}'", device.name)));
    }
    return text;
}

nlohmann::ordered_json machine_json() {
    const CpuFacts& cpu = cpu_facts();
    nlohmann::ordered_json libraries = nlohmann::ordered_json::array();
    for (const LibraryFacts& report : library_facts()) {
        libraries.push_back({{"name", report.name},
                             {"found", report.found},
                             {"version", report.version},
                             {"path", report.path},
                             {"core", report.core},
                             {"correction", report.correction},
                             {"problem", report.problem}});
    }
    nlohmann::ordered_json tune = machine_summary_json(load_machine(threads_or_default(), NamedFile::may_be_missing));
    tune["file"] = tune_file();
    tune["undo"] = way_back(tune_file());
    tune["devices"] = nlohmann::ordered_json::array();
    for (const DeviceFile& device : device_files()) {
        tune["devices"].push_back({{"device", device.name},
                                   {"measured", device.measured},
                                   {"file", device.file},
                                   {"undo", way_back(device.file)}});
    }
    return {{"heptad", version()},
            {"cpu", cpu.brand},
            {"architecture", cpu.architecture},
            {"cores", cpu.cores},
            {"usable_cores", cpu.usable_cores},
            {"max_mhz", cpu.max_mhz},
            {"l1d_bytes", cpu.l1d_bytes},
            {"l2_bytes", cpu.l2_bytes},
            {"l3_bytes", cpu.l3_bytes},
            {"features", cpu.features},
            {"libraries", libraries},
            {"bit_leaves", bits::leaf_names(Type::gf2)},
            {"cuda", cuda_json()},
            {"tune", tune}};
}

std::string machine_text() {
    const Machine machine = load_machine(threads_or_default(), NamedFile::may_be_missing);
    const std::string tuned = figures_text(machine.measured, tune_file(), "'heptad tune'");
    return fmt::format(
        "heptad       {}\n{}{}bit leaves   {}\ntuned        {}\n{}{}{}", version(), cpu_text(), cuda_text(),
        fmt::join(bits::leaf_names(Type::gf2), ", "), tuned, device_figures_text(), leaves_text(machine),
        machine.measured_plans.empty() ? "" : "plans        'heptad tune --show' lists what was measured\n");
}

/// Share of ones of a matrix of zeros and ones.
double density(const std::string& path, std::optional<Type> type, std::int64_t bytes) {
    workspace_after(bytes, {});
    ProgressMeter meter;
    const Matrix matrix = read_npy(path, type, file_hooks(meter, "read", 0));
    const auto* begin = static_cast<const std::uint8_t*>(matrix.data());
    const std::int64_t ones = std::accumulate(begin, begin + matrix.size_bytes(), std::int64_t{0});
    return matrix.size_bytes() > 0 ? static_cast<double>(ones) / static_cast<double>(matrix.size_bytes()) : 0;
}

using Json = nlohmann::ordered_json;

/// What is told of a file, to programs and to people.
struct FileFacts {
    Json object;
    std::string text;
};

FileFacts facts_of(const InfoArguments& arguments, const std::string& format, std::int64_t rows, std::int64_t cols,
                   const Json& type, const std::string& of_what) {
    return {{{"file", arguments.file}, {"format", format}, {"rows", rows}, {"cols", cols}, {"type", type}},
            fmt::format("{}: {} x {} {}\nformat   {}", visible(arguments.file), rows, cols, of_what, format)};
}

std::string size_line(std::int64_t bytes) {
    return fmt::format("size     {} ({} bytes)\n", format_bytes(bytes), bytes);
}

FileFacts bit_file(const InfoArguments& arguments) {
    const BitFileHeader header = read_bit_header(arguments.file, arguments.columns);
    workspace_after(bit_bytes(header.rows, header.cols), {});
    ProgressMeter meter;
    const BitMatrix matrix = read_bits(arguments.file, arguments.columns, file_hooks(meter, "read", 0));
    meter.clear();
    const std::int64_t ones = bits::count_ones(matrix);
    const double elements = static_cast<double>(header.rows) * static_cast<double>(header.cols);
    const double share = elements > 0 ? static_cast<double>(ones) / elements : 0;
    FileFacts facts = facts_of(arguments, bit_format_name(header.format), header.rows, header.cols,
                               type_name(arguments.type.value_or(Type::boolean)), "bits");
    facts.object.update({{"layout", "c"}, {"data_bytes", header.data_bytes}, {"ones", ones}, {"density", share}});
    facts.text += fmt::format("\nones     {}\ndensity  {:.6g}\n", ones, share);
    return facts;
}

/// Numbers, or places alone, as text.
FileFacts market_file(const InfoArguments& arguments) {
    const MarketHeader header = read_market_header(arguments.file);
    const bool pattern = header.field == MarketField::pattern;
    const Type type = pattern && !arguments.type ? Type::boolean : market_type(header, arguments.file, arguments.type);
    const char* const layout = header.array ? "array" : "coordinate";
    const char *const field = kMarketFields.of(header.field), *const symmetry = kMarketSymmetries.of(header.symmetry);
    FileFacts facts = facts_of(arguments, "Matrix Market", header.rows, header.cols, type_name(type), type_name(type));
    facts.object.update({{"layout", layout},
                         {"field", field},
                         {"symmetry", symmetry},
                         {"entries", header.entries},
                         {"data_bytes", header.file_bytes}});
    facts.text += fmt::format(", {} {} {}\nentries  {} stored\n{}", layout, field, symmetry, header.entries,
                              size_line(header.file_bytes));
    return facts;
}

/// A dataset of an HDF5 file.
FileFacts dataset(const InfoArguments& arguments) {
    const MatrixName name{.path = arguments.file, .as = arguments.type};
    const bool widened = widened_from(name).has_value();
    const MatrixSource source = find_matrix(widened ? MatrixName{.path = arguments.file} : name);
    const FileLayout& layout = source.layout;
    const char* const type = type_name(widened ? *arguments.type : source.type);
    FileFacts facts = facts_of(arguments, "HDF5 dataset", layout.rows, layout.cols, type, type);
    facts.object.update({{"layout", "c"},
                         {"data_bytes", layout.total_bytes()},
                         {"storage", source.storage},
                         {"data_offset", source.by_library ? Json(nullptr) : Json(layout.data_offset)}});
    facts.text += fmt::format(", C order, {}{}\n{}", source.storage,
                              source.by_library ? "" : fmt::format(", data from byte {}", layout.data_offset),
                              size_line(layout.total_bytes()));
    return facts;
}

/// Widened as products in memory do it; a dtype that they read only when its type is named is taken for what `gen`
/// writes in it.
NpyHeader npy_header(const InfoArguments& arguments) {
    if (widened_from({.path = arguments.file, .as = arguments.type})) {
        NpyHeader header = read_npy_header(arguments.file);
        header.type = *arguments.type;
        return header;
    }
    if (arguments.type) {
        return read_npy_header(arguments.file, arguments.type);
    }
    try {
        return read_npy_header(arguments.file);
    } catch (const Error&) {
        for (const Type type : {Type::bf16, Type::gf2}) {
            try {
                return read_npy_header(arguments.file, type);
            } catch (const Error&) {  // the first sentence is the right one
                continue;
            }
        }
        throw;
    }
}

FileFacts npy_file(const InfoArguments& arguments) {
    const NpyHeader header = npy_header(arguments);
    // Packed bits, whose file does not tell their columns, or zeros and ones.
    const bool bytes = !arguments.type && header.dtype != "|b1" && header.type == Type::gf2;
    FileFacts facts = facts_of(arguments, fmt::format("npy version {}", header.version), header.rows, header.cols,
                               bytes ? Json(nullptr) : Json(type_name(header.type)),
                               fmt::format("{} ({})", bytes ? "bytes" : type_name(header.type), header.dtype));
    facts.object.update({{"dtype", header.dtype},
                         {"layout", header.fortran_order ? "fortran" : "c"},
                         {"data_bytes", header.data_bytes},
                         {"data_offset", header.data_offset}});
    facts.text +=
        fmt::format(", {} order, data from byte {}\n", header.fortran_order ? "Fortran" : "C", header.data_offset);
    if (bytes) {
        const std::int64_t most = 8 * header.cols, least = std::max<std::int64_t>(most - 7, 0);
        facts.object.update({{"least_packed_columns", least}, {"most_packed_columns", most}});
        facts.text += fmt::format(
            "holds    packed bits of {} to {} columns (give them with --columns), or zeros and ones (--type gf2 or "
            "bool)\n",
            least, most);
    }
    facts.text += size_line(header.data_bytes);
    if (!bytes && (header.type == Type::boolean || header.type == Type::gf2)) {
        const double share = density(arguments.file, arguments.type, header.data_bytes);
        facts.object["density"] = share;
        facts.text += fmt::format("density  {:.6g}\n", share);
    }
    return facts;
}

void run_file(const InfoArguments& arguments) {
    const FileFacts facts = arguments.columns || is_bit_file_name(arguments.file) ? bit_file(arguments)
                            : is_matrix_market_name(arguments.file)               ? market_file(arguments)
                            : is_hdf5_name(arguments.file)                        ? dataset(arguments)
                                                                                  : npy_file(arguments);
    arguments.json ? print(facts.object) : print(facts.text);
}

void run(const InfoArguments& arguments) {
    if (!arguments.file.empty()) {
        run_file(arguments);
    } else if (arguments.json) {
        print(machine_json());
    } else {
        print(machine_text());
    }
}

/// Options that the file leaves no room for are refused, not ignored.
void require_info_options(const InfoArguments& info) {
    fail_if(info.file.empty() && (info.type || info.columns), ErrorCode::usage,
            "--type and --columns describe a matrix file; name one, or leave them out");
    const bool bits = is_bit_file_name(info.file) || info.columns;
    fail_if(info.columns && (is_bit_file_name(info.file) || is_matrix_market_name(info.file)), ErrorCode::usage,
            "{} states its own columns; --columns is for .npy files of packed bits", info.file);
    if (bits && info.type && *info.type != Type::gf2 && *info.type != Type::boolean) {
        fail(ErrorCode::usage, "{} holds bits, not {}; leave --type out", info.file, type_name(*info.type));
    }
}

Command add_info(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* command = root.add_subcommand("info", "this machine, or a matrix file");
    auto info = std::make_shared<InfoArguments>();
    add_value(*command, "FILE", info->file, "a matrix file; without it, the machine");
    auto type = std::make_shared<std::string>();
    add_value(*command, "--type T", *type, "element type, where the file allows several");
    auto columns = std::make_shared<std::string>();
    add_columns_option(*command, *columns);
    add_json_flag(*command, info->json);
    command->footer("Example: heptad info A.npy");
    return {command, [info, type, columns] {
                info->columns = column_count(*columns);
                if (!type->empty()) {
                    info->type = type_from_name(*type);
                }
                require_info_options(*info);
                return [info] { run(*info); };
            }};
}

const RegisterCommand registered_info({.order = 5, .add = add_info});

}  // namespace
}  // namespace heptad::cli
