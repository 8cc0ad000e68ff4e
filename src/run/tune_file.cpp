// Keeping descriptions; the CPU's file has one per number of threads.
#include "run/tune_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "backend/cpu/cpu_backend.hpp"
#include "backend/cpu/cpu_info.hpp"
#include "backend/cpu/vendor_blas.hpp"
#include "base/error.hpp"
#include "base/thread_pool.hpp"
#include "run/tune.hpp"

namespace heptad {
namespace {

/// Goes up when leaves or kernels change so much that old measurements mislead.
constexpr int kEdition = 5;

/// What the measurements depend on.
std::string machine_key() {
    const cpu::CpuInfo& info = cpu::cpu_info();
    std::string key =
        fmt::format("heptad {} edition {}; {}; {} cores", HEPTAD_VERSION, kEdition, info.brand, info.cores);
    for (const cpu::VendorReport& report : cpu::vendor_reports()) {
        key += report.found ? fmt::format("; {} {} {}", report.name, report.version, report.core) : "";
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

/// Writes beside the target and renames, so that readers see the old file or the new one.
void replace_file(const std::string& path, const std::string& text) {
    const std::string beside = fmt::format("{}.{}.new", path, getpid());
    const auto give_up = [&](const char* step) {
        const std::string why = std::generic_category().message(errno);
        unlink(beside.c_str());
        fail(ErrorCode::resource, "cannot {} {}: {}; set HEPTAD_TUNE_FILE to a file that can be written", step, beside,
             why);
    };
    const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        give_up("create");
    }
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t n = write(file, text.data() + written, text.size() - written);
        if (n < 0 && errno != EINTR) {
            close(file);
            give_up("write");
        }
        written += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
    const bool synced = fsync(file) == 0;
    if (close(file) != 0 || !synced || rename(beside.c_str(), path.c_str()) != 0) {
        give_up("finish");
    }
}

}  // namespace

TuneFile tune_file_for(const std::string& key, const char* variable) {
    if (const char* named = environment(variable)) {
        return {key, named, true};
    }
    const std::string name = fmt::format("heptad/tune-{:016x}.json", fnv1a(key));
    if (const char* cache = environment("XDG_CACHE_HOME")) {
        return {key, fmt::format("{}/{}", cache, name), false};
    }
    if (const char* home = environment("HOME")) {
        return {key, fmt::format("{}/.cache/{}", home, name), false};
    }
    return {key, "", false};
}

std::vector<Machine> read_machines(const TuneFile& file) {
    std::vector<Machine> machines;
    if (file.path.empty()) {
        return machines;
    }
    try {
        std::ifstream stream(file.path, std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
        const auto root = nlohmann::json::parse(text);
        if (!file.named && root.at("key").get<std::string>() != file.key) {
            return {};
        }
        for (const auto& entry : root.at("machines")) {
            machines.push_back(parse_machine(entry.dump()));
        }
    } catch (const std::exception&) {
        return {};  // damaged: as if it were not there
    }
    return machines;
}

void write_machines(const TuneFile& file, const std::vector<Machine>& machines) {
    if (file.path.empty()) {
        fail(ErrorCode::resource,
             "there is no place for the measurement: set HEPTAD_TUNE_FILE, XDG_CACHE_HOME or HOME");
    }
    nlohmann::ordered_json root;
    root["key"] = file.key;
    root["machines"] = nlohmann::ordered_json::array();
    for (const Machine& each : machines) {
        root["machines"].push_back(nlohmann::ordered_json::parse(print_machine(each)));
    }
    std::error_code ignored;  // replace_file tells what is wrong
    const auto folder = std::filesystem::path(file.path).parent_path();
    if (!folder.empty()) {
        std::filesystem::create_directories(folder, ignored);
    }
    replace_file(file.path, root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

namespace {

TuneFile cpu_file() {
    return tune_file_for(machine_key(), "HEPTAD_TUNE_FILE");
}

}  // namespace

std::string tune_file() {
    return cpu_file().path;
}

Machine load_machine(int threads) {
    threads = std::max(1, threads);
    for (Machine& machine : read_machines(cpu_file())) {
        if (machine.threads != threads) {
            continue;
        }
        const cpu::CpuBackend backend(shared_pool(threads));
        const auto is_missing = [&](const std::string& leaf, Type type) {
            const std::vector<std::string> known = backend.leaves(type);
            return std::find(known.begin(), known.end(), leaf) == known.end();
        };
        std::erase_if(machine.leaves,
                      [&](const LeafProfile& profile) { return is_missing(profile.leaf, profile.type); });
        // A contest without one of those who took part says nothing about the others.
        std::erase_if(machine.contests, [&](const Contest& contest) {
            return std::any_of(contest.trials.begin(), contest.trials.end(),
                               [&](const ContestTrial& trial) { return is_missing(trial.plan.leaf, contest.type); });
        });
        return machine;
    }
    return default_machine(threads);
}

void save_machine(const Machine& machine) {
    const TuneFile file = cpu_file();
    std::vector<Machine> machines = read_machines(file);
    std::erase_if(machines, [&](const Machine& old) { return old.threads == machine.threads; });
    machines.push_back(machine);
    write_machines(file, machines);
}

}  // namespace heptad
