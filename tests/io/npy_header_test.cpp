// Headers that numpy writes are read; headers that lie, break off or mean something else are refused with the right
// sentence, and no mutation of a header crashes the parser.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/size.hpp"
#include "io/npy.hpp"

namespace heptad {
namespace {

std::string npy(const std::string& dictionary, int version = 1) {
    std::string file = "\x93NUMPY";
    file += static_cast<char>(version);
    file += '\0';
    const auto length = static_cast<std::uint32_t>(dictionary.size());
    for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
        file += static_cast<char>(length >> (8 * byte) & 0xff);
    }
    return file + dictionary;
}

std::string dictionary(const std::string& descr, const std::string& shape = "(3, 4)",
                       const std::string& order = "False") {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

NpyHeader parse(const std::string& file, std::optional<Type> as = {}) {
    return parse_npy_header(std::as_bytes(std::span(file.data(), file.size())), "some.npy", as);
}

std::string refusal(const std::string& file, std::optional<Type> as = {}) {
    try {
        parse(file, as);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::input) << error.what();
        return error.what();
    }
    return "";
}

TEST(NpyHeader, every_version_and_order_is_read) {
    for (int version = 1; version <= 3; ++version) {
        for (const bool fortran : {false, true}) {
            const NpyHeader h = parse(npy(dictionary("'<f4'", "(3, 4)", fortran ? "True" : "False") + "  \n", version));
            EXPECT_EQ(h.version, version);
            EXPECT_EQ(h.type, Type::f32);
            EXPECT_EQ(h.dtype, "<f4");
            EXPECT_EQ(h.rows, 3);
            EXPECT_EQ(h.cols, 4);
            EXPECT_EQ(h.fortran_order, fortran);
            EXPECT_EQ(h.data_bytes, 48);
        }
    }
}

TEST(NpyHeader, data_starts_right_after_the_header) {
    const std::string text = dictionary("'<f8'") + "\n";
    EXPECT_EQ(parse(npy(text, 1)).data_offset, static_cast<std::int64_t>(10 + text.size()));
    EXPECT_EQ(parse(npy(text, 2)).data_offset, static_cast<std::int64_t>(12 + text.size()));
    EXPECT_EQ(parse(npy(text, 3) + "elements follow").data_offset, static_cast<std::int64_t>(12 + text.size()));
}

TEST(NpyHeader, spellings_that_python_allows_are_read) {
    for (const char* const text : {
             "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}",
             "{\"descr\": \"<f4\", \"fortran_order\": False, \"shape\": (3, 4), }",
             "{'shape': (3, 4), 'fortran_order': False, 'descr': '<f4'}",
             "{'shape':(3,4,),'fortran_order':False,'descr':'<f4',}\n",
             "  {\t'shape' : ( 3 , 4 ) ,\r\n 'fortran_order' :False , 'descr' : '<f4' , } \n\n",
             "{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L), }",
         }) {
        const NpyHeader h = parse(npy(text));
        EXPECT_EQ(h.rows, 3) << text;
        EXPECT_EQ(h.cols, 4) << text;
        EXPECT_EQ(h.type, Type::f32) << text;
    }
}

struct TypeCase {
    const char* dtype;
    std::optional<Type> as;
    std::optional<Type> expected;  // nothing: refused
};

TEST(NpyHeader, dtypes_become_the_types_that_the_table_in_the_interface_says) {
    const std::vector<TypeCase> cases{
        {"<f8", {}, Type::f64},
        {"<f4", {}, Type::f32},
        {"<f4", Type::f32, Type::f32},
        {"<f4", Type::tf32, Type::tf32},
        {"<f2", {}, Type::f16},
        {"<i4", {}, Type::i32},
        {"|b1", {}, Type::boolean},
        {"|b1", Type::gf2, Type::gf2},
        {"|u1", Type::gf2, Type::gf2},
        {"|u1", Type::boolean, Type::boolean},
        {"|i1", Type::gf2, Type::gf2},
        {"<u4", Type::i32, Type::i32},
        {"<i8", {}, Type::i64},
        {"<u8", Type::i64, Type::i64},
        {"<u8", {}, {}},
        {"<c8", {}, Type::c64},
        {"<c16", {}, Type::c128},
        {"<c8", Type::c128, {}},
        {"<i8", Type::f64, {}},
        {"<i4", Type::i64, {}},
        {"<V2", Type::bf16, Type::bf16},
        {"|V2", Type::bf16, Type::bf16},
        {"<u4", {}, {}},
        {"|u1", {}, {}},
        {"|u1", Type::f32, {}},
        {"<V2", {}, {}},
        {"<V2", Type::f16, {}},
        {"<f8", Type::f32, {}},
        {"<f4", Type::f64, {}},
        {"<f2", Type::bf16, {}},
        {"<i4", Type::f32, {}},
        {"|b1", Type::i32, {}},
    };
    for (const TypeCase& c : cases) {
        const std::string file = npy(dictionary(std::string("'") + c.dtype + "'"));
        if (c.expected) {
            EXPECT_EQ(parse(file, c.as).type, *c.expected) << c.dtype;
        } else {
            const std::string sentence = refusal(file, c.as);
            EXPECT_NE(sentence.find(c.dtype), std::string::npos) << c.dtype << ": " << sentence;
        }
    }
}

TEST(NpyHeader, why_a_type_is_refused_is_true) {
    struct WhyCase {
        const char* dtype;
        Type as;
        const char* sentence_has;
    };
    for (const WhyCase& c : {WhyCase{"<f8", Type::f32, "not as f32, because that would round"},
                             {"<f8", Type::i32, "not as i32, because that would round"},
                             {"<c16", Type::c64, "not as c64, because that would round"},
                             {"<i8", Type::f64, "not as f64, because that would round"},
                             {"<u4", Type::f32, "not as f32, because that would round"},
                             {"<i8", Type::i32, "not as i32, because i32 does not hold all its values"},
                             {"<V2", Type::f16, "not as f16, because f16 does not hold all its values"},
                             {"<f4", Type::f64, "not as f64, because only products in memory widen it"},
                             {"<c8", Type::c128, "not as c128, because files of this dtype are not widened to that"},
                             {"<u4", Type::f64, "not as f64, because files of this dtype are not widened to that"},
                             {"<f4", Type::c64, "not as c64, because its numbers are real"},
                             {"<c8", Type::f32, "not as f32, because its numbers are complex"},
                             {"<i4", Type::boolean, "not as gf2 or bool, because its elements are numbers"},
                             {"|b1", Type::f32, "not as f32, because bits are not read as numbers"}}) {
        const std::string sentence = refusal(npy(dictionary(std::string("'") + c.dtype + "'")), c.as);
        EXPECT_NE(sentence.find(c.sentence_has), std::string::npos) << c.dtype << ": " << sentence;
    }
}

struct HostileCase {
    std::string file;
    const char* sentence_has;
};

TEST(NpyHeader, hostile_headers_are_refused_with_a_sentence_that_says_why) {
    const std::string good = npy(dictionary("'<f4'"));
    const std::vector<HostileCase> cases{
        // not a .npy file, or not all of one
        {"", "not a .npy file"},
        {"\x93NUM", "not a .npy file"},
        {"PK\x03\x04 an .npz archive", "not a .npy file"},
        {good.substr(0, 6), "truncated"},
        {good.substr(0, 7), "truncated"},
        {good.substr(0, 9), "truncated"},
        {good.substr(0, 30), "truncated"},
        {good.substr(0, good.size() - 1), "truncated"},
        {npy(dictionary("'<f4'"), 2).substr(0, 11), "truncated"},
        // versions and lengths
        {npy(dictionary("'<f4'"), 0), "version 0.0"},
        {npy(dictionary("'<f4'"), 4), "version 4.0"},
        {npy(dictionary("'<f4'"), 147), "version 147.0"},
        {std::string("\x93NUMPY\x01\x01\x10\x00", 10) + std::string(16, ' '), "version 1.1"},
        {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "4294967295"},
        {std::string("\x93NUMPY\x03\x00\x00\x00\x01\x00", 12) + std::string(65536, ' '), "65536"},
        // no dictionary
        {npy(""), "not a Python dictionary"},
        {npy(std::string(100, ' ')), "not a Python dictionary"},
        {npy(std::string(100, '\0')), "not a Python dictionary"},
        {npy("__import__('os').system('true')"), "not a Python dictionary"},
        {npy("['<f4', False, (3, 4)]"), "not a Python dictionary"},
        {npy("{"), "quoted string"},
        {npy("{}"), "missing"},
        {npy("{{"), "quoted string"},
        {npy("{'descr"), "does not end"},
        {npy("{'descr' '<f4'}"), "':'"},
        {npy("{'descr': '<f4' 'fortran_order': False}"), "','"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)"), "'}'"},
        {npy(dictionary("'<f4'") + "x"), "follows"},
        {npy(dictionary("'<f4'") + dictionary("'<f4'")), "follows"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4),, }"), "quoted string"},
        // keys
        {npy("{'descr': '<f4', 'shape': (3, 4)}"), "'fortran_order' is missing"},
        {npy("{'descr': '<f4', 'fortran_order': False}"), "'shape' is missing"},
        {npy("{'fortran_order': False, 'shape': (3, 4)}"), "'descr' is missing"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'shape': (4, 3)}"), "twice"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'extra': 1}"), "'extra'"},
        {npy("{'Descr': '<f4', 'fortran_order': False, 'shape': (3, 4)}"), "'Descr'"},
        {npy("{descr: '<f4', 'fortran_order': False, 'shape': (3, 4)}"), "quoted string"},
        // dtypes
        {npy(dictionary("'>f4'")), "astype('<f4')"},
        {npy(dictionary("'>f8'")), "big-endian"},
        {npy(dictionary("'|O'")), "objects"},
        {npy(dictionary("'>c8'")), "big-endian"},
        {npy(dictionary("'<c32'")), "complex"},
        {npy(dictionary("'<U7'")), "text"},
        {npy(dictionary("'|S3'")), "text"},
        {npy(dictionary("'<M8[ns]'")), "dates"},
        {npy(dictionary("'<i2'")), "astype('<i8')"},
        {npy(dictionary("'<i2'")), "integers of a size"},
        {npy(dictionary("'<f16'")), "astype('<f8')"},
        {npy(dictionary("'|V5'")), "raw bytes"},
        {npy(dictionary("'f4'")), "dtype 'f4'"},
        {npy(dictionary("''")), "dtype ''"},
        {npy(dictionary("[('x', '<f4'), ('y', '<f4')]")), "structured"},
        {npy(dictionary("('<f4', (2,))")), "structured"},
        {npy(dictionary("'<f4\\''")), "backslash"},
        {npy(dictionary("None")), "quoted string"},
        {npy(dictionary("'" + std::string(1000, 'A') + "'")), "..."},
        {npy(dictionary("'\x01\x7f'")), "\\x01"},
        // order
        {npy(dictionary("'<f4'", "(3, 4)", "true")), "neither True nor False"},
        {npy(dictionary("'<f4'", "(3, 4)", "1")), "neither True nor False"},
        {npy(dictionary("'<f4'", "(3, 4)", "'True'")), "neither True nor False"},
        {npy(dictionary("'<f4'", "(3, 4)", "Truelove")), "','"},
        // shapes
        {npy(dictionary("'<f4'", "()")), "0 dimensions"},
        {npy(dictionary("'<f4'", "(12,)")), "reshape(1, -1)"},
        {npy(dictionary("'<f4'", "(2, 3, 2)")), "3 dimensions"},
        {npy(dictionary("'<f4'", "(12)")), "not a tuple"},
        {npy(dictionary("'<f4'", "12")), "not a tuple"},
        {npy(dictionary("'<f4'", "[3, 4]")), "not a tuple"},
        {npy(dictionary("'<f4'", "(3 4)")), "missing in 'shape'"},
        {npy(dictionary("'<f4'", "(3,, 4)")), "not a size"},
        {npy(dictionary("'<f4'", "(,)")), "not a size"},
        {npy(dictionary("'<f4'", "(-3, 4)")), "not a size"},
        {npy(dictionary("'<f4'", "(+3, 4)")), "not a size"},
        {npy(dictionary("'<f4'", "(3.0, 4)")), "'shape'"},
        {npy(dictionary("'<f4'", "(3e2, 4)")), "'shape'"},
        {npy(dictionary("'<f4'", "(0x3, 4)")), "'shape'"},
        {npy(dictionary("'<f4'", "(1_0, 4)")), "'shape'"},
        {npy(dictionary("'<f4'", "(03, 4)")), "starts with a zero"},
        {npy(dictionary("'<f4'", "('3', 4)")), "not a size"},
        {npy(dictionary("'<f4'", "(None, 4)")), "not a size"},
        {npy(dictionary("'<f4'", "(9223372036854775808, 1)")), "63 bits"},
        {npy(dictionary("'<f4'", "(99999999999999999999999999, 1)")), "63 bits"},
        {npy(dictionary("'<f4'", "(4294967296, 4294967296)")), "64 bits"},
        {npy(dictionary("'<f4'", "(9223372036854775807, 1)")), "64 bits"},
        {npy(dictionary("'<f8'", "(1152921504606846975, 1)")), "64 bits"},  // only the offset makes it overflow
        {npy(dictionary("'<f4'", "(3, 4")), "'shape'"},
        {npy(dictionary("'<f4'", "(((((((((((3, 4)")), "not a size"},
        {npy(dictionary("'<f4'", "(" + std::string(3000, '1') + ")")), "63 bits"},
        {npy(dictionary("'<f4'",
                        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                        "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)")),
         "64 dimensions"},
    };
    EXPECT_GE(cases.size(), 40U);
    for (const HostileCase& c : cases) {
        const std::string sentence = refusal(c.file);
        EXPECT_NE(sentence.find(c.sentence_has), std::string::npos)
            << "header: " << c.file.substr(0, 120) << "\nexpected: " << c.sentence_has << "\nsentence: " << sentence;
        EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
        EXPECT_LT(sentence.size(), 400U) << sentence;
    }
}

TEST(NpyHeader, written_headers_are_4096_bytes_and_read_back) {
    struct Case {
        Type type;
        const char* dtype;
    };
    for (const Case& c :
         {Case{Type::f64, "<f8"}, Case{Type::f32, "<f4"}, Case{Type::tf32, "<f4"}, Case{Type::bf16, "<V2"},
          Case{Type::f16, "<f2"}, Case{Type::i32, "<i4"}, Case{Type::i64, "<i8"}, Case{Type::c64, "<c8"},
          Case{Type::c128, "<c16"}, Case{Type::gf2, "|b1"}, Case{Type::boolean, "|b1"}}) {
        const std::string text = npy_header_text(c.type, 1234567890123, 3);
        EXPECT_EQ(text.size(), 4096U);
        EXPECT_EQ(text.back(), '\n');
        const NpyHeader h = parse(text, c.type);
        EXPECT_EQ(h.dtype, c.dtype);
        EXPECT_EQ(h.type, c.type);
        EXPECT_EQ(h.rows, 1234567890123);
        EXPECT_EQ(h.cols, 3);
        EXPECT_EQ(h.data_offset, 4096);
    }
}

/// Flips, deletions, insertions, swaps and splices of valid headers. Whatever comes out is read or refused with
/// Error(input); what is read is consistent.
TEST(NpyHeader, thirty_thousand_mutated_headers_are_read_consistently_or_refused) {
    const std::vector<std::string> seeds{
        dictionary("'<f4'") + std::string(20, ' ') + "\n",
        dictionary("'<f8'", "(1000000, 2)", "True") + "\n",
        dictionary("'|b1'", "(0, 9223372036854775807)") + "\n",
        dictionary("'<V2'", "(5, 5,)") + "\n",
        dictionary("[('x', '<f4')]") + "\n",
    };
    const std::string alphabet = "{}()[]'\",: \n\\0123456789LTrueFalse<>|fibVuO-+._\x93";
    std::mt19937_64 random(20240607);
    const auto pick = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
    int read = 0, refused = 0;
    for (int i = 0; i < 30000; ++i) {
        const int version = static_cast<int>(1 + pick(3));
        const bool whole_file = pick(2) == 0;  // else only the dictionary is mutated and its length told rightly
        std::string file = seeds[pick(seeds.size())];
        if (whole_file) {
            file = npy(file, version);
        }
        const std::size_t mutations = 1 + pick(4);
        for (std::size_t step = 0; step < mutations && !file.empty(); ++step) {
            const std::size_t at = pick(file.size());
            switch (pick(10)) {
                case 0:
                    file[at] = static_cast<char>(random());
                    break;
                case 1:
                    file[at] = alphabet[pick(alphabet.size())];
                    break;
                case 2:
                    file.erase(at, 1 + pick(8));
                    break;
                case 3:
                    file.insert(at, 1 + pick(3), alphabet[pick(alphabet.size())]);
                    break;
                case 4:
                    std::swap(file[at], file[pick(file.size())]);
                    break;
                case 5:
                case 6:  // what a lying but well-formed header has
                    if (file[at] >= '0' && file[at] <= '9') {
                        file[at] = static_cast<char>('0' + pick(10));
                    }
                    break;
                case 7:
                    if (file[at] == ' ') {
                        file[at] = "\t\n\r "[pick(4)];
                    }
                    break;
                default: {
                    const std::string& other = seeds[pick(seeds.size())];
                    file.replace(at, pick(16), other.substr(pick(other.size()), pick(16)));
                }
            }
        }
        if (!whole_file) {
            file = npy(file, version);
        }
        const std::optional<Type> as = pick(4) != 0 ? std::nullopt : std::optional(static_cast<Type>(pick(8)));
        try {
            const NpyHeader h = parse(file, as);
            ++read;
            ASSERT_GE(h.rows, 0);
            ASSERT_GE(h.cols, 0);
            ASSERT_GE(h.data_offset, 10);
            ASSERT_LE(h.data_offset, static_cast<std::int64_t>(file.size()));
            ASSERT_EQ(checked_mul(checked_mul(h.rows, h.cols), static_cast<std::int64_t>(element_bytes(h.type))),
                      h.data_bytes);
            ASSERT_TRUE(!as || h.type == *as);
        } catch (const Error& error) {
            ++refused;
            ASSERT_EQ(error.code(), ErrorCode::input) << error.what();
        }
    }
    EXPECT_GT(read, 300);  // the mutations are not all nonsense
    EXPECT_GT(refused, 10000);
}

}  // namespace
}  // namespace heptad
