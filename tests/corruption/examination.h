// SPDX-License-Identifier: Apache-2.0
//
// What can be learned about a directory through the public interface: open, scan both ways, get
// every key, verify, compact, reopen, read again. Threads: one at a time.
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
  std::string wrong;   // what no damage excuses: see below; empty if nothing
  Contents found;      // what a scan returned; all there is if `error` is OK
  std::string report;  // of the recovery
  TableLevels levels;  // once it was opened
};

// `directories` are made too. `may_lie`: the files may hold other rows than the sample's, with the
// right checksums; so only contradictions are wrong.
//
// Wrong is: reads that disagree and no error anywhere; with an error, rows that belong to no state
// of the sample, or a key of it that is not found without an error; a refused open that changed
// files; a compaction or reopening that changes what is read.
Findings Examine(const Sample& sample, const Files& files,
                 const std::vector<std::string>& directories, bool may_lie);

}  // namespace ashlar
