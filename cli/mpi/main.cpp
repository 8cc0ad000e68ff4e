// heptad-mpi: every rank runs this. Ranks that were started differently are refused; what all ranks know to be wrong is
// printed by the root and is the exit code of all; what only one rank knows it prints itself, and ends the job.
// Exit codes are those of heptad.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "base/error.hpp"
#include "base/errors_only.hpp"
#include "cli/mpi/mpi_mul.hpp"
#include "cli/output.hpp"
#include "cli/process.hpp"

namespace heptad::cli {
namespace {

void require_same_start(Communicator& ranks, const std::vector<std::string>& words) {
    std::string own = std::string("version ") + version() + ", words";
    for (const std::string& word : words) {
        own += " '" + word + "'";
    }
    const std::vector<std::string> all = ranks.gather_texts(own);
    if (const int other = first_difference(all); other > 0) {
        throw AgreedError(ErrorCode::usage, fmt::format("rank {} was started as {}, but rank 0 as {}; start the same "
                                                        "program with the same options on every node",
                                                        other, all[static_cast<std::size_t>(other)], all[0]));
    }
}

/// Tells what only this rank knows and ends the job. Others may be waiting for this rank, so nothing collective.
[[noreturn]] void end_job(Communicator& ranks, const std::exception_ptr& failure) {
    const auto end = [&](ErrorCode code, const char* kind, const char* sentence) {
        try {
            const Error error(code, fmt::format("rank {} ({}): {}{}", ranks.rank(), ranks.host(), kind, sentence));
            ranks.abort(print_failure(error, false));
        } catch (const std::exception&) {  // no memory to say who it is
            ranks.abort(print_failure(out_of_memory(), false));
        }
    };
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        end(error.code(), "", error.what());
    } catch (const std::bad_alloc&) {
        end(ErrorCode::resource, "", "memory ran out; use more ranks or a smaller --memory");
    } catch (const std::exception& error) {
        end(ErrorCode::internal, "internal error: ", error.what());
    } catch (...) {
        end(ErrorCode::internal, "internal error ", "of an unknown kind");
    }
    std::abort();  // end() does not return
}

void run_words(Communicator& ranks, const std::vector<std::string>& words) {
    require_same_start(ranks, words);
    MpiInvocation invocation;
    ranks.agree([&] { invocation = parse_mpi_command_line(words); });
    if (const auto* help = std::get_if<HelpText>(&invocation)) {
        if (ranks.rank() == 0) {
            print(help->text);
        }
        return;
    }
    run(std::get<MpiMulArguments>(invocation), ranks,
        [&](const std::exception_ptr& failure) { end_job(ranks, failure); });
}

int run_rank(Communicator& ranks, char** first, char** last) {
    try {
        run_words(ranks, {first, last});
        return 0;
    } catch (const AgreedError& error) {
        const auto is_json = [](const char* word) { return word == std::string_view("--json"); };
        const bool json = std::any_of(first, last, is_json);
        return ranks.rank() == 0 ? print_failure(error, json) : static_cast<int>(error.code());
    } catch (...) {
        end_job(ranks, std::current_exception());
    }
}

}  // namespace
}  // namespace heptad::cli

int main(int argc, char** argv) {
    heptad::cli::prepare_process();
    try {
        heptad::Communicator ranks(&argc, &argv);
        return heptad::cli::run_rank(ranks, argv + std::min(argc, 1), argv + argc);
    } catch (const heptad::Error& error) {
        return heptad::cli::print_failure(error, false);
    } catch (const std::bad_alloc&) {
        return heptad::cli::print_failure(heptad::out_of_memory(), false);
    }
}
