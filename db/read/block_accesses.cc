// SPDX-License-Identifier: Apache-2.0
//
// The accesses of a point read are kept in a list until the read is over, because the result is
// part of their records. The accesses of an iterator are written at once.
#include "db/read/block_accesses.h"

#include <algorithm>
#include <cassert>

#include "util/keys/coding.h"
#include "util/keys/internal_key.h"
#include "util/threads/epoch.h"

namespace ashlar {

namespace {

TraceType TypeOf(ReadTrace::BlockKind kind) {
  switch (kind) {
    case ReadTrace::BlockKind::kData: return kBlockTraceDataBlock;
    case ReadTrace::BlockKind::kIndex: return kBlockTraceIndexBlock;
    case ReadTrace::BlockKind::kFilter: return kBlockTraceFilterBlock;
  }
  return kBlockTraceDataBlock;
}

}  // namespace

void BlockAccesses::EnterMemTable(const MemTablePlace&) { places_[run_] = Place(); }

// A lookup may search a table twice, first inside an epoch and then outside. The second search
// repeats the accesses of the first one, so these are removed. An iterator repeats nothing.
void BlockAccesses::EnterTable(const Table& table) {
  const Place entered{.table = table.number.value(),
                      .level = static_cast<uint32_t>(static_cast<int>(table.level))};
  if (!current_.is_search) {
    std::erase_if(current_.accesses, [&](const Access& access) { return access.place == entered; });
  }
  places_[run_] = entered;
}

// Accesses of a lookup are kept until it ends, because the record also says whether the key was
// found.
void BlockAccesses::OnBlock(const Block& block) {
  const Access access{.block = block, .place = places_[run_]};
  if (IsLookup()) {
    current_.accesses.push_back(access);
  } else {
    Write(access, nullptr, /*has_key=*/false);
  }
}

void BlockAccesses::BeginLookup(const PointLookup& lookup) {
  current_ = Lookup();
  AppendInternalKey(&current_.key, lookup.key().user_key, lookup.key().trailer);
  places_[run_] = Place();
}

// An access that found the key is recorded with the internal key that was found.
void BlockAccesses::EndLookup(const PointLookup& lookup) {
  if (lookup.outcome() == PointLookup::Outcome::kFound) {
    current_.key.clear();
    AppendInternalKey(&current_.key, lookup.key().user_key,
                      PackTrailer(lookup.seqno(), kTypeValue));
    const size_t value_bytes = lookup.value() == nullptr ? 0 : lookup.value()->size();
    current_.found_bytes = current_.key.size() + value_bytes;
    // The last data block that the lookup used has the version that decided it.
    if (!current_.accesses.empty()) current_.key_access = current_.accesses.size() - 1;
  }
  over_.push_back(std::move(current_));
  current_ = Lookup();
}

void BlockAccesses::BeginSearch(const Slice& stored_key, SequenceNumber seqno) {
  assert(IsLookup());
  current_ = Lookup();
  current_.is_search = true;
  AppendInternalKey(&current_.key, stored_key, PackTrailer(seqno, kValueTypeForSeek));
}

void BlockAccesses::EndSearch(const Slice* found, size_t value_bytes) {
  if (found != nullptr) {
    current_.key = found->ToString();
    current_.found_bytes = found->size() + value_bytes;
    for (const auto& [key, access] : current_.shown) {
      if (key == current_.key) current_.key_access = access;
    }
  }
  current_.shown.clear();
  over_.push_back(std::move(current_));
  current_ = Lookup();
}

// The block of an entry is the last one that its run has used. It may be one of an earlier search.
void BlockAccesses::OnEntryShown(const Slice& internal_key) {
  if (!current_.is_search) return;
  for (size_t i = current_.accesses.size(); i-- > 0;) {
    const Access& access = current_.accesses[i];
    if (access.place != places_[run_] || access.block.kind != BlockKind::kData) continue;
    current_.shown.emplace_back(internal_key.ToString(), i);
    return;
  }
}

void BlockAccesses::AddRun(size_t run, const MemTablePlace*) {
  if (run == 0) places_.clear();
  places_.resize(std::max(places_.size(), run + 1));
  run_ = 0;
}

// Writes the records of all lookups, outside of the epoch, because writing may wait.
BlockAccesses::~BlockAccesses() {
  assert(over_.empty() || !InEpoch());
  for (const Lookup& lookup : over_) {
    for (size_t i = 0; i < lookup.accesses.size(); i++) {
      Write(lookup.accesses[i], &lookup, /*has_key=*/i == lookup.key_access);
    }
  }
}

// Writes one record of the block cache trace. The key of the block is made of file id and offset.
// `lookup` is null if the access belongs to a scan and not to the lookup of one key.
void BlockAccesses::Write(const Access& access, const Lookup* lookup, bool has_key) const {
  BlockCacheTraceRecord record;
  record.block_type = TypeOf(access.block.kind);
  record.block_size = access.block.bytes;
  record.cf_id = reads_.family;
  record.level = access.place.level;
  record.sst_fd_number = access.place.table;
  record.caller = reads_.caller;
  record.is_cache_hit = access.block.origin != Origin::kFile;
  record.no_insert = !reads_.fills_cache;
  record.get_id = get_id_;
  record.get_from_user_specified_snapshot = reads_.has_snapshot;
  record.referenced_data_size = has_key ? lookup->found_bytes : 0;
  record.referenced_key_exist_in_block = has_key;
  std::string key;
  PutFixed64(&key, access.block.file_id);
  PutFixed64(&key, access.block.offset);
  reads_.trace->Record(&record, key, reads_.family_name,
                       lookup == nullptr ? Slice() : Slice(lookup->key));
}

}  // namespace ashlar
