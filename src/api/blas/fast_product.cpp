#include "api/blas/fast_product.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "algorithm/catalogue.hpp"
#include "api/blas/float_exceptions.hpp"
#include "api/blas/takeover.hpp"
#include "api/blas/without_library.hpp"
#include "api/drop_in/loaded_function.hpp"
#include "api/drop_in/product_log.hpp"
#include "base/cores.hpp"
#include "base/shared_state.hpp"
#include "base/timing.hpp"
#include "kernels/cpu/cpu_kernels.hpp"
#include "kernels/cpu/vendor_blas.hpp"
#include "kernels/cuda/device/device.hpp"
#include "plan/search/planner.hpp"
#include "product/device/device_choice.hpp"
#include "product/device/device_product.hpp"
#include "product/device/host_operand_plan.hpp"
#include "product/memory/product.hpp"
#include "product/memory/validate.hpp"

namespace heptad::blas {
namespace {

/// Does any of the OpenMP runtimes of the process say that this thread is in an active parallel region?
bool is_in_parallel_region() {
    struct Runtimes {
        std::uint64_t changes = 0;
        std::vector<drop_in::AnyFunction> questions;
    };
    static constinit Guarded<Runtimes> found;
    const auto runtimes = found.lock();
    if (const std::uint64_t changes = drop_in::changes_of_objects(); changes != runtimes->changes) {
        runtimes->questions = drop_in::functions_in_all_objects("omp_in_parallel");
        runtimes->changes = changes;
    }
    return std::ranges::any_of(runtimes->questions, [](drop_in::AnyFunction question) {
        return reinterpret_cast<int (*)()>(question)() != 0;
    });
}

/// HEPTAD_THREADS, or as many as the library is set to use, or as OMP_NUM_THREADS says. In a parallel region one, as a
/// library that uses OpenMP itself: its other threads are at work already, mostly in calls of their own.
int threads_for(const RealFunction& real) {
    if (is_in_parallel_region()) {
        return 1;
    }
    if (knobs().threads > 0) {
        return knobs().threads;
    }
    const int cores = available_cores();
    if (const int told = real.library_threads(); told > 0) {
        return std::min(told, cores);
    }
    const int by_omp = threads_in(nullptr, std::getenv("OMP_NUM_THREADS")).by_omp;
    return by_omp > 0 ? std::min(by_omp, cores) : cores;
}

/// The one with the fewest sums that keeps `balanced` at so many levels: winograd for one, strassen for two, then the
/// accurate one. `fast` does not mind.
std::string algorithm_for(int levels) {
    if (knobs().algorithm != "auto" || levels == 0) {
        return knobs().algorithm;
    }
    constexpr std::array<const char*, 2> kFewerSums{"winograd", "strassen"};
    for (const char* name : kFewerSums) {
        const double growth = std::pow(std::max(1.0, find_algorithm(name).facts.rms_growth), levels);
        if (knobs().accuracy == Accuracy::fast || growth <= PlannerLimits{}.balanced_growth) {
            return name;
        }
    }
    return "2x2x2-7-accurate";
}

Options options_for(int levels) {
    Options options;
    options.algorithm = algorithm_for(levels);
    options.levels = levels;
    options.accuracy = knobs().accuracy;
    options.device = "cpu";
    options.leaf = "heptad";  // no other library is loaded, and the threads of this one are left alone
    if (knobs().workspace_bytes >= 0) {
        options.workspace_limit_bytes = knobs().workspace_bytes;
    }
    return options;
}

/// The plan of the whole product on a device, or of its largest steps. Where C is by columns, of the transposed one.
ProductPlan plan_from_host(const GemmCall& call, const Options& options, const ProductContext& context) {
    const bool by_rows = call.c.col_stride == 1;
    const ProblemSize size{by_rows ? call.c.rows : call.c.cols, call.a.cols, by_rows ? call.c.cols : call.c.rows};
    const TransferDecision made = plan_host_operands(size, call.a.type, call.c.type, false, options, context);
    return made.is_divided() ? made.plan : plan_device_product(size.m, size.k, size.n, call.a.type, options, context);
}

/// True: it was done on a device, where that was predicted to be sooner. Not with a beta: a device that fails may have
/// written parts of C.
bool multiply_on_some_device(const GemmCall& call, const ProductContext& context, ProductPlan& plan) {
    if (!knobs().may_use_device || call.beta != 0.0) {
        return false;
    }
    Options options;
    options.accuracy = knobs().accuracy;
    const std::string device = device_that_pays(call.a, call.b, 0, call.c, options, context);
    if (device == options.device) {
        if (drop_in::is_logged() && !cuda::known_report().available) {
            drop_in::log_sentence("HEPTAD_DEVICE=cuda has no effect: " + cuda::known_report().problem);
        }
        return false;
    }
    options.device = device;
    multiply_on_device(call.alpha, call.a, call.b, 0, call.c, options, context);
    if (drop_in::is_logged()) {
        plan = plan_from_host(call, options, context);
    }
    return true;
}

/// Real or imaginary parts as three_products has them: dense, in the order of the matrix.
ConstView plane_of(const ConstView& v) {
    const bool by_rows = v.row_stride >= v.col_stride;
    return {v.data, part_type(v.type), v.rows, v.cols, by_rows ? v.cols : 1, by_rows ? 1 : v.rows};
}

/// What the processor offers, a system may still keep from a process.
bool our_classical_product_pays(Type type) {
    return classical_leads(type) && cpu::multiplies_f32_by_bf16();
}

/// Without levels, or three products in place of a complex one, the library is mostly as fast. HEPTAD_MIN_SIZE is for
/// tests.
bool is_worth_while(const ProductPlan& plan) {
    return is_complex(plan.type) ? plan.complex == ComplexWay::three_products ||
                                       (knobs().min_size > 0 && plan.complex == ComplexWay::one_product)
                                 : !plan.levels.empty() || our_classical_product_pays(plan.type);
}

/// As planned, or with less workspace where there is less by now. False: not even that pays, and C is as it was.
bool multiply_with_what_is_free(const GemmCall& call, const Options& options, ProductContext context, ProductPlan& plan,
                                bool& is_under_way) {
    plan = plan_product(call.a.rows, call.a.cols, call.b.cols, call.a.type, options, context);
    if (!is_worth_while(plan)) {
        return false;
    }
    // Our classical product could fail for want of memory when C is written in part; the library's could not.
    context.hooks.before_change = [&] {
        if (!is_worth_while(plan)) {
            throw std::bad_alloc();
        }
        is_under_way = call.beta != 0.0;
    };
    multiply_in_memory(call.alpha, call.a, call.b, call.beta, call.c, options, context, &plan);
    return true;
}

bool multiply_complex_as_planned(const GemmCall& call, const ProductContext& context, ProductPlan& plan,
                                 bool& is_under_way) {
    if (!three_products_pay(call.a, call.b, context.threads)) {
        return false;
    }
    // The sums of three products double the error: with three levels it was 10.6 times the library's (c128, n = 1160),
    // with two 6.7, where `balanced` allows ten.
    constexpr int kMostBalanced = 2;
    const bool is_free = knobs().levels >= 0 || knobs().accuracy == Accuracy::fast;
    const int levels = levels_for(plane_of(call.a), plane_of(call.b), context.threads);
    Options options = options_for(is_free ? levels : std::min(levels, kMostBalanced));
    options.accumulate = call.beta != 0.0;
    return multiply_with_what_is_free(call, options, context, plan, is_under_way);
}

/// True: done. `is_under_way`: an error came when C, whose old values count, may have been written.
bool multiply_as_planned(const GemmCall& call, const ProductContext& context, ProductPlan& plan, bool& is_under_way) {
    if (multiply_on_some_device(call, context, plan)) {
        return true;
    }
    if (is_complex(call.a.type)) {
        return multiply_complex_as_planned(call, context, plan, is_under_way);
    }
    const int levels = levels_for(call.a, call.b, context.threads);
    if (levels == 0 && !our_classical_product_pays(call.a.type)) {
        return false;
    }
    Options options = options_for(levels);
    options.accumulate = call.beta != 0.0;
    return multiply_with_what_is_free(call, options, context, plan, is_under_way);
}

/// What a call would have taken otherwise is not known, since it was not made. The library is timed once per type, on a
/// product of kProbeSide; only where there is a log. `seconds`: that the call took.
void log_call(const GemmCall& call, RealFunction& real, ProbeSeconds probe, const ProductPlan& plan,
              double seconds) try {
    if (!drop_in::is_logged()) {
        return;
    }
    static constinit std::array<Once<double>, kTypes> probes;
    const double probe_s = probes[type_index(call.a.type)].get([&] { return std::max(probe(real), 1e-9); });
    const ProblemSize size{call.a.rows, call.a.cols, call.b.cols};
    const double probes_of_it = static_cast<double>(size.m) * static_cast<double>(size.k) *
                                static_cast<double>(size.n) / std::pow(kProbeSide, 3);
    drop_in::log_product(real.name(), size, plan, seconds, probe_s * probes_of_it);
} catch (const std::exception&) {  // no memory for a line; the product is done
}

[[noreturn]] void give_up(const char* why) {
    std::fprintf(stderr, "heptad: a product failed after part of its result was written: %s\n", why);
    std::abort();
}

bool multiply_if_it_pays(const GemmCall& call, RealFunction& real, ProbeSeconds probe) noexcept {
    bool is_under_way = false;
    try {
        cpu::use_no_vendor_libraries();
        validate_product(1, call.a, call.b, 0, call.c);
        const PassOn nested_calls;
        ProductContext context;
        context.threads = threads_for(real);
        ProductPlan plan;
        const auto start = Clock::now();
        const bool done = multiply_as_planned(call, context, plan, is_under_way);
        if (done) {
            log_call(call, real, probe, plan, seconds_since(start));
        }
        return done;
    } catch (const std::exception& error) {
        if (is_under_way) {
            give_up(error.what());
        }
    } catch (...) {
        if (is_under_way) {
            give_up("for an unknown reason");
        }
    }
    return false;
}

}  // namespace

bool multiply_fast(const GemmCall& call, RealFunction& real, ProbeSeconds probe) noexcept {
    return without_float_exceptions(call.c, [&] { return multiply_if_it_pays(call, real, probe); });
}

void multiply_without_library(const GemmCall& call) noexcept {
    try {
        cpu::use_no_vendor_libraries();
        Options options;
        options.accuracy = Accuracy::strict;
        options.device = "cpu";
        options.leaf = "heptad";
        ProductContext context;
        context.threads = threads_for(RealFunction("", nullptr));
        without_float_exceptions(call.c, [&] {
            multiply_in_memory(call.alpha, call.a, call.b, call.beta, call.c, options, context);
            return true;
        });
    } catch (const std::exception& error) {
        give_up(error.what());
    }
}

void report_wrong_argument(Type type, const char* routine, int number, bool is_cblas) {
    using Xerbla = void (*)(const char*, const int*, std::size_t);
    const std::string name = "SDCZ"[type_index(type)] + std::string(routine);
    number = !is_cblas ? number : number < 0 ? 1 : number + 1;
    if (const auto xerbla = reinterpret_cast<Xerbla>(dlsym(RTLD_DEFAULT, "xerbla_"))) {
        xerbla(name.c_str(), &number, name.size());
    } else {
        std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", name.c_str(), number);
    }
}

}  // namespace heptad::blas
