// SPDX-License-Identifier: Apache-2.0
//
// Best-efforts recovery: finds, in the MANIFESTs that exist, with or without CURRENT, the newest
// state of each family whose tables and blob files all exist and can be opened.
//
// The MANIFEST that CURRENT names is used if nothing is missing. Otherwise it is the newest one
// that can be read and has such a state for every family. If there is none, it is the newest one
// that can be read, and families without such a state have no files. A change that touches several
// families is taken for all of them or for none. Nothing is written.
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
  // The state has everything that the last MANIFEST contains, so the logs continue it. After any
  // other state the logs would leave a hole.
  bool is_whole = false;
  std::vector<std::string> notes;  // what was left out and why, one line each
};

// Whether the directory has any MANIFEST.
Result<bool> HasManifest(FileSystem* fs, const std::string& dir);

// Corruption: there is no MANIFEST that can be read. A file that cannot be read for another reason
// than its content does not make the recovery go back: its error is returned.
Result<BestState> FindBestState(FileSystem* fs, const std::string& dir,
                                const std::vector<FamilyRequest>& families);

}  // namespace ashlar
