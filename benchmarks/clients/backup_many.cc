// SPDX-License-Identifier: Apache-2.0
//
// How long does a backup of a database with many tables take, and another one when nothing has
// changed: by the same engine, and by a new one that must read the backup directory first? The
// tables are in the system's page cache.
//
//   backup_many --db=FOLDER [--tables=20000] [--rows=50] [--value_bytes=100] [--repeats=3]
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/backup_engine.h"

#include "benchmarks/clients/client.h"
#include "benchmarks/clients/many_tables.h"

namespace {

using client::Clock;
using client::Flags;
using client::Require;

std::unique_ptr<rocksdb::BackupEngine> OpenEngine(const std::string& folder) {
  rocksdb::BackupEngine* opened = nullptr;
  Require(rocksdb::BackupEngine::Open(rocksdb::BackupEngineOptions(folder), rocksdb::Env::Default(),
                                      &opened),
          "open the backup engine");
  return std::unique_ptr<rocksdb::BackupEngine>(opened);
}

double MillisOf(Clock::time_point begin) {
  return static_cast<double>(client::Micros(Clock::now() - begin)) / 1000;
}

double Backup(rocksdb::BackupEngine* engine, rocksdb::DB* db) {
  const Clock::time_point begin = Clock::now();
  Require(engine->CreateNewBackup(rocksdb::CreateBackupOptions(), db), "back up");
  return MillisOf(begin);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const Flags flags({{"tables", 20000}, {"rows", 50}, {"value_bytes", 100}, {"repeats", 3}}, argc,
                    argv);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.max_open_files = 500;
  options.disable_auto_compactions = true;
  client::MakeTables(flags, options);
  const std::unique_ptr<rocksdb::DB> db = client::Open(options, flags.db());
  const std::string folder = flags.db() + ".backups";
  std::unique_ptr<rocksdb::BackupEngine> engine = OpenEngine(folder);
  client::Report("first", Backup(engine.get(), db.get()), "ms");
  std::vector<double> same, anew, opens;
  for (uint64_t i = 0; i < std::max<uint64_t>(1, flags["repeats"]); i++) {
    same.push_back(Backup(engine.get(), db.get()));
    engine.reset();
    const Clock::time_point begin = Clock::now();
    engine = OpenEngine(folder);
    opens.push_back(MillisOf(begin));
    anew.push_back(Backup(engine.get(), db.get()));
  }
  client::Report("unchanged", Median(same), "ms");
  client::Report("open the engine", Median(opens), "ms");
  client::Report("unchanged with a new engine", Median(anew), "ms");
  std::vector<rocksdb::BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  if (backups.empty() || backups.back().number_files < flags["tables"]) {
    client::Fail("the last backup does not have all tables");
  }
  return 0;
}
