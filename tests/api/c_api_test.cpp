// The C interface, through its header alone: statuses, last sentences, handles, null pointers.
#include <gtest/gtest.h>
#include <heptad/heptad.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Sample {
    int64_t n = 40;
    std::vector<float> a, b, c, expected;
    Sample() : a(1600), b(1600), c(1600, -1), expected(1600) {
        for (std::size_t i = 0; i < 1600; ++i) {
            a[i] = static_cast<float>(i % 7) - 3;
            b[i] = static_cast<float>(i % 5) - 2;
        }
        for (std::size_t i = 0; i < 40; ++i) {
            for (std::size_t q = 0; q < 40; ++q) {
                for (std::size_t j = 0; j < 40; ++j) {
                    expected[i * 40 + j] += a[i * 40 + q] * b[q * 40 + j];
                }
            }
        }
    }
    heptad_const_matrix a_matrix() const { return {a.data(), n, n, n, 1}; }
    heptad_const_matrix b_matrix() const { return {b.data(), n, n, n, 1}; }
    heptad_matrix c_matrix() { return {c.data(), n, n, n, 1}; }
};

TEST(c_api, multiplies_with_defaults) {
    Sample x;
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), nullptr, nullptr), HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
}

TEST(c_api, options_and_contexts_are_heeded) {
    Sample x;
    heptad_options options;
    heptad_options_init(&options);
    EXPECT_STREQ(options.algorithm, "auto");
    EXPECT_EQ(options.levels, -1);
    EXPECT_EQ(options.workspace_limit_bytes, INT64_MAX);
    options.algorithm = "strassen";
    options.levels = 2;
    options.mode = "serial";
    options.accuracy = HEPTAD_FAST;  // those levels, whatever the data is like
    heptad_context* context = nullptr;
    ASSERT_EQ(heptad_context_create(&context), HEPTAD_OK);
    ASSERT_EQ(heptad_context_set_threads(context, 2), HEPTAD_OK);
    std::vector<unsigned char> memory(100000);
    ASSERT_EQ(heptad_context_set_workspace(context, memory.data(), static_cast<int64_t>(memory.size())), HEPTAD_OK);
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, context),
              HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    EXPECT_NE(memory, std::vector<unsigned char>(100000));  // the sums were made there
    EXPECT_EQ(heptad_context_set_threads(context, -1), HEPTAD_USAGE);
    EXPECT_EQ(heptad_context_set_workspace(context, nullptr, 10), HEPTAD_USAGE);
    EXPECT_EQ(heptad_context_set_stream(context, nullptr), HEPTAD_OK);  // means nothing to a product on the CPU
    heptad_context_cancel(context);
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, context),
              HEPTAD_CANCELLED);
    heptad_context_destroy(context);
}

TEST(c_api, a_cancelled_context_stays_cancelled_until_it_is_reset) {
    Sample x;
    heptad_context* context = nullptr;
    ASSERT_EQ(heptad_context_create(&context), HEPTAD_OK);
    const auto multiply = [&] {
        return heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), nullptr, context);
    };
    for (int round = 0; round < 2; ++round) {
        heptad_context_cancel(context);
        EXPECT_EQ(multiply(), HEPTAD_CANCELLED);
        EXPECT_EQ(multiply(), HEPTAD_CANCELLED);
        heptad_context_reset_cancel(context);
        ASSERT_EQ(multiply(), HEPTAD_OK);
        EXPECT_EQ(x.c, x.expected);
    }
    heptad_context_destroy(context);
    heptad_context_reset_cancel(nullptr);
}

TEST(c_api, whatever_a_callback_throws_becomes_a_status) {
    Sample x;
    heptad_context* context = nullptr;
    ASSERT_EQ(heptad_context_create(&context), HEPTAD_OK);
    heptad_options options;
    heptad_options_init(&options);
    options.levels = 1;
    const auto multiply_with = [&](heptad_progress progress) {
        EXPECT_EQ(heptad_context_set_progress(context, progress, nullptr), HEPTAD_OK);
        return heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, context);
    };
    EXPECT_EQ(multiply_with([](double, const char*, void*) { throw 7; }), HEPTAD_INTERNAL);
    EXPECT_NE(std::string(heptad_last_error()).find("callback"), std::string::npos) << heptad_last_error();
    EXPECT_EQ(multiply_with([](double, const char*, void*) { throw std::runtime_error("mine"); }), HEPTAD_INTERNAL);
    EXPECT_STREQ(heptad_last_error(), "mine");
    EXPECT_EQ(multiply_with(nullptr), HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    heptad_context_destroy(context);
}

TEST(c_api, errors_name_the_field_and_no_option_of_the_command_line) {
    Sample x;
    const auto sentence_with = [&](const auto& set) {
        heptad_options options;
        heptad_options_init(&options);
        set(options);
        EXPECT_NE(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr),
                  HEPTAD_OK);
        const std::string sentence = heptad_last_error();
        EXPECT_EQ(sentence.find("--"), std::string::npos) << sentence;
        return sentence;
    };
    const auto names = [](const std::string& sentence, const char* field) {
        return sentence.find(field) != std::string::npos;
    };
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.workspace_limit_bytes = -1; }), "workspace_limit_bytes"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.levels = 21; }), "levels"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.mode = "quick"; }), "mode"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.mode = "fused"; }), "mode"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.leaf = "none"; }), "leaf"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.algorithm = "none"; }), "algorithm"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.device = "tpu"; }), "device"));
    EXPECT_TRUE(names(sentence_with([](heptad_options& o) { o.device = "cuda:9999"; }), "device"));
}

TEST(c_api, a_context_names_the_device_that_options_leave_open) {
    Sample x;
    heptad_context* context = nullptr;
    ASSERT_EQ(heptad_context_create(&context), HEPTAD_OK);
    EXPECT_EQ(heptad_context_set_device(context, "tpu"), HEPTAD_USAGE);
    EXPECT_NE(std::string(heptad_last_error()).find("'tpu'"), std::string::npos);
    EXPECT_EQ(heptad_context_set_device(context, nullptr), HEPTAD_USAGE);
    EXPECT_EQ(heptad_context_set_device(nullptr, "cpu"), HEPTAD_USAGE);
    ASSERT_EQ(heptad_context_set_device(context, "reference"), HEPTAD_OK);
    heptad_plan* plan = nullptr;
    ASSERT_EQ(heptad_plan_create(&plan, 40, 40, 40, HEPTAD_F32, nullptr, context), HEPTAD_OK);
    EXPECT_NE(std::string(heptad_plan_text(plan)).find("reference"), std::string::npos) << heptad_plan_text(plan);
    heptad_plan_destroy(plan);
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), nullptr, context), HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    heptad_context_destroy(context);
}

TEST(c_api, progress_is_told_from_the_calling_thread) {
    Sample x;
    struct Told {
        int calls = 0;
        double last = -1;
        std::thread::id thread;
    } told;
    heptad_context* context = nullptr;
    ASSERT_EQ(heptad_context_create(&context), HEPTAD_OK);
    const auto tell = [](double fraction, const char* stage, void* user) {
        auto* to = static_cast<Told*>(user);
        ++to->calls;
        to->last = stage == nullptr ? -1 : fraction;
        to->thread = std::this_thread::get_id();
    };
    ASSERT_EQ(heptad_context_set_progress(context, tell, &told), HEPTAD_OK);
    EXPECT_EQ(heptad_context_set_progress(nullptr, tell, &told), HEPTAD_USAGE);
    heptad_options options;
    heptad_options_init(&options);
    options.algorithm = "strassen";
    options.levels = 2;
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, context),
              HEPTAD_OK);
    EXPECT_GT(told.calls, 0);
    EXPECT_GE(told.last, 0);
    EXPECT_LE(told.last, 1);
    EXPECT_EQ(told.thread, std::this_thread::get_id());
    const int before = told.calls;
    ASSERT_EQ(heptad_context_set_progress(context, nullptr, nullptr), HEPTAD_OK);
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, context),
              HEPTAD_OK);
    EXPECT_EQ(told.calls, before);
    heptad_context_destroy(context);
}

TEST(c_api, plans_print_parse_and_are_carried_out) {
    Sample x;
    heptad_options options;
    heptad_options_init(&options);
    options.levels = 2;
    heptad_plan* plan = nullptr;
    ASSERT_EQ(heptad_plan_create(&plan, 40, 40, 40, HEPTAD_F32, &options, nullptr), HEPTAD_OK);
    EXPECT_EQ(heptad_plan_levels(plan), 2);
    EXPECT_EQ(heptad_plan_levels(nullptr), 0);
    EXPECT_GT(heptad_plan_workspace_bytes(plan), 0);
    EXPECT_GT(heptad_plan_predicted_s(plan), 0);
    EXPECT_GT(heptad_plan_error_bound(plan), 0);
    heptad_plan* parsed = nullptr;
    ASSERT_EQ(heptad_plan_parse(&parsed, heptad_plan_text(plan)), HEPTAD_OK);
    EXPECT_STREQ(heptad_plan_text(parsed), heptad_plan_text(plan));
    ASSERT_EQ(heptad_multiply_with_plan(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), parsed, nullptr),
              HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    EXPECT_EQ(heptad_multiply_with_plan(HEPTAD_I32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), parsed, nullptr),
              HEPTAD_USAGE);
    heptad_plan_destroy(plan);
    heptad_plan_destroy(parsed);
}

TEST(c_api, inputs_are_overwritten_only_with_leave) {
    Sample x;
    const std::vector<float> old_a = x.a;
    heptad_options options;
    heptad_options_init(&options);
    EXPECT_EQ(options.overwrite_inputs, 0);
    options.algorithm = "winograd";
    options.levels = 2;
    options.workspace_limit_bytes = 0;
    options.accuracy = HEPTAD_FAST;  // those levels, whatever the data is like
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr),
              HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    EXPECT_EQ(x.a, old_a);
    options.overwrite_inputs = 1;
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr),
              HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    EXPECT_NE(x.a, old_a);
}

TEST(c_api, exact_is_a_word_of_its_own) {
    Sample x;
    heptad_options options;
    heptad_options_init(&options);
    options.accuracy = HEPTAD_EXACT;
    ASSERT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr),
              HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
}

TEST(c_api, failures_have_a_status_and_a_sentence_per_thread) {
    Sample x;
    heptad_const_matrix small = x.b_matrix();
    small.rows = 39;
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), small, 0, x.c_matrix(), nullptr, nullptr), HEPTAD_INPUT);
    const std::string sentence = heptad_last_error();
    EXPECT_NE(sentence.find("39"), std::string::npos) << sentence;
    std::thread([] { EXPECT_STREQ(heptad_last_error(), ""); }).join();
    EXPECT_EQ(heptad_last_error(), sentence);
    heptad_options options;
    heptad_options_init(&options);
    options.algorithm = "abacus";
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr),
              HEPTAD_USAGE);
    EXPECT_NE(std::strstr(heptad_last_error(), "abacus"), nullptr);
    heptad_matrix overlapping{x.a.data(), 40, 40, 40, 1};
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, overlapping, nullptr, nullptr),
              HEPTAD_INPUT);
    EXPECT_EQ(x.c, std::vector<float>(1600, -1));
}

TEST(c_api, a_gigantic_plan_tells_its_workspace_and_touches_nothing_it_refuses) {
    heptad_plan* plan = nullptr;
    heptad_options options;
    heptad_options_init(&options);
    options.levels = 1;
    options.mode = "parallel";
    const int64_t huge = int64_t{1} << 26;
    ASSERT_EQ(heptad_plan_create(&plan, huge, huge, huge, HEPTAD_GF2, &options, nullptr), HEPTAD_OK);
    EXPECT_EQ(heptad_plan_workspace_bytes(plan), 0);  // by default it is what is free here that decides
    heptad_plan_destroy(plan);
    options.workspace_limit_bytes = int64_t{1} << 62;
    ASSERT_EQ(heptad_plan_create(&plan, huge, huge, huge, HEPTAD_GF2, &options, nullptr), HEPTAD_OK);
    EXPECT_GT(heptad_plan_workspace_bytes(plan), int64_t{1} << 50);
    unsigned char one = 1;
    unsigned char result = 0;
    // Views that repeat one element stand for matrices that no memory holds; C is refused before anything else.
    const heptad_const_matrix operand{&one, huge, huge, 0, 0};
    const heptad_matrix repeated{&result, huge, huge, 0, 0};
    EXPECT_EQ(heptad_multiply_with_plan(HEPTAD_GF2, 1, operand, operand, 0, repeated, plan, nullptr), HEPTAD_INPUT);
    EXPECT_EQ(result, 0);
    heptad_plan_destroy(plan);
}

TEST(c_api, null_pointers_are_refused_or_harmless) {
    Sample x;
    EXPECT_EQ(heptad_context_create(nullptr), HEPTAD_USAGE);
    EXPECT_EQ(heptad_context_set_threads(nullptr, 1), HEPTAD_USAGE);
    EXPECT_EQ(heptad_context_set_workspace(nullptr, nullptr, 0), HEPTAD_USAGE);
    EXPECT_EQ(heptad_context_set_stream(nullptr, nullptr), HEPTAD_USAGE);
    EXPECT_EQ(heptad_plan_create(nullptr, 1, 1, 1, HEPTAD_F32, nullptr, nullptr), HEPTAD_USAGE);
    heptad_plan* plan = nullptr;
    EXPECT_EQ(heptad_plan_parse(&plan, nullptr), HEPTAD_USAGE);
    EXPECT_EQ(heptad_plan_parse(nullptr, "plan"), HEPTAD_USAGE);
    EXPECT_EQ(heptad_plan_parse(&plan, "plan"), HEPTAD_INPUT);
    EXPECT_EQ(plan, nullptr);
    EXPECT_EQ(heptad_multiply_with_plan(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), nullptr, nullptr),
              HEPTAD_USAGE);
    heptad_const_matrix none = x.a_matrix();
    none.data = nullptr;
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, none, x.b_matrix(), 0, x.c_matrix(), nullptr, nullptr), HEPTAD_INPUT);
    EXPECT_STREQ(heptad_plan_text(nullptr), "");
    EXPECT_EQ(heptad_plan_workspace_bytes(nullptr), 0);
    heptad_options empty{};
    empty.size = sizeof empty;
    empty.levels = -1;
    empty.workspace_limit_bytes = INT64_MAX;
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &empty, nullptr), HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    heptad_options_init(nullptr);
    heptad_context_cancel(nullptr);
    heptad_context_destroy(nullptr);
    heptad_plan_destroy(nullptr);
}

TEST(c_api, types_and_accuracies_outside_their_lists_are_refused) {
    Sample x;
#ifndef HEPTAD_REDUCED_TESTS  // C callers can pass any int; the sanitizer of C++ objects to the sight of it
    const int beyond = HEPTAD_C128 + 1;
    heptad_type type = HEPTAD_F32;
    static_assert(sizeof type == sizeof beyond);
    std::memcpy(&type, &beyond, sizeof type);
    EXPECT_EQ(heptad_multiply(type, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), nullptr, nullptr), HEPTAD_USAGE);
    heptad_options options;
    heptad_options_init(&options);
    std::memcpy(&options.accuracy, &beyond, sizeof options.accuracy);
    EXPECT_EQ(heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr),
              HEPTAD_USAGE);
#endif
}

/// What a program gets whose header has more or fewer fields than the library.
TEST(c_api, options_of_other_versions) {
    struct Later {
        heptad_options known;
        std::int64_t added;
    } later{};
    heptad_options_init_size(&later.known, sizeof later);
    EXPECT_EQ(later.known.size, sizeof later);
    Sample x;
    const auto multiply = [&](const heptad_options& options) {
        return heptad_multiply(HEPTAD_F32, 1, x.a_matrix(), x.b_matrix(), 0, x.c_matrix(), &options, nullptr);
    };
    EXPECT_EQ(multiply(later.known), HEPTAD_OK);
    EXPECT_EQ(x.c, x.expected);
    later.added = 1;
    EXPECT_EQ(multiply(later.known), HEPTAD_USAGE);
    EXPECT_NE(std::string(heptad_last_error()).find("does not know"), std::string::npos) << heptad_last_error();

    heptad_options earlier;
    std::memset(&earlier, 0x5a, sizeof earlier);
    const std::size_t without_last = offsetof(heptad_options, overwrite_inputs);
    heptad_options_init_size(&earlier, without_last);
    EXPECT_EQ(earlier.overwrite_inputs, 0x5a5a5a5a) << "more was written than the program has";
    EXPECT_EQ(multiply(earlier), HEPTAD_USAGE) << "no version had so few fields";

    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, without_last, std::size_t{1} << 20, SIZE_MAX}) {
        heptad_options options;
        heptad_options_init(&options);
        options.size = size;
        EXPECT_EQ(multiply(options), HEPTAD_USAGE) << size;
        EXPECT_NE(std::string(heptad_last_error()).find("heptad_options_init"), std::string::npos);
    }
    (heptad_options_init)(&earlier);  // the function, as programs that look it up by name call it
    EXPECT_EQ(earlier.size, sizeof earlier);
    EXPECT_EQ(multiply(earlier), HEPTAD_OK);
}

TEST(c_api, every_status_has_a_name) {
    for (const heptad_status status : {HEPTAD_OK, HEPTAD_INTERNAL, HEPTAD_USAGE, HEPTAD_INPUT, HEPTAD_RESOURCE,
                                       HEPTAD_VERIFICATION, HEPTAD_CANCELLED}) {
        EXPECT_GT(std::strlen(heptad_status_string(status)), 3U);
    }
    EXPECT_GT(std::strlen(heptad_version()), 2U);
}

}  // namespace
