// SPDX-License-Identifier: Apache-2.0
//
// RocksDB can use databases written here: its tools check and read them after a clean close and
// after the writer was killed, and write into them, and we continue. Skipped without the tools.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include "ashlar/sst_file_writer.h"
#include "env/filename.h"
#include "tests/interop/relay_workload.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/sample_database.h"
#include "tests/support/skip.h"
#include "tests/support/status_matchers.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kChildDir[] = "ASHLAR_RELAY_CHILD_DIR";
constexpr char kChildBegin[] = "ASHLAR_RELAY_CHILD_BEGIN";
constexpr char kChildCompresses[] =
    "ASHLAR_RELAY_CHILD_COMPRESSES";  // its logs are compressed if this is set
constexpr int kAcknowledgeFd = 100;
constexpr int kNever = 1 << 30;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  EXPECT_TRUE(Slice(hex).DecodeHex(&bytes)) << hex;
  return bytes;
}

RelayContents ContentsAfter(int batches) {
  RelayContents contents;
  for (const std::string& name : RelayFamilies()) contents[name];
  for (int i = 0; i < batches; i++) RelayBatch(i, nullptr, nullptr, &contents);
  return contents;
}

// The writer that is killed: this program in another process. It never ends by itself.
TEST(RelayChild, WritesUntilItIsKilled) {
  const char* dir = std::getenv(kChildDir);
  if (dir == nullptr) GTEST_SKIP() << "only as the child of Relay";
  std::unique_ptr<RelayDatabase> database;
  ASSERT_OK(RelayDatabase::Open(dir, &database, std::getenv(kChildCompresses) != nullptr));
  const auto acknowledge = [](int batch) {
    if (write(kAcknowledgeFd, &batch, sizeof(batch)) != sizeof(batch)) _exit(1);
  };
  ASSERT_OK(database->WriteBatches(std::atoi(std::getenv(kChildBegin)), kNever, acknowledge));
}

class Relay : public testing::Test {
 protected:
  void SetUp() override {
    int exit_code = 0;
    RunCommand("command -v ldb && command -v sst_dump", &exit_code);
    if (exit_code != 0) return SkipAsMissing("tools of RocksDB (ldb, sst_dump)");
    if (RunCommand("ldb --version").find("7.8") == std::string::npos) {
      return SkipAsMissing("tools of RocksDB 7.8 (there are others)");
    }
    dir_ = FreshTempDir("relay") + "/db";
  }

  std::string Ldb(const std::string& arguments, int* exit_code = nullptr) {
    return RunCommand(StrCat("ldb --db='", dir_, "' --try_load_options ", arguments), exit_code);
  }

  void LdbMustWork(const std::string& arguments) {
    int exit_code = 0;
    const std::string output = Ldb(arguments, &exit_code);
    EXPECT_EQ(exit_code, 0) << "ldb " << arguments << ": " << output;
    EXPECT_EQ(output.find("Corruption"), std::string::npos) << output;
  }

  FamilyContents LdbScan(const std::string& family) {
    std::istringstream lines(Ldb(StrCat("scan --hex --column_family=", family)));
    FamilyContents contents;
    for (std::string line; std::getline(lines, line);) {
      const size_t colon = line.find(" : ");
      if (line.compare(0, 2, "0x") != 0 || colon == std::string::npos) {
        ADD_FAILURE() << "ldb scan of " << family << ": " << line;
        break;
      }
      const size_t value = colon + 5;  // after " : 0x"
      contents[FromHex(line.substr(2, colon - 2))] =
          value > line.size() ? "" : FromHex(line.substr(value));
    }
    return contents;
  }

  RelayContents LdbScanAll() {
    RelayContents contents;
    for (const std::string& name : RelayFamilies()) contents[name] = LdbScan(name);
    return contents;
  }

  void ToolsFindNoFault() {
    EXPECT_EQ(Ldb("checkconsistency"), "OK\n");
    std::string manifest = FilesOf(dir_)["CURRENT"];
    manifest.pop_back();  // the line feed
    int exit_code = 0;
    const std::string dump =
        RunCommand(StrCat("ldb manifest_dump --path='", dir_, "/", manifest, "'"), &exit_code);
    EXPECT_EQ(exit_code, 0) << dump;
    VerifyTables(dump);
    for (const std::string& name : RelayFamilies()) {
      EXPECT_NE(dump.find(StrCat("Column family \"", name, "\"")), std::string::npos) << dump;
    }
    const std::string families = Ldb("list_column_families");
    EXPECT_NE(families.find("{default, users, cold}"), std::string::npos) << families;
  }

  // The tables that the MANIFEST names; a killed writer may have left an unfinished one.
  void VerifyTables(const std::string& manifest_dump) {
    static const std::regex kTable("\n (\\d+):\\d+\\[");
    for (std::sregex_iterator at(manifest_dump.begin(), manifest_dump.end(), kTable), end;
         at != end; ++at) {
      const std::string path = TableFileName(dir_, FileNumber{std::stoul((*at)[1])});
      const std::string output =
          RunCommand(StrCat("sst_dump --command=verify --file='", path, "'"));
      EXPECT_NE(output.find("The file is ok"), std::string::npos) << output;
      tables_verified_++;
    }
  }

  void OursHolds(RelayDatabase* database, const RelayContents& expected) {
    for (size_t i = 0; i < RelayFamilies().size(); i++) {
      const FamilyContents& contents = expected.at(RelayFamilies()[i]);
      EXPECT_TRUE(HoldsExactly(database->db(), database->family(i),
                               Entries(contents.begin(), contents.end())))
          << RelayFamilies()[i];
    }
  }

  // Runs the child from batch `begin` until it has acknowledged `last`; returns how many batches
  // were acknowledged before its death.
  int WriteAndKill(int begin, int last) {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(pipe_ends[1], kAcknowledgeFd);
      close(pipe_ends[0]);
      close(pipe_ends[1]);
      if (freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
      setenv(kChildDir, dir_.c_str(), 1);
      setenv(kChildBegin, std::to_string(begin).c_str(), 1);
      if (compresses_logs_) setenv(kChildCompresses, "1", 1);
      execl("/proc/self/exe", "relay_child", "--gtest_filter=RelayChild.*", nullptr);
      _exit(127);
    }
    close(pipe_ends[1]);
    int acknowledged = begin - 1;
    int batch;
    while (read(pipe_ends[0], &batch, sizeof(batch)) == sizeof(batch)) {
      EXPECT_EQ(batch, acknowledged + 1);
      acknowledged = batch;
      if (acknowledged == last) kill(child, SIGKILL);
    }
    close(pipe_ends[0]);
    int status;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
    return acknowledged + 1;
  }

  // After a kill there may be one more batch than acknowledged, but only complete.
  int BatchesIn(const RelayContents& found, int acknowledged) {
    for (const int batches : {acknowledged, acknowledged + 1}) {
      if (found == ContentsAfter(batches)) return batches;
    }
    ADD_FAILURE() << "not the contents after " << acknowledged << " or one more batches";
    return acknowledged;
  }

  std::string dir_;
  bool compresses_logs_ = false;
  int tables_verified_ = 0;
};

TEST_F(Relay, ToolsReadADatabaseAfterACleanClose) {
  std::unique_ptr<RelayDatabase> database;
  ASSERT_OK(RelayDatabase::Open(dir_, &database));
  ASSERT_OK(database->WriteBatches(0, 1600));
  OursHolds(database.get(), ContentsAfter(1600));
  ASSERT_OK(database->Close());
  ToolsFindNoFault();
  EXPECT_GT(tables_verified_, 0);
  EXPECT_EQ(LdbScanAll(), ContentsAfter(1600));
}

TEST_F(Relay, ToolsReadAnEmptyDatabase) {
  std::unique_ptr<RelayDatabase> database;
  ASSERT_OK(RelayDatabase::Open(dir_, &database));
  ASSERT_OK(database->Close());
  ToolsFindNoFault();
  EXPECT_EQ(LdbScanAll(), ContentsAfter(0));
}

TEST_F(Relay, ToolsReadADatabaseAfterAKill) {
  const int acknowledged = WriteAndKill(0, 730);
  ToolsFindNoFault();
  const int batches = BatchesIn(LdbScanAll(), acknowledged);
  std::unique_ptr<RelayDatabase> database;
  ASSERT_OK(RelayDatabase::Open(dir_, &database));
  OursHolds(database.get(), ContentsAfter(batches));
}

TEST_F(Relay, ToolsReadCompressedLogsAfterAKill) {
  compresses_logs_ = true;
  const int acknowledged = WriteAndKill(0, 130);
  int logs = 0;
  for (const auto& [name, bytes] : FilesOf(dir_)) {
    if (!name.ends_with(".log")) continue;
    logs++;
    int exit_code = 0;
    const std::string path = StrCat(dir_, "/", name);
    const std::string dump = RunCommand(StrCat("ldb dump_wal --walfile='", path, "'"), &exit_code);
    // The tool reads everything, but has no text for entities.
    const bool is_read = exit_code == 0 || dump.find("PutEntityCF not") != std::string::npos;
    EXPECT_TRUE(is_read) << dump;
    EXPECT_EQ(dump.find("orruption"), std::string::npos) << dump;
    EXPECT_EQ(bytes[6], 9);  // the log is compressed
  }
  EXPECT_GT(logs, 0);
  ToolsFindNoFault();
  const int batches = BatchesIn(LdbScanAll(), acknowledged);
  LdbMustWork("put rocksdb theirs");  // it recovers from the logs, and begins a compressed one
  std::unique_ptr<RelayDatabase> database;
  ASSERT_OK(RelayDatabase::Open(dir_, &database));
  RelayContents expected = ContentsAfter(batches);
  expected["default"]["rocksdb"] = "theirs";
  OursHolds(database.get(), expected);
}

// Its record takes several blocks of the log.
TEST_F(Relay, ToolsReadALargeCompressedRecord) {
  std::unique_ptr<RelayDatabase> database;
  ASSERT_OK(RelayDatabase::Open(dir_, &database, /*compresses_logs=*/true));
  ASSERT_OK(database->db()->Put(WriteOptions(), "large", Random64(1).Bytes(200000)));
  std::string dumps;
  for (const auto& [name, bytes] : FilesOf(dir_)) {
    if (!name.ends_with(".log")) continue;
    dumps += RunCommand(StrCat("ldb dump_wal --walfile='", dir_, "/", name, "'"));
  }
  EXPECT_NE(dumps.find("PUT(0) : 0x6C61726765"), std::string::npos) << dumps;
  EXPECT_EQ(dumps.find("orruption"), std::string::npos) << dumps;
}

// A clean close, then RocksDB writes; a kill, then RocksDB recovers and writes; RocksDB compacts;
// and so on.
TEST_F(Relay, BothWriteInTurn) {
  std::unique_ptr<RelayDatabase> database;
  int batches = 0;
  RelayContents theirs;
  const auto expected = [&] {
    RelayContents all = ContentsAfter(batches);
    for (const auto& [family, contents] : theirs)
      all[family].insert(contents.begin(), contents.end());
    return all;
  };
  for (int leg = 0; leg < 4; leg++) {
    if (leg % 2 == 0) {
      ASSERT_OK(RelayDatabase::Open(dir_, &database));
      OursHolds(database.get(), expected());
      ASSERT_OK(database->WriteBatches(batches, batches + 250));
      ASSERT_OK(database->Close());
      batches += 250;
    } else {
      batches = WriteAndKill(batches, batches + 200);
      RelayContents found = LdbScanAll();
      if (found != expected()) batches++;
      ASSERT_EQ(found, expected()) << "leg " << leg;
    }
    // Keys that no batch writes.
    const std::string family = RelayFamilies()[static_cast<size_t>(leg) % 3];
    const std::string key = StrCat("rocksdb", leg);
    LdbMustWork(StrCat("put --column_family=", family, " ", key, " theirs"));
    theirs[family][key] = "theirs";
    if (leg == 2) LdbMustWork(StrCat("compact --column_family=", family));
    ToolsFindNoFault();
    ASSERT_EQ(LdbScanAll(), expected()) << "leg " << leg;
  }
  ASSERT_OK(RelayDatabase::Open(dir_, &database));
  OursHolds(database.get(), expected());
  ASSERT_OK(database->db()->VerifyChecksum());
}

// RocksDB must also treat a group of records as one change.
TEST_F(Relay, AnAtomicFlushIsReadAndFamiliesAreFlushedAgain) {
  Options options;
  options.create_if_missing = options.atomic_flush = true;
  options.write_compatible_with = "7.8";
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir_, &db));
  ColumnFamilyHandle* users = nullptr;
  ASSERT_OK(db->CreateColumnFamily(options, "users", &users));
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (const char* key : {"a", "b"}) {
    WriteBatch batch;
    ASSERT_OK(batch.Put(key, "1"));
    ASSERT_OK(batch.Put(users, key, "2"));
    ASSERT_OK(db->Write(unlogged, &batch));
    ASSERT_OK(db->Flush(FlushOptions(), {db->DefaultColumnFamily(), users}));
  }
  ASSERT_OK(db->DestroyColumnFamilyHandle(users));
  ASSERT_OK(db->Close());
  db.reset();
  EXPECT_EQ(Ldb("checkconsistency"), "OK\n");
  EXPECT_EQ(LdbScan("default"), (FamilyContents{{"a", "1"}, {"b", "1"}}));
  EXPECT_EQ(LdbScan("users"), (FamilyContents{{"a", "2"}, {"b", "2"}}));
  std::string manifest = FilesOf(dir_)["CURRENT"];
  manifest.pop_back();  // the line feed
  const std::string dump =
      RunCommand(StrCat("ldb manifest_dump --verbose --path='", dir_, "/", manifest, "' 2>&1"));
  EXPECT_NE(dump.find("AtomicGroup"), std::string::npos) << dump;
  LdbMustWork("put --column_family=users c 3");
  EXPECT_EQ(LdbScan("users"), (FamilyContents{{"a", "2"}, {"b", "2"}, {"c", "3"}}));
}

// RocksDB 7.8 does not open a database in which the sequence numbers of tables on level 0 overlap,
// as those of a table made from ingested tables and of the memtable of the same time would.
TEST_F(Relay, TablesIngestedAmongOlderWritesAreReadAfterACompaction) {
  Options options;
  options.create_if_missing = options.disable_auto_compactions = true;
  options.compaction_style = kCompactionStyleUniversal;
  options.level0_file_num_compaction_trigger = 3;
  options.write_compatible_with = "7.8";
  FamilyContents expected;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir_, &db));
  const auto put = [&](const std::string& key, const std::string& value) {
    expected[key] = value;
    return db->Put(WriteOptions(), key, value);
  };
  for (int i = 0; i < 1000; ++i) {
    ASSERT_OK(put(StrCat("k", 1000 + i), std::string(100, 'v')));
    if (i == 900) {
      ASSERT_OK(db->Flush(FlushOptions()));
    }
  }
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_OK(put("zz", "older than the tables, and in the memtable"));
  for (int i = 0; i < 4; ++i) {
    const std::string path = StrCat(dir_, "/../ingested", i);
    SstFileWriter writer(EnvOptions(), options);
    ASSERT_OK(writer.Open(path));
    for (int j = 0; j < 10; ++j) {
      const std::string key = StrCat("k", 1000 + 10 * j + i);
      ASSERT_OK(writer.Put(key, "ingested"));
      expected[key] = "ingested";
    }
    ASSERT_OK(writer.Finish());
    ASSERT_OK(db->IngestExternalFile({path}, IngestExternalFileOptions()));
    ASSERT_OK(put(StrCat("zz", i), "between"));
  }
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  const std::vector<SstFileMetaData>& level0 = family.levels.at(0).files;
  ASSERT_EQ(level0.size(), 6u);
  const Status within = db->CompactFiles(CompactionOptions(), {level0[0].name, level0[1].name}, 0);
  EXPECT_TRUE(within.IsInvalidArgument()) << within.ToString();
  ASSERT_OK(db->EnableAutoCompaction({db->DefaultColumnFamily()}));
  ASSERT_OK(db->WaitForCompact(WaitForCompactOptions()));
  db->GetColumnFamilyMetaData(&family);
  EXPECT_LT(family.levels.at(0).files.size(), 6u) << "nothing was merged";
  ASSERT_OK(db->Flush(FlushOptions()));
  ASSERT_OK(db->Close());
  db.reset();
  EXPECT_EQ(Ldb("checkconsistency"), "OK\n");
  EXPECT_EQ(LdbScan("default"), expected);
}

}  // namespace
}  // namespace ashlar
