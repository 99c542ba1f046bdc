// SPDX-License-Identifier: Apache-2.0
//
// BlockAccesses takes part in reads while a block cache trace is running, and gives the trace each
// block that they use.
//
// A point read may use blocks inside an epoch, where nothing may be written: its accesses are kept
// until the call is over. What a table reported before it was searched a second time does not
// count.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/table_reader_caller.h"
#include "db/trace/block_trace.h"
#include "table/iterator/point_lookup.h"
#include "table/iterator/read_trace.h"

namespace ashlar {

class BlockAccesses final : public ReadTrace {
 public:
  // The reads of one call, or one iterator.
  struct Reads {
    BlockTrace* trace = nullptr;  // outlives the object
    TableReaderCaller caller = kUncategorized;
    uint32_t family = 0;
    std::string family_name;
    bool has_snapshot = false;  // of the program
    bool fills_cache = true;
  };
  // `get_id`: of the call; kReservedGetId for an iterator.
  BlockAccesses(Reads reads, uint64_t get_id) : reads_(std::move(reads)), get_id_(get_id) {}
  // Gives the accesses of lookups to the trace. Not inside an epoch.
  ~BlockAccesses() override;
  BlockAccesses(const BlockAccesses&) = delete;
  BlockAccesses& operator=(const BlockAccesses&) = delete;

  // A search for one key through an iterator whose runs report here, outside of epochs.
  void BeginSearch(const Slice& stored_key, SequenceNumber seqno);
  // `found`: the internal key of the version that was found, or null. `value_bytes`: of its value.
  void EndSearch(const Slice* found, size_t value_bytes);

  void EnterMemTable(const MemTablePlace& place) override;
  void EnterTable(const Table& table) override;
  void OnRowFound() override {}
  void OnBlock(const Block& block) override;
  void OnTombstone(const Tombstone&) override {}
  void OnFilter(bool, bool) override {}
  void BeginLookup(const PointLookup& lookup) override;
  void EndLookup(const PointLookup& lookup) override;
  void AddRun(size_t run, const MemTablePlace* memtable) override;
  void EnterRun(size_t run) override { run_ = run; }
  void OnEntryShown(const Slice& internal_key) override;
  void OnEntryLeft(const Slice&) override {}

 private:
  struct Place {
    uint64_t table = 0;
    uint32_t level = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Access {
    Block block;
    Place place;
  };
  static constexpr size_t kNoAccess = SIZE_MAX;
  struct Lookup {
    std::string key;         // internal key: the one that was found, or else the one searched
    size_t found_bytes = 0;  // of key and value; 0: nothing was found
    std::vector<Access> accesses;
    size_t key_access = kNoAccess;  // whose block has the version that was found
    bool is_search = false;         // through an iterator
    // While a search runs: the entries that its runs have shown, and the accesses to their blocks.
    std::vector<std::pair<std::string, size_t>> shown;
  };

  bool IsLookup() const { return reads_.caller != kUserIterator; }
  // `lookup`: null for iterators. `has_key`: the block has the version that was found.
  void Write(const Access& access, const Lookup* lookup, bool has_key) const;

  const Reads reads_;
  const uint64_t get_id_;
  Lookup current_;
  std::vector<Lookup> over_;
  std::vector<Place> places_{1};  // the table in which each run is; lookups use the first
  size_t run_ = 0;
};

}  // namespace ashlar
