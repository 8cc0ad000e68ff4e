// Requests of packed bit matrices: when they are meant, and what their headers say.
#pragma once

#include <optional>
#include <string>

#include <heptad/bits.hpp>

#include "product/request/operands.hpp"

namespace heptad {

/// gf2 or bool, if the product of these files is one of packed bits: the files can hold nothing else, or hold bits (or
/// are asked for as bits) and the options name nothing that only the general way can do. Throws Error(usage) for bit
/// files with options that do not apply.
std::optional<Type> packed_algebra(const Request& request);
/// The same for elements of a type, without files.
std::optional<Type> packed_algebra(Type type, const Request& request);

/// Reads the headers only. Throws Error(input) where the shapes do not match.
OperandFacts read_bit_facts(const Request& request, Type algebra);

/// A way out for an error sentence about the shape of a file: it may be packed and want its columns; or nothing.
std::string packed_hint(const std::string& path, std::optional<std::int64_t> columns);

bits::BitOptions bit_options(const Request& request);

}  // namespace heptad
