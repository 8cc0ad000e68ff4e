// The C interface when every allocation fails: a status and a word, and never the end of the process.
#include <gtest/gtest.h>
#include <heptad/heptad.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace {
thread_local bool memory_is_gone = false;
}

void* operator new(std::size_t bytes) {
    void* memory = memory_is_gone ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

TEST(c_api_out_of_memory, is_a_status_even_without_memory_for_the_sentence) {
    memory_is_gone = true;
    heptad_context* context = nullptr;
    const heptad_status created = heptad_context_create(&context);
    heptad_plan* plan = nullptr;
    const heptad_status planned = heptad_plan_create(&plan, -1, 1, 1, HEPTAD_F32, nullptr, nullptr);
    const bool has_sentence = std::strlen(heptad_last_error()) > 0;
    memory_is_gone = false;
    EXPECT_EQ(created, HEPTAD_RESOURCE);
    EXPECT_EQ(context, nullptr);
    EXPECT_EQ(planned, HEPTAD_RESOURCE);
    EXPECT_EQ(plan, nullptr);
    EXPECT_TRUE(has_sentence);
}

}  // namespace
