// Keeping descriptions; the CPU's file has one per number of threads.
#include "io/machine_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "base/fail_if.hpp"
#include "base/file_lock.hpp"
#include "base/json_text.hpp"
#include "base/thread_pool.hpp"
#include "io/atomic_file.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/cpu_info.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad {
namespace {

/// Goes up when leaves or kernels change so much that old measurements mislead. 7: f32 by products of bf16 on AMX, and
/// leaves that stop between their pieces.
constexpr int kEdition = 7;

std::string processor_key() {
    const cpu::CpuInfo& info = cpu::cpu_info();
    return fmt::format("heptad {} edition {}; {}; {} cores", HEPTAD_VERSION, kEdition, info.brand, info.cores);
}

/// What the measurements depend on.
std::string machine_key() {
    std::string key = processor_key();
    for (const cpu::VendorReport& report : cpu::vendor_reports()) {
        // As our own programs run them: what those measured counts in other processes too.
        key += report.found ? fmt::format("; {} {} {}", report.name, report.version, report.best_core) : "";
    }
    return key;
}

std::uint64_t fnv1a(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return hash;
}

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

constinit std::atomic<int> tuning_scopes{0};
constinit std::atomic<bool> must_read_named_files{true};

/// Holding a lock takes milliseconds; longer means that its holder hangs.
constexpr std::chrono::seconds kMostPatience{30};

[[noreturn]] void cannot_keep(const TuneFile& file, const char* step, const std::string& path, int error) {
    fail(ErrorCode::resource, "cannot {} {}: {}; set {} to a file that can be written", step, path,
         std::generic_category().message(error), file.variable);
}

/// Over reading, changing and writing.
class Lock {
public:
    explicit Lock(const TuneFile& file) : lock_(file.path + ".lock", kMostPatience) {
        if (lock_.error() != 0) {
            cannot_keep(file, lock_.was_opened() ? "lock" : "create", file.path + ".lock", lock_.error());
        }
    }

private:
    FileLock lock_;
};

/// Throws what keeps the file from being written, with the way out.
void write_file(const TuneFile& file, const std::function<void()>& write) try { write(); } catch (const Error& error) {
    fail(ErrorCode::resource, "{}; set {} to a file that can be written", error.what(), file.variable);
}

/// What stands in a file: none, if it is not there. Throws Error(input) where it is no file of descriptions.
std::optional<nlohmann::json> read_root(const TuneFile& file) {
    std::ifstream stream(file.path, std::ios::binary);
    if (!stream) {
        return std::nullopt;
    }
    std::string text;
    try {
        text.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    } catch (const std::ios_base::failure& failure) {  // a folder, or a medium that fails
        fail(ErrorCode::input, "it cannot be read: {}", failure.what());
    }
    nlohmann::json root = parse_json(text);
    fail_if(!root.is_object() || !root.contains("key") || !root["key"].is_string() || !root.contains("machines") ||
                !root["machines"].is_array(),
            ErrorCode::input, "it holds something else");
    return root;
}

[[noreturn]] void not_a_tune_file(const TuneFile& file, const char* why) {
    fail(ErrorCode::input,
         "{} names '{}', which is not a file of measurements ({}); correct the name or unset the variable, or remove "
         "the file and measure again with `heptad tune`",
         file.variable, file.path, why);
}

/// Before it is written over: a file that the user named and that holds something else is not ours. One without a byte
/// may be.
void require_ours(const TuneFile& file) {
    std::error_code missing;
    if (!file.named ||
        (std::filesystem::is_regular_file(file.path, missing) && std::filesystem::file_size(file.path, missing) == 0)) {
        return;
    }
    try {
        read_root(file);
    } catch (const Error& error) {
        not_a_tune_file(file, error.what());
    }
}

/// Makes the folder too.
void require_place(const TuneFile& file) {
    fail_if(file.path.empty(), ErrorCode::resource,
            "there is no place to keep the measurement; set {}, XDG_CACHE_HOME or HOME", file.variable);
    std::error_code ignored;  // opening a file there tells what is wrong
    const auto folder = std::filesystem::path(file.path).parent_path();
    if (!folder.empty()) {
        std::filesystem::create_directories(folder, ignored);
    }
    if (std::filesystem::is_directory(file.path, ignored)) {
        cannot_keep(file, "write", file.path, EISDIR);
    }
}

/// Is it of this machine, or does the user say so?
bool is_for(const TuneFile& file, const nlohmann::json& root) {
    return file.named || root["key"] == file.key;
}

/// Those that cannot be read were made by another edition: left out, or thrown.
std::vector<Machine> machines_in(const nlohmann::json& root, bool leaves_out) {
    std::vector<Machine> machines;
    for (const auto& entry : root["machines"]) {
        try {
            machines.push_back(parse_machine(entry.dump()));
        } catch (const Error&) {
            if (!leaves_out) {
                throw;
            }
        }
    }
    return machines;
}

/// For who writes: nothing is in the way.
std::vector<Machine> machines_to_keep(const TuneFile& file) {
    try {
        const std::optional<nlohmann::json> root = read_root(file);
        return root && is_for(file, *root) ? machines_in(*root, true) : std::vector<Machine>{};
    } catch (const Error&) {
        return {};  // damaged, or without a byte
    }
}

}  // namespace

TuneFile tune_file_for(const std::string& key, const char* variable) {
    if (const char* named = environment(variable)) {
        return {key, named, true, variable};
    }
    const std::string name = fmt::format("heptad/tune-{:016x}.json", fnv1a(key));
    if (const char* cache = environment("XDG_CACHE_HOME")) {
        return {key, fmt::format("{}/{}", cache, name), false, variable};
    }
    if (const char* home = environment("HOME")) {
        return {key, fmt::format("{}/.cache/{}", home, name), false, variable};
    }
    return {key, "", false, variable};
}

TuningScope::TuningScope() {
    ++tuning_scopes;
}
TuningScope::~TuningScope() {
    --tuning_scopes;
}

void allow_unreadable_files() {
    must_read_named_files = false;
}

std::string way_back(const std::string& file) {
    std::error_code ignored;
    return !file.empty() && std::filesystem::is_regular_file(file, ignored)
               ? fmt::format("delete {} to go back to the built-in figures", file)
               : "";
}

std::vector<Machine> read_machines(const TuneFile& file, NamedFile missing) {
    if (file.path.empty()) {
        return {};
    }
    const bool must_exist = missing == NamedFile::must_exist && tuning_scopes == 0;
    const bool must_read = file.named && must_read_named_files;
    if (must_read && must_exist && access(file.path.c_str(), R_OK) != 0) {
        fail(ErrorCode::input,
             "{} names '{}', which cannot be read: {}; correct the name or unset the variable (`heptad tune` makes the "
             "file)",
             file.variable, file.path, std::generic_category().message(errno));
    }
    try {
        const std::optional<nlohmann::json> root = read_root(file);
        return root && is_for(file, *root) ? machines_in(*root, false) : std::vector<Machine>{};
    } catch (const Error& error) {
        if (must_read) {
            not_a_tune_file(file, error.what());
        }
        return {};  // damaged: as if it were not there
    }
}

void require_updatable(const TuneFile& file) {
    require_place(file);
    const Lock lock(file);
    require_ours(file);
    write_file(file, [&] { const AtomicFile beside(file.path, 0); });  // removed at once
}

void update_machines(const TuneFile& file, const std::function<void(std::vector<Machine>&)>& change) {
    require_place(file);
    const Lock lock(file);
    require_ours(file);
    std::vector<Machine> machines = machines_to_keep(file);
    change(machines);
    nlohmann::ordered_json root;
    root["key"] = file.key;
    root["machines"] = nlohmann::ordered_json::array();
    for (const Machine& each : machines) {
        root["machines"].push_back(nlohmann::ordered_json::parse(print_machine(each)));
    }
    const std::string text = root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    write_file(file, [&] { write_text_file(file.path, text); });
}

namespace {

TuneFile cpu_file() {
    return tune_file_for(machine_key(), "HEPTAD_TUNE_FILE");
}

}  // namespace

std::string tune_file() {
    return cpu_file().path;
}

std::vector<Machine> machines_of_this_processor() {
    const TuneFile own = tune_file_for(processor_key(), "HEPTAD_TUNE_FILE");
    std::vector<std::filesystem::path> files;
    if (own.named) {
        files.emplace_back(own.path);
    } else if (!own.path.empty()) {
        std::error_code missing;
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(own.path).parent_path(), missing)) {
            if (entry.path().filename().string().starts_with("tune-") && entry.path().extension() == ".json") {
                files.push_back(entry.path());
            }
        }
    }
    std::ranges::sort(files);
    std::vector<Machine> machines;
    for (const auto& file : files) {
        try {
            const auto root = read_root({own.key, file.string(), own.named, own.variable});
            if (root && (own.named || (*root)["key"].get<std::string>().starts_with(own.key + ";"))) {
                std::vector<Machine> read = machines_in(*root, true);
                std::move(read.begin(), read.end(), std::back_inserter(machines));
            }
        } catch (const Error&) {
            continue;  // damaged: as if it were not there
        }
    }
    return machines;
}

Machine load_machine(int threads, NamedFile missing) {
    threads = std::max(1, threads);
    for (Machine& machine : read_machines(cpu_file(), missing)) {
        if (machine.threads != threads) {
            continue;
        }
        const cpu::CpuBackend backend(shared_pool(threads));
        const auto is_missing = [&](const std::string& leaf, Type type) {
            const std::vector<std::string> known = backend.leaves(type);
            return std::ranges::find(known, leaf) == known.end();
        };
        std::erase_if(machine.leaves,
                      [&](const LeafProfile& profile) { return is_missing(profile.leaf, profile.type); });
        // Types that `tune` passes over are guessed.
        std::vector<LeafProfile> guesses = default_machine(threads).leaves;
        std::erase_if(guesses, [&](const LeafProfile& guess) {
            return std::ranges::any_of(machine.leaves,
                                       [&](const LeafProfile& measured) { return measured.type == guess.type; });
        });
        std::move(guesses.begin(), guesses.end(), std::back_inserter(machine.leaves));
        // Without one of those that ran, nobody knows how the others compare with the fastest library.
        const std::vector<MeasuredPlan> rows = machine.measured_plans;
        for (const MeasuredPlan& gone : rows) {
            if (is_missing(gone.plan.leaf, gone.type)) {
                std::erase_if(machine.measured_plans,
                              [&](const MeasuredPlan& row) { return is_of_same_problem(row, gone); });
            }
        }
        return machine;
    }
    return default_machine(threads);
}

void save_machine(const Machine& machine) {
    update_machines(cpu_file(), [&](std::vector<Machine>& machines) {
        std::erase_if(machines, [&](const Machine& old) { return old.threads == machine.threads; });
        machines.push_back(machine);
    });
}

void require_savable() {
    require_updatable(cpu_file());
}

}  // namespace heptad
