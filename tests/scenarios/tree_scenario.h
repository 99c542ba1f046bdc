// SPDX-License-Identifier: Apache-2.0
//
// TreeScenario picks and runs compactions over a tree of tables, without a database. Commands:
//
//   options name=value...            of the family; at first small sizes and fixed targets
//   build                            a table per line: "L1 | a#9 DEL, b#3 PUT x"; level 0 oldest
//   first;
//                                    numbers from 1 on. "L1 busy | ..." is being compacted,
//                                    "L1 marked | ..." is marked for compaction; "L1 largest=c#5 |
//                                    ..." and "L1 smallest=..." are boundaries of the MANIFEST
//   snapshots 5 9                    the sequence numbers of snapshots
//   pick                             prints the compaction that would run automatically
//   compact [all]                    runs it; with "all" until no compaction is needed
//   compact L0 -> L1 from=a to=c     the range of a level; "move" allows a trivial move
//   set_entry_count number=2 entries=7   from now on the properties of table 2 have 7 entries
//   tree
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "db/compaction/compaction_job.h"
#include "db/compaction/compaction_picker.h"
#include "db/table_cache/table_cache.h"
#include "db/version/compaction_claims.h"
#include "db/version/version_builder.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/scenario.h"
#include "util/threads/mutex.h"

namespace ashlar {

class TreeScenario {
 public:
  TreeScenario();
  ~TreeScenario();

  std::string Run(const ScenarioStep& step);

 private:
  struct Table {
    Level level;
    FileMetadata meta;
    bool is_busy;
  };

  std::string SetOptions(const ScenarioStep& step);
  std::string Build(const ScenarioStep& step);
  std::string BuildTable(const std::string& line);
  std::string SetSnapshots(const ScenarioStep& step);
  std::string Pick() const;
  std::optional<CompactionPlan> PickPlan() const;
  std::string Compact(const ScenarioStep& step);
  std::string CompactOnce(const ScenarioStep& step);
  std::string Carry(const CompactionPlan& plan);
  std::string SetEntryCount(const ScenarioStep& step);
  std::string Tree() const;
  Version* version() const { return built_.version.get(); }

  std::optional<CompactionPlan> PickRange(const ScenarioStep& step);
  void MakeVersion();
  void CloseTables();
  TableOutputOptions OutputOptions(Level level);
  size_t FileCount();

  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  ColumnFamilyOptions options_;
  TableOutputContext context_;
  std::unique_ptr<TableCache> cache_;
  std::vector<Table> tables_;
  BuiltVersion built_;  // of tables_
  CompactionClaims claims_;
  mutable DbMutex mutex_;  // no other thread uses it, but the tested code requires one
  std::vector<SequenceNumber> snapshots_;
  uint64_t next_number_ = 1;
};

}  // namespace ashlar
