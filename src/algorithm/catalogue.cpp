// The catalogue is an index of names, made once from the embedded texts, and entries that are proven and derived when
// they are first asked for.
#include "algorithm/catalogue.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <map>
#include <memory>

#include "base/embedded.hpp"
#include "base/fail_if.hpp"
#include "base/nearest_word.hpp"
#include "base/shared_state.hpp"

namespace heptad {
namespace {

CatalogueEntry make_entry(Algorithm algorithm, bool derived) {
    if (const std::string sentence = prove(algorithm); !sentence.empty()) {
        fail(ErrorCode::input, "{}", sentence);
    }
    CatalogueEntry entry;
    entry.standard = flattened(algorithm);
    entry.sums = shared_sums(entry.standard);
    entry.facts = algorithm.basis ? compute_facts(algorithm) : compute_facts(algorithm, entry.sums);
    entry.algorithm = std::move(algorithm);
    entry.derived = derived;
    return entry;
}

/// An entry that is made on first use; other entries can be made meanwhile.
class CatalogueSlot {
public:
    /// `blocks` is m * k * n, known without making the entry; 0: not known.
    CatalogueSlot(std::function<Algorithm()> source, bool derived, int blocks)
        : source_(std::move(source)), derived_(derived), blocks_(blocks) {}

    const CatalogueEntry& get() {
        return entry_.get([&] { return make_entry(source_(), derived_); });
    }
    bool derived() const { return derived_; }
    int blocks() const { return blocks_; }

private:
    std::function<Algorithm()> source_;
    bool derived_;
    int blocks_;
    Once<CatalogueEntry> entry_;
};

using Slots = std::map<std::string, std::shared_ptr<CatalogueSlot>>;

void add_variants(Slots& slots, const std::shared_ptr<const Algorithm>& shipped) {
    std::array<int, 3> sizes = {shipped->m, shipped->k, shipped->n};
    std::ranges::sort(sizes);
    do {
        const auto [m, k, n] = sizes;
        const std::string name = permuted_name(*shipped, m, k, n);
        // A shipped algorithm of that name is preferred to a derived one.
        slots.try_emplace(name,
                          std::make_shared<CatalogueSlot>(
                              [shipped, m = m, k = k, n = n] { return permuted(*shipped, m, k, n); }, true, m * k * n));
    } while (std::next_permutation(sizes.begin(), sizes.end()));
}

Slots shipped_slots() {
    Slots slots;
    std::vector<std::shared_ptr<const Algorithm>> shipped;
    for (const EmbeddedFile& file : algorithm_files()) {
        if (!file.file_name.ends_with(".alg")) {
            continue;
        }
        const auto algorithm =
            std::make_shared<const Algorithm>(parse_algorithm(std::string(file.text), std::string(file.file_name)));
        const int blocks = algorithm->m * algorithm->k * algorithm->n;
        if (!slots
                 .try_emplace(algorithm->name,
                              std::make_shared<CatalogueSlot>([algorithm] { return *algorithm; }, false, blocks))
                 .second) {
            fail(ErrorCode::input, "{}: the name '{}' is taken by another shipped algorithm", file.file_name,
                 algorithm->name);
        }
        shipped.push_back(algorithm);
    }
    for (const auto& algorithm : shipped) {
        add_variants(slots, algorithm);
    }
    return slots;
}

const Slots& shipped() {
    static constinit Once<Slots> slots;
    return slots.get(shipped_slots);
}

Algorithm read_algorithm_file(const std::string& path) {
    constexpr std::streamsize limit = std::streamsize{16} << 20;
    std::ifstream file(path, std::ios::binary);
    std::string text(static_cast<std::size_t>(limit) + 1, '\0');
    file.read(text.data(), limit + 1);
    fail_if(file.bad() || (file.fail() && !file.eof()), ErrorCode::input,
            "cannot read the algorithm file '{}'; check the path and its permissions", path);
    fail_if(file.gcount() > limit, ErrorCode::input, "the algorithm file '{}' is longer than {} bytes", path, limit);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_algorithm(text, path);
}

Algorithm composed(const std::string& name) {
    const std::size_t star = name.rfind('*');
    return compose(find_algorithm(name.substr(0, star)).algorithm, find_algorithm(name.substr(star + 1)).algorithm);
}

std::shared_ptr<CatalogueSlot> user_slot(const std::string& name) {
    static constinit Guarded<Slots> all;
    const auto slots = all.lock();
    std::shared_ptr<CatalogueSlot>& slot = (*slots)[name];
    if (!slot) {
        const bool is_path = (name.find('/') != std::string::npos || name.ends_with(".alg")) &&
                             name.find(".alg*") == std::string::npos;  // that is one file after another
        slot = std::make_shared<CatalogueSlot>(
            [name, is_path] { return is_path ? read_algorithm_file(name) : composed(name); }, false, 0);
    }
    return slot;
}

}  // namespace

const CatalogueEntry& find_algorithm(const std::string& name) {
    if (const auto found = shipped().find(name); found != shipped().end()) {
        return found->second->get();
    }
    if (name.find('/') == std::string::npos && !name.ends_with(".alg") && name.find('*') == std::string::npos) {
        fail(ErrorCode::usage,
             "there is no algorithm '{}'{}; there are {} (and their symmetric variants, compositions such as "
             "strassen*winograd, and paths of .alg files)",
             name, nearest_hint(name, algorithm_names(false)), fmt::join(algorithm_names(false), ", "));
    }
    return user_slot(name)->get();
}

std::vector<std::string> algorithm_names(bool with_derived) {
    std::vector<std::string> names;
    for (const bool derived : {false, true}) {
        for (const auto& [name, slot] : shipped()) {
            if (slot->derived() == derived && (with_derived || !derived)) {
                names.push_back(name);
            }
        }
    }
    return names;
}

std::vector<std::string> small_algorithm_names(int most_blocks) {
    std::vector<std::string> names;
    for (const auto& [name, slot] : shipped()) {
        if (slot->blocks() <= most_blocks) {
            names.push_back(name);
        }
    }
    return names;
}

}  // namespace heptad
