#include "product/cluster/job_parts.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/fail_if.hpp"
#include "product/cluster/distribution.hpp"
#include "product/cluster/same_files.hpp"

namespace heptad {

std::string JobParts::part_base(int rank) const {
    const std::string name = job_.output.substr(job_.output.rfind('/') + 1);  // all of it where there is none
    return fmt::format("{}.part-{}", job_.distribution.scatter ? job_.scratch + "/" + name : job_.output, rank);
}

void JobParts::make_result(const std::vector<std::string>& record) {
    const ProductPlan& plan = outcome_.plan;
    RankReport& own = outcome_.own;
    own.part = result_window(plan, ranks_.rank());
    const Window whole{0, 0, plan.m, plan.n};
    const bool has_part = plan.rank->algorithm == ClusterAlgorithm::caps || own.part.elements() > 0;
    const bool needed = has_part || (is_root() && !job_.keep_parts);
    ranks_.agree([&] {
        if (has_own_file() && needed) {
            own.part_file = part_base() + ".npy";
            make_file(own.part_file, {own.part, outcome_.stored, rounds_once(job_)});
        } else if (is_root() && needed) {
            make_file(job_.output, {whole, outcome_.stored, rounds_once(job_)});
        }
        if (job_.distribution.scatter && is_root()) {  // its scratch; the others' has the lock of their part
            scratch_lock_.emplace(part_base());
        }
    });
    if (is_one_file()) {
        require_same_folder(job_.output, ranks_);
    }
    ranks_.agree([&] {
        if (!result_ && needed) {
            result_.emplace(WindowWriter::open(job_.output, {whole, outcome_.stored, rounds_once(job_)}));
            if (resumes) {
                result_->keep();
            }
        }
        if (plan.rank->algorithm == ClusterAlgorithm::caps) {
            return;  // finishes all at once
        }
        if (before) {
            journal_.emplace(journal_path(), *before);
        } else {
            // Other ranks of an earlier job than these are known by nobody any more.
            for (int rank = ranks_.size(); is_root() && ::unlink((part_base(rank) + ".journal").c_str()) == 0; ++rank) {
            }
            journal_.emplace(journal_path(), record);
        }
    });
}

/// A file that this rank begins, or goes on with where an earlier job has begun it.
void JobParts::make_file(const std::string& path, const WindowWriter::Shape& shape) {
    lock_.emplace(path);
    if (before && WindowWriter::can_go_on(path, shape)) {
        result_.emplace(WindowWriter::open(path, shape));
        result_->keep();
    } else {
        result_.emplace(WindowWriter::create(path, shape));
    }
}

void JobParts::distribute() {
    const ProductPlan& plan = outcome_.plan;
    const HeldWindows held = held_windows(plan, ranks_.rank());
    if (!job_.distribution.scatter) {
        a_ = std::make_unique<FileSource>(inputs_->a, held.a);
        b_ = std::make_unique<FileSource>(inputs_->b, held.b);
        return;
    }
    if (!find_scratch(held)) {
        hand_out(held);
    }
    a_ = a_scratch_;
    b_ = b_scratch_;
}

void JobParts::hand_out(const HeldWindows& held) {
    const ProductPlan& plan = outcome_.plan;
    ranks_.agree([&] {
        a_scratch_ = std::make_shared<ScratchSource>(part_base() + "-a.scratch", held.a, plan.type);
        b_scratch_ = std::make_shared<ScratchSource>(part_base() + "-b.scratch", held.b, plan.type);
    });
    const std::uint64_t sum_a =
        scatter_windows({plan, ranks_, inputs_ ? &inputs_->a : nullptr, *a_scratch_, trace_, failure_},
                        [&](std::int64_t rank) { return held_windows(plan, rank).a; });
    const Distribution of_b{plan, ranks_, inputs_ ? &inputs_->b : nullptr, *b_scratch_, trace_, failure_};
    const std::uint64_t sum_b =
        plan.rank->algorithm == ClusterAlgorithm::pegmm
            ? broadcast_windows(of_b, held.b, job_.distribution.broadcast)
            : scatter_windows(of_b, [&](std::int64_t rank) { return held_windows(plan, rank).b; });
    require_unchanged_inputs();
    journal_->add_held("a", sum_a);
    journal_->add_held("b", sum_b);
}

/// Goes on with what an earlier job handed out, if every rank still has it.
bool JobParts::find_scratch(const HeldWindows& held) {
    const auto find = [&](const char* operand, const std::vector<Window>& windows) {
        std::shared_ptr<ScratchSource> found =
            ScratchSource::reopen(fmt::format("{}-{}.scratch", part_base(), operand), windows, outcome_.plan.type);
        return found && before->held.contains(operand) && found->sum() == before->held.at(operand) ? found : nullptr;
    };
    if (before) {
        trace_.time(Stage::disk_read, [&] {
            a_scratch_ = find("a", held.a);
            b_scratch_ = find("b", held.b);
        });
    }
    const std::vector<std::string> have = ranks_.gather_texts(a_scratch_ && b_scratch_ ? "yes" : "no");
    return std::find(have.begin(), have.end(), "no") == have.end();
}

void JobParts::find_finished() {
    if (!journal_) {
        return;
    }
    const std::vector<Window> units = result_units(outcome_.plan, ranks_.rank());
    std::string own(units.size(), '0');
    trace_.time(Stage::disk_read, [&] {
        for (const auto& [index, sum] : before ? before->units : std::map<std::int64_t, std::uint64_t>{}) {
            if (index >= 0 && index < static_cast<std::int64_t>(units.size())) {
                const Window& window = units[static_cast<std::size_t>(index)];
                Matrix elements(outcome_.plan.type, window.rows, window.cols);
                result_->read(window, elements.data());
                own[static_cast<std::size_t>(index)] =
                    checksum(elements.data(), elements.size_bytes()) == sum ? '1' : '0';
            }
        }
    });
    std::vector<std::vector<bool>> finished;
    for (const std::string& rank : ranks_.gather_texts(own)) {
        finished.emplace_back();
        for (const char unit : rank) {
            finished.back().push_back(unit == '1');
        }
    }
    outcome_.own.units = static_cast<std::int64_t>(units.size());
    outcome_.own.resumed_units = std::count(own.begin(), own.end(), '1');
    finished_ = FinishedUnits(std::move(finished), *journal_);
    keep_leftovers(true);
    if (result_) {
        result_->keep();
    }
}

/// But for the result itself.
void JobParts::keep_leftovers(bool keeps) {
    keeps_leftovers_ = keeps;
    for (ScratchSource* scratch : {a_scratch_.get(), b_scratch_.get()}) {
        if (scratch != nullptr) {
            scratch->keep(keeps);
        }
    }
}
/// After a success, or where they are wrong.
void JobParts::remove_leftovers() {
    keep_leftovers(false);
    if (journal_) {
        journal_->remove();
    }
}

void JobParts::finish() {
    const bool collects = job_.distribution.scatter && !job_.keep_parts;
    if (!job_.distribution.scatter) {
        require_unchanged_inputs();
    }
    if (collects) {
        collect_result(outcome_.plan, ranks_, result_ ? &*result_ : nullptr, trace_);
    }
    ranks_.agree([&] {
        if (result_) {
            trace_.time(Stage::disk_write, [&] { result_->sync(); });
        }
    });
    ranks_.agree([&] {
        if (result_ && (job_.keep_parts || is_root())) {
            result_->publish();
        }
    });
    // Not before: where the result could not take its name, a later job goes on with all of this.
    ranks_.agree([&] {
        if (result_) {  // which has its name now, or was collected
            result_->keep(!collects || is_root());
        }
        remove_leftovers();
    });
    if (!job_.keep_parts) {
        outcome_.own.part_file.clear();
    }
}

void JobParts::require_unchanged_inputs() {
    agree_or_discard([&] {
        fail_if(inputs_ && inputs_->identities() != identities_, ErrorCode::input,
                "the matrices were changed while they were multiplied; start again once nothing changes them");
    });
}

}  // namespace heptad
