// SPDX-License-Identifier: Apache-2.0
//
// TestDb is a database on files of its own, with short calls for what tests of an open database do
// again and again. DbTest is the fixture made of it: a suite derives from DbTest, sets the options
// that it is about and calls these functions directly.
//
//   class OverwriteTest : public DbTest {
//    protected:
//     OverwriteTest() {
//       options_.disable_auto_compactions = true;
//       Open();
//     }
//   };
//   TEST_F(OverwriteTest, ReadsReturnTheNewestValue) {
//     Put("a", "1");
//     Flush();
//     Put("a", "2");
//     Reopen();
//     EXPECT_EQ(Get("a"), "2");
//   }
//
// A call without a Status among its results expects the database to return OK; otherwise the test
// fails, with the line of the caller in the report, and continues. A call whose error is the
// subject of a test is made through db_. Threads: those calls that only use db_ are as thread-safe
// as the database; opening and closing are for one thread.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/metadata.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "tests/support/opened_db.h"
#include "tests/support/status_matchers.h"

namespace ashlar {

// The line of a test that calls a helper. Default arguments are evaluated at the caller.
class CallSite {
 public:
  static CallSite Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return CallSite(file, line);
  }
  const char* file() const { return file_; }
  int line() const { return line_; }

 private:
  CallSite(const char* file, int line) : file_(file), line_(line) {}
  const char* file_;
  int line_;
};

enum class TestFiles : uint8_t {
  kMemory,  // memory_
  kSim,     // sim_, which can fail calls and crash
};

class TestDb {
 public:
  // The options are the default ones with the environment of these files, create_if_missing and
  // create_missing_column_families.
  explicit TestDb(TestFiles files = TestFiles::kMemory);
  // On files that exist, such as the image of a crash.
  explicit TestDb(const std::shared_ptr<FileSystem>& files, const Options& options = Options());
  TestDb(const TestDb&) = delete;
  TestDb& operator=(const TestDb&) = delete;
  ~TestDb();

  DB* db() { return db_.get(); }
  Env* env() { return env_.get(); }
  Options& options() { return options_; }
  std::string& dir() { return dir_; }
  const std::vector<ColumnFamilyHandle*>& handles() const { return handles_; }
  // Replaces the environment, and with it the files; the database must be closed.
  void UseFiles(const std::shared_ptr<FileSystem>& files);
  void UseFiles(const std::shared_ptr<FileSystem>& files,
                const std::shared_ptr<SystemClock>& clock);
  void UseEnv(std::unique_ptr<Env> env);

  // Opens dir_ with options_: the default family alone, or the families named here, whose handles
  // handles_ has in this order. Closes an open database first.
  void Open(CallSite at = CallSite::Here());
  void Open(const std::vector<std::string>& families, CallSite at = CallSite::Here());
  // Families with options of their own.
  void OpenWith(const std::vector<ColumnFamilyDescriptor>& families,
                CallSite at = CallSite::Here());
  // With all families that the directory has.
  void OpenAll(CallSite at = CallSite::Here());
  void OpenReadOnly(CallSite at = CallSite::Here());
  // The same families and the same options_ again, after closing.
  void Reopen(CallSite at = CallSite::Here());
  // The same as Open() and OpenAll(), for tests that expect an error.
  Status TryOpen();
  Status TryOpen(const std::vector<std::string>& families);
  Status TryOpenAll();
  Status TryOpenReadOnly();
  // Expects DB::Close() to succeed. Without a database it does nothing.
  void Close(CallSite at = CallSite::Here());
  // Drops the handles and the database and ignores errors, as its destructor does.
  void Drop();

  // Adds the family to handles_.
  ColumnFamilyHandle* CreateFamily(const std::string& name, CallSite at = CallSite::Here());
  ColumnFamilyHandle* CreateFamily(const std::string& name, const ColumnFamilyOptions& options,
                                   CallSite at = CallSite::Here());
  // Destroys all handles; the database stays open.
  void DestroyHandles(CallSite at = CallSite::Here());
  // The handle with this name, or null with a failure.
  ColumnFamilyHandle* Family(const std::string& name, CallSite at = CallSite::Here());

  // Writes with default options, to the default family unless one is given.
  void Put(const Slice& key, const Slice& value = "v", CallSite at = CallSite::Here());
  void Put(ColumnFamilyHandle* family, const Slice& key, const Slice& value,
           CallSite at = CallSite::Here());
  void Merge(const Slice& key, const Slice& operand, CallSite at = CallSite::Here());
  void Merge(ColumnFamilyHandle* family, const Slice& key, const Slice& operand,
             CallSite at = CallSite::Here());
  void Delete(const Slice& key, CallSite at = CallSite::Here());
  void Delete(ColumnFamilyHandle* family, const Slice& key, CallSite at = CallSite::Here());
  void DeleteRange(const Slice& begin, const Slice& end, CallSite at = CallSite::Here());
  void DeleteRange(ColumnFamilyHandle* family, const Slice& begin, const Slice& end,
                   CallSite at = CallSite::Here());
  void Write(WriteBatch* batch, CallSite at = CallSite::Here());
  static WriteOptions Synced();
  static WriteOptions Unlogged();
  // Key(0) to Key(count - 1), each with a value of this size.
  void Fill(int count, size_t value_bytes = 100, CallSite at = CallSite::Here());
  // "key100000" for 0, ordered by number below 900,000.
  static std::string Key(int i);

  // Of the default family unless one is given; a null family is the default one.
  void Flush(CallSite at = CallSite::Here());
  void Flush(ColumnFamilyHandle* family, CallSite at = CallSite::Here());
  void Flush(const std::vector<ColumnFamilyHandle*>& families, CallSite at = CallSite::Here());
  void Compact(CallSite at = CallSite::Here());
  void Compact(ColumnFamilyHandle* family, CallSite at = CallSite::Here());
  void Compact(const CompactRangeOptions& options, CallSite at = CallSite::Here());
  // Also rewrites the tables of the last level.
  void CompactAndRewrite(CallSite at = CallSite::Here());
  // Until no flush or compaction runs or is due.
  void WaitForJobs(CallSite at = CallSite::Here());

  // The value; "(none)" if there is none; the text of another error.
  std::string Get(const Slice& key, const ReadOptions& read = {},
                  ColumnFamilyHandle* family = nullptr);
  std::string Get(ColumnFamilyHandle* family, const Slice& key) { return Get(key, {}, family); }
  // All rows through an iterator, as "a=1 b=2", in the order in which they come. An error of the
  // iterator fails the test.
  std::string Scan(const ReadOptions& read = {}, ColumnFamilyHandle* family = nullptr,
                   CallSite at = CallSite::Here());
  std::string ScanBackwards(const ReadOptions& read = {}, ColumnFamilyHandle* family = nullptr,
                            CallSite at = CallSite::Here());
  // The keys of the default family through an iterator, one after the other without separators.
  std::string Keys(const ReadOptions& read = {}, CallSite at = CallSite::Here());
  Rows ReadRows(const ReadOptions& read = {}, ColumnFamilyHandle* family = nullptr,
                CallSite at = CallSite::Here());
  // All families of handles_ (the default one, if there are no handles), by iterators in both
  // directions, Get() and MultiGet(), which must agree.
  Contents ReadAll(CallSite at = CallSite::Here());
  Status TryReadAll(Contents* contents);
  // Options to read as of this snapshot.
  static ReadOptions AsOf(const Snapshot* snapshot);

  // The row of an iterator as "key=value"; "end" or its error if it is not valid.
  static std::string RowAt(const Iterator& it);

  // Numbers of tables by level, as "1,0,2,0,0,0,0".
  std::string Levels(ColumnFamilyHandle* family = nullptr);
  // The tables of each level of the default family by their bounds: "L0 a-c L2 d-e".
  std::string Tree();
  int TableCount(int level, ColumnFamilyHandle* family = nullptr);
  std::vector<LiveFileMetaData> Tables();
  // Names of the tables of a level of the default family, newest first on level 0, else by key.
  std::vector<std::string> TableNames(int level);
  // How many files of dir_ have this ending.
  int FilesOnDisk(const std::string& ending, CallSite at = CallSite::Here());
  // Properties that must exist.
  std::string Property(const Slice& name, ColumnFamilyHandle* family = nullptr,
                       CallSite at = CallSite::Here());
  uint64_t Number(const Slice& name, ColumnFamilyHandle* family = nullptr,
                  CallSite at = CallSite::Here());
  // Of options_.statistics.
  uint64_t Ticks(uint32_t ticker) const { return options_.statistics->getTickerCount(ticker); }
  uint64_t TakeTicks(uint32_t ticker) const {
    return options_.statistics->getAndResetTickerCount(ticker);
  }

  // Continues on these files, which sim_ is from here on. The database must be closed.
  void UseSim(const std::shared_ptr<SimFS>& sim);
  // Drops the database and continues on the files that the process would leave if it were killed
  // now.
  void Kill();
  // The files that a crash at this moment leaves, with TestFiles::kSim.
  std::shared_ptr<SimFS> CrashImage(CrashPolicy policy, uint64_t seed = 0) const;
  // With TestFiles::kSim: the next call of this kind on such a path fails, or by the mode more of
  // them; until sim_->ClearFaults().
  void Fail(CallKind kind, const std::string& path_part, FaultMode mode = FaultMode::kOnce,
            FaultError error = FaultError::kIO, FaultEffect effect = FaultEffect::kNone);

 protected:
  Status OpenFamilies(const std::vector<std::string>& families, bool is_read_only);
  Status OpenFamilies(const std::vector<ColumnFamilyDescriptor>& families, bool is_read_only);

  std::shared_ptr<SimFS> sim_;                // null unless TestFiles::kSim
  std::shared_ptr<MemoryFileSystem> memory_;  // of sim_, or alone; null with other files
  std::unique_ptr<Env> env_;
  std::string dir_ = "/db";
  Options options_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::unique_ptr<DB> db_;

 private:
  std::vector<std::string> names_;  // of the families last opened or created; empty: the default
};

// Closes the database before the members of the derived fixture end, because it may use them, such
// as a comparator. A TearDown() of a derived fixture calls this one last.
class DbTest : public testing::Test, public TestDb {
 public:
  using TestDb::TestDb;

 protected:
  void TearDown() override;
};

template <typename Parameter>
class DbTestWith : public DbTest, public testing::WithParamInterface<Parameter> {
 public:
  using DbTest::DbTest;
};

}  // namespace ashlar
