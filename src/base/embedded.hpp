// Text files of this repository that are part of the library. The functions that return them are generated when it is
// built, by heptad_embed() of cmake/embed.cmake.
#pragma once

#include <span>
#include <string_view>

namespace heptad {

struct EmbeddedFile {
    std::string_view file_name;  // "strassen.alg", "winograd-two-temporaries.sched", "h200.json": no folder
    std::string_view text;
};

/// algorithms/*.alg and algorithms/schedules/*.sched; the suffix of the name tells which.
std::span<const EmbeddedFile> algorithm_files();
/// machines/*.json: measured figures of known machines.
std::span<const EmbeddedFile> known_machine_files();
/// bench/report/report.css and report.js: how a page of results looks, and what its tables can do.
std::span<const EmbeddedFile> report_page_files();

}  // namespace heptad
