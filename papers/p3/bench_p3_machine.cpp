#include "papers/p3/bench_p3_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "base/size.hpp"
#include "base/splitmix.hpp"
#include "base/thread_pool.hpp"
#include "base/timing.hpp"
#include "cli/interrupt.hpp"
#include "cli/text.hpp"
#include "kernels/bits/level_program.hpp"
#include "kernels/bits/word_buffer.hpp"
#include "kernels/cuda/bits/bit_verbs.hpp"
#include "papers/p3/p3_tables.hpp"
#include "product/device/bit_device_plan.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"

namespace heptad::cli {
namespace {

constexpr double kGiB = 1 << 30;
constexpr int kRepeats = 3;
constexpr std::int64_t kHostBytes = std::int64_t{1} << 30;
constexpr std::int64_t kHostWords = kHostBytes / 8;
constexpr std::int64_t kLineWords = 8;

/// Memory in huge pages, written once; locked on request.
class HostBytes {
public:
    explicit HostBytes(bool locked) : words_(kHostWords) {
        std::fill_n(words_.data(), kHostWords, std::uint64_t{1});
        locked_ = locked && cuda::lock_pages(words_.data(), kHostBytes);
    }
    ~HostBytes() {
        if (locked_) {
            cuda::unlock_pages(words_.data());
        }
    }
    HostBytes(const HostBytes&) = delete;
    HostBytes& operator=(const HostBytes&) = delete;
    std::uint64_t* words() const { return words_.data(); }

private:
    bits::WordBuffer words_;
    bool locked_ = false;
};

/// Bytes per second of work(first, last) over all words of a buffer, `moved` bytes of it in all, by so many threads.
double host_rate(int threads, double moved, const std::function<void(std::int64_t, std::int64_t)>& work) {
    constexpr std::int64_t kTaskWords = std::int64_t{1} << 19;
    std::vector<double> seconds;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        stop_if_interrupted();
        const Clock::time_point start = Clock::now();
        shared_pool(threads).run(kHostWords / kTaskWords,
                                 [&](std::int64_t task) { work(task * kTaskWords, (task + 1) * kTaskWords); });
        seconds.push_back(seconds_since(start));
    }
    return moved / median(seconds);
}

std::vector<Bandwidth> measure_host() {
    const HostBytes buffer(false);
    std::uint64_t* const words = buffer.words();
    std::atomic<std::uint64_t> sink{0};  // what was read must count for something
    const auto linear = [&](std::int64_t first, std::int64_t last) {
        std::uint64_t sum = 0;
        for (std::int64_t i = first; i < last; ++i) {
            sum += words[i];
        }
        sink += sum;
    };
    const auto written = [&](std::int64_t first, std::int64_t last) {
        std::fill(words + first, words + last, static_cast<std::uint64_t>(first));
    };
    // One read in sixteen of what the linear ones do: they are that much slower.
    constexpr std::int64_t kShare = 16;
    const auto random_words = [&](std::int64_t first, std::int64_t last) {
        std::uint64_t sum = 0;
        for (std::int64_t i = first; i < last; i += kShare) {
            sum += words[splitmix(static_cast<std::uint64_t>(i)) % kHostWords];
        }
        sink += sum;
    };
    const auto random_lines = [&](std::int64_t first, std::int64_t last) {
        std::uint64_t sum = 0;
        for (std::int64_t i = first; i < last; i += kShare) {
            const std::uint64_t* const line = words + splitmix(static_cast<std::uint64_t>(i)) % kHostWords / 8 * 8;
            for (std::int64_t w = 0; w < kLineWords; ++w) {
                sum += line[w];
            }
        }
        sink += sum;
    };
    struct Kind {
        const char* what;
        std::function<void(std::int64_t, std::int64_t)> work;
        double moved;
        double p3_single, p3_all;
    };
    const double bytes = kHostBytes;
    const Kind kinds[] = {{"read, linear", linear, bytes, 9.08, 37.28},
                          {"write, linear", written, bytes, 6.92, 19.93},
                          {"read, random 64-bit words", random_words, bytes / kShare, 0.17, 3.13},
                          {"read, random cache lines", random_lines, bytes / kShare * kLineWords, 0.78, 14.09}};
    std::vector<Bandwidth> found;
    for (const Kind& kind : kinds) {
        found.push_back({kind.what, host_rate(1, kind.moved, kind.work) / kGiB,
                         host_rate(threads_or_default(), kind.moved, kind.work) / kGiB, kind.p3_single, kind.p3_all});
    }
    return found;
}

/// Seconds of what is enqueued, as the host sees it from beginning to end.
double waited_seconds(const std::vector<const cuda::Stream*>& streams, const std::function<void()>& enqueue) {
    std::vector<double> seconds;
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
        stop_if_interrupted();
        const Clock::time_point start = Clock::now();
        enqueue();
        for (const cuda::Stream* stream : streams) {
            stream->synchronize();
        }
        seconds.push_back(seconds_since(start));
    }
    return median(seconds);
}

std::vector<Bandwidth> measure_moves(const cuda::Stream& stream) {
    const cuda::Stream other(stream.device());
    const cuda::DeviceMemory x(stream.device(), kHostBytes, stream.handle()),
        y(stream.device(), kHostBytes, stream.handle());
    stream.synchronize();
    const HostBytes plain(false), locked(true), also_locked(true);
    const auto copy = [&](const void* from, void* to, const cuda::Stream& in) {
        cuda::copy_rows(from, kHostBytes, to, kHostBytes, kHostBytes, 1, in.handle());
    };
    const auto rate = [&](double bytes, const std::function<void()>& enqueue) {
        return bytes / kGiB / waited_seconds({&stream, &other}, enqueue);
    };
    const double bytes = kHostBytes;
    std::vector<Bandwidth> found;
    found.push_back(
        {"host to device, locked pages", rate(bytes, [&] { copy(locked.words(), x.data(), stream); }), 0, 10.5, 0});
    found.push_back(
        {"device to host, locked pages", rate(bytes, [&] { copy(x.data(), locked.words(), stream); }), 0, 11.8, 0});
    found.push_back({"both at a time, each way", rate(bytes, [&] {
                         copy(locked.words(), x.data(), stream);
                         copy(y.data(), also_locked.words(), other);
                     })});
    found.push_back({"host to device, ordinary pages", rate(bytes, [&] { copy(plain.words(), x.data(), stream); })});
    found.push_back({"device to host, ordinary pages", rate(bytes, [&] { copy(x.data(), plain.words(), stream); })});
    // As P3's: bytes that were copied, each of which is read and written.
    found.push_back({"device to device",
                     rate(8 * bytes,
                          [&] {
                              for (int i = 0; i < 8; ++i) {
                                  copy(x.data(), y.data(), stream);
                              }
                          }),
                     0, 704.9, 0});
    return found;
}

cuda::BitWindows whole_matrix(const BitView& view) {
    cuda::BitWindows windows;
    windows.data = view.words;
    windows.rows = view.rows;
    windows.cols = view.cols;
    windows.row_words = view.stride;
    return windows;
}

cuda::BitLevelMasks left_masks() {
    return bit_level_masks(bits::level_terms(bits::find_level_program("self-inverse"), bits::ProgramBasis::standard),
                           &BlockProduct::left);
}

PassTimes measure_passes(std::int64_t n, const cuda::Stream& stream) {
    PassTimes times;
    times.n = n;
    const DeviceBits matrix(n, n, stream.device(), stream.handle());
    const std::int64_t side = round_up(ceil_div(n, 2), 128), words = round_up(n, 128) / 64;
    const cuda::DeviceMemory target(stream.device(), 8 * std::max(n * words, cuda::kBitProducts * side * (side / 64)),
                                    stream.handle());
    cuda::fill_random_bits(matrix.view.words, n * matrix.view.stride, 1, 0.5, stream.handle());
    const auto verbs = cuda::device_bit_verbs(stream.device(), stream.handle(), "words");
    cuda::BitTransposeLaunch transpose;
    transpose.source = whole_matrix(matrix.view);
    transpose.target = static_cast<std::uint64_t*>(target.data());
    transpose.rows = n;
    transpose.words = words;
    cuda::BitExpandLaunch level;
    level.source = transpose.source;
    level.levels = 1;
    level.masks = left_masks();
    level.target = transpose.target;
    level.rows = side;
    level.words = side / 64;
    cuda::Timer timer(stream.device());
    const auto seconds_of = [&](const auto& launch) {
        launch();  // the first call loads the kernel
        std::vector<double> samples;
        for (int repeat = 0; repeat < kRepeats; ++repeat) {
            stop_if_interrupted();
            timer.start(stream.handle());
            launch();
            timer.stop(stream.handle());
            samples.push_back(timer.seconds());
        }
        return median(samples);
    };
    times.transpose_s = seconds_of([&] { verbs->transpose(transpose); });
    times.level_s = seconds_of([&] { verbs->expand(level); });
    if (const P3Passes* const line = p3_passes(n)) {
        times.p3_transpose_s = line->transpose_s;
        times.p3_forward_s = line->forward_s;
        times.p3_inverse_s = line->inverse_s;
    }
    return times;
}

std::string number(double value) {
    return value > 0 ? fmt::format("{:.2f}", value) : "-";
}
std::string seconds_text(double value) {
    return value > 0 ? format_seconds(value) : "-";
}

}  // namespace

P3Machine measure_p3_machine(const std::vector<std::int64_t>& sizes, const cuda::Stream& stream) {
    P3Machine machine;
    machine.host = measure_host();
    machine.moves = measure_moves(stream);
    for (const std::int64_t n : sizes) {
        stream.synchronize();
        const std::int64_t needed = checked_mul(3, DeviceBits::bytes(n, n));
        if (needed < cuda::report().devices.at(static_cast<std::size_t>(stream.device())).free_bytes) {
            machine.passes.push_back(measure_passes(n, stream));
        }
    }
    stream.synchronize();
    return machine;
}

std::string text_of(const P3Machine& machine) {
    std::string text =
        fmt::format("host memory, GiB/s (Karppa and Kaski, table 4)\n{:<32} {:>11} {:>10} {:>12} {:>10}\n", "",
                    "single core", "all cores", "their single", "their all");
    for (const Bandwidth& line : machine.host) {
        text +=
            fmt::format("{:<32} {:>11} {:>10} {:>12} {:>10}\n", line.what, number(line.single_gib_per_s),
                        number(line.all_gib_per_s), number(line.p3_single_gib_per_s), number(line.p3_all_gib_per_s));
    }
    text += fmt::format("transfers, GiB/s (Karppa and Kaski, table 5)\n{:<32} {:>11} {:>10}\n", "", "here", "theirs");
    for (const Bandwidth& line : machine.moves) {
        text += fmt::format("{:<32} {:>11} {:>10}\n", line.what, number(line.single_gib_per_s),
                            number(line.p3_single_gib_per_s));
    }
    text += fmt::format(
        "transposes and changes of basis (Karppa and Kaski, tables 6 and 7, on their host; self-inverse). Ours have no "
        "pass for the "
        "basis:\nit is multiplied into the sums of a level, which are made in the time of the third column\n"
        "{:>8} {:>11} {:>11} {:>15} {:>13} {:>13}\n",
        "n", "transpose", "level", "their transpose", "their forward", "their inverse");
    for (const PassTimes& line : machine.passes) {
        text += fmt::format("{:>8} {:>11} {:>11} {:>15} {:>13} {:>13}\n", line.n, seconds_text(line.transpose_s),
                            seconds_text(line.level_s), seconds_text(line.p3_transpose_s),
                            seconds_text(line.p3_forward_s), seconds_text(line.p3_inverse_s));
    }
    return text;
}

}  // namespace heptad::cli
