// Products from file to file on a device that is made of ordinary memory: what is uploaded, multiplied there and
// downloaded, whether it holds tiles or only strips, and that its stages are seen by name.
#include "move/step_device.hpp"
#include "base/view_copy.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "product/file/file_product_fixture.hpp"

namespace heptad {
namespace {

/// Copies with rows of their own, so that nothing works by accident on the host's.
struct Copy {
    std::vector<std::byte> memory;
    View view;
};

Copy room_for(Type type, std::int64_t rows, std::int64_t cols) {
    Copy copy;
    const std::int64_t stride = cols + 3;
    copy.memory.resize(static_cast<std::size_t>(rows * stride) * element_bytes(type), std::byte{0x7f});
    copy.view = View(copy.memory.data(), type, rows, cols, stride, 1);
    return copy;
}

struct Counts {
    std::atomic<int> opened{0}, uploads{0}, downloads{0}, locked{0}, unlocked{0};
};

class MemoryDevice final : public StepDevice {
public:
    MemoryDevice(const StepDeviceSizes& sizes, bool holds_tiles, Counts& counts, int failing_upload)
        : sizes_(sizes),
          holds_tiles_(holds_tiles),
          counts_(counts),
          failing_upload_(failing_upload),
          left_(static_cast<std::size_t>(sizes.left.slots)),
          right_(static_cast<std::size_t>(sizes.right.slots)) {
        ++counts_.opened;
        for (std::int64_t i = 0; i < (holds_tiles ? sizes.tiles.slots : 1); ++i) {
            tiles_.push_back(room_for(sizes.type, holds_tiles ? sizes.tiles.rows : sizes.strip_rows, sizes.tiles.cols));
        }
    }
    bool holds_tiles() const override { return holds_tiles_; }
    void lock(std::byte*, std::int64_t) override { ++counts_.locked; }
    void unlock_all() override { ++counts_.unlocked; }
    void upload_left(std::int64_t slot, const ConstView& from) override { upload(left_.at(at(slot)), from); }
    void upload_right(std::int64_t slot, const ConstView& from) override { upload(right_.at(at(slot)), from); }
    void upload_result(const TilePlace& place, const ConstView& from) override {
        count_upload();
        copy_view(from, result(place));
    }
    void multiply(std::complex<double> alpha, const StripPlace& left, std::int64_t right_slot,
                  std::complex<double> beta, const TilePlace& place, const ProductPlan& plan) override {
        const View& strip = left_.at(at(left.slot)).view;
        ASSERT_LE(left.row + left.rows, strip.rows);
        multiply_in_memory(alpha, block(strip, left.row, 0, left.rows, strip.cols), right_.at(at(right_slot)).view,
                           beta, result(place), plan, {});
    }
    void download(const TilePlace& place, const View& to) override {
        ++counts_.downloads;
        copy_view(result(place), to);
    }

private:
    static std::size_t at(std::int64_t slot) { return static_cast<std::size_t>(slot); }
    void count_upload() {
        if (++counts_.uploads == failing_upload_) {
            fail(ErrorCode::resource, "the device is gone");
        }
    }
    void upload(Copy& to, const ConstView& from) {
        count_upload();
        to = room_for(sizes_.type, from.rows, from.cols);
        copy_view(from, to.view);
    }
    View result(const TilePlace& place) {
        Copy& tile = tiles_.at(holds_tiles_ ? at(place.slot) : 0);
        return block(tile.view, holds_tiles_ ? place.row : 0, 0, place.rows, place.tile_cols);
    }

    StepDeviceSizes sizes_;
    bool holds_tiles_;
    Counts& counts_;
    int failing_upload_;
    std::vector<Copy> left_, right_, tiles_;
};

class StepDeviceTest : public FileProductTest, public ::testing::WithParamInterface<bool> {
protected:
    StageProducts stage(int failing_upload = 0) {
        StageProducts made = processor_stage({}, 2);
        made.open_device = [this, failing_upload](const StepDeviceSizes& sizes) {
            return std::make_unique<MemoryDevice>(sizes, GetParam(), counts_, failing_upload);
        };
        return made;
    }
    Counts counts_;
};

TEST_P(StepDeviceTest, results_equal_those_in_memory_with_and_without_overlap) {
    for (const bool overlap : {true, false}) {
        for (const bool verify : {true, false}) {
            for (const bool adds : {true, false}) {
                for (const bool fortran : {true, false}) {
                    Case c = kTiled;
                    c.adds = adds;
                    c.a_fortran = fortran;
                    FileProductRequest request = prepare(c);
                    request.overlap = overlap;
                    request.verify = verify;
                    StageTrace trace(true);
                    const FileProductReport report = multiply_files(request, stage(), {}, trace);
                    ASSERT_EQ(result(), expected_) << to_string(report.plan);
                    EXPECT_EQ(report.verified.has_value(), verify);
                    EXPECT_TRUE(!verify || report.verified->passed()) << report.verified->explanation;
                    const double all = static_cast<double>(c.m * c.n) * 4;
                    EXPECT_GE(report.download.amount, all);
                    EXPECT_TRUE(!GetParam() || report.download.amount == all) << "a tile came back more than once";
                    EXPECT_GE(report.upload.amount, report.read.amount * 0.5);
                    for (const char* name : {"\"M2G\"", "\"G2M\"", "\"DR\"", "\"MM\"", "\"DW\""}) {
                        EXPECT_NE(trace.chrome_json().find(name), std::string::npos) << name;
                    }
                }
            }
        }
    }
    EXPECT_EQ(counts_.opened, counts_.unlocked);
    EXPECT_GT(counts_.locked, 0);
}

TEST_P(StepDeviceTest, rows_wait_in_memory_until_a_slow_disk_has_taken_those_before_them) {
    const FileProductRequest request = prepare({.m = 120, .k = 300, .n = 100, .memory_bytes = 24 << 10});
    WatchedHooks hooks;
    std::atomic<int> writes{0};
    hooks.watch = [&writes](IoCall call, std::int64_t bytes) -> IoVerdict {
        if (call == IoCall::write && bytes > 0 && ++writes <= 30) {  // of the first tile
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return {};
    };
    StageTrace trace(false);
    const FileProductReport report = multiply_watched(request, stage(), hooks, trace);
    ASSERT_EQ(report.plan.disk->kept, Kept::c)
        << to_string(report.plan);  // one tile in memory, and the next follows it
    ASSERT_LT(report.plan.disk->depth, report.plan.k) << to_string(report.plan);
    ASSERT_GT(report.tiles, 1);
    EXPECT_TRUE(result() == expected_) << to_string(report.plan);
}

TEST_P(StepDeviceTest, device_that_fails_ends_the_run_with_its_sentence_and_it_can_be_resumed) {
    FileProductRequest request = prepare(kTiled);
    for (int number = 1; number < 40; number += 6) {
        counts_.uploads = 0;
        request.resume = false;
        StageTrace trace(false);
        try {
            multiply_files(request, stage(number), {}, trace);
            FAIL() << "upload " << number << " did not fail";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::resource);
            EXPECT_NE(std::string(error.what()).find("the device is gone"), std::string::npos) << error.what();
        }
        EXPECT_FALSE(exists("C.npy"));
        request.resume = true;
        StageTrace again(false);
        multiply_files(request, stage(), {}, again);
        EXPECT_EQ(result(), expected_);
        std::filesystem::remove(folder_ / "C.npy");
    }
}

INSTANTIATE_TEST_SUITE_P(tiles, StepDeviceTest, ::testing::Bool(),
                         [](const auto& given) { return std::string(given.param ? "held" : "passed_by_strips"); });

}  // namespace
}  // namespace heptad
