// The header of a .npy file: a small parser of the Python dict literal that numpy writes, and its opposite.
//
//   dict  = '{' [ item { ',' item } [ ',' ] ] '}'      item = string ':' value, the three keys in any order
//   value = string | 'True' | 'False' | '(' [ int { ',' int } [ ',' ] ] ')'
//
// Nothing else of Python is understood; whatever does not fit is refused with the byte at which it starts.
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/fail_if.hpp"
#include "base/shared_state.hpp"
#include "base/types.hpp"
#include "io/matrix_source.hpp"
#include "io/npy.hpp"

namespace heptad {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read without swapping bytes");

constexpr std::string_view kMagic{"\x93NUMPY", 6};
// What a header of version 1 can have at most. numpy itself stops at 10000 bytes unless told otherwise.
constexpr std::int64_t kLongestHeader_bytes = 65535;
constexpr std::int64_t kWrittenHeader_bytes = 4096;  // a multiple of every page and sector size for O_DIRECT

/// A piece of the file for an error sentence: printable, short.
std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40)) {
        if (c >= 0x20 && c < 0x7f) {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    return text.size() > 40 ? out + "..." : out;
}

struct Dictionary {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
};

class Parser {
public:
    Parser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

    Dictionary parse() {
        Dictionary d;
        bool has_descr = false, has_order = false, has_shape = false;
        expect('{', "the header is not a Python dictionary");
        while (!accept('}')) {
            const std::string key = string();
            expect(':', "':' is missing after a key");
            if (key == "descr") {
                once(has_descr, key);
                d.descr = dtype();
            } else if (key == "fortran_order") {
                once(has_order, key);
                d.fortran_order = boolean();
            } else if (key == "shape") {
                once(has_shape, key);
                d.shape = tuple();
            } else {
                refuse(fmt::format("the key '{}' is none of 'descr', 'fortran_order' and 'shape'", shown(key)));
            }
            if (!accept(',')) {
                expect('}', "',' or '}' is missing after a value");
                break;
            }
        }
        skip_space();
        refuse_if(at_ != text_.size(), "something follows the closing '}'");
        if (!has_descr || !has_order || !has_shape) {
            refuse(fmt::format("the key '{}' is missing", !has_descr   ? "descr"
                                                          : !has_order ? "fortran_order"
                                                                       : "shape"));
        }
        return d;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const {
        fail(ErrorCode::input,
             "the .npy header of '{}' is malformed at its byte {}: {}; save the array again with numpy.save", name_,
             at_, why);
    }
    void refuse_if(bool wrong, const char* why) const {
        if (wrong) {
            refuse(why);
        }
    }

    void once(bool& seen, const std::string& key) const {
        if (seen) {
            refuse(fmt::format("the key '{}' appears twice", key));
        }
        seen = true;
    }

    void skip_space() {
        while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr && text_[at_] != '\0') {
            ++at_;
        }
    }

    bool accept(char c) {
        skip_space();
        if (at_ < text_.size() && text_[at_] == c) {
            ++at_;
            return true;
        }
        return false;
    }

    void expect(char c, const char* otherwise) { refuse_if(!accept(c), otherwise); }

    std::string string() {
        skip_space();
        refuse_if(at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"'), "a quoted string is expected");
        const char quote = text_[at_];
        const std::size_t first = at_ + 1;
        std::size_t last = first;
        while (last < text_.size() && text_[last] != quote) {
            refuse_if(text_[last] == '\\' || text_[last] == '\n', "a string holds a backslash or a line end");
            ++last;
        }
        refuse_if(last == text_.size(), "a string does not end");
        at_ = last + 1;
        return std::string(text_.substr(first, last - first));
    }

    std::string dtype() {
        skip_space();
        if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
            fail(ErrorCode::input,
                 "'{}' holds a structured dtype ({}); a matrix has one number per element: save one field, as in "
                 "numpy.save(path, a['field'])",
                 name_, shown(text_.substr(at_)));
        }
        return string();
    }

    bool boolean() {
        skip_space();
        for (const std::string_view word : {"True", "False"}) {
            if (text_.substr(at_).starts_with(word)) {
                at_ += word.size();
                return word == "True";
            }
        }
        refuse("'fortran_order' is neither True nor False");
    }

    std::vector<std::int64_t> tuple() {
        expect('(', "'shape' is not a tuple");
        std::vector<std::int64_t> sizes;
        bool comma = true;
        while (!accept(')')) {
            refuse_if(!comma, "',' or ')' is missing in 'shape'");
            refuse_if(sizes.size() == 64, "'shape' has more than 64 dimensions");
            sizes.push_back(size());
            comma = accept(',');
        }
        refuse_if(sizes.size() == 1 && !comma, "'shape' is a number in parentheses, not a tuple");
        return sizes;
    }

    std::int64_t size() {
        skip_space();
        const std::size_t first = at_;
        std::int64_t value = 0;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            refuse_if(
                __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text_[at_] - '0', &value),
                "a size in 'shape' does not fit in 63 bits");
            ++at_;
        }
        refuse_if(at_ == first, "'shape' holds something that is not a size of 0 or more");
        refuse_if(text_[first] == '0' && at_ - first > 1, "a size in 'shape' starts with a zero");
        if (at_ < text_.size() && text_[at_] == 'L') {  // written by numpy under Python 2
            ++at_;
        }
        return value;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t at_ = 0;
};

struct Dtype {
    std::string_view name;
    bool only_when_asked;     // more than one meaning: the caller must say which
    std::vector<Type> types;  // what it may be taken for, the default first
};

const std::vector<Dtype>& dtypes() {
    static constinit Once<std::vector<Dtype>> table;
    return table.get([] {
        return std::vector<Dtype>{
            {"<f8", false, {Type::f64}},
            {"<f4", false, {Type::f32, Type::tf32}},
            {"<f2", false, {Type::f16}},
            {"<i4", false, {Type::i32}},
            {"<u4", true, {Type::i32}},
            {"<i8", false, {Type::i64}},
            {"<u8", true, {Type::i64}},
            {"<c8", false, {Type::c64}},
            {"<c16", false, {Type::c128}},
            {"|b1", false, {Type::boolean, Type::gf2}},
            {"|u1", true, {Type::gf2, Type::boolean}},
            {"|i1", true, {Type::gf2, Type::boolean}},
            {"<V2", true, {Type::bf16}},
            {"|V2", true, {Type::bf16}},
        };
    });
}

/// What a person does about a dtype that has no entry in the table.
std::string way_out(const std::string& descr) {
    const char order = descr.empty() ? '?' : descr[0];
    const char kind = descr.size() < 2 ? '?' : descr[1];
    if (order == '>') {
        return fmt::format("big-endian elements; convert them with a.astype('<{}')", shown(descr.substr(1)));
    }
    struct Advice {
        std::string_view kinds;
        const char* text;
    };
    static constexpr std::array<Advice, 7> known{
        {{"O", "Python objects, which are never loaded; convert them with a.astype('<f8')"},
         {"c", "complex numbers of a size without a type; convert them with a.astype('<c16')"},
         {"USa", "text; convert it with a.astype('<f8')"},
         {"Mm", "dates or times; convert them with a.astype('<i8').astype('<f8')"},
         {"f", "floats of a size without a type; convert them with a.astype('<f8')"},
         {"iub", "integers of a size without a type; convert them with a.astype('<i8')"},
         {"V", "raw bytes; convert them with a.view('<f4') or the dtype they really have"}}};
    for (const Advice& advice : known) {
        if (advice.kinds.find(kind) != std::string_view::npos) {
            return advice.text;
        }
    }
    return "nothing this program knows; convert it with a.astype('<f4')";
}

bool holds_bits(Type type) {
    return type == Type::gf2 || type == Type::boolean;
}

/// Binary digits of a number, or of its real part.
int digits(Type type) {
    switch (type) {
        case Type::bf16:
            return 8;
        case Type::f16:
            return 11;
        case Type::i32:
            return 32;
        case Type::f64:
        case Type::c128:
            return 53;
        case Type::i64:
            return 64;
        default:
            return 24;
    }
}

/// Why a dtype is not read as a type.
std::string why_not(const Dtype& dtype, Type to) {
    const Type from = dtype.types.front();
    if (holds_bits(from) || holds_bits(to)) {
        return holds_bits(from) ? "bits are not read as numbers" : "its elements are numbers";
    }
    if (is_complex(from) != is_complex(to)) {
        return is_complex(from) ? "its numbers are complex" : "its numbers are real";
    }
    const bool fewer = digits(to) < digits(from);
    if (is_integer(to) ? !is_integer(from) : fewer) {
        return "that would round";
    }
    if (fewer || (from == Type::bf16 && to == Type::f16)) {
        return fmt::format("{} does not hold all its values", type_name(to));
    }
    return is_widened(from, to) && !dtype.only_when_asked ? "only products in memory widen it"
                                                          : "files of this dtype are not widened to that";
}

Type choose_type(const std::string& descr, const std::string& name, std::optional<Type> as) {
    for (const Dtype& dtype : dtypes()) {
        if (dtype.name != descr) {
            continue;
        }
        if (!as && !dtype.only_when_asked) {
            return dtype.types.front();
        }
        std::string choices;
        for (const Type type : dtype.types) {
            if (as == type) {
                return type;
            }
            choices += (choices.empty() ? "" : " or ") + std::string(type_name(type));
        }
        fail_if(!as, ErrorCode::input, "'{}' has dtype '{}', which is read only when the type is named; name {}{}",
                name, descr, choices, descr == "|u1" ? ", and --columns if these are packed bits" : "");
        fail(
            ErrorCode::input,
            "'{}' has dtype '{}', which can be read as {} but not as {}, because {}; convert it with a.astype in numpy "
            "or name another type",
            name, descr, choices, holds_bits(*as) ? "gf2 or bool" : type_name(*as), why_not(dtype, *as));
    }
    fail(ErrorCode::input, "'{}' has dtype '{}': {}", name, shown(descr), way_out(descr));
}

void require_two_dimensions(const std::vector<std::int64_t>& shape, const std::string& name) {
    if (shape.size() == 2) {
        return;
    }
    const char* const advice = shape.empty()       ? "save a.reshape(1, 1)"
                               : shape.size() == 1 ? "save a.reshape(1, -1) for a row or a.reshape(-1, 1) for a column"
                                                   : "save one matrix of it, as in a[0], or a.reshape(-1, a.shape[-1])";
    fail(ErrorCode::input, "'{}' holds an array of {} dimensions and a matrix has 2; {}", name, shape.size(), advice);
}

std::uint32_t little_endian(std::span<const std::byte> bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
    }
    return value;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> start, const std::string& name, std::optional<Type> as) {
    fail_if(start.size() < kMagic.size() || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0,
            ErrorCode::input, "'{}' is not a .npy file (it does not start with \\x93NUMPY); save it with numpy.save",
            name);
    NpyHeader header;
    const std::size_t length_at = kMagic.size() + 2;
    fail_if(start.size() < length_at, ErrorCode::input,
            "'{}' is truncated: it ends at byte {}, inside its .npy version", name, start.size());
    header.version = std::to_integer<int>(start[kMagic.size()]);
    const int minor = std::to_integer<int>(start[kMagic.size() + 1]);
    fail_if(header.version < 1 || header.version > 3 || minor != 0, ErrorCode::input,
            "'{}' has .npy version {}.{} and only 1.0, 2.0 and 3.0 are known; save it with numpy.save", name,
            header.version, minor);
    const std::size_t length_bytes = header.version == 1 ? 2 : 4;
    const std::size_t text_at = length_at + length_bytes;
    fail_if(start.size() < text_at, ErrorCode::input,
            "'{}' is truncated: it ends at byte {}, inside its .npy header length", name, start.size());
    const std::int64_t length = little_endian(start.subspan(length_at, length_bytes));
    fail_if(length > kLongestHeader_bytes, ErrorCode::input,
            "'{}' claims a .npy header of {} bytes and the limit is {}; save it with numpy.save", name, length,
            kLongestHeader_bytes);
    header.data_offset = static_cast<std::int64_t>(text_at) + length;
    fail_if(static_cast<std::int64_t>(start.size()) < header.data_offset, ErrorCode::input,
            "'{}' is truncated: its .npy header should end at byte {} and the file ends at byte {}", name,
            header.data_offset, start.size());
    const std::string_view text(reinterpret_cast<const char*>(start.data()) + text_at,
                                static_cast<std::size_t>(length));
    const Dictionary dictionary = Parser(text, name).parse();
    header.dtype = dictionary.descr;
    header.fortran_order = dictionary.fortran_order;
    header.type = choose_type(header.dtype, name, as);
    require_two_dimensions(dictionary.shape, name);
    header.rows = dictionary.shape[0];
    header.cols = dictionary.shape[1];
    std::int64_t elements = 0;
    fail_if(__builtin_mul_overflow(header.rows, header.cols, &elements) ||
                __builtin_mul_overflow(elements, static_cast<std::int64_t>(element_bytes(header.type)),
                                       &header.data_bytes) ||
                __builtin_add_overflow(header.data_bytes, header.data_offset, &elements),
            ErrorCode::input, "'{}' claims {} x {} elements, which is more bytes than 64 bits can count", name,
            header.rows, header.cols);
    return header;
}

std::string npy_header_text(Type type, std::int64_t rows, std::int64_t cols) {
    // In the order of enum Type.
    constexpr std::array<const char*, 11> written{"<f8", "<f4", "<f4", "<V2", "<f2", "<i4",
                                                  "|b1", "|b1", "<i8", "<c8", "<c16"};
    const std::size_t text_at = kMagic.size() + 4;
    std::string text(kMagic);
    const auto length = static_cast<std::size_t>(kWrittenHeader_bytes) - text_at;
    text += {'\x01', '\x00', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
    text += fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                        written[static_cast<std::size_t>(type)], rows, cols);
    text.resize(static_cast<std::size_t>(kWrittenHeader_bytes) - 1, ' ');
    return text + '\n';
}

}  // namespace heptad
