// SPDX-License-Identifier: Apache-2.0
//
// Memtables and tables are searched from new to old. The first version of a key that is found has
// the greatest sequence number of the key, unless a range tombstone of the same run is newer.
#include "db/read/latest_seqno.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "ashlar/options.h"
#include "db/read/super_version.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/iterator/point_lookup.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/read_callback.h"
#include "util/result.h"
#include "util/threads/epoch.h"

namespace ashlar {
namespace {

// A callback to which every version is visible that counts. It records the greatest number it is
// asked about: that of the newest version, or of a range tombstone that is newer.
class GreatestSeqno final : public ReadCallback {
 public:
  explicit GreatestSeqno(const SeqnoQuery& query)
      : ReadCallback(/*all_visible_below=*/0, /*bound=*/kMaxSequenceNumber), own_(query.own) {}
  SequenceNumber seqno() const { return seqno_; }

 private:
  bool IsCommitted(SequenceNumber seqno) const override {
    if (own_ != nullptr && DecidedVersions::IsOwn(*own_, seqno)) return false;
    seqno_ = std::max(seqno_, seqno);
    return true;
  }

  const DecidedVersions::Own* const own_;
  mutable SequenceNumber seqno_ = 0;  // used by one thread
};

// Returns true if a number was found. Older memtables and tables need no search then.
bool TakeAnswer(const GreatestSeqno& greatest, SeqnoQuery* query) {
  assert(query != nullptr);
  if (greatest.seqno() > query->above) query->latest = greatest.seqno();
  query->is_answered = greatest.seqno() != 0;
  return query->is_answered;
}

bool SearchMemTable(const MemTable& memtable, const LookupKey& key, SeqnoQuery* query) {
  assert(query != nullptr);
  GreatestSeqno greatest(*query);
  PointLookup lookup(key, nullptr);
  lookup.SetCallback(&greatest);
  memtable.Get(key, &lookup);
  return TakeAnswer(greatest, query);
}

// Calls visit(file) for each table that may have a number above query.above for the key, newest
// first, until visit() returns true. In a sorted level a key may be in two neighbouring files.
template <typename Visit>
void VisitTables(const Version& version, const SeqnoQuery& query, const Visit& visit) {
  const InternalKeyComparator& order = version.comparator();
  for (Level level = version.NextFilledLevel(0); level < version.num_levels();
       level = version.NextFilledLevel(level.Next())) {
    const std::vector<TableFile*>& files = version.files(level);
    const bool is_sorted = level > 0;
    for (size_t i = is_sorted ? version.FindFile(level, query.key) : 0; i < files.size(); i++) {
      const auto& meta = files[i]->meta;
      if (order.OrderWithoutTimestamp(query.key, meta.smallest_user_key()) < 0) {
        if (is_sorted) break;
        continue;
      }
      if (order.OrderWithoutTimestamp(query.key, meta.largest_user_key()) > 0) continue;
      if (meta.largest_seqno > query.above && visit(files[i])) return;
      if (is_sorted && !order.SameKey(query.key, meta.largest_user_key())) break;
    }
  }
}

}  // namespace

// Answers the queries that memtables can answer, and returns the number of those that are still
// open.
size_t FindLatestInMemory(const SuperVersion& super_version, std::span<SeqnoQuery> queries) {
  assert(InEpoch());
  size_t open_count = 0;
  for (SeqnoQuery& query : queries) {
    if (query.is_answered) continue;
    const LookupKey key(query.key, kMaxSequenceNumber,
                        super_version.version()->comparator().order());
    if (SearchMemTable(*super_version.mem(), key, &query)) continue;
    // All its entries are too old to matter.
    for (const MemTable* memtable : super_version.immutables()) {
      if (memtable->largest_seqno() <= query.above) continue;
      if (SearchMemTable(*memtable, key, &query)) break;
    }
    if (query.is_answered) continue;
    // No table is opened inside the epoch; it is enough to know whether any must be.
    bool needs_table = false;
    VisitTables(*super_version.version(), query, [&](TableFile*) { return needs_table = true; });
    query.is_answered = !needs_table;
    if (needs_table) open_count++;
  }
  return open_count;
}

Status FindLatestInTables(const SuperVersion& super_version, const ReadOptions& options,
                          std::span<SeqnoQuery> queries) {
  assert(!InEpoch());
  const Version& version = *super_version.version();
  for (SeqnoQuery& query : queries) {
    if (query.is_answered) continue;
    const LookupKey key(query.key, kMaxSequenceNumber, version.comparator().order());
    Status status;
    VisitTables(version, query, [&](TableFile* file) {
      Result<TableHandle> table = version.tables()->PinFor(options, file);
      if (!table.ok()) {
        status = table.status();
        return true;
      }
      GreatestSeqno greatest(query);
      PointLookup lookup(key, nullptr);
      lookup.SetCallback(&greatest);
      status = (*table)->Get(options, &lookup);
      if (status.ok() && lookup.outcome() == PointLookup::Outcome::kFailed) {
        status = lookup.status();
      }
      return !status.ok() || TakeAnswer(greatest, &query);
    });
    if (!status.ok()) return status;
    query.is_answered = true;
  }
  return Status::OK();
}

}  // namespace ashlar
