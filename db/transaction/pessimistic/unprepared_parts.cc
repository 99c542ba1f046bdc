// SPDX-License-Identifier: Apache-2.0
//
// Room for a part is made before it is written, so that it cannot get lost afterwards.
#include "db/transaction/pessimistic/unprepared_parts.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/db_impl.h"
#include "db/write/write_batch_internal.h"
#include "util/keys/coding.h"
#include "util/result.h"

namespace ashlar {

namespace {

template <typename T>
void MakeRoomForOne(std::vector<T>* list) {
  assert(list != nullptr);
  if (list->size() == list->capacity()) list->reserve(std::max<size_t>(4, 2 * list->size()));
}

}  // namespace

Status UnpreparedParts::Write(const WriteOptions& options, const std::string& xid,
                              const Slice& records, uint32_t count) {
  std::string contents;
  PutFixed64(&contents, 0);
  PutFixed32(&contents, count);
  contents.push_back(static_cast<char>(kTypeNoop));
  contents.append(records.data(), records.size());
  constexpr auto kPolicy = PreparedSection::Policy::kWriteUnprepared;
  auto part = std::make_unique<OwnedSection>(xid, kPolicy, std::move(contents));
  RETURN_IF_ERROR(WriteBatchInternal::MarkEndPrepare(&part->batch, xid, kPolicy));
  MakeRoomForOne(&parts_);
  MakeRoomForOne(&written_);
  MakeRoomForOne(&own_);
  WriteOptions unsynced = options;
  // Parts are not synced: only the commit or the prepare decides, and it syncs the log before it.
  unsynced.sync = false;
  const Status status = db_->WritePrepare(unsynced, &part->section);
  if (part->section.state() != PreparedSection::State::kUndecided) {
    assert(!status.ok());
    return status;
  }
  assert(parts_.size() == written_.size());
  AddRecovered(std::move(part));
  return status;
}

void UnpreparedParts::AddRecovered(std::unique_ptr<OwnedSection> section) {
  assert(section->section.entry() != nullptr);
  written_.push_back(section->section.entry_ref());
  own_.push_back(section->section.entry_ref());
  bytes_ += section->batch.GetDataSize();
  assert(written_.size() == parts_.size() + 1);
  parts_.push_back({.section = std::move(section)});
}

void UnpreparedParts::SetUndone(size_t begin) {
  assert(begin <= parts_.size());
  own_ = OwnBefore(begin);
  for (size_t i = begin; i < parts_.size(); i++) parts_[i].is_undone = true;
}

std::vector<const PreparedSection*> UnpreparedParts::NewestFirst(size_t begin) const {
  assert(begin <= parts_.size());
  std::vector<const PreparedSection*> sections;
  for (size_t i = parts_.size(); i-- > begin;) {
    if (!parts_[i].is_undone) sections.push_back(&parts_[i].section->section);
  }
  return sections;
}

void UnpreparedParts::AppendTo(std::vector<PreparedSection*>* sections) const {
  assert(sections != nullptr);
  for (const Part& part : parts_) sections->push_back(&part.section->section);
}

DecidedVersions::Own UnpreparedParts::OwnBefore(size_t end) const {
  assert(end <= parts_.size());
  DecidedVersions::Own own;
  for (size_t i = 0; i < end; i++) {
    if (!parts_[i].is_undone) own.push_back(written_[i]);
  }
  return own;
}

void UnpreparedParts::Clear() {
  parts_.clear();
  written_.clear();
  own_.clear();
  bytes_ = 0;
}

}  // namespace ashlar
