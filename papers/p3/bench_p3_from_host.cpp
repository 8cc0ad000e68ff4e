#include "papers/p3/bench_p3_from_host.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/size.hpp"
#include "bench/suites/poison.hpp"
#include "check/verify_bits.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "product/device/bit_host_operands.hpp"
#include "product/request/bit_operands.hpp"
#include "product/request/memory_limits.hpp"

namespace heptad::cli {
namespace {

/// A product that takes longer is timed once, and from ordinary memory alone.
constexpr double kLongOnDeviceSeconds = 5;
constexpr int kRounds = 3;

/// Pages of a matrix, locked for as long as this lives.
class LockedMatrix {
public:
    explicit LockedMatrix(BitMatrix& matrix) {
        void* const memory = matrix.view().words;
        if (cuda::lock_pages(memory, matrix.rows() * matrix.stride() * 8)) {
            memory_ = memory;
        }
    }
    ~LockedMatrix() {
        if (memory_ != nullptr) {
            cuda::unlock_pages(memory_);
        }
    }
    LockedMatrix(const LockedMatrix&) = delete;
    LockedMatrix& operator=(const LockedMatrix&) = delete;

private:
    void* memory_ = nullptr;
};

BenchRecord timed(const std::string& memory, const BitMatrix& a, const BitMatrix& b, BitMatrix& c,
                  const FromHostCase& asked, int device) {
    const BenchRecord& on_device = asked.on_device;
    std::vector<HostBitTimes> samples;
    const int rounds = on_device.heptad_s > kLongOnDeviceSeconds ? 1 : kRounds;
    for (int round = 0; round < rounds; ++round) {
        stop_if_interrupted();
        poison(c);
        samples.push_back(multiply_host_bits_on_device(asked.plan, a, b, c.view(), false, device));
    }
    std::sort(samples.begin(), samples.end(),
              [](const HostBitTimes& x, const HostBitTimes& y) { return x.total_s < y.total_s; });
    const HostBitTimes& middle = samples[samples.size() / 2];
    BenchRecord record = on_device;
    record.variant = memory + asked.note;
    record.heptad_s = middle.total_s;
    record.heptad_min_s = samples.front().total_s;
    record.heptad_max_s = samples.back().total_s;
    record.rounds = rounds;
    record.effective_tops = operation_count(record.size) / record.heptad_s / 1e12;
    record.ratio = record.vendor_s > 0 ? record.vendor_s / record.heptad_s : 0;
    record.joules = record.host_joules = std::nullopt;
    record.shares = {
        {"enqueued_s", middle.enqueued_s}, {"uploaded_s", middle.uploaded_s}, {"on_device_s", on_device.heptad_s}};
    print(fmt::format("{:>14} {:>11} {:>9.2f}   {:.3f} times the device's; A and B there after {}: {}\n", "",
                      format_seconds(record.heptad_s), record.effective_tops / 1e3,
                      record.heptad_s / on_device.heptad_s, format_seconds(middle.uploaded_s), record.variant));
    return record;
}

}  // namespace

void HostSquares::make(std::int64_t n, double ones) {
    if (c.rows() == n && density == ones) {
        return;
    }
    *this = {};
    workspace_after(checked_mul(3, bit_bytes(n, n)), {});
    a = BitMatrix::random(n, n, 1, ones);
    b = BitMatrix::random(n, n, 2, ones);
    c = BitMatrix(n, n);
    density = ones;
}

std::vector<BenchRecord> bench_from_host(Type type, std::int64_t n, double density,
                                         const std::vector<FromHostCase>& cases, HostSquares& squares,
                                         const cuda::Stream& stream) {
    stream.synchronize();
    try {
        squares.make(n, density);
    } catch (const Error& shortage) {
        if (shortage.code() != ErrorCode::resource) {
            throw;
        }
        print(fmt::format("{:>14} from host memory left out: {}\n", "", shortage.what()));
        return {};
    }
    BitMatrix &a = squares.a, &b = squares.b, &c = squares.c;
    std::vector<BenchRecord> records;
    const auto measure = [&](const std::string& memory, const FromHostCase& asked) {
        records.push_back(timed(memory, a, b, c, asked, stream.device()));
        if (!verify_bits(type, a, b, c, {}).passed()) {
            fail(ErrorCode::verification, "the {} product of size {} {} is wrong; the plan was: {}", type_name(type), n,
                 memory, to_string(asked.plan));
        }
    };
    for (const FromHostCase& asked : cases) {
        measure("from ordinary host memory", asked);
    }
    if (cases.front().on_device.heptad_s > kLongOnDeviceSeconds) {
        return records;
    }
    const LockedMatrix locked_a(a), locked_b(b), locked_c(c);
    for (const FromHostCase& asked : cases) {
        measure("from host memory that was locked before", asked);
    }
    return records;
}

}  // namespace heptad::cli
