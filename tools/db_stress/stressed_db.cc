// SPDX-License-Identifier: Apache-2.0
//
// Families are "default", "family1", "family2" ... If a kill comes between dropping and creating
// the volatile family, it is missing, and opening the database creates it.
#include "tools/db_stress/stressed_db.h"

#include <filesystem>

#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

std::string NameOfFamily(int family) {
  return family == 0 ? kDefaultColumnFamilyName : StrCat("family", family);
}

}  // namespace

std::vector<ColumnFamilyDescriptor> StressedDb::Descriptors() const {
  std::vector<ColumnFamilyDescriptor> result;
  for (int i = 0; i < families(); i++) {
    result.emplace_back(NameOfFamily(i), options_.families[static_cast<size_t>(i)]);
  }
  return result;
}

Result<std::unique_ptr<StressedDb>> StressedDb::Open(const std::string& path,
                                                     DrawnOptions options) {
  std::unique_ptr<StressedDb> result(new StressedDb(path, std::move(options)));
  RETURN_IF_ERROR(result->RemoveTemporaryFiles());
  RETURN_IF_ERROR(
      DB::Open(result->options_.db, path, result->Descriptors(), &result->handles_, &result->db_));
  return result;
}

Status StressedDb::RemoveTemporaryFiles() const {
  const std::filesystem::path whole(path_);
  const std::string start = whole.filename().string() + kTemporary;
  std::error_code error;
  const std::filesystem::path parent = whole.has_parent_path() ? whole.parent_path() : ".";
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (entry.path().filename().string().starts_with(start)) found.push_back(entry.path());
  }
  for (const std::filesystem::path& file : found) {
    if (!error) std::filesystem::remove_all(file, error);
  }
  return error ? Status::IOError(StrCat(parent.string(), ": ", error.message())) : Status::OK();
}

FamilyUse StressedDb::Use(int family) {
  std::shared_lock<std::shared_mutex> lock;
  if (family == volatile_family()) lock = std::shared_lock<std::shared_mutex>(volatile_mutex_);
  return FamilyUse(std::move(lock), handles_[static_cast<size_t>(family)]);
}

Status StressedDb::DropAndCreate() {
  ColumnFamilyHandle*& handle = handles_.back();
  RETURN_IF_ERROR(db_->DropColumnFamily(handle));
  RETURN_IF_ERROR(db_->DestroyColumnFamilyHandle(handle));
  handle = nullptr;
  return db_->CreateColumnFamily(options_.families.back(), NameOfFamily(volatile_family()),
                                 &handle);
}

Status StressedDb::Close() {
  for (ColumnFamilyHandle* handle : handles_) {
    RETURN_IF_ERROR(db_->DestroyColumnFamilyHandle(handle));
  }
  handles_.clear();
  const Status closed = db_->Close();
  db_.reset();
  return closed;
}

}  // namespace ashlar::stress
