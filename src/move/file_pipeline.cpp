#include "move/file_pipeline.hpp"

#include <set>

#include "move/file_steps.hpp"
#include "move/stages.hpp"

namespace heptad {
namespace {

class FilePipeline {
public:
    FilePipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles, const PipelineFiles& files,
                 const PipelineWork& work, const PipelineOptions& options, StageTrace& trace)
        : steps_(schedule.steps(tiles)), work_(work), options_(options), do_(schedule, files, work, options, trace) {}

    std::int64_t run() {
        options_.overlap ? run_overlapped() : run_in_turn();
        return do_.finished_tiles();
    }

    /// False: a stop was wanted.
    bool read_only() {
        std::set<ReadWindow> done;
        for (FileStep step : steps_) {
            if (step.first_of_tile && work_.stop_wanted()) {
                return false;
            }
            step.loads_left = done.insert(do_.left_window_of(step)).second;
            step.loads_right = done.insert(do_.right_window_of(step)).second;
            load(step);
        }
        return true;
    }

private:
    void load(const FileStep& step) {
        do_.load_left(step);
        do_.load_right(step);
        if (do_.loads_c0(step)) {
            do_.load_c0(step);
        }
    }

    void multiply(std::size_t i, const std::function<void(const FilePiece&)>& complete) {
        do_.multiply(steps_[i], complete);
        if (work_.progress) {
            work_.progress(static_cast<double>(i + 1) / static_cast<double>(steps_.size()));
        }
    }

    void run_in_turn() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            if (steps_[i].first_of_tile && work_.stop_wanted()) {
                return;
            }
            load(steps_[i]);
            do_.upload(steps_[i]);
            multiply(i, [this](const FilePiece& piece) {
                if (do_.tiles_on_device()) {
                    do_.download(piece);
                }
                do_.write(piece);
            });
        }
    }

    void run_overlapped() {
        Stages stages(over_);
        stages.start([this] { read_ahead(); });
        if (do_.device() != nullptr) {
            stages.start([this] { upload_ahead(); });
        }
        if (do_.tiles_on_device()) {
            stages.start([this] { download_behind(); });
        }
        stages.start([this] { write_behind(); });
        stages.run_here_and_finish([this] { multiply_all(); });
    }

    void read_ahead() {
        const bool room_beside = options_.buffers.panels > 1;
        for (const FileStep& step : steps_) {
            const auto load_right = [&] {
                multiplied_.wait_for(step.load_right_after);
                do_.load_right(step);
            };
            // A panel that has to wait for the one before lets the strip go first.
            if (room_beside) {
                load_right();
            }
            multiplied_.wait_for(step.load_left_after);
            do_.load_left(step);
            if (!room_beside) {
                load_right();
            }
            if (do_.loads_c0(step)) {
                written_.wait_for(step.fill_after_written);
                do_.load_c0(step);
            }
            loaded_.add();
        }
    }

    void upload_ahead() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            loaded_.wait_for(static_cast<std::int64_t>(i) + 1);
            do_.upload(steps_[i]);
            uploaded_.add();
        }
    }

    void multiply_all() {
        StepCount& ready = do_.device() != nullptr ? uploaded_ : loaded_;
        StepCount& emptied = do_.tiles_on_device() ? downloaded_ : written_;
        Channel<FilePiece>& to_fetch = do_.tiles_on_device() ? to_download_ : to_write_;
        std::int64_t strips_begun = 0;
        if (do_.device() != nullptr && !do_.tiles_on_device()) {
            do_.lock_tiles();
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const FileStep& step = steps_[i];
            if (step.first_of_tile && work_.stop_wanted()) {
                break;
            }
            ready.wait_for(static_cast<std::int64_t>(i) + 1);
            if (step.panel == 0) {
                const bool waits_for_all = step.first_of_tile && options_.tiles_in_turn && do_.tiles_on_device();
                emptied.wait_for(waits_for_all ? strips_begun : step.fill_after_written);
                ++strips_begun;
            }
            multiply(i, [&](const FilePiece& piece) { to_fetch.push(piece); });
            multiplied_.add();
        }
        to_fetch.close();
    }

    void download_behind() {
        do_.lock_tiles();
        while (const std::optional<FilePiece> piece = to_download_.next()) {
            written_.wait_for(piece->step.fill_after_written);
            do_.download(*piece);
            to_write_.push(*piece);
            downloaded_.add(piece->last_of_strip ? 1 : 0);
        }
        to_write_.close();
    }

    void write_behind() {
        while (const std::optional<FilePiece> piece = to_write_.next()) {
            do_.write(*piece);
            written_.add(piece->last_of_strip ? 1 : 0);
        }
        over_.end();  // after a stop, those ahead may wait for buffers that nobody will free
    }

    const std::vector<FileStep> steps_;
    const PipelineWork& work_;
    const PipelineOptions& options_;
    FileSteps do_;
    StageFailure over_;
    StepCount loaded_{over_}, uploaded_{over_}, multiplied_{over_};  // steps
    StepCount downloaded_{over_}, written_{over_};                   // strips
    Channel<FilePiece> to_download_{over_}, to_write_{over_};
};

}  // namespace

std::int64_t run_pipeline(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                          const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options,
                          StageTrace& trace) {
    return FilePipeline(schedule, tiles, files, work, options, trace).run();
}

bool read_windows_again(const FileSchedule& schedule, const std::vector<std::int64_t>& tiles,
                        const PipelineFiles& files, const PipelineWork& work, const PipelineOptions& options) {
    StageTrace trace(false);
    return FilePipeline(schedule, tiles, files, work, options, trace).read_only();
}

}  // namespace heptad
