// Reads the #include lines of a tree and compares them with the order of the layers; the names in plan/ and of headers;
// and how long files are.
#include "layering/include_check.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
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

std::vector<std::string> leaf_names(const std::string& traits, const std::string& constants) {
    static const std::regex entry(R"re(\{\s*("[^"]+"|k[A-Za-z]+Leaf),\s*\{)re");
    std::vector<std::string> found;
    for (std::sregex_iterator it(traits.begin(), traits.end(), entry), end; it != end; ++it) {
        found.push_back((*it)[1]);
        std::smatch value;
        if (std::regex_search(constants, value, std::regex(found.back() + R"re( = ("[^"]+"))re"))) {
            found.push_back(value[1]);
        }
    }
    return found;
}

std::vector<Name> names_in_plan(const fs::path& file, const std::string& text, const std::vector<std::string>& leaves) {
    // "cpu" is also a key of the machine file, where it says which CPU that is.
    static const std::regex literal(
        R"re("(cpu|cuda(:[0-9]*)?|reference|heptad|over-devices|(open|cu)?blas[a-z0-9-]*|blis[a-z-]*|mkl[a-z-]*|-mt|-batched)")re");
    static const std::regex key(R"re((json\[|\.at\(|required\()"cpu"[\]),])re");
    std::vector<Name> found;
    if (first_part(name_in_tree(file)) != "plan") {
        return found;
    }
    std::istringstream lines(without_comments(text));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        line = std::regex_replace(line, key, "");
        const auto leaf = std::find_if(leaves.begin(), leaves.end(),
                                       [&](const std::string& name) { return line.find(name) != std::string::npos; });
        std::smatch match;
        if (leaf != leaves.end()) {
            found.push_back({number, *leaf});
        } else if (std::regex_search(line, match, literal)) {
            found.push_back({number, match[0]});
        }
    }
    return found;
}

namespace {

using Texts = std::map<std::string, std::string>;  // by file, relative to the repository

Texts read_tree(const fs::path& repository) {
    Texts texts;
    for (const char* top : {"include", "src", "cli", "python", "bench", "papers", "tests"}) {
        if (!fs::exists(repository / top)) {
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(repository / top)) {
            if (entry.is_regular_file() && is_source(entry.path())) {
                std::ifstream stream(entry.path());
                texts[entry.path().lexically_relative(repository).generic_string()] =
                    std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
            }
        }
    }
    return texts;
}

std::string text_of(const Texts& texts, const char* file) {
    const auto found = texts.find(file);
    return found == texts.end() ? "" : found->second;
}

/// The files of ours that a file includes.
std::vector<std::string> included_files(const Texts& texts, const std::string& file) {
    std::vector<std::string> found;
    for (const Include& include : includes_of(texts.at(file))) {
        for (const fs::path& folder :
             {fs::path("src"), fs::path("include"), fs::path(), fs::path(file).parent_path()}) {
            const std::string name = (folder / include.path).lexically_normal().generic_string();
            if (texts.count(name) != 0) {
                found.push_back(name);
                break;
            }
        }
    }
    return found;
}

/// What a file of cli/ sees of the kernels of a processor or a device through a header that passes it on; which one.
std::map<std::string, std::string> kernels_seen(const Texts& texts, const std::string& file) {
    static constexpr std::string_view kKernels = "src/kernels/";
    std::map<std::string, std::string> seen;
    std::set<std::string> known{file};
    std::vector<std::string> open{file};
    while (!open.empty()) {
        const std::string from = open.back();
        open.pop_back();
        for (const std::string& to : included_files(texts, from)) {
            // kernels/backend.hpp and its like say what any backend does.
            if (to.starts_with(kKernels) && to.find('/', kKernels.size()) != std::string::npos) {
                seen.emplace(to, from);
            } else if (known.insert(to).second) {
                open.push_back(to);
            }
        }
    }
    return seen;
}

}  // namespace

Report check_tree(const fs::path& repository) {
    const Texts texts = read_tree(repository);
    const std::vector<std::string> leaves =
        leaf_names(text_of(texts, "src/base/leaf_traits.cpp"), text_of(texts, "src/base/device_layout.hpp"));
    Report report;
    std::map<std::string, std::string> headers;  // name, and where it stands first
    for (const auto& [file, text] : texts) {
        const auto add = [&report, &file = file](int line, const std::string& sentence) {
            report.violations.push_back(file + (line > 0 ? ":" + std::to_string(line) : "") + ": " + sentence);
        };
        const auto [first, is_new] = headers.emplace(fs::path(file).filename().string(), file);
        if (!is_new && is_header(file)) {
            add(0, "another header has this name, " + first->second + "; rename one");
        }
        if (const auto lines = std::count(text.begin(), text.end(), '\n'); lines > kMostLines) {
            add(0, std::to_string(lines) + " lines, and " + std::to_string(kMostLines) + " are allowed; divide it");
        }
        if (file.starts_with("tests/")) {
            continue;
        }
        ++report.files;
        for (const Name& found : names_in_plan(file, text, leaves)) {
            add(found.line, "plan/ names " + found.name + "; say what it is able to do (base/leaf_traits.hpp)");
        }
        for (const Include& include : includes_of(text)) {
            ++report.includes;
            if (const auto sentence = violation(file, include.path)) {
                add(include.line, *sentence);
            }
        }
        if (file.starts_with("cli/")) {
            for (const auto& [kernel, through] : kernels_seen(texts, file)) {
                add(0, "sees " + kernel + " through " + through + "; let product tell it as plain data");
            }
        }
    }
    return report;
}

}  // namespace heptad::layering
