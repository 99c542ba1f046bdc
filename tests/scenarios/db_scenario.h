// SPDX-License-Identifier: Apache-2.0
//
// DbScenario drives a database on a simulated machine with one thread: background jobs run when a
// call waits for them, or when the scenario runs them. Families and snapshots have names; a command
// without "cf=" uses the default family. Commands:
//
//   open name=value...      options of database and families; at first small and without automatic
//                           compactions. Later opens keep the options of the open before
//   close, reopen name=value...
//   write cf=f [unlogged]   one write per line: "put k v", "del k", "single_del k"; with "batch"
//   all
//                           lines are one write; the value "300x" is 300 of that letter
//   flush cf=f, compact cf=f from=a to=c [force], set cf=f name=value...
//   get k..., scan, scan_back: with cf=f snapshot=s from=a to=c; multiget k...
//   snapshot s, release s
//   create f, drop f, families
//   pause, continue, abort cf=f, resume cf=f, abort_all, resume_all, disable_manual, enable_manual,
//   cancel                  background work
//   run                     runs all background jobs to their end
//   wait [abort_on_pause]   WaitForCompact
//   levels cf=f             every table with its entries
//   events                  the calls of listeners since the last "events"
//   property name cf=f
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/options.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_env.h"
#include "tests/support/scenario.h"
#include "util/keys/internal_key.h"

namespace ashlar {

class DbScenario {
 public:
  DbScenario();
  ~DbScenario();

  std::string Run(const ScenarioStep& step);

 private:
  class Events;
  using Command = std::string (DbScenario::*)(const ScenarioStep&);
  static const std::map<std::string, Command>& Commands();

  std::string Open(const ScenarioStep& step);
  std::string Close(const ScenarioStep& step);
  std::string Reopen(const ScenarioStep& step);
  std::string Write(const ScenarioStep& step);
  std::string Flush(const ScenarioStep& step);
  std::string Compact(const ScenarioStep& step);
  std::string Set(const ScenarioStep& step);
  std::string Get(const ScenarioStep& step);
  std::string MultiGet(const ScenarioStep& step);
  std::string Scan(const ScenarioStep& step);
  std::string TakeSnapshot(const ScenarioStep& step);
  std::string ReleaseSnapshot(const ScenarioStep& step);
  std::string Create(const ScenarioStep& step);
  std::string Drop(const ScenarioStep& step);
  std::string Families(const ScenarioStep& step);
  std::string Control(const ScenarioStep& step);
  std::string RunJobs(const ScenarioStep& step);
  std::string Wait(const ScenarioStep& step);
  std::string Levels(const ScenarioStep& step);
  std::string TakeEvents(const ScenarioStep& step);
  std::string Property(const ScenarioStep& step);

  ColumnFamilyHandle* Family(const ScenarioStep& step);
  ReadOptions ReadOptionsOf(const ScenarioStep& step);
  void CloseHandles();

  SimExecutor executor_{1};
  const std::shared_ptr<MemoryFileSystem> fs_ =
      std::make_shared<MemoryFileSystem>(executor_.clock());
  std::unique_ptr<Env> env_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::shared_ptr<Events> events_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::map<std::string, ColumnFamilyHandle*> handles_;
  std::vector<ColumnFamilyHandle*> old_handles_;  // of dropped families whose names are used again
  std::map<std::string, const Snapshot*> snapshots_;
  std::string lower_, upper_;  // bounds of the current scan
};

}  // namespace ashlar
