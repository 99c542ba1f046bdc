// SPDX-License-Identifier: Apache-2.0
//
// External files on their way into a database: looked at, and staged in its directory under numbers
// of their own. Nobody reads them before they are committed.
//
// Threads: one at a time; without locks. Crash: they are names that the next open deletes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "db/column_family/family_ref.h"
#include "db/ingestion/external_file.h"
#include "db/jobs/background_job.h"
#include "db/state/db_core.h"
#include "util/result.h"

namespace ashlar {

// The files of one family, staged.
struct FamilyFiles {
  FamilyRef family;
  IngestExternalFileOptions options;
  std::vector<ExternalFile> files;  // in the order of the call: later ones are newer
  bool overlap_each_other = false;
};

// What Prepare() has staged. Destroyed before it is committed it deletes that again; the database
// must still be open then.
class StagedFiles final : public FileIngestionHandle {
 public:
  explicit StagedFiles(DbCore* core) : numbers(core), core_(core) {}
  ~StagedFiles() override;
  Status Abort() override;
  bool IsOf(const DbCore* core) const { return core_ == core; }
  // A line for each file.
  std::string DebugString() const;

  std::vector<FamilyFiles> families;
  TableNumbers numbers;
  bool is_settled = false;  // they belong to the database, or are deleted

 private:
  DbCore* const core_;
};

// Looks at all files and stages them. InvalidArgument: what the call asks for makes no sense.
Result<std::unique_ptr<StagedFiles>> StageFiles(DbCore* core,
                                                const std::vector<IngestExternalFileArg>& args)
    EXCLUDES(db_mutex);

}  // namespace ashlar
