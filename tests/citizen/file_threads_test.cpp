// Products from file to file where the system gives few threads or none: done by fewer, or Error(resource).
#include "citizen/thread_limit.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

TEST_F(FileProductTest, thread_creation_that_fails_at_any_count_never_ends_the_process) {
    for (const int levels : {0, 1}) {
        FileProductRequest request = prepare(kTiled);
        request.memory_bytes = 400 << 10;
        request.outer = {"strassen", levels};
        request.io = "threads";
        int done = 0;
        for (int count = 0; count <= 12; ++count) {
            std::filesystem::remove(folder_ / "C.npy");
            const std::string end = citizen::with_threads(count, [&] {
                try {
                    multiply(request);
                } catch (const Error& error) {
                    return error.code() == ErrorCode::resource ? 10 : 1;
                }
                return result() == expected_ ? 0 : 2;
            });
            ASSERT_TRUE(end == "exit 0" || end == "exit 10") << end << " with " << count << " threads";
            done += end == "exit 0" ? 1 : 0;
            EXPECT_TRUE(end == "exit 0" || !exists("C.npy"));
        }
        EXPECT_GT(done, 3) << "hardly anything was multiplied";
    }
}

}  // namespace
}  // namespace heptad
