#include "product/file/file_product.hpp"

#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/bit_bytes.hpp"
#include "base/complex_as_real.hpp"
#include "base/fail_if.hpp"
#include "base/free_memory.hpp"
#include "base/timing.hpp"
#include "check/streamed_check.hpp"
#include "io/journal.hpp"
#include "io/partial_file.hpp"
#include "move/file_pipeline.hpp"
#include "plan/predict/error_bound.hpp"
#include "product/file/empty_product.hpp"
#include "product/file/layered_files.hpp"
#include "product/file/product_inputs.hpp"
#include "product/file/resumed_run.hpp"
#include "product/file/step_plans.hpp"

namespace heptad {
namespace {

constexpr std::chrono::seconds kSyncEvery{5};  // what a power failure may cost

bool is_end_of_tile(const FileSchedule& schedule, const FileStep& step, const FileWindow& window) {
    const FileWindow tile = schedule.tile_window(step.tile);
    return step.last_of_tile && window.row + window.rows == tile.row + tile.rows;
}

/// One run: what is open, and what is left to do.
class FileProduct {
public:
    FileProduct(const FileProductRequest& request, const StageProducts& stage, const FileHooks& hooks,
                StageTrace& trace)
        : request_(request),
          stage_(within_levels(stage, request.outer)),
          hooks_(hooks),
          trace_(trace),
          sources_(find_product_sources(request)),
          names_(output_names(request.output)),
          leftovers_(names_) {
        refuse_inputs_as_outputs(sources_, names_);
    }

    FileProductReport run() {
        const OutputLock lock(names_.target);
        OpenInputs inputs{MatrixFile(sources_.a), MatrixFile(sources_.b), {}};
        if (sources_.c0) {
            inputs.c0.emplace(*sources_.c0);
        }
        JournalHeader header;
        header.alpha = request_.alpha;
        header.beta = request_.beta;
        const auto add_input = [&](const MatrixFile& file, bool transpose, bool conjugate) {
            header.inputs.push_back(
                {file.name(), identity_as_read(file, operand_layout(file, transpose), conjugate), file.touched_ns()});
        };
        add_input(inputs.a, request_.transpose_a, request_.conjugate_a);
        add_input(inputs.b, request_.transpose_b, request_.conjugate_b);
        if (inputs.c0) {
            add_input(*inputs.c0, false, false);
        }
        const bool is_left = request_.resume && ::access(names_.partial().c_str(), F_OK) == 0;
        if (request_.resume && !is_left && sources_.c0) {
            refuse_to_add_again(sources_.c0->path, names_.target, names_.shown);
        }
        if (sources_.m == 0 || sources_.k == 0 || sources_.n == 0) {
            return leftovers_.tidily([&] { return without_products(inputs); });
        }
        FileProblem problem = problem_of(inputs);
        choose_plan(problem);  // refuses what does not fit before anything is touched
        header.plan = launch_.plan;
        std::optional<JournalContents> before = is_left ? read_journal(names_.journal()) : std::nullopt;
        if (!before) {
            return leftovers_.tidily([&] { return start(problem, header, inputs); });
        }
        require_same_run(before->header, header, names_);
        return go_on(*before, header, inputs);
    }

private:
    FileProblem problem_of(const OpenInputs& inputs) const {
        return heptad::problem_of(request_, sources_, operand_layout(inputs.a, request_.transpose_a),
                                  operand_layout(inputs.b, request_.transpose_b));
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
        leftovers_.remove_of_others();
        Outputs outputs{PartialFile(names_, header_bytes(), problem.c), {}};
        if (launch_.layers) {
            outputs.products.emplace(names_.products(), "", products_layout(*launch_.layers));
        }
        if (outputs.block_bytes() != problem.c.block_bytes) {
            problem.c.block_bytes = outputs.block_bytes();
            choose_plan(problem);
        }
        const FileSchedule schedule = schedule_of(problem, launch_);
        const StepPlans products(schedule, launch_, stage_);
        launch_.plan = with_steps(problem, launch_, schedule, products);
        header.plan = launch_.plan;
        header.products = products.all();
        header.how = how_of(header.products);
        JournalWriter journal(names_, header);
        return carry_out(schedule, products, {}, inputs, outputs, journal);
    }

    /// What is kept is not touched before it is known to be of use; until then the errors say what to do.
    FileProductReport go_on(const JournalContents& before, const JournalHeader& now, const OpenInputs& inputs) {
        const ProductPlan& plan = before.header.plan;
        FileProblem problem = problem_of(inputs);
        Outputs outputs{PartialFile::reopen(names_, header_bytes(), problem.c), {}};
        if (launch_.layers) {
            outputs.products = PartialFile::reopen(names_.products(), "", products_layout(*launch_.layers));
        }
        fail_if(plan.disk->c_block > 1 && outputs.block_bytes() != plan.disk->c_block, ErrorCode::input,
                "'{}' cannot be written the way it was begun; leave out --resume to start over", names_.partial());
        problem.c.block_bytes = outputs.block_bytes();
        take(file_launch(problem, plan));
        // The run before may have checked, and this one not, or the other way round.
        require_memory_as_begun(launch_.traffic,
                                launch_.layers ? launch_.layers->part.memory_bytes : problem.memory_bytes, names_);
        const FileSchedule schedule = schedule_of(problem, launch_);
        fail_if(how_of(before.header.products) != before.header.how, ErrorCode::input,
                "'{}' was begun with products cut up for other devices, which would round differently; give "
                "the same --device, --device-memory and --host-levels again, or start over without --resume",
                names_.partial());
        const StepPlans products(before.header.products);
        std::map<std::int64_t, JournalTile> finished;
        const std::unique_ptr<IoQueue> queue = make_io_queue(request_.io);
        for (const auto& [index, tile] : before.tiles) {
            if (index >= 0 && index < schedule.tiles() &&
                read_tile_checksum(schedule, index, outputs.of_tiles(), *queue) == tile.sum) {
                finished[index] = tile;
            }
        }
        leftovers_.finished_tiles = static_cast<std::int64_t>(finished.size());
        return leftovers_.tidily([&] {
            JournalWriter journal(names_, before);
            FileProductReport report =
                carry_out(schedule, products, {finished, before.reads, was_touched(before.header, now)}, inputs,
                          outputs, journal);
            report.damaged_lines = before.damaged_lines;
            return report;
        });
    }

    FileProductReport carry_out(const FileSchedule& schedule, const StepPlans& products, const EarlierRun& earlier,
                                const OpenInputs& inputs, Outputs& outputs, JournalWriter& journal) {
        const ProductPlan& plan = launch_.plan;
        const DiskCut& cut = *plan.disk;
        const auto& [a, b, c0] = inputs;
        const std::map<std::int64_t, JournalTile>& finished = earlier.finished;
        // With outer levels, C0 and the factors come in at the end.
        const bool adds = c0.has_value() && !launch_.layers;
        const Factor alpha = launch_.layers ? 1 : request_.alpha;
        const bool conjugates_left = cut.mirrored ? request_.conjugate_b : request_.conjugate_a;
        const bool conjugates_right = cut.mirrored ? request_.conjugate_a : request_.conjugate_b;
        const std::vector<std::int64_t> missing = missing_tiles(schedule, finished);
        PageBuffer workspace(stage_.open_device ? 0 : plan.workspace_bytes);
        PipelineFiles files{
            cut.mirrored ? &b : &a, cut.mirrored ? &a : &b, adds ? &*c0 : nullptr, {}, &outputs.of_tiles()};
        if (adds) {
            files.c0_layout = cut.mirrored ? transposed(c0->layout()) : c0->layout();
        }
        std::optional<OperandSums> sums;
        std::optional<LayerScaling> scaling;
        if (launch_.layers) {
            sums.emplace(*launch_.layers, inputs, finished);
            scaling.emplace(layered(), inputs, *sums);
            files.left_sums = cut.mirrored ? &sums->b : &sums->a;
            files.right_sums = cut.mirrored ? &sums->a : &sums->b;
        }
        PipelineOptions options;
        options.buffers = file_buffers(launch_.layers ? launch_.layers->part : problem_of(inputs), cut);
        options.tile_m = cut.tile_m;
        options.tile_n = cut.tile_n;
        options.overlap = request_.overlap;
        options.io = request_.io;
        std::unique_ptr<StepDevice> device;
        if (stage_.open_device) {
            StepDeviceSizes sizes = step_device_sizes(schedule, plan, options.buffers, products);
            sizes.left.conjugate = conjugates_left;
            sizes.right.conjugate = conjugates_right;
            device = stage_.open_device(sizes);
            options.device = device.get();
            options.tiles_in_turn = request_.verify;
        }

        FileProductReport report;
        static_cast<FileLaunch&>(report) = launch_;
        report.error_bound = plan.error_bound;
        report.tiles = schedule.tiles();
        report.resident_at_start_bytes = resident_bytes();
        report.resumed_tiles = static_cast<std::int64_t>(finished.size());
        std::optional<StreamedCheck> check;
        const check::JudgedProduct judged = judged_product(schedule, products);
        if (request_.verify && !launch_.layers) {
            check.emplace(schedule, judged, hooks_.threads);
        }

        std::mutex of_verified;
        std::set<std::int64_t> verified;  // tiles; one thread notes them and another asks
        ReadSums reads(earlier.reads);
        Clock::time_point last_sync = Clock::now();  // of the writing thread
        PipelineWork work;
        work.was_read = [&](const ReadWindow& window, const ConstView& view) {
            const MatrixFile* const file = window.of == ReadOf::left    ? files.left
                                           : window.of == ReadOf::right ? files.right
                                                                        : files.c0;
            reads.take(window, view, *file);
        };
        work.before = [&](const FileStep& step, const ConstView& left, const ConstView& right, const View& strip) {
            if (sums) {
                require_safe_sums(layered(), *sums);
            }
            if (check) {
                check->before_product(step, conjugated(left, conjugates_left), conjugated(right, conjugates_right),
                                      strip);
            }
        };
        work.multiply = [&](const FileStep& step, std::int64_t first_row, const ConstView& left, const ConstView& right,
                            const View& c) {
            const Factor beta = step.panel > 0 ? 1 : adds ? request_.beta : 0;
            const FileWindow panel = schedule.right_window(step.tile, step.panel);
            const ProductPlan& product = products.of(c.rows, panel.rows, panel.cols);
            if (!device) {
                report.products.add(stage_.multiply(alpha, conjugated(left, conjugates_left),
                                                    conjugated(right, conjugates_right), beta, c, product,
                                                    workspace.data(), workspace.bytes()));
                if (schedule.result().packed && step.panel + 1 == schedule.panels()) {
                    clear_beyond(panel.col + panel.cols, plan.n, c);
                }
                return;
            }
            FileWindow window = schedule.result_window(step.tile, step.strip);
            window.row += first_row;
            window.rows = c.rows;
            device->multiply(alpha, {step.left_slot, first_row, c.rows}, step.right_slot, beta,
                             tile_place(schedule, step, window), product);
        };
        work.completed = [&](const FileStep& step, const FileWindow& window, const View& c) {
            if (check) {
                check->after_rows(step, window, c);
                if (is_end_of_tile(schedule, step, window) && check->result().passed()) {
                    const std::lock_guard lock(of_verified);
                    verified.insert(step.tile);
                }
            }
        };
        work.finished = [&](std::int64_t tile, std::uint64_t sum) {
            inputs.require_unchanged();
            std::unique_lock lock(of_verified);
            const bool is_verified = verified.contains(tile);
            lock.unlock();
            journal.add_tile(tile, {sum, is_verified, sums ? std::optional(sums->seen()) : std::nullopt},
                             reads.take_new());
            ++leftovers_.finished_tiles;
            if (Clock::now() - last_sync > kSyncEvery) {
                outputs.of_tiles().sync();
                journal.sync();
                last_sync = Clock::now();
            }
        };
        work.progress = [&](double fraction) {
            if (hooks_.progress) {
                hooks_.progress({launch_.layers ? (1 - kLastPassShare) * fraction : fraction, "files"});
            }
        };
        work.stop_wanted = [&] { return hooks_.cancel.cancelled(); };

        const auto start = Clock::now();
        fail_if(earlier.inputs_touched && !read_windows_again(schedule, tiles_of(finished), files, work, options),
                ErrorCode::cancelled, "interrupted");
        const std::int64_t done = run_pipeline(schedule, missing, files, work, options, trace_);
        fail_if(done < static_cast<std::int64_t>(missing.size()), ErrorCode::cancelled, "interrupted");
        if (launch_.layers) {
            scaling->require_even_operands(*sums, !finished.empty());
            sums.reset();
            workspace = {};
            report.verified = add_up_products(layered(), *scaling, inputs, outputs, judged);
            report.products.scaled = report.products.scaled || scaling->scales();
            report.products.uneven = report.products.uneven || scaling->uneven();
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
        report.io = make_io_queue(request_.io)->name();
        leftovers_.publish(outputs.result);
        report.peak_resident_bytes = peak_resident_bytes();
        report.wall_s = seconds_since(start);
        return report;
    }

    /// What a check allows: the levels of the steps, those around them, and each sum of partial results round.
    check::JudgedProduct judged_product(const FileSchedule& schedule, const StepPlans& products) const {
        const double growth = products.largest_growth() * expected_growth(request_.outer);
        const std::int64_t additions = launch_.layers ? static_cast<std::int64_t>(growth_.roundings) : 0;
        return {
            request_.alpha.real(), request_.beta.real(),        sources_.k,
            sources_.a.type,       {request_.accuracy, growth}, schedule.panels() + additions + (sources_.c0 ? 1 : 0),
            request_.alpha.imag(), request_.beta.imag()};
    }

    /// A matrix without an element: what remains is beta C0, or zeros.
    FileProductReport without_products(const OpenInputs& inputs) {
        const auto start = Clock::now();
        FileProductReport report;
        report.plan.m = sources_.m;
        report.plan.k = sources_.k;
        report.plan.n = sources_.n;
        report.plan.type = sources_.a.type;
        report.plan.leaf = kAutomaticLeaf;
        report.plan.disk.emplace().memory_bytes = request_.memory_bytes;
        report.resident_at_start_bytes = resident_bytes();
        leftovers_.remove_of_others();
        PartialFile result(names_, header_bytes(), result_layout(request_, sources_));
        const std::unique_ptr<IoQueue> queue = make_io_queue(request_.io);
        if (inputs.c0) {
            write_scaled(*inputs.c0, request_.beta, request_.accuracy, request_.memory_bytes, result, *queue, hooks_);
            inputs.require_unchanged();
        }
        if (request_.verify) {
            report.verified.emplace().explanation = "there is nothing to multiply";
        }
        report.io = queue->name();
        leftovers_.publish(result);
        report.peak_resident_bytes = peak_resident_bytes();
        report.wall_s = seconds_since(start);
        return report;
    }

    void choose_plan(const FileProblem& problem) {
        take(request_.plan ? file_launch(problem, *request_.plan) : plan_file_product(problem, stage_, request_.outer));
        if (request_.plan) {
            require_memory_of_plan(launch_.used_bytes(), problem.memory_bytes);
            StepPlans(schedule_of(problem, launch_), launch_, stage_);
        }
    }

    void take(FileLaunch launch) {
        launch_ = std::move(launch);
        if (launch_.layers) {
            growth_ = layer_growth(launch_.layers->layer);
            leftovers_.are_parts_of_sums = true;
        }
    }

    LayeredRun layered() const { return {request_, *launch_.layers, growth_, hooks_, trace_}; }

    const FileProductRequest& request_;
    StageProducts stage_;
    const FileHooks& hooks_;
    StageTrace& trace_;
    ProductSources sources_;
    OutputNames names_;
    FileLaunch launch_;
    LayerGrowth growth_;
    Leftovers leftovers_;
};

}  // namespace

FileProductReport multiply_files(const FileProductRequest& request, const StageProducts& stage, const FileHooks& hooks,
                                 StageTrace& trace) {
    FileProductRequest asked = request;
    if (asked.plan && asked.plan->disk) {
        asked.outer = {asked.plan->disk->algorithm, asked.plan->disk->levels};
    }
    try {
        return FileProduct(asked, stage, hooks, trace).run();
    } catch (const SumsNotSafe&) {
        asked.outer = {};
        asked.plan.reset();
        asked.resume = false;
        FileProductReport report = FileProduct(asked, stage, hooks, trace).run();
        report.no_layers =
            "A or B holds NaN, Inf, values whose sums might overflow, or numbers so short that the classical product "
            "is all but exact, or levels would lose more than a digit on this data, so that the product was made "
            "again without outer levels";
        return report;
    }
}

}  // namespace heptad
