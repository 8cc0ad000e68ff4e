// A hundred random kills of a product from file to file.
#include "cli/random_kills.hpp"

namespace heptad::testing {
namespace {

using FileKills = RandomKills;

TEST_F(FileKills, hundred_random_kills_never_leave_a_wrong_or_incomplete_result) {
    survive_kills(100);
}

TEST_F(FileKills, random_kills_with_outer_levels_never_leave_a_wrong_or_incomplete_result) {
    survive_kills(30, {"--host-levels", "1"});
}

}  // namespace
}  // namespace heptad::testing
