#include "move/last_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "move/stages.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kCacheLine_bytes = 64;

/// A product that goes to a block of C.
struct Contribution {
    std::int64_t product = 0;
    double coefficient = 1;
};

/// Rows of all blocks of products, and the rows of C that they make.
struct Band {
    PageBuffer products, result, c0;
    std::vector<ConstView> c0_rows;  // one for each row of blocks
};

class LastPass {
public:
    LastPass(const OuterLaunch& layers, const LastPassFiles& files, const LastPassOptions& options, StageTrace& trace)
        : layers_(layers),
          files_(files),
          options_(options),
          trace_(trace),
          read_queue_(make_io_queue(options.io)),
          write_queue_(make_io_queue(options.io)),
          contributions_(static_cast<std::size_t>(layers.layer.grid.m) * static_cast<std::size_t>(layers.layer.grid.n)),
          result_layout_(layers.whole.c) {
        for (std::size_t product = 0; product < layers.layer.instances.size(); ++product) {
            for (const BlockResult& term : layers.layer.instances[product].result) {
                contributions_[static_cast<std::size_t>(term.block)].push_back(
                    {static_cast<std::int64_t>(product), term.coefficient});
            }
        }
        result_layout_.block_bytes = layers.c_block;
        if (files.c0 != nullptr) {
            c0_layout_ = files.c0->layout();
            c0_layout_.block_bytes = 1;
        }
        for (Band& band : bands_) {
            band.products = PageBuffer(layers.products() * product_band_bytes());
            band.result = PageBuffer(layers.layer.grid.m * result_band_bytes());
            band.c0 = PageBuffer(files.c0 != nullptr ? layers.layer.grid.m * c0_band_bytes() : 0);
            band.c0_rows.resize(static_cast<std::size_t>(layers.layer.grid.m));
        }
    }

    /// Reading and writing are stages of their own, or are done in turn here where nothing overlaps or there is no
    /// thread to be had. A band's buffers are those of the band two before.
    bool run() {
        const std::int64_t count = ceil_div(layers_.part.m, layers_.band_rows);
        StageFailure over;
        StepCount read(over), added(over), written(over);
        const auto read_next = [&](std::int64_t band) {
            added.wait_for(band - 1);
            read_band(band);
            read.add();
        };
        const auto write_next = [&](std::int64_t band) {
            added.wait_for(band + 1);
            write_band(band);
            written.add();
        };
        Stages stages(over);
        const auto beside = [&](const auto& work) {
            return options_.overlap && stages.try_start([&work, count] {
                for (std::int64_t band = 0; band < count; ++band) {
                    work(band);
                }
            });
        };
        const bool reads_beside = beside(read_next), writes_beside = beside(write_next);
        bool stopped = false;
        stages.run_here_and_finish([&] {
            for (std::int64_t band = 0; band < count; ++band) {
                if (!reads_beside) {
                    read_next(band);
                }
                read.wait_for(band + 1);
                stopped = options_.stop_wanted();
                if (stopped) {
                    over.end();
                    return;
                }
                written.wait_for(band - 1);
                add_up(band);
                added.add();
                if (!writes_beside) {
                    write_next(band);
                }
                if (options_.progress) {
                    options_.progress(static_cast<double>(band + 1) / static_cast<double>(count));
                }
            }
        });
        return !stopped;
    }

private:
    std::int64_t product_band_bytes() const { return layers_.band_rows * layers_.part.c.pitch_bytes(); }
    std::int64_t result_band_bytes() const { return layers_.band_rows * result_layout_.pitch_bytes(); }
    /// By columns, every column of the band lies in whole cache lines.
    std::int64_t c0_band_bytes() const {
        return c0_layout_.by_columns
                   ? c0_layout_.cols * round_up(layers_.band_rows * c0_layout_.element_bytes, kCacheLine_bytes)
                   : result_band_bytes();
    }
    Band& slot(std::int64_t band) { return bands_[static_cast<std::size_t>(band % 2)]; }
    /// Rows of the products.
    FileWindow rows_of(std::int64_t band) const {
        const std::int64_t first = band * layers_.band_rows;
        return {first, std::min(layers_.band_rows, layers_.part.m - first), 0, layers_.part.n};
    }
    /// Rows of C, or nothing beyond its edge.
    FileWindow rows_of_result(std::int64_t band, std::int64_t block_row) const {
        const FileWindow rows = rows_of(band);
        const std::int64_t first = block_row * layers_.part.m + rows.row;
        return {first, std::clamp<std::int64_t>(layers_.whole.m - first, 0, rows.rows), 0, layers_.whole.n};
    }

    void note(Stage stage, std::int64_t band, Clock::time_point from, std::int64_t bytes) {
        trace_.add(stage, fmt::format("last pass, band {}", band), from, Clock::now(), static_cast<double>(bytes));
    }

    void read_band(std::int64_t band) {
        const auto from = Clock::now();
        const FileWindow rows = rows_of(band);
        std::int64_t bytes = 0;
        for (std::int64_t product = 0; product < layers_.products(); ++product) {
            const FileLayout layout = layers_.product_layout(product);
            files_.products->read(*read_queue_, layout, rows,
                                  slot(band).products.data() + product * product_band_bytes(), layout.pitch_bytes());
            bytes += moved_bytes(layout, rows);
        }
        for (std::int64_t row = 0; files_.c0 != nullptr && row < layers_.layer.grid.m; ++row) {
            const FileWindow window = rows_of_result(band, row);
            if (window.rows > 0) {
                slot(band).c0_rows[static_cast<std::size_t>(row)] =
                    files_.c0->read(*read_queue_, c0_layout_, window, slot(band).c0.data() + row * c0_band_bytes());
                bytes += moved_bytes(c0_layout_, window);
            }
        }
        note(Stage::disk_read, band, from, bytes);
    }

    void add_up(std::int64_t band) {
        const auto from = Clock::now();
        cpu::CpuBackend backend(shared_pool(threads_or_default(options_.threads)));
        for_each_row_of_blocks(band, [&](std::int64_t row, const FileWindow& window, const View& c) {
            if (files_.c0 != nullptr) {
                backend.copy(slot(band).c0_rows[static_cast<std::size_t>(row)], c);
            } else {
                backend.combine({{c}, {{0, {}}}});
            }
            for (std::int64_t col = 0; col * layers_.part.n < window.cols; ++col) {
                backend.combine(pass_of(band, row, col, window, c));
            }
        });
        note(Stage::multiply, band, from, 0);
        if (options_.completed) {
            for_each_row_of_blocks(band, [&](std::int64_t row, const FileWindow& window, const View& c) {
                options_.completed(window, c,
                                   files_.c0 != nullptr ? &slot(band).c0_rows[static_cast<std::size_t>(row)] : nullptr);
            });
        }
    }

    /// visit(row of blocks, rows of C, where they are made), as far as they lie inside C.
    template <class Visit>
    void for_each_row_of_blocks(std::int64_t band, Visit&& visit) {
        for (std::int64_t row = 0; row < layers_.layer.grid.m; ++row) {
            const FileWindow window = rows_of_result(band, row);
            if (window.rows > 0) {
                visit(row, window,
                      View(slot(band).result.data() + row * result_band_bytes(), layers_.whole.type, window.rows,
                           window.cols, window.cols, 1));
            }
        }
    }

    /// The sum of products first, by itself: factors of exact types need not be products of small ones. `c` holds C0,
    /// or zeros: with those no sum is a negative zero.
    CombinePass pass_of(std::int64_t band, std::int64_t row, std::int64_t col, const FileWindow& window,
                        const View& c) {
        const std::int64_t block_n = layers_.part.n, first = col * block_n;
        const double beta = files_.c0 != nullptr ? options_.beta : 1;
        const View to = block(c, 0, first, c.rows, std::min(block_n, c.cols - first));
        CombinePass pass{{to, {nullptr, to.type, to.rows, to.cols, to.cols, 1}},
                         {{1, {}}, {0, {{1, options_.alpha}, {0, beta}}}}};
        for (const Contribution& part : contributions_[static_cast<std::size_t>(row * layers_.layer.grid.n + col)]) {
            pass.statements[0].terms.push_back({static_cast<int>(pass.slots.size()), part.coefficient});
            pass.slots.emplace_back(slot(band).products.data() + part.product * product_band_bytes(), to.type, to.rows,
                                    to.cols, block_n, 1);
        }
        if (const LineExponents lines = options_.lines.of_block(window.row, first); lines != LineExponents{}) {
            pass.exponents.resize(pass.slots.size());
            pass.exponents[0] = lines;
            pass.written_exponents = pass.exponents;
        }
        return pass;
    }

    void write_band(std::int64_t band) {
        const auto from = Clock::now();
        std::int64_t bytes = 0;
        for_each_row_of_blocks(band, [&](std::int64_t, const FileWindow& window, const View& c) {
            files_.result->write(*write_queue_, result_layout_, window, static_cast<const std::byte*>(c.data),
                                 result_layout_.pitch_bytes());
            bytes += moved_bytes(result_layout_, window);
        });
        note(Stage::disk_write, band, from, bytes);
    }

    const OuterLaunch& layers_;
    const LastPassFiles& files_;
    const LastPassOptions& options_;
    StageTrace& trace_;
    std::unique_ptr<IoQueue> read_queue_, write_queue_;
    std::vector<std::vector<Contribution>> contributions_;  // to each block of C
    FileLayout result_layout_, c0_layout_;
    std::array<Band, 2> bands_;
};

}  // namespace

bool run_last_pass(const OuterLaunch& layers, const LastPassFiles& files, const LastPassOptions& options,
                   StageTrace& trace) {
    return LastPass(layers, files, options, trace).run();
}

}  // namespace heptad
