// What lies beside the output of a run: after a failure finished tiles stay, to go on with, and an empty start does
// not; after a success nothing does.
#pragma once

#include <atomic>
#include <string>

#include "base/error.hpp"
#include "io/partial_file.hpp"
#include "product/file/product_inputs.hpp"

namespace heptad {

class Leftovers {
public:
    /// Both outlive this.
    Leftovers(const OutputNames& names, const IoWatch& watch) : names_(names), watch_(watch) {}

    std::atomic<std::int64_t> finished_tiles{0};
    bool are_parts_of_sums = false;  ///< tiles are those of the products of outer levels

    /// Those of another run, before this one writes anything.
    void remove_of_others() const;
    /// The result gets its name.
    void publish(PartialFile& result);

    /// Does the work; after a failure, the sentence says what is left.
    template <class Work>
    auto tidily(const Work& work) const {
        try {
            return work();
        } catch (const InputChanged&) {
            tidy_up(ErrorCode::input);  // what was made of the old input cannot go on: no word of --resume
            throw;
        } catch (const Error& error) {
            throw Error(error.code(), error.what() + tidy_up(error.code()));
        }
    }

private:
    std::string tidy_up(ErrorCode code) const;

    const OutputNames& names_;
    const IoWatch& watch_;
    bool committing_ = false;  // all tiles are there, and the result gets its name
};

}  // namespace heptad
