// A plan of a product from files to a file as one line, and back:
//
//   files m=.. k=.. n=.. type=f32 add=no memory=.. keep=C mirrored=no tile=HxW depth=D first=D strip=H panels=2
//   blocks=A,B,C ...
#include <array>
#include <charconv>
#include <cstdlib>
#include <map>

#include "base/error.hpp"
#include "base/text_stream.hpp"
#include "plan/search/file_plan.hpp"

namespace heptad {
namespace {

constexpr const char* kFirstWord = "files";

class Fields {
public:
    explicit Fields(const std::string& text) : text_(text) {
        std::istringstream words = stream_of(text);
        std::string word;
        if (!(words >> word) || word != kFirstWord) {
            refuse("it does not begin with 'files'");
        }
        while (words >> word) {
            const auto equals = word.find('=');
            if (equals == std::string::npos ||
                !fields_.emplace(word.substr(0, equals), word.substr(equals + 1)).second) {
                refuse(fmt::format("'{}' is no key=value that stands once", word));
            }
        }
    }

    std::string word(const std::string& key) {
        const auto found = fields_.find(key);
        if (found == fields_.end()) {
            refuse(fmt::format("'{}' is missing", key));
        }
        std::string value = found->second;
        fields_.erase(found);
        return value;
    }
    std::int64_t size(const std::string& key) { return to_size(key, word(key)); }
    bool flag(const std::string& key) {
        const std::string value = word(key);
        if (value != "yes" && value != "no") {
            refuse(fmt::format("'{}' is neither yes nor no", key));
        }
        return value == "yes";
    }
    /// Sizes with a separator between them.
    template <std::size_t N>
    std::array<std::int64_t, N> sizes(const std::string& key, char separator) {
        std::istringstream parts = stream_of(word(key));
        std::array<std::int64_t, N> values{};
        std::string part;
        for (std::int64_t& value : values) {
            if (!std::getline(parts, part, separator)) {
                refuse(fmt::format("'{}' takes {} sizes", key, N));
            }
            value = to_size(key, part);
        }
        if (std::getline(parts, part, separator)) {
            refuse(fmt::format("'{}' takes {} sizes", key, N));
        }
        return values;
    }
    void finish() const {
        if (!fields_.empty()) {
            refuse(fmt::format("'{}' is unknown", fields_.begin()->first));
        }
    }
    [[noreturn]] void refuse(const std::string& why) const {
        fail(ErrorCode::input, "'{}' is no plan of a product from files: {}", text_.substr(0, 60), why);
    }

private:
    std::int64_t to_size(const std::string& key, const std::string& value) const {
        std::int64_t number = 0;
        const char* const end = value.data() + value.size();
        const auto [at, error] = std::from_chars(value.data(), end, number);
        if (error != std::errc{} || at != end || number < 0) {
            refuse(fmt::format("'{}' is '{}', no size", key, value));
        }
        return number;
    }

    std::string text_;
    std::map<std::string, std::string> fields_;
};

const char* yes_or_no(bool value) {
    return value ? "yes" : "no";
}

}  // namespace

std::string to_string(const FilePlan& plan) {
    return fmt::format(
        "{} m={} k={} n={} type={} add={} memory={} keep={} mirrored={} tile={}x{} depth={} first={} strip={} "
        "panels={} blocks={},{},{} tile-bytes={} panel-bytes={} workspace={} check={} read={},{},{} written={} "
        "multiply={:a}",
        kFirstWord, plan.m, plan.k, plan.n, type_name(plan.type), yes_or_no(plan.adds), plan.memory_bytes,
        kept_name(plan.kept), yes_or_no(plan.mirrored), plan.tile_m, plan.tile_n, plan.depth, plan.first_depth,
        plan.strip_m, plan.panel_buffers, plan.a_block, plan.b_block, plan.c_block, plan.tile_bytes, plan.panel_bytes,
        plan.workspace_bytes, plan.check_bytes, plan.read_a_bytes, plan.read_b_bytes, plan.read_c0_bytes,
        plan.written_bytes, plan.multiply_s);
}

FilePlan parse_file_plan(const std::string& text) {
    Fields fields(text);
    FilePlan plan;
    plan.m = fields.size("m");
    plan.k = fields.size("k");
    plan.n = fields.size("n");
    plan.type = type_from_name(fields.word("type"));
    plan.adds = fields.flag("add");
    plan.memory_bytes = fields.size("memory");
    const std::string kept = fields.word("keep");
    if (kept != "A" && kept != "B" && kept != "C") {
        fields.refuse("'keep' is none of A, B and C");
    }
    plan.kept = kept == "A" ? Kept::a : kept == "B" ? Kept::b : Kept::c;
    plan.mirrored = fields.flag("mirrored");
    const auto tile = fields.sizes<2>("tile", 'x');
    plan.tile_m = tile[0];
    plan.tile_n = tile[1];
    plan.depth = fields.size("depth");
    plan.first_depth = fields.size("first");
    plan.strip_m = fields.size("strip");
    plan.panel_buffers = fields.size("panels");
    const auto blocks = fields.sizes<3>("blocks", ',');
    plan.a_block = blocks[0];
    plan.b_block = blocks[1];
    plan.c_block = blocks[2];
    plan.tile_bytes = fields.size("tile-bytes");
    plan.panel_bytes = fields.size("panel-bytes");
    plan.workspace_bytes = fields.size("workspace");
    plan.check_bytes = fields.size("check");
    const auto read = fields.sizes<3>("read", ',');
    plan.read_a_bytes = read[0];
    plan.read_b_bytes = read[1];
    plan.read_c0_bytes = read[2];
    plan.written_bytes = fields.size("written");
    plan.multiply_s = std::strtod(fields.word("multiply").c_str(), nullptr);
    fields.finish();
    const std::int64_t rows = plan.mirrored ? plan.n : plan.m, cols = plan.mirrored ? plan.m : plan.n;
    if (plan.tile_m < 1 || plan.tile_n < 1 || plan.depth < 1 || plan.first_depth < 1 || plan.strip_m < 1 ||
        plan.tile_m > rows || plan.tile_n > cols || plan.depth > plan.k || plan.first_depth > plan.depth ||
        plan.strip_m > plan.tile_m || plan.panel_buffers < 1 || plan.panel_buffers > 2 || plan.a_block < 1 ||
        plan.b_block < 1 || plan.c_block < 1) {
        fields.refuse("its cuts do not fit its sizes");
    }
    return plan;
}

}  // namespace heptad
