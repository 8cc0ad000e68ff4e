// Ranks name their files with the same words; are they the same files? On another node, or in another working folder,
// the words may name another matrix, and a product of parts of both is silently wrong. So the ranks compare what they
// see before they work.
#pragma once

#include <string>
#include <vector>

#include "move/ranks/communicator.hpp"
#include "product/cluster/job_inputs.hpp"

namespace heptad {

/// Does every rank see the same matrices? Their lengths and samples must be equal. Times of change must not, because
/// copies on the disks of nodes have their own; but where they differ, each such copy is read whole and compared with
/// the root's. Called by every rank with what it sees. Throws AgreedError that names the first rank that sees something
/// else, and what differs.
void require_same_inputs(const JobInputs& inputs, const std::vector<FileIdentity>& identities, Communicator& ranks);

/// Do all ranks write `output` in one folder? A rank that does not would fill a file that nobody ever reads. The root
/// holds the lock of `output`, and leaves a word in it for the others. Called by every rank. Throws AgreedError.
void require_same_folder(const std::string& output, Communicator& ranks);

/// How far from itself each rank finds the one whose part of a matrix it reads for the check: such that as many as
/// possible read for a rank of another host. 1 where there is one host, 0 where there is one rank.
std::int64_t distance_to_checked(const std::vector<std::string>& hosts);

}  // namespace heptad
