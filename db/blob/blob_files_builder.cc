// SPDX-License-Identifier: Apache-2.0
//
// The base is copied with the first difference.
#include "db/blob/blob_files_builder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/blob/blob_store.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

// The copy that may be changed.
BlobFiles* BlobFilesBuilder::Own() {
  if (own_ == nullptr) {
    own_ = base_ == nullptr ? std::make_shared<BlobFiles>() : std::make_shared<BlobFiles>(*base_);
  }
  return own_.get();
}

void BlobFilesBuilder::Unlink(FileNumber oldest) {
  if (oldest == 0) return;
  BlobFiles* const files = Own();
  const auto link = files->links_.find(oldest);
  assert(link != files->links_.end());  // the table was linked before
  if (--link->second == 0) files->links_.erase(link);
}

// Inserts the file in the order of numbers.
Status BlobFilesBuilder::Add(const BlobFileAddition& addition, uint32_t family_id) {
  if (addition.number == 0 || addition.number > kMaxFileNumber) {
    return Status::Corruption(
        StrCat("MANIFEST adds blob file ", addition.number, ", an impossible number"));
  }
  std::vector<BlobFiles::Live>& all = Own()->all_;
  const auto place = std::lower_bound(all.begin(), all.end(), addition.number,
                                      [](const BlobFiles::Live& live, FileNumber number) {
                                        return live.file->meta.number < number;
                                      });
  if (place != all.end() && place->file->meta.number == addition.number) {
    return Status::Corruption(
        StrCat("MANIFEST adds blob file ", addition.number, ", which is there already"));
  }
  std::string path = store_ == nullptr ? "" : store_->PathOf(addition.number);
  all.insert(place, {.file = BlobFile::New(addition, family_id, std::move(path))});
  return Status::OK();
}

Status BlobFilesBuilder::AddGarbage(const BlobFileGarbage& garbage) {
  BlobFiles* const files = Own();
  // Only own_ is changed, which no version has yet.
  auto* const live = const_cast<BlobFiles::Live*>(files->Find(garbage.number));  // of own_
  if (live == nullptr) {
    return Status::Corruption(
        StrCat("MANIFEST has garbage of blob file ", garbage.number, ", which is not there"));
  }
  const BlobFileAddition& meta = live->file->meta;
  assert(live->garbage_count <= meta.blob_count);
  assert(live->garbage_bytes <= meta.blob_bytes);
  // Written as differences, so that damaged numbers cannot overflow.
  if (garbage.garbage_count > meta.blob_count - live->garbage_count ||
      garbage.garbage_bytes > meta.blob_bytes - live->garbage_bytes) {
    return Status::Corruption(StrCat("MANIFEST has garbage of ", garbage.garbage_count,
                                     " values and ", garbage.garbage_bytes,
                                     " bytes more of blob file ", garbage.number, ", of which ",
                                     meta.blob_count - live->garbage_count, " values and ",
                                     meta.blob_bytes - live->garbage_bytes, " bytes are left"));
  }
  live->garbage_count += garbage.garbage_count;
  live->garbage_bytes += garbage.garbage_bytes;
  return Status::OK();
}

Status BlobFilesBuilder::Apply(const std::vector<BlobFileAddition>& additions,
                               const std::vector<BlobFileGarbage>& garbage, uint32_t family_id) {
  for (const BlobFileAddition& addition : additions) RETURN_IF_ERROR(Add(addition, family_id));
  for (const BlobFileGarbage& lost : garbage) RETURN_IF_ERROR(AddGarbage(lost));
  return Status::OK();
}

// A file below the oldest link cannot be referred to, because each table is linked to its oldest
// blob file.
void BlobFilesBuilder::DropUnreachable() {
  if (own_ == nullptr) return;
  const FileNumber oldest = own_->links_.empty() ? FileNumber::None() : own_->links_.begin()->first;
  std::erase_if(own_->all_, [this, oldest](const BlobFiles::Live& live) {
    const FileNumber number = live.file->meta.number;
    return number < oldest || (live.is_all_garbage() && !own_->links_.contains(number));
  });
}

Status BlobFilesBuilder::Build(std::shared_ptr<const BlobFiles>* built) const {
  if (own_ == nullptr) {
    *built = base_;
    return Status::OK();
  }
  // A file without links that is all garbage was dropped; one with links contradicts its tables.
  for (const BlobFiles::Live& live : own_->all_) {
    if (!live.is_all_garbage()) continue;
    return Status::Corruption(
        StrCat("blob file ", live.file->meta.number, " holds ", live.file->meta.blob_count,
               " values, all of them garbage, but ", own_->LinkCount(live.file->meta.number),
               " tables refer to it"));
  }
  // Null is the common case of a family without blob files.
  const bool is_nothing = own_->all_.empty() && own_->links_.empty();
  *built = is_nothing ? nullptr : std::shared_ptr<const BlobFiles>(own_);
  return Status::OK();
}

}  // namespace ashlar
