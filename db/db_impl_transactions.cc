// SPDX-License-Identifier: Apache-2.0
//
// What transactions ask of the engine besides reads and writes.
//
// Transactions know families by their IDs, as batches do. A family may be dropped at any time, so
// each call looks the ID up again, inside an epoch or under the DB mutex.
#include <cassert>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "db/db_impl.h"
#include "db/options/options_check.h"
#include "db/own_moment.h"
#include "db/read/block_accesses.h"
#include "db/read/latest_seqno.h"
#include "db/read/multi_get.h"
#include "db/read/read_view.h"
#include "util/result.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"
#include "util/threads/epoch.h"

namespace ashlar {

const Comparator* DBImpl::ComparatorOf(uint32_t family_id) const {
  const EpochGuard guard;
  const ColumnFamilyData* const family = core_.families.Find(family_id);
  return family == nullptr ? nullptr : family->comparator().user_comparator();
}

std::string DBImpl::NameOfFamily(uint32_t family_id) const {
  const EpochGuard guard;
  const ColumnFamilyData* const family = core_.families.Find(family_id);
  return family == nullptr ? StrCat("number ", family_id) : family->name();
}

// The handle holds a reference, so the family's object stays as long as the handle.
std::unique_ptr<ColumnFamilyHandle> DBImpl::HandleOf(uint32_t family_id) {
  MutexLock lock(&core_.mutex);
  ColumnFamilyData* const family = core_.families.Find(family_id);
  if (family == nullptr) return nullptr;
  return std::make_unique<FamilyHandle>(family, &core_, /*is_of_program=*/false);
}

Status DBImpl::GetWithOwn(const DecidedVersions::Own& own, const ReadOptions& options,
                          ColumnFamilyHandle* handle, const Slice& key, PinnableSlice* value,
                          bool* is_entity) {
  assert(value != nullptr);
  assert(!own.empty() && core_.undecided.is_used());
  value->Reset();
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  RETURN_IF_ERROR(CheckHandle(handle));
  const StopWatch watch(core_.environment.clock.get(), core_.services.statistics.get(), DB_GET);
  if (core_.query_trace.is_on()) core_.query_trace.OnGet(FamilyOf(handle)->id(), key);
  std::optional<BlockAccesses> accesses;
  if (core_.block_trace.is_on()) {
    accesses.emplace(TracedReads(kUserGet, options, handle), core_.block_trace.NextGetId());
  }
  return ReadDecided(options, handle, key, value, accesses.has_value() ? &*accesses : nullptr,
                     is_entity, &own);
}

void DBImpl::MultiGetWithOwn(const DecidedVersions::Own& own, const ReadOptions& options,
                             MultiGetRequest request, ColumnFamilyHandle** handles) {
  assert(!own.empty() && core_.undecided.is_used());
  request.own = &own;
  MultiGetTraced(options, request, handles, core_.block_trace.NextGetIdIfOn());
}

// Reads the keys again in a database with undecided transactions. A snapshot of its own, unless the
// program gave one, keeps the list from forgetting the decisions after it.
void DBImpl::ReadDecidedPoints(const ReadOptions& options, MultiGetRequest* request) {
  const OwnMoment moment(this, options.snapshot);
  ReadOptions read = options;
  read.snapshot = moment.snapshot();
  std::optional<DecidedVersions> decided;
  {
    const EpochGuard guard;
    decided.emplace(core_.undecided.Load(), moment.snapshot()->GetSequenceNumber(), request->own);
  }
  for (size_t i = 0; i < request->keys.size(); i++) request->values[i].Reset();
  request->callback = &*decided;
  ReadPointsOfRequest(read, request);
}

Iterator* DBImpl::NewIteratorWithOwn(const DecidedVersions::Own& own, const ReadOptions& options,
                                     ColumnFamilyHandle* handle) {
  Status supported = CheckIteratorOptionsSupported(options);
  if (supported.ok()) supported = CheckHandle(handle);
  if (!supported.ok()) return NewErrorIterator(supported);
  ReadView view = FamilyOf(handle)->AcquireViewFor(options.snapshot);
  supported = CheckIteratorFits(options, view.super_version()->options());
  if (!supported.ok()) return NewErrorIterator(supported);
  return MakeIterator(options, handle, std::move(view), {.own = &own});
}

// Memory is searched inside the epoch, without a reference. If that does not answer all queries,
// the super version is pinned before the epoch is left, because files must not be read inside an
// epoch.
Status DBImpl::FindLatestSeqnos(const ReadOptions& options, uint32_t family_id,
                                std::span<SeqnoQuery> queries) {
  EpochGuard guard;
  ColumnFamilyData* const family = core_.families.Find(family_id);
  if (family == nullptr) {
    return Status::InvalidArgument(StrCat("column family ", family_id, " was dropped"));
  }
  SuperVersion* const super_version = family->super_version();
  if (FindLatestInMemory(*super_version, queries) == 0) return Status::OK();
  ReadView pinned(family, SuperVersionRef(super_version), kMaxSequenceNumber);
  pinned.PurgeInBackground();  // writers may be waiting for the end of the check
  guard.Leave();
  return FindLatestInTables(*super_version, options, queries);
}

}  // namespace ashlar
