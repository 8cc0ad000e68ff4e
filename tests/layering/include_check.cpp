// Reads the #include lines of a tree and compares them with the order of the layers; and the names in plan/.
#include "layering/include_check.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string_view>

namespace heptad::layering {
namespace {

namespace fs = std::filesystem;

struct Layer {
    std::string_view folder;
    int number;
};
constexpr std::array<Layer, 15> kLayers = {{{"base", 0},
                                            {"algorithm", 1},
                                            {"plan", 2},
                                            {"kernels", 2},
                                            {"run", 3},
                                            {"check", 4},
                                            {"io", 4},
                                            {"move", 5},
                                            {"product", 6},
                                            {"tune", 7},
                                            {"api", 7},
                                            {"cli", 8},
                                            {"python", 8},
                                            {"bench", 9},
                                            {"papers", 10}}};

const Layer* find_layer(std::string_view folder) {
    const auto* found =
        std::find_if(kLayers.begin(), kLayers.end(), [&](const Layer& l) { return l.folder == folder; });
    return found == kLayers.end() ? nullptr : found;
}

std::string first_part(const fs::path& path) {
    return path.empty() ? std::string() : path.begin()->string();
}

/// "src/plan/x.hpp" -> "plan/x.hpp", "cli/x.hpp" -> "cli/x.hpp": the name other files include it by.
fs::path name_in_tree(const fs::path& file) {
    return first_part(file) == "src" ? file.lexically_relative("src") : file;
}

/// Words to a request and a report to words: what the command line decides nothing about it does not see.
bool may_be_used_by_cli(const fs::path& header) {
    static constexpr std::array<std::string_view, 6> kFolders = {"base", "algorithm", "io", "product", "tune", "api"};
    return std::find(kFolders.begin(), kFolders.end(), first_part(header)) != kFolders.end() ||
           header.generic_string().starts_with("plan/model/");
}

std::string without_comments(const std::string& text) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.compare(i, 2, "//") == 0) {
            i = std::min(text.find('\n', i), text.size());
            if (i < text.size()) {
                result += '\n';
            }
        } else if (text.compare(i, 2, "/*") == 0) {
            const std::size_t end = std::min(text.find("*/", i + 2), text.size());
            result.append(static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(i),
                                                              text.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
                          '\n');  // line numbers stay right
            i = end + 1;
        } else {
            result += text[i];
        }
    }
    return result;
}

bool is_source(const fs::path& file) {
    static constexpr std::array<std::string_view, 8> kSuffixes = {".h",   ".hpp", ".c",  ".cpp",
                                                                  ".inc", ".ipp", ".cu", ".cuh"};
    return std::find(kSuffixes.begin(), kSuffixes.end(), file.extension().string()) != kSuffixes.end();
}

bool is_header(const fs::path& file) {
    const std::string suffix = file.extension().string();
    return suffix == ".h" || suffix == ".hpp" || suffix == ".cuh";
}

}  // namespace

std::vector<Include> includes_of(const std::string& text) {
    std::vector<Include> result;
    const std::string code = without_comments(text);
    int line = 0;
    for (std::size_t begin = 0; begin < code.size();) {
        ++line;
        const std::size_t end = std::min(code.find('\n', begin), code.size());
        std::string_view rest = std::string_view(code).substr(begin, end - begin);
        begin = end + 1;
        const auto skip_blanks = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); };
        skip_blanks();
        if (!rest.starts_with('#')) {
            continue;
        }
        rest.remove_prefix(1);
        skip_blanks();
        if (!rest.starts_with("include")) {
            continue;
        }
        rest.remove_prefix(std::string_view("include").size());
        skip_blanks();
        if (!rest.starts_with('"') && !rest.starts_with('<')) {
            continue;
        }
        const char closing = rest.front() == '"' ? '"' : '>';
        const std::size_t length = rest.find(closing, 1);
        if (length != std::string_view::npos) {
            result.push_back({line, std::string(rest.substr(1, length - 1))});
        }
    }
    return result;
}

std::optional<std::string> violation(const fs::path& file, const std::string& path) {
    const fs::path from = name_in_tree(file);
    fs::path to = fs::path(path).lexically_normal();
    if (first_part(to) == "heptad") {
        return std::nullopt;  // public
    }
    // A path through the parents, or a bare name, is meant relative to the including file.
    if (first_part(to) == ".." || (to == to.filename() && to.has_extension())) {
        to = name_in_tree((file.parent_path() / to).lexically_normal());
    }
    // <algorithm> is the standard library's, "algorithm/facts.hpp" is ours.
    const Layer* target = to.has_parent_path() ? find_layer(first_part(to)) : nullptr;
    if (first_part(from) == "include") {
        return target == nullptr ? std::nullopt
                                 : std::optional("a public header includes \"" + path + "\" of the layer '" +
                                                 std::string(target->folder) + "'; users have only include/heptad/");
    }
    const Layer* own = find_layer(first_part(from));
    if (own == nullptr) {
        return "the folder of this file is not a layer; add it to tests/layering/include_check.cpp";
    }
    if (target == nullptr || target == own) {
        return std::nullopt;  // a library of the system, or the same layer
    }
    if (target->number < own->number) {
        return own->folder == "cli" && !may_be_used_by_cli(to)
                   ? std::optional("the command line must not include \"" + path +
                                   "\": only base, algorithm, plan/model, io, product, tune and api")
                   : std::nullopt;
    }
    return "the layer '" + std::string(own->folder) + "' (" + std::to_string(own->number) + ") must not include \"" +
           path + "\" of '" + std::string(target->folder) + "' (" + std::to_string(target->number) +
           "); only lower numbers";
}

std::vector<Name> names_in_plan(const fs::path& file, const std::string& text) {
    // "cpu" is also a key of the machine file, where it says which CPU that is.
    static const std::regex literal(
        R"re("(cpu|cuda(:[0-9]*)?|reference|heptad|over-devices|(open|cu)?blas[a-z0-9-]*|blis[a-z-]*|mkl[a-z-]*|-mt|-batched)")re");
    static const std::regex key(R"re((json\[|\.at\()"cpu"[\])])re");
    std::vector<Name> found;
    if (first_part(name_in_tree(file)) != "plan") {
        return found;
    }
    std::istringstream lines(without_comments(text));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = std::regex_replace(line, key, "");
        std::smatch match;
        if (std::regex_search(line, match, literal)) {
            found.push_back({number, match[1]});
        }
    }
    return found;
}

Report check_tree(const fs::path& repository) {
    Report report;
    std::map<std::string, std::string> headers;  // name, and where it stands first
    for (const char* top : {"include", "src", "cli", "python", "bench", "papers"}) {
        if (!fs::exists(repository / top)) {
            continue;
        }
        std::vector<fs::path> files;
        for (const auto& entry : fs::recursive_directory_iterator(repository / top)) {
            if (entry.is_regular_file() && is_source(entry.path())) {
                files.push_back(entry.path());
            }
        }
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) {
            ++report.files;
            std::ifstream stream(file);
            const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
            const fs::path relative = file.lexically_relative(repository);
            const std::string name = file.filename().string();
            const auto [first, is_new] = headers.emplace(name, relative.generic_string());
            if (!is_new && is_header(file)) {
                report.violations.push_back(relative.generic_string() + ": another header has this name, " +
                                            first->second + "; rename one");
            }
            for (const Name& found : names_in_plan(relative, text)) {
                report.violations.push_back(relative.generic_string() + ":" + std::to_string(found.line) +
                                            ": plan/ names '" + found.name +
                                            "'; say what it is able to do (base/leaf_traits.hpp)");
            }
            for (const Include& include : includes_of(text)) {
                ++report.includes;
                if (const auto sentence = violation(relative, include.path)) {
                    report.violations.push_back(relative.generic_string() + ":" + std::to_string(include.line) + ": " +
                                                *sentence);
                }
            }
        }
    }
    return report;
}

}  // namespace heptad::layering
