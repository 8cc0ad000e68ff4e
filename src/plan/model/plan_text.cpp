// A plan as one line, and back:
//
//   plan MxKxN TYPE [disk={...}] [rank={...}] [host={...}] [transfers={...}] backend=cpu threads=2 [panels={...}]
//   [complex=WAY] levels=winograd:parallel leaf=heptad ...
//
// What one list of fields says is printed and is read: no key can be written that is not understood.
#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "algorithm/catalogue.hpp"
#include "base/fail_if.hpp"
#include "base/text_stream.hpp"
#include "plan/model/plan.hpp"

namespace heptad {
namespace {

/// So many sizes that lie apart in a plan and stand together in its text.
template <class Size, std::size_t N>
struct Sides {
    std::array<Size*, N> of;
};
template <class First, class... Size>
Sides<First, 1 + sizeof...(Size)> sides(First& first, Size&... others) {
    return {{&first, &others...}};
}

constexpr std::string_view kResidues = "residues:";

// ---------------------------------------------------------------- the fields

/// To be printed, or to be filled in.
template <class Given, class Plain>
concept Like = std::is_same_v<std::remove_const_t<Given>, Plain>;

void fields_of(Like<DiskCut> auto& cut, auto& fields) {
    fields.optional("algorithm", cut.algorithm, std::string());
    fields.optional("levels", cut.levels, 0);
    fields.required("memory", cut.memory_bytes);
    fields.required("keep", cut.kept);
    fields.required("mirrored", cut.mirrored);
    fields.required("tile", sides(cut.tile_m, cut.tile_n));
    fields.required("depth", cut.depth);
    fields.required("first", cut.first_depth);
    fields.required("strip", cut.strip_m);
    fields.required("panels", cut.panel_buffers);
    fields.required("blocks", sides(cut.a_block, cut.b_block, cut.c_block));
}

void fields_of(Like<RankCut> auto& cut, auto& fields) {
    fields.required("ranks", cut.ranks);
    fields.required("algorithm", cut.algorithm);
    switch (cut.algorithm) {
        case ClusterAlgorithm::grid:
            fields.required("grid", sides(cut.grid.pm, cut.grid.pk, cut.grid.pn));
            fields.required("panels", cut.panels);
            break;
        case ClusterAlgorithm::caps:
            fields.required("steps", cut.steps);
            break;
        default:
            fields.required("block", sides(cut.block.x, cut.block.y, cut.block.z));
    }
}

void fields_of(Like<HostCut> auto& cut, auto& fields) {
    fields.required("devices", cut.devices);
    fields.required("algorithm", cut.algorithm);
    fields.required("levels", cut.levels);
    fields.required("block", sides(cut.block_m, cut.block_k, cut.block_n));
    fields.required("pipelines", cut.pipelines);
    fields.required("in-place", cut.in_place);
    fields.required("workspace-bytes", cut.workspace_bytes);
}

void fields_of(Like<TransferCut> auto& cut, auto& fields) {
    fields.optional("algorithm", cut.algorithm, std::string());
    if (!cut.algorithm.empty()) {
        fields.required("opening", cut.opening);
        fields.required("closing", cut.closing);
        fields.required("last-parts", cut.last_parts);
    } else {
        fields.required("depths", cut.depths);
        fields.required("panels", cut.panels);
        fields.optional("last-parts", cut.last_parts, 1);
    }
}

void fields_of(Like<PanelCut> auto& cut, auto& fields) {
    fields.required("k", cut.k);
    fields.required("cols", cut.cols);
    fields.optional("first", cut.first_k, std::int64_t{0});
}

void fields_of(Like<ProductPlan> auto& plan, auto& fields) {
    fields.optional("count", plan.count, false);
    fields.nested("disk", plan.disk);
    fields.nested("rank", plan.rank);
    fields.nested("host", plan.host);
    fields.nested("transfers", plan.transfers);
    fields.required("backend", plan.backend);
    fields.required("threads", plan.threads);
    fields.nested("panels", plan.panels);
    fields.optional("complex", plan.complex, ComplexWay::none);
    fields.optional("arithmetic", plan.arithmetic, Arithmetic{});
    if (is_by_residues(plan)) {
        fields.required("tile", sides(plan.tile_m, plan.tile_k, plan.tile_n));
    }
    fields.required("levels", plan.levels);
    fields.required("leaf", plan.leaf);
    fields.optional("fringe-leaf", plan.fringe_leaf, std::string());
    fields.required("core", sides(plan.core_m, plan.core_k, plan.core_n));
    fields.optional("padded", plan.padded, false);
    fields.optional("scaled-sums", plan.scaled_sums, false);
    fields.optional("overwrite-inputs", plan.overwrite_inputs, false);
    fields.required("accumulate", plan.accumulate);
    fields.required("change-basis", plan.change_basis);
    fields.required("workspace-bytes", plan.workspace_bytes);
    fields.optional("vendor-workspace-bytes", plan.vendor_workspace_bytes, std::int64_t{0});
    fields.required("predicted-s", plan.predicted_s);
    fields.required("error-bound", plan.error_bound);
    fields.optional("least-evenness", plan.least_evenness, 0.0);
}

// ---------------------------------------------------------------- printing

class Printer {
public:
    /// `{...}` of a cut, whose parts stand without spaces.
    Printer(char separator) : separator_(separator) {}

    template <class Value>
    void required(const char* key, const Value& value) {
        text_ += fmt::format("{}{}={}", text_.empty() ? "" : std::string(1, separator_), key, print(value));
    }
    template <class Value>
    void optional(const char* key, const Value& value, const Value& usual) {
        if (value != usual) {
            required(key, value);
        }
    }
    template <class Cut>
    void nested(const char* key, const std::optional<Cut>& cut) {
        if (cut) {
            Printer inner(';');
            fields_of(*cut, inner);
            required(key, "{" + inner.text_ + "}");
        }
    }
    const std::string& text() const { return text_; }

private:
    static std::string print(bool value) { return value ? "yes" : "no"; }
    static std::string print(const std::string& value) { return value; }
    static std::string print(const Arithmetic& arithmetic) { return fmt::format("{}{}", kResidues, arithmetic.moduli); }
    static std::string print(ComplexWay way) { return complex_way_name(way); }
    static std::string print(Kept kept) { return kept_name(kept); }
    static std::string print(ClusterAlgorithm algorithm) { return cluster_algorithm_name(algorithm); }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    static std::string print(Number value) { return fmt::format("{}", value); }
    template <class Size, std::size_t N>
    static std::string print(const Sides<Size, N>& sizes) {
        std::string text;
        for (const Size* size : sizes.of) {
            text += fmt::format("{}{}", text.empty() ? "" : "x", *size);
        }
        return text;
    }
    static std::string print(const std::vector<std::int64_t>& sizes) {
        return fmt::format("{}", fmt::join(sizes, "+"));
    }
    static std::string print(const std::vector<LevelPlan>& levels) {
        std::string text;
        for (const LevelPlan& level : levels) {
            text += fmt::format("{}{}:{}", text.empty() ? "" : ",", level.algorithm, mode_name(level.mode));
            if (level.mode == LevelMode::fused) {
                text += fmt::format(":{}", kFusedOrders.of(level.order));
                text += level.tile == FusedTile::automatic ? "" : fmt::format(":{}", kFusedTiles.of(level.tile));
            } else if (!level.schedule.empty()) {
                text += ":" + level.schedule;
            }
        }
        return levels.empty() ? "none" : text;
    }

    char separator_;
    std::string text_{};
};

// ---------------------------------------------------------------- reading

/// False: there is none of that name.
template <class Enum, std::size_t count>
bool take_named(const std::string& text, Enum& value, const Names<Enum, count>& names) {
    const std::optional<Enum> found = names.find(text);
    value = found.value_or(value);
    return found.has_value();
}

LevelPlan parse_level(const std::string& text) {
    const auto parts = split(text, ':');
    const bool is_fused = parts.size() >= 2 && parts[1] == mode_name(LevelMode::fused);
    fail_if(parts.size() < 2 || parts.size() > (is_fused ? 4U : 3U), ErrorCode::input,
            "a level of a plan is written ALGORITHM:MODE, ALGORITHM:MODE:SCHEDULE or ALGORITHM:fused:ORDER:TILE, not "
            "'{}'",
            text);
    LevelPlan level;
    level.algorithm = parts[0];
    find_algorithm(level.algorithm);
    if (!take_named(parts[1], level.mode, kLevelModes)) {
        fail(ErrorCode::input, "'{}' is not the mode of a level; the modes are serial, parallel and fused", parts[1]);
    }
    if (!is_fused) {
        level.schedule = parts.size() == 3 ? parts[2] : "";
        return level;
    }
    if (parts.size() > 2 && !take_named(parts[2], level.order, kFusedOrders)) {
        fail(ErrorCode::input,
             "'{}' is not an order of a fused level; the orders are serial, two-streams, atomic, batched and "
             "persistent",
             parts[2]);
    }
    if (parts.size() > 3 && !take_named(parts[3], level.tile, kFusedTiles)) {
        fail(ErrorCode::input,
             "'{}' is not a tile of a fused level; the tiles are automatic, small, medium, large, tall, wide and "
             "huge",
             parts[3]);
    }
    return level;
}

class Reader {
public:
    explicit Reader(const std::vector<std::string>& words) {
        for (const std::string& word : words) {
            const auto equals = word.find('=');
            const std::string key = word.substr(0, equals);
            if (std::ranges::any_of(words_, [&](const Word& other) { return other.key == key; })) {
                fail(ErrorCode::input, "a plan has only one {}, not two", key);
            }
            words_.push_back({key, equals == std::string::npos ? "" : word.substr(equals + 1), word});
        }
    }

    template <class Value>
    void required(const char* key, Value&& value) {
        if (!take(key, value)) {
            missing_ = missing_.empty() ? key : missing_;
        }
    }
    template <class Value>
    void optional(const char* key, Value& value, const Value& /*usual*/) {
        take(key, value);
    }
    template <class Cut>
    void nested(const char* key, std::optional<Cut>& cut) {
        std::string text;
        if (!take(key, text)) {
            return;
        }
        fail_if(text.size() < 2 || text.front() != '{' || text.back() != '}', ErrorCode::input,
                "a plan's {} is written {}={{KEY=VALUE;...}}, not '{}'", key, key, text);
        Reader inner(split(text.substr(1, text.size() - 2), ';'));
        fields_of(cut.emplace(), inner);
        inner.finish();
    }
    void finish() const {
        if (!words_.empty()) {
            fail(ErrorCode::input, "a plan has no part '{}'", words_.front().text);
        }
        fail_if(!missing_.empty(), ErrorCode::input,
                "the plan is incomplete, its {} is missing; use it exactly as `heptad plan` printed it", missing_);
    }

private:
    struct Word {
        std::string key, value, text;
    };

    template <class Value>
    bool take(const std::string& key, Value&& value) {
        const auto found = std::ranges::find_if(words_, [&](const Word& word) { return word.key == key; });
        if (found == words_.end()) {
            return false;
        }
        const std::string text = found->value;
        words_.erase(found);
        parse(key, text, value);
        return true;
    }

    static void parse(const std::string& key, const std::string& text, bool& value) {
        fail_if(text != "yes" && text != "no", ErrorCode::input, "a plan's {} is yes or no, not '{}'", key, text);
        value = text == "yes";
    }
    static void parse(const std::string& /*key*/, const std::string& text, std::string& value) { value = text; }
    static void parse(const std::string& key, const std::string& text, Arithmetic& arithmetic) {
        if (text == "native") {
            return;
        }
        fail_if(!text.starts_with(kResidues), ErrorCode::input, "a plan's {} is native or residues:N, not '{}'", key,
                text);
        parse(key, text.substr(kResidues.size()), arithmetic.moduli);
    }
    static void parse(const std::string& key, const std::string& text, ComplexWay& way) {
        fail_if(!take_named(text, way, kComplexWays) || way == ComplexWay::none, ErrorCode::input,
                "a plan's {} is three-products, one-product or in-place, not '{}'", key, text);
    }
    static void parse(const std::string& key, const std::string& text, Kept& kept) {
        fail_if(!take_named(text, kept, kKept), ErrorCode::input, "a plan's {} is A, B or C, not '{}'", key, text);
    }
    static void parse(const std::string& key, const std::string& text, ClusterAlgorithm& algorithm) {
        fail_if(!is_cluster_algorithm(text), ErrorCode::input, "a plan's {} among ranks cannot be '{}'", key, text);
        algorithm = cluster_algorithm_from_name(text);
    }
    template <class Number>
    requires std::is_arithmetic_v<Number>
    static void parse(const std::string& key, const std::string& text, Number& value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        fail_if(error != std::errc() || end != text.data() + text.size() || !(value >= Number{}), ErrorCode::input,
                "a plan's {} cannot be '{}'", key, text);
    }
    template <class Size, std::size_t N>
    static void parse(const std::string& key, const std::string& text, const Sides<Size, N>& sizes) {
        const std::vector<std::string> parts = split(text, 'x');
        fail_if(parts.size() != N, ErrorCode::input, "a plan's {} is written {}, not '{}'", key,
                N == 2 ? "MxN" : "MxKxN", text);
        for (std::size_t i = 0; i < N; ++i) {
            parse(key, parts[i], *sizes.of[i]);
        }
    }
    static void parse(const std::string& key, const std::string& text, std::vector<std::int64_t>& sizes) {
        for (const std::string& part : split(text, '+')) {
            parse(key, part, sizes.emplace_back());
        }
    }
    static void parse(const std::string& /*key*/, const std::string& text, std::vector<LevelPlan>& levels) {
        if (text != "none") {
            for (const std::string& level : split(text, ',')) {
                levels.push_back(parse_level(level));
            }
        }
    }

    std::vector<Word> words_{};
    std::string missing_{};
};

/// Texts that were printed before plans of all placements had one form.
void refuse_old_text(const std::vector<std::string>& words) {
    constexpr const char* kForm =
        "plans of every placement now read 'plan MxKxN TYPE ... levels=... leaf=...', with {} where there is one; "
        "print it again with `heptad plan`";
    const std::string first = words.empty() ? "" : words.front();
    for (const auto& [word, of, part] :
         {std::array{"bits", "packed bits", "the leaf's panels as panels={k=...;cols=...}"},
          std::array{"files", "a product from file to file", "disk={memory=...;keep=C;tile=MxN;...}"},
          std::array{"devices", "a product over devices", "host={devices=cuda:0,1;algorithm=...;levels=1;...}"},
          std::array{"from-host", "operands of the host", "transfers={algorithm=winograd;opening=1;...}"},
          std::array{"cluster", "a cluster", "rank={ranks=6;algorithm=grid;grid=3x1x2;panels=4}"}}) {
        if (first == word) {
            fail(ErrorCode::input, "this is an old plan of {}: {}", of, fmt::format(fmt::runtime(kForm), part));
        }
    }
    fail_if(first != "plan" || words.size() < 3, ErrorCode::input,
            "a plan starts with 'plan MxKxN TYPE', as `heptad plan` prints it");
    if (std::ranges::any_of(words, [](const std::string& w) { return w.starts_with("extended="); })) {
        fail(ErrorCode::input, "this is an old plan: where it says extended=yes, plans now say padded=yes");
    }
}

}  // namespace

std::string to_string(const ProductPlan& plan) {
    Printer fields(' ');
    fields_of(plan, fields);
    return fmt::format("plan {}x{}x{} {} {}", plan.m, plan.k, plan.n, type_name(plan.type), fields.text());
}

ProductPlan parse_plan(const std::string& text) {
    std::istringstream stream = stream_of(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    refuse_old_text(words);
    ProductPlan plan;
    Reader head({"size=" + words[1]});
    head.required("size", sides(plan.m, plan.k, plan.n));
    plan.type = type_from_name(words[2]);
    Reader fields({words.begin() + 3, words.end()});
    fields_of(plan, fields);
    fields.finish();
    return plan;
}

}  // namespace heptad
