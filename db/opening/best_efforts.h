// SPDX-License-Identifier: Apache-2.0
//
// Best-efforts recovery: from the MANIFESTs that are there, with or without CURRENT, the newest
// state of each family whose tables and blob files are all there and can be opened.
//
// The MANIFEST that CURRENT names counts if nothing is missing. Else it is the newest one that can
// be read and has such a state for every family; if none has,
// the newest one that can be read, and families without a state have no files. Changes that touch
// several families at once are taken for all of them or for none. Nothing is written.
#pragma once

#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/recovery_point.h"
#include "db/version/version_set.h"
#include "util/result.h"

namespace ashlar {

struct BestState {
  RecoveryPoint point;
  // Everything that the last MANIFEST says: what is in the logs comes behind it. Behind any other
  // state there would be a hole.
  bool is_whole = false;
  std::vector<std::string> notes;  // what was left out, and why; a line each
};

// Whether a directory has MANIFESTs at all.
Result<bool> HasManifest(FileSystem* fs, const std::string& dir);

// Corruption if there is no MANIFEST that can be read. A file that cannot be read for another
// reason than what is in it is no reason to go back: its error is the answer.
Result<BestState> FindBestState(FileSystem* fs, const std::string& dir,
                                const std::vector<FamilyRequest>& families);

}  // namespace ashlar
