// SPDX-License-Identifier: Apache-2.0
//
// Examines a directory through the public interface: opens it, scans in both directions, gets every
// key, verifies, compacts, reopens, reads again. Threads: one at a time.
#pragma once

#include <string>
#include <vector>

#include "ashlar/status.h"
#include "tests/corruption/samples.h"

namespace ashlar {

inline constexpr char kGetAndScanDisagree[] = "get and scan disagree";
inline constexpr char kOtherRowsLater[] = "other rows after compaction and reopening";

struct Findings {
  Status error;        // of the first call that failed
  std::string wrong;   // an error that no damage excuses, see below; empty if there is none
  Contents found;      // the rows of a scan; complete if `error` is OK
  std::string report;  // of the recovery
  TableLevels levels;  // after opening
};

// Creates `directories`, too. `may_be_forged`: the files may have other rows than the sample, with
// matching checksums; then only contradictions are wrong.
//
// Wrong are: reads that disagree without any error; after an error, rows that belong to no state of
// the sample, or a key that is not found without an error; a refused open that changed files; a
// compaction or reopening that changes the rows.
Findings Examine(const Sample& sample, const Files& files,
                 const std::vector<std::string>& directories, bool may_be_forged);

}  // namespace ashlar
