// SPDX-License-Identifier: Apache-2.0
//
// BlobFilesBuilder makes the blob files of the next version from those of the one before: by what
// an edit says of blob files, and by the tables that come and go.
//
// There is no record of a deletion. After each edit those files are left that a table may refer to:
// none below the oldest one to which a table is linked, and none that is all garbage and has no
// such table. docs/formats/blob.md, section 5. Pure; one thread.
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
  // Both outlive the builder. `base`: null for none. `store`, which says where files lie, may be
  // null where nothing is read.
  BlobFilesBuilder(std::shared_ptr<const BlobFiles> base, const BlobStore* store)
      : base_(std::move(base)), store_(store) {}

  // A table that comes or goes, with the oldest blob file it refers to; 0 for none.
  void Link(FileNumber oldest) {
    if (oldest != 0) Own()->links_[oldest]++;
  }
  void Unlink(FileNumber oldest);
  // Corruption if a file is there already, if garbage is of none, or more than there is.
  Status Apply(const std::vector<BlobFileAddition>& additions,
               const std::vector<BlobFileGarbage>& garbage, uint32_t family_id);
  // An edit has ended: what no table may refer to is dropped.
  void DropUnreachable();

  // Null if there is nothing to say. Corruption if a file that stays is nothing but garbage.
  Status Build(std::shared_ptr<const BlobFiles>* built) const;

 private:
  BlobFiles* Own();
  Status Add(const BlobFileAddition& addition, uint32_t family_id);
  Status AddGarbage(const BlobFileGarbage& garbage);

  const std::shared_ptr<const BlobFiles> base_;
  const BlobStore* const store_;
  std::shared_ptr<BlobFiles> own_;  // null: nothing differs from the base
};

}  // namespace ashlar
