// Products of f32 and f64 by residues on the cores of this machine, against the default plan and the library, in turns:
// would `balanced` gain from them here? Norms of lines and the judgement of the data are left out, so a ratio is what
// could be reached at best.
//   residue_bench THREADS ROUNDS N...
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/huge_pages.hpp"
#include "base/moduli.hpp"
#include "kernels/cpu/cpu_residues.hpp"
#include "kernels/cpu/vendor_blas.hpp"

namespace heptad::cpu {
namespace {

struct Seconds {
    double wall = 1e300, cpu = 1e300;
};
/// The least of the rounds: other work on the machine only ever adds to it.
void note_least(Seconds& least, const std::function<void()>& work) {
    const auto cpu_now = [] {
        timespec now{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    };
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = cpu_now();
    work();
    least.cpu = std::min(least.cpu, cpu_now() - cpu_start);
    least.wall = std::min(least.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

template <class T>
class Contest {
public:
    Contest(std::int64_t size, int threads) : size_(size), threads_(threads), a_(entries(1)), b_(entries(2)) {
        c_.resize(a_.size());
    }

    void run(int rounds) {
        struct Entrant {
            std::string name;
            std::function<void()> work;
            bool is_product = true;
            Seconds least = {};
        };
        std::vector<Entrant> entrants;
        for (const Vendor vendor : {Vendor::openblas, Vendor::blis, Vendor::mkl}) {
            if (const VendorLibrary* const library = vendor_library(vendor)) {
                entrants.push_back({library->name, [this, library] { by_library(*library); }});
            }
        }
        Context context;
        context.set_threads(threads_);
        entrants.push_back({"balanced", [&] { by_plan(context, Accuracy::balanced); }});
        entrants.push_back({"fast", [&] { by_plan(context, Accuracy::fast); }});
        constexpr int usual = sizeof(T) == 4 ? 7 : 14;
        for (const int moduli : {usual - 1, usual}) {
            entrants.push_back({"residues:" + std::to_string(moduli), [this, moduli] { by_residues(moduli); }});
            entrants.push_back({"  bytes of A and B", [this, moduli] { make_bytes(moduli); }, false});
        }
        for (int round = 0; round <= rounds; ++round) {
            for (Entrant& entrant : entrants) {
                Seconds warm;
                note_least(round == 0 ? warm : entrant.least, entrant.work);
            }
        }
        std::printf("%s n=%lld threads=%d kernels=%s\n", sizeof(T) == 4 ? "f32" : "f64", static_cast<long long>(size_),
                    threads_, usable_byte_kernels().front()->name);
        for (Entrant& entrant : entrants) {
            std::printf("  %-20s %8.4f s  cpu %8.4f s", entrant.name.c_str(), entrant.least.wall, entrant.least.cpu);
            if (entrant.is_product) {
                std::fill(c_.begin(), c_.end(), std::numeric_limits<T>::quiet_NaN());
                entrant.work();
                std::printf("  error over |A||B| %.1e", largest_error());
            }
            std::printf("\n");
            std::fflush(stdout);
        }
    }

private:
    using Bytes = std::unique_ptr<std::byte, FreeMemory>;
    static std::uint8_t* bytes_of(const Bytes& memory) { return reinterpret_cast<std::uint8_t*>(memory.get()); }

    std::vector<T> entries(unsigned seed) const {
        std::mt19937_64 random(seed);
        std::vector<T> result(static_cast<std::size_t>(size_ * size_));
        for (T& x : result) {
            x = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
        }
        return result;
    }

    void by_library(const VendorLibrary& library) {
        const VendorThreads guard(library, threads_);
        const int n = static_cast<int>(size_);
        constexpr int row_major = 101, plain = 111;
        if constexpr (sizeof(T) == 4) {
            library.sgemm(row_major, plain, plain, n, n, n, 1, a_.data(), n, b_.data(), n, 0, c_.data(), n);
        } else {
            library.dgemm(row_major, plain, plain, n, n, n, 1, a_.data(), n, b_.data(), n, 0, c_.data(), n);
        }
    }

    void by_plan(Context& context, Accuracy accuracy) {
        Options options;
        options.accuracy = accuracy;
        options.device = "cpu";
        multiply(1.0, MatrixView<const T>::row_major(a_.data(), size_, size_),
                 MatrixView<const T>::row_major(b_.data(), size_, size_), 0.0,
                 MatrixView<T>::row_major(c_.data(), size_, size_), options, context);
    }

    /// Values are below 1, so norms are below sqrt(n).
    int exponent(int moduli) const {
        return static_cast<int>(std::floor(log2_of_integers(moduli) - std::log2(static_cast<double>(size_)) / 2));
    }

    void make_bytes(int moduli) {
        CpuResidues residues(shared_pool(threads_));
        const std::int64_t bytes = moduli * packed_residue_bytes(size_, size_);
        if (bytes > room_) {
            of_a_ = allocate_huge_pages(bytes);
            of_b_ = allocate_huge_pages(bytes);
            if (!of_a_ || !of_b_) {
                throw std::bad_alloc();
            }
            room_ = bytes;
        }
        const std::vector<std::int32_t> exponents(static_cast<std::size_t>(size_), exponent(moduli));
        const Type type = sizeof(T) == 4 ? Type::f32 : Type::f64;
        const auto lines = [&](const std::vector<T>& of, std::int64_t line_stride, std::int64_t depth_stride) {
            ScaledLines result;
            result.lines = {of.data(), type, size_, size_, line_stride, depth_stride};
            result.exponents = exponents.data();
            result.log2_largest = log2_of_integers(moduli);
            return result;
        };
        residues.pack(0, lines(a_, size_, 1), moduli, bytes_of(of_a_));
        residues.pack(1, lines(b_, 1, size_), moduli, bytes_of(of_b_));
    }

    void by_residues(int moduli) {
        make_bytes(moduli);
        CpuResidues residues(shared_pool(threads_));
        const double power = std::exp2(-2 * exponent(moduli));
        residues.multiply(
            {bytes_of(of_a_), bytes_of(of_b_), size_, size_, size_, moduli, 0, size_}, [&](const IntegerTile& tile) {
                for (std::int64_t i = 0; i < tile.rows; ++i) {
                    T* const to = c_.data() + (tile.row + i) * size_ + tile.col;
                    for (std::int64_t j = 0; j < tile.cols; ++j) {
                        double x = 0;
                        for (int q = tile.piece_count - 1; q >= 0; --q) {
                            x = x * 0x1p40 + tile.pieces[(std::int64_t{q} * kResidueTile + i) * kResidueTile + j];
                        }
                        to[j] = static_cast<T>(x * power);
                    }
                }
            });
    }

    /// Of one row.
    double largest_error() const {
        using Wide = long double;
        const std::int64_t row = size_ / 3;
        double largest = 0;
        for (std::int64_t j = 0; j < size_; ++j) {
            Wide sum = 0;
            double of_sizes = 0;
            for (std::int64_t p = 0; p < size_; ++p) {
                const auto x = static_cast<double>(a_[static_cast<std::size_t>(row * size_ + p)]);
                const auto y = static_cast<double>(b_[static_cast<std::size_t>(p * size_ + j)]);
                sum += static_cast<Wide>(x) * static_cast<Wide>(y);
                of_sizes += std::abs(x * y);
            }
            const auto entry = static_cast<Wide>(c_[static_cast<std::size_t>(row * size_ + j)]);
            const auto error = static_cast<double>(std::abs(entry - sum)) / of_sizes;
            largest = error <= largest ? largest : error;  // a NaN stays
        }
        return largest;
    }

    std::int64_t size_;
    int threads_;
    std::vector<T> a_, b_, c_;
    /// Aligned, as a plan's: tiles of AMX are lines of 64 bytes, and take twice as long to load across cache lines.
    Bytes of_a_, of_b_;
    std::int64_t room_ = 0;
};

}  // namespace
}  // namespace heptad::cpu

int main(int count, char** words) {
    const auto number = [&](int i) { return std::atoll(words[i]); };
    bool is_usage = count < 4;
    for (int i = 1; i < count; ++i) {
        is_usage = is_usage || number(i) < 1;
    }
    if (is_usage) {
        std::fprintf(stderr, "usage: residue_bench THREADS ROUNDS N...\n");
        return 2;
    }
    heptad::cpu::allow_vendor_corrections();
    for (int i = 3; i < count; ++i) {
        const auto threads = static_cast<int>(number(1)), rounds = static_cast<int>(number(2));
        heptad::cpu::Contest<float>(number(i), threads).run(rounds);
        heptad::cpu::Contest<double>(number(i), threads).run(rounds);
    }
}
