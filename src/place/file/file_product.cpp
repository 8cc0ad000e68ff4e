#include "place/file/file_product.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "place/file/checksum.hpp"
#include "place/file/file_pipeline.hpp"
#include "place/file/journal.hpp"
#include "place/file/output_lock.hpp"
#include "place/file/product_sources.hpp"
#include "place/file/step_plans.hpp"
#include "place/file/streamed_check.hpp"
#include "place/memory/product.hpp"

namespace heptad {
namespace {

constexpr std::chrono::seconds kSyncEvery{5};  // what a power failure may cost

/// As an operand of the product. Transposed bits are turned on the way, in short spans that the cache is better at.
FileLayout as_operand(FileLayout layout, bool transpose) {
    if (transpose) {
        layout = transposed(layout);
        layout.block_bytes = layout.packed ? 1 : layout.block_bytes;
    }
    return layout;
}

FileLayout operand_layout(const MatrixFile& file, bool transpose) {
    return as_operand(file.layout(), transpose);
}

bool same_file(const std::string& x, const std::string& y) {
    struct stat first {
    }, second{};
    return ::stat(x.c_str(), &first) == 0 && ::stat(y.c_str(), &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

/// The same bytes read in another way (transposed, another dataset of the file) are another matrix.
FileIdentity identity_as_read(const MatrixFile& file, const FileLayout& layout) {
    FileIdentity identity = file.identity();
    const std::array<std::int64_t, 4> way{layout.rows, layout.cols, layout.by_columns ? 1 : 0, layout.data_offset};
    identity.samples = checksum(way.data(), static_cast<std::int64_t>(sizeof way), identity.samples);
    return identity;
}

std::int64_t check_line_bytes(const FileProductRequest& request, Type type) {
    return request.verify ? StreamedCheck::line_bytes(type) : 0;
}

/// The files that are read.
struct OpenInputs {
    MatrixFile a, b;
    std::optional<MatrixFile> c0;

    std::vector<const MatrixFile*> all() const {
        std::vector<const MatrixFile*> files{&a, &b};
        if (c0) {
            files.push_back(&*c0);
        }
        return files;
    }
};

std::vector<std::int64_t> missing_tiles(const FileSchedule& schedule,
                                        const std::map<std::int64_t, JournalTile>& finished) {
    std::vector<std::int64_t> missing;
    for (std::int64_t tile = 0; tile < schedule.tiles(); ++tile) {
        if (!finished.contains(tile)) {
            missing.push_back(tile);
        }
    }
    return missing;
}

void require_same_run(const JournalHeader& before, const JournalHeader& now, const OutputNames& names) {
    const FilePlan &x = before.plan, &y = now.plan;
    const std::string way_out =
        fmt::format("; without --resume the product starts over ('{}' is replaced)", names.partial());
    if (x.m != y.m || x.k != y.k || x.n != y.n || x.type != y.type || before.alpha != now.alpha ||
        before.beta != now.beta || before.inputs.size() != now.inputs.size()) {
        fail(ErrorCode::input, "'{}' belongs to another product{}", names.journal(), way_out);
    }
    for (std::size_t i = 0; i < now.inputs.size(); ++i) {
        if (before.inputs[i].identity != now.inputs[i].identity) {
            fail(ErrorCode::input, "'{}' is not the file it was when '{}' was begun, or is read in another way{}",
                 now.inputs[i].name, names.partial(), way_out);
        }
    }
    if (x.used_bytes() > now.plan.memory_bytes) {
        fail(ErrorCode::resource,
             "'{}' was begun with cuts that take {} bytes{}, and {} are allowed; give a larger --memory{}",
             names.partial(), x.used_bytes(),
             x.check_bytes > 0 ? fmt::format(" ({} of them for --verify)", x.check_bytes) : "", now.plan.memory_bytes,
             way_out);
    }
}

/// Sums of `panels` partial products: each has its bound, and each addition rounds what is there.
double whole_error_bound(const FilePlan& plan, std::int64_t panels, double of_panel) {
    const double additions = static_cast<double>(panels - 1) * static_cast<double>(plan.k) * unit_roundoff(plan.type);
    return static_cast<double>(panels) * of_panel + additions;
}

/// Bits of the last byte beyond the last column of C are zero in the file, whatever those of B were.
void clear_beyond(std::int64_t end_col, std::int64_t n, const View& bytes) {
    if (end_col < n || n % 8 == 0) {
        return;
    }
    const auto mask = static_cast<std::byte>(0xff << (8 - n % 8));
    for (std::int64_t i = 0; i < bytes.rows; ++i) {
        *element_pointer(bytes, i, bytes.cols - 1) &= mask;
    }
}

/// Tiles that one thread notes and another asks for.
class TileSet {
public:
    void add(std::int64_t tile) {
        const std::lock_guard lock(mutex_);
        tiles_.insert(tile);
    }
    bool contains(std::int64_t tile) {
        const std::lock_guard lock(mutex_);
        return tiles_.contains(tile);
    }

private:
    std::mutex mutex_;
    std::set<std::int64_t> tiles_;
};

bool is_end_of_tile(const FileSchedule& schedule, const FileStep& step, const FileWindow& window) {
    const FileWindow tile = schedule.tile_window(step.tile);
    return step.last_of_tile && window.row + window.rows == tile.row + tile.rows;
}

/// Tiles that an earlier run finished are not looked at again: what it did not check is not verified now.
void tell_of_earlier_run(const std::map<std::int64_t, JournalTile>& finished, VerifyResult& result) {
    const auto unchecked =
        std::count_if(finished.begin(), finished.end(), [](const auto& entry) { return !entry.second.verified; });
    if (unchecked > 0) {
        if (result.passed()) {
            result.verdict = Verdict::not_verifiable;
        }
        result.explanation += fmt::format(
            "; {} tiles are of an earlier run that did not verify them: look at the result with 'heptad verify'",
            unchecked);
    } else if (!finished.empty()) {
        result.explanation += fmt::format("; {} tiles were verified by an earlier run", finished.size());
    }
}

/// One run: what is open, and what is left to do.
class FileProduct {
public:
    FileProduct(const FileProductRequest& request, const StageProducts& stage, const FileHooks& hooks,
                StageTrace& trace)
        : request_(request),
          stage_(stage),
          hooks_(hooks),
          trace_(trace),
          sources_(find_product_sources(request)),
          names_(output_names(request.output)) {
        for (const MatrixSource* input : {&sources_.a, &sources_.b}) {
            if (same_file(input->path, names_.target)) {
                fail(ErrorCode::input,
                     "'{}' is an input, and a product from file to file cannot be resumed over it; choose another "
                     "output",
                     request.output);
            }
        }
        refuse_inputs_beside();
    }

    FileProductReport run() {
        const OutputLock lock(names_.target, hooks_.watch);
        OpenInputs inputs{MatrixFile(sources_.a, hooks_.watch), MatrixFile(sources_.b, hooks_.watch), {}};
        if (sources_.c0) {
            inputs.c0.emplace(*sources_.c0, hooks_.watch);
        }
        JournalHeader header;
        header.alpha = request_.alpha;
        header.beta = request_.beta;
        const auto add_input = [&](const MatrixFile& file, bool transpose) {
            header.inputs.push_back({file.name(), identity_as_read(file, operand_layout(file, transpose))});
        };
        add_input(inputs.a, request_.transpose_a);
        add_input(inputs.b, request_.transpose_b);
        if (inputs.c0) {
            add_input(*inputs.c0, false);
        }
        FileProblem problem = problem_of(inputs);
        header.plan = plan_file_product(problem, stage_);  // refuses what does not fit before anything is touched
        std::optional<JournalContents> before;
        if (request_.resume && ::access(names_.partial().c_str(), F_OK) == 0) {
            before = read_journal(names_.journal());
        } else if (request_.resume && sources_.c0 && same_file(sources_.c0->path, names_.target)) {
            // A run that ended just after it gave the result its name leaves exactly this.
            fail(ErrorCode::input,
                 "there is nothing to resume for '{}', which may hold the sum already; look at it, and run without "
                 "--resume to add again",
                 names_.shown);
        }
        if (before) {
            // The run before may have checked, and this one not, or the other way round.
            before->header.plan.check_bytes = check_bytes_of(before->header.plan, problem.line_bytes);
            require_same_run(before->header, header, names_);
            finished_tiles_ = static_cast<std::int64_t>(before->tiles.size());
        }
        try {
            return before ? go_on(*before, inputs) : start(problem, header, inputs);
        } catch (const Error& error) {
            throw Error(error.code(), error.what() + tidy_up(error.code()));
        }
    }

private:
    /// The names beside the result are written, replaced and removed by every run.
    void refuse_inputs_beside() const {
        std::vector<const MatrixSource*> inputs{&sources_.a, &sources_.b};
        if (sources_.c0) {
            inputs.push_back(&*sources_.c0);
        }
        for (const std::string& own : {names_.partial(), names_.journal(), names_.lock()}) {
            for (const MatrixSource* input : inputs) {
                if (same_file(input->path, own)) {
                    fail(ErrorCode::input,
                         "'{}' is an input, and a product into '{}' uses that name for itself; rename the input or "
                         "choose another output",
                         input->name, names_.shown);
                }
            }
        }
    }

    FileProblem problem_of(const OpenInputs& inputs) const {
        return {sources_.m,
                sources_.k,
                sources_.n,
                sources_.a.type,
                sources_.c0.has_value(),
                request_.memory_bytes,
                operand_layout(inputs.a, request_.transpose_a),
                operand_layout(inputs.b, request_.transpose_b),
                result_layout(request_, sources_),
                check_line_bytes(request_, sources_.a.type)};
    }

    std::string header_bytes() const { return result_header(request_, sources_); }

    std::vector<std::string> how_of(const std::vector<ProductPlan>& products) const {
        std::vector<std::string> texts;
        for (const ProductPlan& product : products) {
            if (stage_.how) {
                texts.push_back(stage_.how(product));
            }
        }
        return texts;
    }

    FileProductReport start(FileProblem& problem, JournalHeader& header, const OpenInputs& inputs) {
        remove_beside(names_.journal(), hooks_.watch);  // first: it must never describe another partial file
        PartialFile result(names_, header_bytes(), problem.c, hooks_.watch);
        if (result.layout().block_bytes != problem.c.block_bytes) {
            problem.c.block_bytes = result.layout().block_bytes;
            header.plan = plan_file_product(problem, stage_);
        }
        const FileSchedule schedule(header.plan, problem.a, problem.b, problem.c);
        const StepPlans products(schedule, header.plan, stage_);
        header.products = products.all();
        header.how = how_of(header.products);
        JournalWriter journal(names_.journal(), header, hooks_.watch);
        return carry_out(schedule, header.plan, products, {}, inputs, result, journal);
    }

    FileProductReport go_on(const JournalContents& before, const OpenInputs& inputs) {
        const FilePlan& plan = before.header.plan;
        const FileProblem problem = problem_of(inputs);
        PartialFile result = PartialFile::reopen(names_, header_bytes(), problem.c, hooks_.watch);
        if (plan.c_block > 1 && result.layout().block_bytes != plan.c_block) {
            fail(ErrorCode::input, "'{}' cannot be written as it was begun; without --resume the product starts over",
                 names_.partial());
        }
        const FileSchedule schedule(plan, problem.a, problem.b, problem.c);
        if (how_of(before.header.products) != before.header.how) {
            fail(ErrorCode::input,
                 "'{}' was begun with products cut up for other devices, which would round otherwise; give the "
                 "--device, "
                 "--device-memory and --host-levels of then, or start over without --resume",
                 names_.partial());
        }
        const StepPlans products(before.header.products);
        std::map<std::int64_t, JournalTile> finished;
        const std::unique_ptr<IoQueue> queue = make_io_queue(request_.io, hooks_.watch);
        for (const auto& [index, tile] : before.tiles) {
            if (index >= 0 && index < schedule.tiles() &&
                read_tile_checksum(schedule, index, result, *queue) == tile.sum) {
                finished[index] = tile;
            }
        }
        finished_tiles_ = static_cast<std::int64_t>(finished.size());
        JournalWriter journal(names_.journal(), before, hooks_.watch);
        return carry_out(schedule, plan, products, finished, inputs, result, journal);
    }

    FileProductReport carry_out(const FileSchedule& schedule, const FilePlan& plan, const StepPlans& products,
                                const std::map<std::int64_t, JournalTile>& finished, const OpenInputs& inputs,
                                PartialFile& result, JournalWriter& journal) {
        const auto& [a, b, c0] = inputs;
        const bool adds = c0.has_value();
        const std::vector<std::int64_t> missing = missing_tiles(schedule, finished);
        const PageBuffer workspace(stage_.open_device ? 0 : plan.workspace_bytes);
        PipelineFiles files{plan.mirrored ? &b : &a, plan.mirrored ? &a : &b, c0 ? &*c0 : nullptr, {}, &result};
        if (c0) {
            files.c0_layout = plan.mirrored ? transposed(c0->layout()) : c0->layout();
        }
        PipelineOptions options;
        options.buffers = file_buffers(plan, with_block(operand_layout(a, request_.transpose_a), plan.a_block),
                                       with_block(operand_layout(b, request_.transpose_b), plan.b_block),
                                       with_block(result.layout(), plan.c_block));
        options.tile_m = plan.tile_m;
        options.tile_n = plan.tile_n;
        options.overlap = request_.overlap;
        options.io = request_.io;
        options.watch = hooks_.watch;
        std::unique_ptr<StepDevice> device;
        if (stage_.open_device) {
            device = stage_.open_device(device_sizes(schedule, plan, options.buffers, products));
            options.device = device.get();
            options.tiles_in_turn = request_.verify;
        }

        FileProductReport report;
        report.plan = plan;
        report.product = products.largest();
        report.tiles = schedule.tiles();
        report.resident_at_start_bytes = peak_resident_bytes();
        report.resumed_tiles = static_cast<std::int64_t>(finished.size());
        report.error_bound = whole_error_bound(plan, schedule.panels(), products.largest_error_bound());
        std::optional<StreamedCheck> check;
        if (request_.verify) {
            check.emplace(schedule, sources_.a.type, request_.alpha, request_.beta, plan.k, hooks_.threads);
        }

        TileSet verified;
        StageTrace::Clock::time_point last_sync = StageTrace::Clock::now();  // of the writing thread
        PipelineWork work;
        work.before = [&](const FileStep& step, const ConstView& left, const ConstView& right, const View& strip) {
            if (check) {
                check->before_product(step, left, right, strip);
            }
        };
        work.multiply = [&](const FileStep& step, std::int64_t first_row, const ConstView& left, const ConstView& right,
                            const View& c) {
            const double beta = step.panel > 0 ? 1 : adds ? request_.beta : 0;
            const FileWindow panel = schedule.right_window(step.tile, step.panel);
            const ProductPlan& product = products.of(c.rows, panel.rows, panel.cols);
            if (!device) {
                stage_.multiply(request_.alpha, left, right, beta, c, product, workspace.data(), workspace.bytes());
                if (schedule.result().packed && step.panel + 1 == schedule.panels()) {
                    clear_beyond(panel.col + panel.cols, plan.n, c);
                }
                return;
            }
            FileWindow window = schedule.result_window(step.tile, step.strip);
            window.row += first_row;
            window.rows = c.rows;
            device->multiply(request_.alpha, {step.left_slot, first_row, c.rows}, step.right_slot, beta,
                             tile_place(schedule, step, window), product);
        };
        work.completed = [&](const FileStep& step, const FileWindow& window, const View& c) {
            if (check) {
                check->after_rows(step, window, c);
                if (is_end_of_tile(schedule, step, window) && check->result().passed()) {
                    verified.add(step.tile);
                }
            }
        };
        work.finished = [&](std::int64_t tile, std::uint64_t sum) {
            for (const MatrixFile* input : inputs.all()) {
                input->require_unchanged();
            }
            journal.add_tile(tile, {sum, verified.contains(tile)});
            ++finished_tiles_;
            if (StageTrace::Clock::now() - last_sync > kSyncEvery) {
                result.sync();
                journal.sync();
                last_sync = StageTrace::Clock::now();
            }
        };
        work.progress = [&](double fraction) {
            if (hooks_.progress) {
                hooks_.progress({fraction, "files"});
            }
        };
        work.stop_wanted = [&] { return hooks_.cancel.cancelled(); };

        const auto start = StageTrace::Clock::now();
        const std::int64_t done = run_pipeline(schedule, missing, files, work, options, trace_);
        if (done < static_cast<std::int64_t>(missing.size())) {
            fail(ErrorCode::cancelled, "interrupted");
        }
        if (check) {
            report.verified = check->result();
            tell_of_earlier_run(finished, *report.verified);
        }
        // All that may fail comes before the result has its name.
        report.read = trace_.total(Stage::disk_read);
        report.upload = trace_.total(Stage::upload);
        report.multiply = trace_.total(Stage::multiply);
        report.download = trace_.total(Stage::download);
        report.write = trace_.total(Stage::disk_write);
        report.io = make_io_queue(request_.io, {})->name();
        committing_ = true;
        result.commit();
        remove_beside(names_.journal(), hooks_.watch);
        report.wall_s = std::chrono::duration<double>(StageTrace::Clock::now() - start).count();
        return report;
    }

    static StepDeviceSizes device_sizes(const FileSchedule& schedule, const FilePlan& plan, const FileBuffers& buffers,
                                        const StepPlans& products) {
        StepDeviceSizes sizes;
        sizes.type = plan.type;
        sizes.left = {buffers.strips, plan.strip_m, plan.depth, schedule.left().by_columns};
        sizes.right = {buffers.panels, plan.depth, plan.tile_n, schedule.right().by_columns};
        sizes.tiles = {buffers.tiles, plan.tile_m, plan.tile_n, schedule.result().by_columns};
        sizes.strip_rows = plan.strip_m;
        sizes.workspace_bytes = products.most_workspace_bytes();
        return sizes;
    }

    static FileLayout with_block(FileLayout layout, std::int64_t block_bytes) {
        layout.block_bytes = block_bytes;
        return layout;
    }

    /// After a failure: what is finished stays, an empty start does not. The end of the sentence that tells so.
    std::string tidy_up(ErrorCode code) const {
        if (committing_ && ::access(names_.partial().c_str(), F_OK) != 0) {
            return fmt::format("; '{}' itself is complete", names_.shown);
        }
        if (finished_tiles_ > 0) {
            return fmt::format("; {} finished tiles are kept in '{}': go on with --resume", finished_tiles_.load(),
                               names_.partial());
        }
        ::unlink(names_.partial().c_str());
        ::unlink(names_.journal().c_str());
        return code == ErrorCode::cancelled ? "; no tile was finished, so nothing is kept" : "";
    }

    const FileProductRequest& request_;
    const StageProducts& stage_;
    const FileHooks& hooks_;
    StageTrace& trace_;
    ProductSources sources_;
    OutputNames names_;
    std::atomic<std::int64_t> finished_tiles_{0};
    bool committing_ = false;  // all tiles are there, and the result gets its name
};

}  // namespace

StageProducts processor_stage(const Options& options, int threads) {
    StageProducts stage;
    stage.plan = [options, threads](const StageProduct& product, Type type) {
        Options limited = options;
        limited.accumulate = product.accumulate;
        limited.workspace_limit_bytes = product.workspace_limit_bytes;
        ProductContext context;
        context.threads = threads;
        return plan_product(product.m, product.k, product.n, type, limited, context);
    };
    stage.multiply = [threads](double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                               const ProductPlan& plan, void* workspace, std::int64_t workspace_bytes) {
        ProductContext context;
        context.threads = threads;
        context.workspace = workspace;
        context.workspace_bytes = workspace_bytes;
        multiply_in_memory(alpha, a, b, beta, c, plan, context);
    };
    return stage;
}

std::int64_t peak_resident_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

FileProblem file_problem(const FileProductRequest& request) {
    const ProductSources sources = find_product_sources(request);
    const auto with_usual_block = [](FileLayout layout, bool transpose) {
        layout.block_bytes = kUsualBlockBytes;
        return as_operand(layout, transpose);
    };
    return {sources.m,
            sources.k,
            sources.n,
            sources.a.type,
            sources.c0.has_value(),
            request.memory_bytes,
            with_usual_block(sources.a.layout, request.transpose_a),
            with_usual_block(sources.b.layout, request.transpose_b),
            result_layout(request, sources),
            check_line_bytes(request, sources.a.type)};
}

FilePlan plan_file_product(const FileProblem& problem, const StageProducts& stage) {
    return plan_files(problem, [&](const StageProduct& product) {
        const ProductPlan plan = stage.plan(product, problem.type);
        return StagePrediction{plan.predicted_s, stage.open_device ? 0 : plan.workspace_bytes};
    });
}

PlannedSteps plan_steps(const FileProblem& problem, const FilePlan& plan, const StageProducts& stage) {
    const FileSchedule schedule(plan, problem.a, problem.b, problem.c);
    const StepPlans products(schedule, plan, stage);
    return {products.largest(), whole_error_bound(plan, schedule.panels(), products.largest_error_bound())};
}

FileProductReport multiply_files(const FileProductRequest& request, const StageProducts& stage, const FileHooks& hooks,
                                 StageTrace& trace) {
    return FileProduct(request, stage, hooks, trace).run();
}

}  // namespace heptad
