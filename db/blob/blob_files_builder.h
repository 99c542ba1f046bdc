// SPDX-License-Identifier: Apache-2.0
//
// BlobFilesBuilder makes the blob files of the next version from those of the previous one, from
// the blob records of an edit, and from the tables that are added and removed.
//
// Deletions are not recorded. After each edit only those files remain to which a table may refer:
// no file below the oldest file to which a table is linked, and no file that is all garbage and has
// no linked table. docs/formats/blob.md, section 5. Pure; one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/status.h"
#include "db/blob/blob_file.h"
#include "util/keys/file_number.h"

namespace ashlar {

class BlobStore;

class BlobFilesBuilder {
 public:
  // The arguments outlive the builder. `base`: null for none. `store` knows the directory of the
  // files; it may be null if nothing is read.
  BlobFilesBuilder(std::shared_ptr<const BlobFiles> base, const BlobStore* store)
      : base_(std::move(base)), store_(store) {}

  // A table is added or removed; `oldest` is the oldest blob file to which it refers, 0 for none.
  void Link(FileNumber oldest) {
    if (oldest != 0) Own()->links_[oldest]++;
  }
  void Unlink(FileNumber oldest);
  // Applies the records of an edit. Corruption if an added file exists already, if garbage belongs
  // to no file, or if it exceeds the file's values.
  Status Apply(const std::vector<BlobFileAddition>& additions,
               const std::vector<BlobFileGarbage>& garbage, uint32_t family_id);
  // Called at the end of an edit: drops the files to which no table can refer.
  void DropUnreachable();

  // Sets *built, to null if there are no files and links. Corruption if a remaining file is all
  // garbage.
  Status Build(std::shared_ptr<const BlobFiles>* built) const;

 private:
  // The copy of the base that may be changed; made at the first call.
  BlobFiles* Own();
  // Inserts a new file. Corruption if its number is taken or impossible.
  Status Add(const BlobFileAddition& addition, uint32_t family_id);
  Status AddGarbage(const BlobFileGarbage& garbage);

  const std::shared_ptr<const BlobFiles> base_;
  const BlobStore* const store_;
  std::shared_ptr<BlobFiles> own_;  // null: equal to base_
};

}  // namespace ashlar
