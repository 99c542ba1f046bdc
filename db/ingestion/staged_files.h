// SPDX-License-Identifier: Apache-2.0
//
// External files that were inspected and staged in the directory of the database under numbers of
// their own. Nothing reads them before they are committed.
//
// Threads: one at a time; without locks. Crash: the next opening deletes staged files.
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

// The staged files of one family.
struct FamilyFiles {
  FamilyRef family;
  IngestExternalFileOptions options;
  std::vector<ExternalFile> files;  // in the order of the call; later ones are newer
  bool overlap_each_other = false;
};

// The result of Prepare(). If it is destroyed before it is committed, it deletes its files; the
// database must still be open then.
class StagedFiles final : public FileIngestionHandle {
 public:
  explicit StagedFiles(DbCore* core) : numbers(core), core_(core) {}
  ~StagedFiles() override;
  Status Abort() override;
  bool IsOf(const DbCore* core) const { return core_ == core; }
  // The paths of the files that exist.
  std::vector<std::string> Paths() const;
  // One line for each file.
  std::string DebugString() const;

  std::vector<FamilyFiles> families;
  TableNumbers numbers;
  // The files belong to the database, as its tables or as files that the MANIFEST may name; or they
  // were deleted.
  bool is_settled = false;

 private:
  DbCore* const core_;
};

// Inspects and stages all files. InvalidArgument: the arguments are contradictory.
Result<std::unique_ptr<StagedFiles>> StageFiles(DbCore* core,
                                                const std::vector<IngestExternalFileArg>& args)
    EXCLUDES(db_mutex);

}  // namespace ashlar
