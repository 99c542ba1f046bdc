// SPDX-License-Identifier: Apache-2.0
//
// Operations that do not change any key. Some may fail because another thread does the same at the
// same time; Tolerate() lists the statuses that are allowed then.
#include <cassert>
#include <memory>
#include <string>
#include <unordered_map>

#include "ashlar/convenience.h"
#include "ashlar/metadata.h"
#include "tools/db_stress/worker.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

// Accepts the statuses of a call that conflicted with another one or named a file that is gone;
// fails for other errors.
void Tolerate(const Status& status, const char* call) {
  assert(call != nullptr);
  if (status.IsAborted() || status.IsBusy() || status.IsIncomplete() ||
      status.IsInvalidArgument() || status.IsNotSupported()) {
    return;
  }
  Require(status, call);
}

// A random key as the end of a range, or nullopt for an open end.
std::optional<std::string> DrawEnd(Worker* worker) {
  assert(worker != nullptr);
  if (worker->random.OneIn(3)) return std::nullopt;
  return KeyText(worker->AnyNumber());
}

}  // namespace

// Flushes one family or all of them. Each FamilyUse keeps its handle valid until the call has
// ended.
void FlushFamilies(Worker* worker) {
  assert(worker != nullptr);
  FlushOptions options;
  options.wait = worker->random.OneIn(2);
  options.allow_write_stall = worker->random.OneIn(2);
  if (worker->random.OneIn(2)) {
    const FamilyUse family = worker->db().Use(worker->AnyFamily());
    Require(worker->db()->Flush(options, family.get()), "Flush");
    return;
  }
  // `handles` refer to the families of `uses`, so both lists live until the call returns.
  std::vector<FamilyUse> uses;
  std::vector<ColumnFamilyHandle*> handles;
  for (int i = 0; i < worker->db().families(); i++) {
    uses.push_back(worker->db().Use(i));
    handles.push_back(uses.back().get());
  }
  Require(worker->db()->Flush(options, handles), "Flush");
}

// A missing end means that the range is open on that side.
void CompactSomeRange(Worker* worker) {
  assert(worker != nullptr);
  const FamilyUse family = worker->db().Use(worker->AnyFamily());
  std::optional<std::string> begin = DrawEnd(worker), end = DrawEnd(worker);
  if (begin && end && *end < *begin) std::swap(begin, end);
  // The slices refer to the strings, which must not change from here on.
  const Slice begin_key = begin ? Slice(*begin) : Slice(), end_key = end ? Slice(*end) : Slice();
  CompactRangeOptions options;
  options.exclusive_manual_compaction = worker->random.OneIn(4);
  options.change_level = worker->random.OneIn(8);
  options.allow_write_stall = worker->random.OneIn(2);
  options.bottommost_level_compaction = worker->random.OneIn(2)
                                            ? BottommostLevelCompaction::kForce
                                            : BottommostLevelCompaction::kIfHaveCompactionFilter;
  options.max_subcompactions = static_cast<uint32_t>(worker->random.Uniform(3));
  options.blob_garbage_collection_policy = worker->random.OneIn(2)
                                               ? BlobGarbageCollectionPolicy::kForce
                                               : BlobGarbageCollectionPolicy::kUseDefault;
  Tolerate(worker->db()->CompactRange(options, family.get(), begin ? &begin_key : nullptr,
                                      end ? &end_key : nullptr),
           "CompactRange");
}

// The files may be gone, or be taken by another compaction, when the call comes.
void CompactSomeFiles(Worker* worker) {
  assert(worker != nullptr);
  const FamilyUse family = worker->db().Use(worker->AnyFamily());
  ColumnFamilyMetaData metadata;
  worker->db()->GetColumnFamilyMetaData(family.get(), &metadata);
  assert(!metadata.levels.empty());
  const LevelMetaData& level = metadata.levels[worker->random.Uniform(metadata.levels.size())];
  if (level.files.empty()) return;
  std::vector<std::string> names;
  const size_t first = worker->random.Uniform(level.files.size());
  // Up to three neighbours; a compaction of distant files would have to take all files between
  // them.
  const size_t last = std::min(first + worker->random.Uniform(3), level.files.size() - 1);
  for (size_t i = first; i <= last; i++) names.push_back(level.files[i].name);
  CompactionOptions options;
  options.max_subcompactions = static_cast<uint32_t>(worker->random.Uniform(3));
  options.output_file_size_limit = worker->random.OneIn(2) ? UINT64_MAX : 50'000;
  // The target is the level itself or one of the two below it, if they exist.
  const int output = std::min(level.level + static_cast<int>(worker->random.Uniform(3)),
                              worker->db()->NumberLevels(family.get()) - 1);
  Tolerate(worker->db()->CompactFiles(options, family.get(), names, output), "CompactFiles");
}

void ChangeOptions(Worker* worker) {
  assert(worker != nullptr);
  // Every value of the tables is allowed at any time, so an error is a mistake.
  if (worker->random.OneIn(4)) {
    const OptionChange change = DrawDbChange(&worker->random);
    Require(worker->db()->SetDBOptions({{change.name, change.value}}),
            StrCat("SetDBOptions ", change.name, "=", change.value));
    return;
  }
  const FamilyUse family = worker->db().Use(worker->AnyFamily());
  const OptionChange change = DrawFamilyChange(&worker->random);
  Require(worker->db()->SetOptions(family.get(), {{change.name, change.value}}),
          StrCat("SetOptions ", change.name, "=", change.value));
}

// Drops and creates the last family. Meanwhile all its keys have a pending removal, because a kill
// leaves either all of them or none.
void RecreateFamily(Worker* worker) {
  assert(worker != nullptr);
  const int number = worker->db().volatile_family();
  ExpectedState& expected = worker->expected();
  std::vector<KeyState> states;
  // Runs while no other thread uses the family, so the states do not change meanwhile.
  const auto announce = [&] {
    states = worker->LoadRange({number, 0}, expected.keys());
    for (uint64_t i = 0; i < states.size(); i++) {
      if (!states[i].IsPresent()) continue;
      expected.Store({number, i}, states[i].With(Event::kRemove));
    }
  };
  const auto settle = [&] {
    assert(states.size() == expected.keys());
    for (uint64_t i = 0; i < states.size(); i++) {
      if (states[i].IsPresent()) expected.Store({number, i}, states[i].After(Event::kRemove));
    }
  };
  Require(worker->db().Recreate(announce, settle), "dropping and creating a family");
}

// Only that the calls succeed can be checked; the values change all the time.
void ReadProperties(Worker* worker) {
  assert(worker != nullptr);
  const FamilyUse family = worker->db().Use(worker->AnyFamily());
  DB* const db = worker->db().get();
  static constexpr const char* kTexts[] = {"rocksdb.stats", "rocksdb.sstables", "rocksdb.cfstats",
                                           "rocksdb.levelstats"};
  std::string text;
  if (!db->GetProperty(family.get(), kTexts[worker->random.Uniform(4)], &text)) {
    Fail("GetProperty: a property is not known");
  }
  uint64_t number = 0;
  if (!db->GetIntProperty(family.get(), "rocksdb.estimate-num-keys", &number) ||
      !db->GetAggregatedIntProperty("rocksdb.cur-size-all-mem-tables", &number)) {
    Fail("GetIntProperty: a property is not known");
  }
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  // The strings must live as long as the range, which refers to them.
  const std::string begin = KeyText(0), end = KeyText(worker->space().keys / 2);
  const Range range(begin, end);
  Require(db->GetApproximateSizes(SizeApproximationOptions(), family.get(), &range, 1, &number),
          "GetApproximateSizes");
  TablePropertiesCollection properties;
  // Rare, because it opens every table.
  if (worker->random.OneIn(8)) {
    Require(db->GetPropertiesOfAllTables(family.get(), &properties), "GetPropertiesOfAllTables");
  }
}

void SyncLog(Worker* worker) {
  assert(worker != nullptr);
  if (worker->random.OneIn(2)) return Require(worker->db()->SyncWAL(), "SyncWAL");
  Require(worker->db()->FlushWAL(worker->random.OneIn(2)), "FlushWAL");
}

void VerifyAllChecksums(Worker* worker) {
  assert(worker != nullptr);
  Require(worker->db()->VerifyChecksum(ReadOptions()), "VerifyChecksum");
}

}  // namespace ashlar::stress
