// SPDX-License-Identifier: Apache-2.0
//
// The new inner iterator looks for the key that was shown: it is passed if it is still there.
#include "db/transaction/pessimistic/unprepared_iterator.h"

#include <cassert>
#include <utility>

#include "ashlar/comparator.h"
#include "ashlar/db.h"

namespace ashlar {

void UnpreparedIterators::EndAll() {
  // End() takes the iterator out of the list, so the loop ends.
  while (first_ != nullptr) first_->End();
}

UnpreparedIterator::UnpreparedIterator(UnpreparedIterators* list, Source* source,
                                       const ReadOptions& options, ColumnFamilyHandle* family,
                                       std::shared_ptr<const Snapshot> moment)
    : list_(list), source_(source), options_(options), family_(family), moment_(std::move(moment)) {
  assert(list != nullptr);
  assert(list_ != nullptr && source_ != nullptr && family_ != nullptr);
  if (moment_ != nullptr) options_.snapshot = moment_.get();
  MakeInner(options_);
  next_ = list->first_;
  if (next_ != nullptr) next_->previous_ = this;
  list->first_ = this;
}

UnpreparedIterator::~UnpreparedIterator() {
  if (list_ != nullptr) Unlink();
}

void UnpreparedIterator::MakeInner(const ReadOptions& options) {
  auto own = std::make_unique<DecidedVersions::Own>();
  std::unique_ptr<Iterator> inner = source_->MakeInner(options, family_, own.get());
  assert(inner != nullptr);
  inner_ = std::move(inner);  // before own_, to which the old one refers
  own_ = std::move(own);
  batches_ = list_->batches_;
}

void UnpreparedIterator::Unlink() {
  assert(previous_ != nullptr || list_->first_ == this);
  (previous_ == nullptr ? list_->first_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  previous_ = next_ = nullptr;
  list_ = nullptr;
}

void UnpreparedIterator::End() {
  Unlink();
  // The object stays, because the program owns it; it only shows nothing from here on.
  inner_ = nullptr;
  own_ = nullptr;
  moment_ = nullptr;
}

bool UnpreparedIterator::BeginSeek() {
  if (list_ == nullptr) return false;
  // A seek needs no key to come back to, so it can always begin with the newest batch.
  if (!is_current()) MakeInner(options_);
  return true;
}

void UnpreparedIterator::SeekToFirst() {
  if (BeginSeek()) inner_->SeekToFirst();
}
void UnpreparedIterator::SeekToLast() {
  if (BeginSeek()) inner_->SeekToLast();
}
void UnpreparedIterator::Seek(const Slice& target) {
  key_.assign(target.data(), target.size());  // perhaps the key that is shown
  if (BeginSeek()) inner_->Seek(key_);
}
void UnpreparedIterator::SeekForPrev(const Slice& target) {
  key_.assign(target.data(), target.size());
  if (BeginSeek()) inner_->SeekForPrev(key_);
}

void UnpreparedIterator::Next() {
  if (list_ == nullptr) return;
  // While nothing was written since, the inner iterator is right.
  if (is_current() || !inner_->Valid()) return inner_->Next();
  key_.assign(inner_->key().data(), inner_->key().size());
  MakeInner(options_);
  inner_->Seek(key_);
  const Comparator* const order = family_->GetComparator();
  // The key may be gone; then the seek has already moved to the next one.
  if (inner_->Valid() && order->Compare(inner_->key(), key_) == 0) inner_->Next();
}

void UnpreparedIterator::Prev() {
  if (list_ == nullptr) return;
  if (is_current() || !inner_->Valid()) return inner_->Prev();
  key_.assign(inner_->key().data(), inner_->key().size());
  MakeInner(options_);
  inner_->SeekForPrev(key_);
  const Comparator* const order = family_->GetComparator();
  // The key may be gone; then the seek has already moved to the one before.
  if (inner_->Valid() && order->Compare(inner_->key(), key_) == 0) inner_->Prev();
}

namespace {

Status Ended() {
  return Status::InvalidArgument(
      "iterator of a write-unprepared transaction, which has ended or taken updates back");
}

}  // namespace

Status UnpreparedIterator::status() const { return list_ == nullptr ? Ended() : inner_->status(); }

Status UnpreparedIterator::Refresh(const Snapshot* snapshot) {
  if (list_ == nullptr) return Ended();
  ReadOptions options = options_;
  options.snapshot = snapshot;
  std::shared_ptr<const Snapshot> moment = source_->TakeMoment(options);
  if (moment != nullptr) options.snapshot = moment.get();
  // The options are kept only when the new iterator exists, so a failure leaves the old one.
  MakeInner(options);
  options_ = options;
  moment_ = std::move(moment);
  return Status::OK();
}

Status UnpreparedIterator::GetProperty(std::string prop_name, std::string* prop) {
  return list_ == nullptr ? Ended() : inner_->GetProperty(std::move(prop_name), prop);
}

void UnpreparedIterator::Prepare(const MultiScanArgs& scan_opts) {
  if (BeginSeek()) inner_->Prepare(scan_opts);
}

}  // namespace ashlar
