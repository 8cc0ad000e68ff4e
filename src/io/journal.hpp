// What a product from file to file has finished, line by line, so that it can go on after any end:
//
//   heptad-journal 4
//   plan MxKxN TYPE disk={...} ...            the cuts, with which alone the tiles have a meaning
//   product ...                               the plan of each shape that is multiplied: same plan, same bits
//   how ...                                   of a product that the host cuts up for devices: likewise, in that order
//   scalars <alpha> <beta> [<imaginary part of alpha> <of beta>]
//   input <bytes> <changed> <samples> <touched> <name>
//                                             one for each file that is read; the samples cover how it is read
//   begin
//   read <left|right|added> <number> <checksum>
//                                             a window of an input, when a tile is finished after it was read first
//   tile <index> <checksum> [verified] [seen <a> <b>]
//                                             one for each tile that is written; whether its check passed; with outer
//                                             levels, the largest values of A and B that were read until then
//
// The header appears all at once. A line that does not fit its seal is damage: in the header nothing can be believed,
// later only that line is not. Nor is a tile whose bytes are others than its checksum says: so the files need not be
// synced for every tile, only now and then, lest a power failure costs too much.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/matrix_file.hpp"
#include "io/partial_file.hpp"
#include "io/read_sums.hpp"
#include "io/sealed_journal.hpp"
#include "plan/model/plan.hpp"
#include "plan/search/host_layer.hpp"

namespace heptad {

struct JournalInput {
    std::string name;
    FileIdentity identity;
    std::int64_t touched_ns = 0;  ///< see MatrixFile
};

struct JournalHeader {
    ProductPlan plan;
    std::vector<ProductPlan> products;
    std::vector<std::string> how;
    std::complex<double> alpha = 1, beta = 0;
    std::vector<JournalInput> inputs;
};

struct JournalTile {
    std::uint64_t sum = 0;
    bool verified = false;
    std::optional<LargestValues> seen = {};
};

struct JournalContents {
    JournalHeader header;
    std::map<std::int64_t, JournalTile> tiles;  ///< finished ones
    WindowSums reads;
    std::int64_t damaged_lines = 0;   ///< after the header
    std::int64_t believed_bytes = 0;  ///< of the file; what follows is a torn line
};

/// Nothing where there is no journal. Throws Error(input) for one that cannot be read, is of another version, or whose
/// header is damaged.
std::optional<JournalContents> read_journal(const std::string& path);

class JournalWriter {
public:
    /// A new journal: its header is synced before it has its name.
    JournalWriter(const OutputNames& names, const JournalHeader& header);
    /// Goes on with one that was read.
    JournalWriter(const OutputNames& names, const JournalContents& contents);
    /// With the windows that were read for the first time since the tile before.
    void add_tile(std::int64_t index, const JournalTile& tile, const WindowSums& reads);
    void sync() { file_.sync(); }

private:
    SealedJournal file_;
};

}  // namespace heptad
