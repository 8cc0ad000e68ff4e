// What was decided for a request, whatever the placement: its plan, and what the placement adds to that.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "plan/predict/promised_error.hpp"
#include "plan/search/host_plan.hpp"
#include "product/device/host_operand_plan.hpp"
#include "product/file/file_product.hpp"
#include "product/request/bit_operands.hpp"

namespace heptad {

struct DiskRates {
    double read_bytes_per_s = 0, write_bytes_per_s = 0;
    bool measured = false;  // or as given
};
/// Of the current folder, by a file of 256 MiB that is written and read past the cache where the file system allows it.
/// Throws Error(input) where the folder cannot be written.
DiskRates measure_disk();

/// From file to file: the cut, and what it would take on a disk of these rates.
struct FileRequestPlan : FileLaunch {
    FileProblem problem;
    DiskRates disk;
    double read_s = 0, write_s = 0, wall_s = 0;
    std::string stage_reason;      // why the host takes levels of its own, or none; mostly empty
    std::string outer_level_hint;  // see file_stage.hpp

    bool disk_binds() const;
};

/// What a person wants to know of a product before how it is made.
struct Outlook {
    ErrorPromise error;
    double speedup = 0;        // predicted, over the library's classical product; 0: it is that one, or nobody knows
    std::string library = {};  // the leaf of that one
};

struct RequestPlan {
    Type type = Type::f32;
    ProblemSize size;
    std::int64_t operand_bytes = 0;
    ProductPlan decided = {};
    Options options = {};      // it was made with
    int device = -1;           // the number of an NVIDIA device that does it alone
    bool count = false;        // of common ones
    std::string machine = {};  // of a plan alone: the device whose figures it was made with
    bool machine_measured = false;
    bool given = false;        // by the caller, for an accuracy that only the plan tells
    std::string library = {};  // the leaf of the library's classical product in its place, where that was looked at
    double library_s = 0;      // and its predicted time

    std::optional<HostForecast> over = {};         // over several devices, or one that is too small
    std::optional<TransferDecision> divided = {};  // on one device, transfers beside the products
    std::optional<FileRequestPlan> files = {};     // from file to file

    void decide(HostDecision made) {
        decided = std::move(made.plan);
        over = made.forecast;
    }
    int levels() const { return over ? decided.host->levels : level_count(decided); }
    Outlook outlook() const;
    double growth() const;  // of errors, as expected on even data; 0: not known
};

/// Looks at what the library's classical product would take in the place of a plan that was made here.
void look_at_library(RequestPlan& plan, const ProductContext& context);

/// Where the device was left open: the one that pays, if it holds all of the matrices.
void take_device_that_pays(const ProblemSize& size, Type type, std::int64_t operand_bytes, Options& options,
                           const ProductContext& context);
/// Is this product of numbers, so many bytes in all, cut up by the host for devices?
bool goes_over_devices(const Request& request, std::int64_t operand_bytes);
/// The same of packed bits.
bool bits_go_over_devices(const Request& request, const OperandFacts& facts);
/// Packed bits on one NVIDIA device as a whole.
bool bits_go_to_device(const Request& request, const OperandFacts& facts);
/// A plan for a device may be handed back without naming the device again.
int bit_device_of(const Request& request);

/// How numbers in memory are multiplied. `carried_out`: as the plan of the request's file says,
/// if it has one, and with the memory and the devices that are there; throws what cannot be done before anything is
/// read. Otherwise needs neither.
RequestPlan decide_numbers(const Request& request, const OperandFacts& facts, bool carried_out);
/// Is the plan of the request's file for this product? Told before the files are read; the product would refuse the
/// same things after. Throws Error(input).
void require_fitting_plan(const ProductPlan& given, const Request& request, Type type, const ProblemSize& size);
/// As a plan says that a host's cut is part of: there are the devices and the memory, or Error(resource).
HostDecision given_over_devices(const ProductPlan& given, const Request& request, std::int64_t operand_bytes);
/// The same for packed bits on the processor or cut up by the host, and on one NVIDIA device.
RequestPlan decide_bits(const Request& request, const OperandFacts& facts, bool carried_out);
RequestPlan decide_bits_on_device(const Request& request, const OperandFacts& facts, bool carried_out);
/// With as many levels as stay within so many bytes of workspace; a memory of the request asks for files instead.
ProductPlan fitting_bit_plan(const OperandFacts& facts, const Request& request, std::int64_t limit_bytes);
/// A count of common ones is one product on one device as a whole. Throws Error(usage).
void require_whole_count(const Request& request);
void require_no_count(const Request& request);

/// What multiply_request() would do with matrices of that size, in memory or `by_files`. Needs no device. The disk is
/// measured where its rate is not given and is asked for.
RequestPlan plan_request(const Request& request, const ProblemSize& size, bool by_files,
                         std::optional<double> disk_bytes_per_s);

}  // namespace heptad
