// Several devices by the public interface.
#include <gtest/gtest.h>

#include <vector>

#include <heptad/bits.hpp>

namespace {

using heptad::BitMatrix;
using heptad::Error;
using heptad::ErrorCode;
using heptad::MatrixView;
using heptad::Type;

template <class Call>
ErrorCode code_of(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::internal;
}

TEST(OverDevicesApi, device_list_in_the_options_is_enough) {
    std::vector<int> a(60 * 50), b(50 * 70), one(60 * 70), many(60 * 70);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<int>(i * 2654435761U);
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
        b[i] = static_cast<int>(i * 40503U + 7);
    }
    const auto a_view = MatrixView<const int>::row_major(a.data(), 60, 50);
    const auto b_view = MatrixView<const int>::row_major(b.data(), 50, 70);
    heptad::multiply(a_view, b_view, MatrixView<int>::row_major(one.data(), 60, 70));
    heptad::Options options;
    options.device = "cpu:3";
    options.host.levels = 1;
    heptad::multiply(a_view, b_view, MatrixView<int>::row_major(many.data(), 60, 70), options);
    EXPECT_EQ(one, many);
    const heptad::Plan plan = heptad::plan_over_devices({60, 50, 70}, Type::i32, options);
    EXPECT_EQ(plan.to_string().rfind("plan 60x50x70 i32 host={devices=cpu:3;", 0), 0U);
    EXPECT_GE(plan.levels(), 1);
    many.assign(many.size(), 0);
    heptad::multiply(1, a_view, b_view, 0, MatrixView<int>::row_major(many.data(), 60, 70),
                     heptad::Plan::parse(plan.to_string()));
    EXPECT_EQ(one, many);
    EXPECT_EQ(code_of([&] { heptad::plan({60, 50, 70}, Type::i32, options); }), ErrorCode::usage);
    EXPECT_EQ(code_of([&] {
                  heptad::multiply_strided_batch(1, a_view, 0, b_view, 0, 0,
                                                 MatrixView<int>::row_major(many.data(), 60, 70), 4200, 1, options);
              }),
              ErrorCode::usage);
    std::vector<std::byte> memory(64);
    heptad::Context context;
    context.set_workspace(memory.data(), 64);
    EXPECT_EQ(code_of([&] {
                  heptad::multiply(a_view, b_view, MatrixView<int>::row_major(many.data(), 60, 70), options, context);
              }),
              ErrorCode::usage);
}

TEST(OverDevicesApi, packed_bits_take_a_list_too) {
    const BitMatrix a = BitMatrix::random(200, 150, 1), b = BitMatrix::random(150, 170, 2);
    heptad::bits::BitOptions options;
    options.device = "cpu:2";
    for (const Type algebra : {Type::gf2, Type::boolean}) {
        BitMatrix c = heptad::bits::product(algebra, a, b, options);
        EXPECT_TRUE(c == heptad::bits::product(algebra, a, b));
        heptad::bits::multiply_add(algebra, a, b, c.view(), options);
        EXPECT_TRUE(c == (algebra == Type::gf2 ? BitMatrix(200, 170) : heptad::bits::product(algebra, a, b)));
    }
    EXPECT_EQ(heptad::bits::plan(Type::gf2, {200, 150, 170}, options)
                  .to_string()
                  .rfind("plan 200x150x170 gf2 host={devices=cpu:2", 0),
              0U);
    EXPECT_EQ(code_of([&] { heptad::bits::power(Type::gf2, BitMatrix::identity(5), 3, options); }), ErrorCode::usage);
    options.device = "abacus";
    EXPECT_EQ(code_of([&] { heptad::bits::product(Type::gf2, a, b, options); }), ErrorCode::usage);
}

TEST(OverDevicesApi, plans_of_every_place_parse_and_those_of_files_and_clusters_are_not_multiplied) {
    const std::string whole = heptad::plan({60, 50, 70}, Type::i32).to_string();
    const std::string head = "plan 60x50x70 i32 ";
    ASSERT_EQ(whole.rfind(head, 0), 0U) << whole;
    std::vector<int> a(60 * 50), b(50 * 70), c(60 * 70);
    for (const std::string cut :
         {"rank={ranks=6;algorithm=grid;grid=3x1x2;panels=4} ",
          "disk={memory=1000000;keep=C;mirrored=no;tile=60x70;depth=50;first=50;strip=60;panels=2;blocks=1x1x1} "}) {
        const std::string text = head + cut + whole.substr(head.size());
        const heptad::Plan plan = heptad::Plan::parse(text);
        EXPECT_EQ(plan.to_string(), text);
        EXPECT_EQ(code_of([&] {
                      heptad::multiply(1, MatrixView<const int>::row_major(a.data(), 60, 50),
                                       MatrixView<const int>::row_major(b.data(), 50, 70), 0,
                                       MatrixView<int>::row_major(c.data(), 60, 70), plan);
                  }),
                  ErrorCode::usage);
    }
    const std::string too_many = "rank={ranks=5;algorithm=grid;grid=3x1x2;panels=4} ";
    EXPECT_EQ(code_of([&] { heptad::Plan::parse(head + too_many + whole.substr(head.size())); }), ErrorCode::input);
    heptad::Options options;
    options.device = "cpu:3";
    std::string changed = heptad::plan_over_devices({60, 50, 70}, Type::i32, options).to_string();
    changed.replace(changed.find("block="), 6, "block=9");
    EXPECT_EQ(code_of([&] { heptad::Plan::parse(changed); }), ErrorCode::input);
}

}  // namespace
