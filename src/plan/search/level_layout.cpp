#include "plan/search/level_layout.hpp"
#include "plan/search/device_residue_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "algorithm/catalogue.hpp"
#include "base/device_layout.hpp"
#include "base/shared_state.hpp"
#include "base/size.hpp"
#include "base/types.hpp"
#include "plan/search/complex_plan.hpp"

namespace heptad {
namespace {

/// Sums of an algorithm in its own bases, made when first asked for.
const LevelSums& core_sums(const std::string& name) {
    static constinit OncePerKey<std::string, LevelSums> all;
    return all.get(name, [&] { return shared_sums(find_algorithm(name).algorithm); });
}

const Schedule& made_schedule(const std::string& name, bool core, bool accumulate) {
    static constinit OncePerKey<std::tuple<std::string, bool, bool>, Schedule> all;
    return all.get({name, core, accumulate}, [&] {
        const CatalogueEntry& entry = find_algorithm(name);
        Algorithm algorithm = core ? entry.algorithm : entry.standard;
        const LevelSums& sums = core && algorithm.basis ? core_sums(name) : entry.sums;
        algorithm.basis.reset();
        return make_schedule(algorithm, sums, accumulate);
    });
}

LevelCost schedule_cost(const Schedule& schedule) {
    LevelCost cost;
    for (const CombineRun& run : combine_runs(schedule)) {
        std::set<Symbol> read;
        std::set<Symbol> written;
        for (int i = run.first; i < run.last; ++i) {
            const ScheduleStep& step = schedule.steps[static_cast<std::size_t>(i)];
            for (const CombineOutput& output : step.outputs) {
                for (const ScheduleTerm& term : output.terms) {
                    if (!written.contains(term.symbol)) {
                        read.insert(term.symbol);
                    }
                }
            }
            for (const CombineOutput& output : step.outputs) {
                written.insert(output.target);
            }
        }
        double& blocks = run.shape == Shape::a ? cost.a_blocks : run.shape == Shape::b ? cost.b_blocks : cost.c_blocks;
        blocks += static_cast<double>(read.size() + written.size());
        cost.passes += 1;
    }
    cost.adds_products = std::ranges::any_of(schedule.steps, [](const ScheduleStep& step) {
        return step.kind == ScheduleStep::Kind::product && step.update != ScheduleStep::Update::store;
    });
    return cost;
}

}  // namespace

LevelPrograms level_programs(const std::string& algorithm, bool core) {
    const CatalogueEntry& entry = find_algorithm(algorithm);
    if (!core || !entry.algorithm.basis) {
        return {&entry.standard, &entry.sums.a, &entry.sums.b, &entry.sums.c};
    }
    const LevelSums& sums = core_sums(algorithm);
    return {&entry.algorithm, &sums.a, &sums.b, &sums.c};
}

OperandLayout operand_layout(const LinearProgram& program, bool batched) {
    OperandLayout layout;
    layout.batched = batched;
    layout.slot_of_value.assign(static_cast<std::size_t>(program.inputs) + program.statements.size(), -1);
    for (const LinearTerm& output : program.outputs) {
        if (output.value >= program.inputs) {
            int& slot = layout.slot_of_value[static_cast<std::size_t>(output.value)];
            if (slot < 0) {
                slot = layout.stored++;
            }
        }
    }
    std::set<int> read;
    if (batched) {
        layout.stored = static_cast<int>(program.outputs.size());
        for (const LinearTerm& output : program.outputs) {
            if (output.value >= 0 && output.value < program.inputs) {
                read.insert(output.value);
            }
        }
    }
    for (const LinearStatement& statement : program.statements) {
        for (const LinearTerm& term : statement.terms) {
            if (term.value < program.inputs) {
                read.insert(term.value);
            }
        }
    }
    layout.inputs_read = static_cast<int>(read.size());
    return layout;
}

LevelStorage level_storage(bool on_device, bool in_batch, LevelMode mode) {
    // A device's passes over many blocks are cut, so they must not overwrite what they still have to read.
    return {on_device && in_batch && mode == LevelMode::parallel, on_device, on_device, on_device};
}

LevelStorage level_storage(const ProductPlan& plan, std::size_t depth) {
    const bool on_device = is_on_device(plan);
    const bool in_batch = depth + 1 == plan.levels.size() && !leaf_traits(plan.leaf).is_one_by_one;
    LevelStorage storage = level_storage(on_device, in_batch, plan.levels[depth].mode);
    // Blocks of A and B are of another type than the sums: those that are multiplied as they are get copied too.
    storage.batched = storage.batched || (plan.scaled_sums && depth == 0);
    // One call takes the products of a fused level below all of this level's, if their operands are laid out alike.
    const bool above_fused = is_fused(plan) && depth + 2 == plan.levels.size();
    storage.batched = storage.batched || (on_device && above_fused && plan.levels[depth].mode == LevelMode::parallel);
    return storage;
}

int stored_products(const Algorithm& algorithm, bool accumulate, const LevelStorage& storage) {
    return accumulate || storage.products_apart ? algorithm.rank()
                                                : std::max(0, algorithm.rank() - algorithm.m * algorithm.n);
}

const Schedule& level_schedule(const LevelPlan& level, bool core, const LevelEntry& entry) {
    if (!level.schedule.empty()) {
        const Schedule& schedule = find_schedule(level.schedule);
        const bool fits = schedule.overwrites_inputs ? entry.operands_die && (schedule.accumulates || !entry.accumulate)
                                                     : schedule.accumulates == entry.accumulate;
        if (fits) {
            return schedule;
        }
    }
    const bool has_default =
        level.algorithm == "winograd" && (level.schedule.empty() || find_schedule(level.schedule).overwrites_inputs);
    return has_default ? find_schedule(entry.accumulate ? "huss-lederman-3" : "p0-figure-15")
                       : made_schedule(level.algorithm, core, entry.accumulate);
}

LevelEntry entry_below(const ScheduleStep& product, const LevelEntry& entry) {
    return {product.update != ScheduleStep::Update::store,
            entry.operands_die && product.left_dies && product.right_dies};
}

std::vector<std::vector<LevelEntry>> level_entries(const ProductPlan& plan) {
    const bool adds = plan.accumulate && !plan.change_basis && !plan.padded;
    // What a device has added to C cannot be taken back where the input turns out not to be finite.
    const bool operands_die = plan.overwrite_inputs && !(adds && is_on_device(plan));
    // A plan that accumulates may still be run with beta = 0.
    std::vector<LevelEntry> entries{{false, operands_die}};
    if (adds) {
        entries.push_back({true, operands_die});
    }
    std::vector<std::vector<LevelEntry>> all;
    for (const LevelPlan& level : plan.levels) {
        all.push_back(entries);
        std::vector<LevelEntry> below;
        const auto add = [&](const LevelEntry& entry) {
            if (std::ranges::find(below, entry) == below.end()) {
                below.push_back(entry);
            }
        };
        for (const LevelEntry& entry : entries) {
            if (level.mode != LevelMode::serial) {
                add({false, false});  // a block of A may be an operand of several products
                continue;
            }
            for (const ScheduleStep& step : level_schedule(level, plan.change_basis, entry).steps) {
                if (step.kind == ScheduleStep::Kind::product) {
                    add(entry_below(step, entry));
                }
            }
        }
        entries = std::move(below);
    }
    return all;
}

bool needs_spare(const ScheduleStep& step, const LevelStorage& storage) {
    const bool in_place = step.target == step.left || step.target == step.right;
    const bool to_an_input = step.target.kind == SymbolKind::a || step.target.kind == SymbolKind::b;
    return step.kind == ScheduleStep::Kind::product && (in_place || (storage.guards_inputs && to_an_input));
}

bool needs_spare(const Schedule& schedule, const LevelStorage& storage) {
    return std::ranges::any_of(schedule.steps, [&](const ScheduleStep& step) { return needs_spare(step, storage); });
}

std::vector<CombineRun> combine_runs(const Schedule& schedule) {
    std::map<Symbol, Shape>
        held;  // what each block holds at this point; its own shape where nothing else was put there
    const auto shape_held = [&](const Symbol& symbol) {
        const auto found = held.find(symbol);
        if (found != held.end()) {
            return found->second;
        }
        return symbol.kind == SymbolKind::a ? Shape::a : symbol.kind == SymbolKind::b ? Shape::b : Shape::c;
    };
    std::vector<CombineRun> runs;
    bool open = false;
    for (int i = 0; i < static_cast<int>(schedule.steps.size()); ++i) {
        const ScheduleStep& step = schedule.steps[static_cast<std::size_t>(i)];
        if (step.kind == ScheduleStep::Kind::product) {
            held[step.target] = Shape::c;
            open = false;
            continue;
        }
        const CombineOutput& first = step.outputs.front();
        const Shape shape = first.terms.empty() ? shape_held(first.target) : shape_held(first.terms.front().symbol);
        for (const CombineOutput& output : step.outputs) {
            held[output.target] = shape;
        }
        if (open && runs.back().shape == shape) {
            runs.back().last = i + 1;
        } else {
            runs.push_back({i, i + 1, shape});
            open = true;
        }
    }
    return runs;
}

std::int64_t stored_stride(std::int64_t length, Type type, bool padded) {
    constexpr std::int64_t kRowAlignment = 16;  // what wide loads and the tensor cores ask for
    return padded ? round_up(length, kRowAlignment / static_cast<std::int64_t>(element_bytes(type))) : length;
}

std::int64_t block_bytes(Shape shape, const ProblemSize& block, Type type, bool padded) {
    const std::int64_t rows = shape == Shape::b ? block.k : block.m;
    const std::int64_t cols = shape == Shape::a ? block.k : block.n;
    // Stored by rows or by columns, whatever the operand is.
    const std::int64_t elements = std::max(checked_mul(rows, stored_stride(cols, type, padded)),
                                           checked_mul(cols, stored_stride(rows, type, padded)));
    return round_up(checked_mul(elements, static_cast<std::int64_t>(element_bytes(type))), kWorkspaceAlignment);
}

std::int64_t temporary_bytes(const Temporary& temporary, const ProblemSize& block, Type type, bool padded) {
    std::int64_t bytes = 0;
    for (const Shape shape : temporary.holds) {
        bytes = std::max(bytes, block_bytes(shape, block, type, padded));
    }
    return bytes;
}

std::int64_t level_workspace_bytes(const LevelPlan& level, bool core, const LevelEntry& entry, const ProblemSize& block,
                                   const BlockTypes& types, const LevelStorage& storage) {
    std::int64_t bytes = 0;
    if (level.mode == LevelMode::fused) {
        return 0;
    }
    if (level.mode == LevelMode::serial) {
        const Schedule& schedule = level_schedule(level, core, entry);
        for (const Temporary& temporary : schedule.temporaries) {
            bytes = checked_add(bytes, temporary_bytes(temporary, block, types.products, storage.padded));
        }
        return needs_spare(schedule, storage)
                   ? checked_add(bytes, block_bytes(Shape::c, block, types.products, storage.padded))
                   : bytes;
    }
    const LevelPrograms programs = level_programs(level.algorithm, core);
    const auto add = [&](std::int64_t blocks, Shape shape) {
        const Type type = shape == Shape::c ? types.products : types.sums;
        bytes = checked_add(bytes, checked_mul(blocks, block_bytes(shape, block, type, storage.padded)));
    };
    add(operand_layout(*programs.a, storage.batched).stored, Shape::a);
    add(operand_layout(*programs.b, storage.batched).stored, Shape::b);
    add(stored_products(*programs.algorithm, entry.accumulate, storage), Shape::c);
    return bytes;
}

LevelCost level_cost(const LevelPlan& level, bool core, const LevelEntry& entry, const LevelStorage& storage) {
    if (level.mode == LevelMode::fused) {
        return {};
    }
    if (level.mode == LevelMode::serial) {
        const Schedule& schedule = level_schedule(level, core, entry);
        LevelCost cost = schedule_cost(schedule);
        if (schedule.accumulates && !entry.accumulate) {  // C is cleared first
            cost.c_blocks += schedule.m * schedule.n;
            cost.passes += 1;
        }
        for (const ScheduleStep& step : schedule.steps) {
            if (storage.guards_inputs && needs_spare(step, storage)) {  // read from there and written where it belongs
                cost.c_blocks += 2;
                cost.passes += 1;
            }
        }
        return cost;
    }
    const LevelPrograms programs = level_programs(level.algorithm, core);
    const OperandLayout a = operand_layout(*programs.a, storage.batched);
    const OperandLayout b = operand_layout(*programs.b, storage.batched);
    const int outputs = programs.algorithm->m * programs.algorithm->n;
    return {static_cast<double>(a.stored + a.inputs_read), static_cast<double>(b.stored + b.inputs_read),
            static_cast<double>(programs.algorithm->rank() + outputs * (entry.accumulate ? 2 : 1)), 3, false};
}

double traffic_bytes(const LevelCost& cost, const ProblemSize& block, const BlockTypes& types) {
    const auto m = static_cast<double>(block.m);
    const auto k = static_cast<double>(block.k);
    const auto n = static_cast<double>(block.n);
    return (cost.a_blocks * m * k + cost.b_blocks * k * n) * static_cast<double>(element_bytes(types.sums)) +
           cost.c_blocks * m * n * static_cast<double>(element_bytes(types.products));
}

double wider_operand_bytes(const ProblemSize& whole, Type type, bool scaled) {
    const double wider =
        static_cast<double>(element_bytes(type)) - static_cast<double>(element_bytes(sums_type(type, scaled)));
    return wider * (static_cast<double>(whole.m) + static_cast<double>(whole.n)) * static_cast<double>(whole.k);
}

std::int64_t reserved_bytes(const ProductPlan& plan) {
    if (!is_on_device(plan)) {
        return 0;
    }
    const LeafSize leaf = leaf_size(plan);
    const std::int64_t limbs =
        leaf_traits(plan.leaf).has_limbs && !is_fused(plan) ? limb_bytes(leaf.m, leaf.k, leaf.n) : 0;
    // Where nothing else needs workspace, the device keeps its view of the operands in memory of its own.
    const bool needs_none = !plan.padded && (plan.levels.empty() || (plan.levels.size() == 1 && is_fused(plan)));
    const bool is_judged = unit_roundoff(plan.type) > 0 && !plan.levels.empty();
    const std::int64_t guard = is_judged ? guard_bytes(std::max(plan.m, plan.core_m), std::max(plan.k, plan.core_k),
                                                       std::max(plan.n, plan.core_n))
                                         : kGuardBytes;
    return checked_add(needs_none ? 0 : guard, round_up(limbs, kWorkspaceAlignment));
}

std::int64_t plan_workspace_bytes(const ProductPlan& plan) {
    if (plan.complex != ComplexWay::none) {
        return checked_add(real_copies_bytes(plan), plan_workspace_bytes(real_plan(plan)));
    }
    if (is_by_residues(plan) && is_on_device(plan)) {
        return device_residue_layout(plan).bytes();
    }
    ProblemSize block{plan.core_m, plan.core_k, plan.core_n};
    std::int64_t bytes = checked_add(plan.vendor_workspace_bytes, reserved_bytes(plan));
    const auto add_whole = [&](Shape shape) {
        bytes = checked_add(bytes, block_bytes(shape, block, plan.type, is_on_device(plan)));
    };
    if (plan.padded) {
        add_whole(Shape::a);
        add_whole(Shape::b);
        add_whole(Shape::c);
    }
    if (plan.change_basis) {
        if (!plan.overwrite_inputs) {  // otherwise the change is made in place
            add_whole(Shape::a);
            add_whole(Shape::b);
        }
        if (plan.accumulate && !plan.padded) {
            add_whole(Shape::c);
        }
    }
    // A level below one that adds products is entered in several ways: all of them must fit.
    const std::vector<std::vector<LevelEntry>> entries = level_entries(plan);
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        const LevelPlan& level = plan.levels[depth];
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        block = {block.m / algorithm.m, block.k / algorithm.k, block.n / algorithm.n};
        std::int64_t level_bytes = 0;
        for (const LevelEntry& entry : entries[depth]) {
            level_bytes =
                std::max(level_bytes, level_workspace_bytes(level, plan.change_basis, entry, block,
                                                            {plan.type, plan.scaled_sums}, level_storage(plan, depth)));
        }
        bytes = checked_add(bytes, level_bytes);
    }
    return bytes;
}

}  // namespace heptad
