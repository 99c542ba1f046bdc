// SPDX-License-Identifier: Apache-2.0
//
// Most samples are written by the engine itself. Some tables with partitioned, hash and first-key
// indexes were written by RocksDB 7.8.3 (tests/data/corruption): 40 keys "key000" to "key039" with
// the values "value0" to "value39", blocks of 128 bytes, Bloom filters.
#include "tests/corruption/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/wide_columns.h"
#include "ashlar/write_batch.h"
#include "db/wal/log_format.h"
#include "env/memory/memory_file_system.h"
#include "tests/corruption/records.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "tests/support/sample_database.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Makes a database step by step. After the last flush of all families, losing the tail of the log
// can lead to every state between two steps.
class SampleMaker {
 public:
  // `salt` is part of the values: it distinguishes a sample from its sister.
  SampleMaker(const OptionSet& set, char salt)
      : salt_(salt), fs_(std::make_shared<MemoryFileSystem>()), env_(NewCompositeEnv(fs_)) {
    sample_.options = set;
    EXPECT_TRUE(db_.Open(OptionsOf(sample_, env_.get()), kSampleDir).ok());
    families_["default"] = db_.db()->DefaultColumnFamily();
    sample_.expected["default"];
    sample_.earlier = {sample_.expected};
  }
  ~SampleMaker() { DropHandles(); }

  void AddFamily(const std::string& name) {
    ColumnFamilyOptions options(OptionsOf(sample_, env_.get()));
    EXPECT_TRUE(db_.db()->CreateColumnFamily(options, name, &families_[name]).ok());
    sample_.expected[name];
    sample_.earlier = {sample_.expected};
  }
  void Put(const std::string& key, const std::string& value,
           const std::string& family = "default") {
    const std::string salted = value + salt_;
    EXPECT_TRUE(db_.db()->Put(WriteOptions(), families_[family], key, salted).ok());
    sample_.expected[family][key] = salted;
    sample_.earlier.push_back(sample_.expected);
  }
  // Readers of values get the default column.
  void PutEntity(const std::string& key, const std::string& value) {
    const std::string salted = value + salt_;
    const WideColumns columns = {
        {kDefaultWideColumnName, salted}, {"a", "1"}, {"b", salted}, {"empty", ""}};
    EXPECT_TRUE(db_.db()->PutEntity(WriteOptions(), families_["default"], key, columns).ok());
    sample_.expected["default"][key] = salted;
    sample_.earlier.push_back(sample_.expected);
  }
  void Delete(const std::string& key) {
    EXPECT_TRUE(db_.db()->Delete(WriteOptions(), key).ok());
    sample_.expected["default"].erase(key);
    sample_.earlier.push_back(sample_.expected);
  }
  // The operator of all option sets joins operands with commas.
  void Merge(const std::string& key, const std::string& operand) {
    const std::string salted = operand + salt_;
    EXPECT_TRUE(db_.db()->Merge(WriteOptions(), key, salted).ok());
    Rows& rows = sample_.expected["default"];
    rows[key] = rows.contains(key) ? rows[key] + "," + salted : salted;
    sample_.earlier.push_back(sample_.expected);
  }
  // In bytewise order.
  void DeleteRange(const std::string& begin, const std::string& end) {
    EXPECT_TRUE(db_.db()->DeleteRange(WriteOptions(), begin, end).ok());
    sample_.has_range_tombstones = true;
    Rows& rows = sample_.expected["default"];
    rows.erase(rows.lower_bound(begin), rows.lower_bound(end));
    sample_.earlier.push_back(sample_.expected);
  }
  // One batch: `key` in all families.
  void PutInAll(const std::string& key, const std::string& value) {
    WriteBatch batch;
    for (const auto& [name, handle] : families_) {
      EXPECT_TRUE(batch.Put(handle, key, value + name + salt_).ok());
      sample_.expected[name][key] = value + name + salt_;
    }
    EXPECT_TRUE(db_.db()->Write(WriteOptions(), &batch).ok());
    sample_.earlier.push_back(sample_.expected);
  }
  // From here on nothing written so far may be lost.
  void Flush() {
    for (const auto& [name, handle] : families_) FlushOnly(name);
  }
  // The log stays, because the other families need it.
  void FlushOnly(const std::string& family) {
    EXPECT_TRUE(db_.db()->Flush(FlushOptions(), families_[family]).ok());
    sample_.earlier = {sample_.expected};
  }
  void Compact() {
    EXPECT_TRUE(db_.db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
  // The files as a killed process leaves them.
  Sample Take() {
    EXPECT_TRUE(db_.db()->FlushWAL(true).ok());
    sample_.files = fs_->AllFiles();
    std::erase_if(sample_.files, [](const auto& file) {
      return file.first.ends_with("/LOCK") || file.first.ends_with("/LOG");
    });
    return std::move(sample_);
  }

 private:
  void DropHandles() {
    for (const auto& [name, handle] : families_) {
      if (name != "default") (void)db_.db()->DestroyColumnFamilyHandle(handle).ok();
    }
  }

  const char salt_;
  const std::shared_ptr<MemoryFileSystem> fs_;
  const std::unique_ptr<Env> env_;
  OpenedDb db_;
  std::map<std::string, ColumnFamilyHandle*> families_;
  Sample sample_;
};

std::string KeyOf(int i) { return StrCat("key", i); }

Sample OneTable(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 30; ++i)
    maker.Put(KeyOf(i), std::string(20, static_cast<char>('a' + i % 26)));
  maker.Flush();
  return maker.Take();
}

// Two levels that overlap, deletions of older values, and a log with more of both.
Sample Levels(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 30; ++i) maker.Put(KeyOf(i), "old" + std::to_string(i));
  maker.Flush();
  maker.Compact();
  for (int i = 0; i < 30; i += 3) maker.Delete(KeyOf(i));
  for (int i = 1; i < 30; i += 3) maker.Put(KeyOf(i), "new");
  maker.Flush();
  for (int i = 2; i < 30; i += 9) maker.Put(KeyOf(i), "newest");
  maker.Delete("key1");
  return maker.Take();
}

// Range tombstones over older values and over each other: together with points in a table of level
// 0, alone in another table, and in the log.
Sample RangeTombstones(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 30; ++i) maker.Put(KeyOf(i), "old" + std::to_string(i));
  maker.Flush();
  maker.Compact();
  maker.DeleteRange("key11", "key14");
  maker.DeleteRange("key13", "key2");
  for (int i = 15; i < 30; i += 5) maker.Put(KeyOf(i), "new");
  maker.Flush();
  maker.DeleteRange("key24", "key26");
  maker.DeleteRange("key2", "key20");
  maker.Flush();
  maker.Put("key12", "again");
  maker.DeleteRange("key7", "key9");
  maker.Put("key8", "again");
  return maker.Take();
}

// Operands over values, over tombstones and over nothing, on two levels and in the log.
Sample MergeOperands(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 12; ++i) maker.Put(KeyOf(i), "base" + std::to_string(i));
  maker.Flush();
  maker.Compact();
  for (int i = 0; i < 15; i += 2) maker.Merge(KeyOf(i), "flushed");
  maker.Delete("key3");
  maker.DeleteRange("key4", "key6");
  maker.Merge("key3", "behind a deletion");
  maker.Merge("key5", "behind a range");
  maker.Flush();
  for (int i = 0; i < 15; i += 3) maker.Merge(KeyOf(i), "logged");
  return maker.Take();
}

// Entities in a table and in the log, over values and below deletions.
Sample WideColumnRows(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 12; ++i) maker.Put(KeyOf(i), "plain" + std::to_string(i));
  for (int i = 0; i < 20; i += 2) maker.PutEntity(KeyOf(i), "wide" + std::to_string(i));
  maker.Flush();
  maker.PutEntity("key1", "logged");
  maker.Delete("key4");
  return maker.Take();
}

Sample LogOnly(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 15; ++i) maker.Put(KeyOf(i % 9), "v" + std::to_string(i));
  maker.Delete("key3");
  return maker.Take();
}

Sample TwoFamilies(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  maker.AddFamily("second");
  for (int i = 0; i < 10; ++i) maker.PutInAll(KeyOf(i), "both");
  maker.Flush();
  for (int i = 5; i < 12; ++i) maker.PutInAll(KeyOf(i), "again");
  maker.Put("alone", "first");
  maker.Put("alone", "second", "second");
  return maker.Take();
}

// The default family never flushes, so each flush of the other one leaves one more live log.
Sample SeveralLogs(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  maker.AddFamily("second");
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) maker.PutInAll(KeyOf(i * 2 + k), "log" + std::to_string(i));
    if (i < 2) maker.FlushOnly("second");
  }
  return maker.Take();
}

// A MANIFEST of several records, after which another one was begun.
Sample TornManifest(const OptionSet& set, char salt) {
  SampleMaker maker(set, salt);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 4; ++k) maker.Put(KeyOf(i * 2 + k), "flush" + std::to_string(i));
    maker.Flush();
  }
  Sample sample = maker.Take();
  for (auto& [path, bytes] : sample.files) {
    if (KindOf(path) != "MANIFEST") continue;
    const std::vector<LogRecord> records = FindRecords(bytes);
    const LogRecord& last = records.back();
    bytes.resize(last.end());
    bytes += bytes.substr(last.offset, (last.end() - last.offset) / 2);
  }
  return sample;
}

// A log written over an older and longer one, as RocksDB recycles them.
Sample RecycledLog(const OptionSet& set, char salt) {
  Sample sample = LogOnly(set, salt);
  for (auto& [path, bytes] : sample.files) {
    if (KindOf(path) != "log") continue;
    const FileNumber number{uint64_t{std::stoull(path.substr(path.rfind('/') + 1))}};
    std::string older, newer;
    for (const LogRecord& record : FindRecords(bytes)) {
      const Slice payload(bytes.data() + record.payload_offset, record.payload_bytes);
      AppendFramedRecord(LogFraming(FileNumber{number.value() - 1}, true), older.size(), payload,
                         &older);
      AppendFramedRecord(LogFraming(FileNumber{number.value() - 1}, true), older.size(), payload,
                         &older);
      AppendFramedRecord(LogFraming(number, true), newer.size(), payload, &newer);
    }
    bytes = newer + older.substr(newer.size());
  }
  return sample;
}

// Written by RocksDB.
Sample Foreign(const std::string& archive) {
  Sample sample;
  const std::string dir = FreshTempDir("corruption_" + archive);
  int exit_code = 0;
  const std::string path = SourcePath(StrCat("tests/data/corruption/", archive, ".tar.gz"));
  const std::string output = RunCommand(StrCat("tar -xzf '", path, "' -C '", dir, "'"), &exit_code);
  EXPECT_EQ(exit_code, 0) << output;
  for (const auto& [name, bytes] : FilesOf(dir))
    sample.files[StrCat(kSampleDir, "/", name)] = bytes;
  for (int i = 0; i < 40; ++i) {
    const std::string digits = std::to_string(1000 + i).substr(1);
    sample.expected["default"]["key" + digits] = "value" + std::to_string(i);
  }
  sample.is_one_table = true;
  sample.earlier = {sample.expected, {{"default", {}}}};  // before the flush; the log is empty
  return sample;
}

class SampleList {
 public:
  using Steps = Sample (*)(const OptionSet&, char);

  Sample& Add(const std::string& name, const OptionSet& set, Steps steps) {
    Sample sample = steps(set, 'a');
    sample.sister = steps(set, 'b').files;
    sample.is_one_table = steps == OneTable;
    return Add(name, std::move(sample));
  }
  Sample& Add(const std::string& name, Sample sample) {
    sample.name = name;
    const auto fs = std::make_shared<MemoryFileSystem>();
    const std::unique_ptr<Env> env(NewCompositeEnv(fs));
    for (const auto& [path, bytes] : sample.files) fs->PutFile(path, bytes);
    OpenedDb opened;
    EXPECT_TRUE(opened.Open(OptionsOf(sample, env.get()), kSampleDir).ok());
    sample.levels = LevelsOf(opened.db());
    samples_.push_back(std::move(sample));
    return samples_.back();
  }
  std::vector<Sample> Take() { return std::move(samples_); }

 private:
  std::vector<Sample> samples_;
};

OptionSet With(OptionSet set, std::initializer_list<std::pair<const char*, uint64_t>> values) {
  for (const auto& [name, value] : values) set.Set(name, value);
  return set;
}

// Tables of every layout except the simplest one.
void AddTableForms(const OptionSet& plain, SampleList* samples) {
  SampleList& list = *samples;
  list.Add("our partitioned index and filter",
           With(plain, {{"index_type", 2},
                        {"filter_partitions", 1},
                        {"partition_bytes", 64},
                        {"bloom", 10},
                        {"block", 64}}),
           OneTable);
  list.Add("our coupled partitions, Ribbon",
           With(plain, {{"index_type", 2},
                        {"filter_partitions", 1},
                        {"partition_bytes", 64},
                        {"decoupled_filters", 0},
                        {"bloom", 10},
                        {"ribbon", 1},
                        {"block", 64},
                        {"index_restart", 3},
                        {"format", 7}}),
           OneTable);
  list.Add("our hash index", With(plain, {{"index_type", 1}, {"prefix", 2}, {"block", 64}}),
           OneTable);
  list.Add("our first-key index",
           With(plain, {{"index_type", 3}, {"index_restart", 3}, {"block", 64}, {"format", 6}}),
           OneTable);
  list.Add("dictionary, zstd",
           With(plain, {{"compression", 7}, {"dictionary", 4000}, {"block", 128}}), OneTable);
  list.Add("dictionary, LZ4",
           With(plain, {{"compression", 4}, {"dictionary", 300}, {"block", 128}}), OneTable);
  list.Add("super blocks", With(plain, {{"super_block", 512}, {"block", 128}}), OneTable);
  list.Add("aligned blocks", With(plain, {{"page_align", 1}, {"block", 512}}), OneTable);
  list.Add("separate values, hash, uniform index",
           With(plain, {{"separate_values", 1},
                        {"hash_index", 1},
                        {"restart", 4},
                        {"format", 7},
                        {"uniform_index", 1},
                        {"block", 64}}),
           OneTable);
  list.Add("separate values, LZ4",
           With(plain, {{"separate_values", 1}, {"compression", 4}, {"restart", 2}}), Levels);
}

}  // namespace

std::vector<Sample> MakeSamples() {
  OptionSet plain;
  plain.Set("memtable", 1 << 20);
  const OptionSet lz4 =
      With(plain, {{"compression", 4}, {"bloom", 10}, {"hash_index", 1}, {"format", 6}});
  const OptionSet old_format =
      With(plain, {{"format", 2}, {"checksum", 1}, {"bloom", 10}, {"block", 64}});
  SampleList list;
  list.Add("one table", plain, OneTable).is_main = true;
  list.Add("log", plain, LogOnly).is_main = true;
  list.Add("levels", plain, Levels).is_main = true;
  list.Add("range tombstones", plain, RangeTombstones).is_main = true;
  list.Add("range tombstones, LZ4, format 6", lz4, RangeTombstones);
  list.Add("merge operands", plain, MergeOperands).is_main = true;
  list.Add("one table, LZ4, format 6", lz4, OneTable).is_main = true;
  list.Add("levels, format 2", old_format, Levels);
  list.Add("two families", plain, TwoFamilies).is_main = true;
  list.Add("several logs", lz4, SeveralLogs).is_main = true;
  list.Add("torn MANIFEST", plain, TornManifest).is_main = true;
  list.Add("recycled log", plain, RecycledLog).is_main = true;
  list.Add("log, read absolutely", plain, LogOnly).recovery_mode =
      WALRecoveryMode::kAbsoluteConsistency;
  list.Add("compressed log", With(plain, {{"compressed_log", 1}}), LogOnly);
  list.Add("shorter keys first", With(lz4, {{"comparator", 2}, {"block", 128}}), Levels);
  list.Add("reverse order", With(lz4, {{"comparator", 1}, {"block", 128}, {"compression", 0}}),
           Levels);
  list.Add("snappy, format 3", With(plain, {{"compression", 1}, {"format", 3}}), OneTable);
  list.Add("zlib, format 4", With(plain, {{"compression", 2}, {"format", 4}, {"index_restart", 3}}),
           OneTable);
  list.Add("bzip2", With(plain, {{"compression", 3}, {"checksum", 2}}), OneTable);
  list.Add("zstd, format 7", With(plain, {{"compression", 7}, {"format", 7}}), OneTable);
  list.Add("small blocks, format 7",
           With(plain, {{"format", 7}, {"block", 64}, {"restart", 2}, {"bloom", 20}}), OneTable);
  AddTableForms(plain, &list);
  list.Add("wide columns", plain, WideColumnRows).is_main = true;
  list.Add("partitioned index and filter", Foreign("partitioned"));
  list.Add("hash index", Foreign("hash_index"));
  list.Add("first-key index", Foreign("first_key"));
  return list.Take();
}

TableLevels LevelsOf(DB* db) {
  std::vector<LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  TableLevels levels;
  for (const LiveFileMetaData& file : files) levels[file.name] = file.level;
  return levels;
}

Options OptionsOf(const Sample& sample, Env* env) {
  Options options = sample.options.Build(env);
  options.disable_auto_compactions = true;
  // Tables contain the host name; a longer name would make more cases.
  options.db_host_id = "corruption test";
  options.wal_recovery_mode = sample.recovery_mode;
  return options;
}

std::string KindOf(const std::string& path) {
  if (path.ends_with(".sst")) return "table";
  if (path.ends_with(".log")) return "log";
  for (const char* kind : {"MANIFEST", "CURRENT", "OPTIONS", "IDENTITY"}) {
    if (path.find(kind) != std::string::npos) return kind;
  }
  return "other";
}

size_t UsedBytes(const std::string& bytes) {
  const size_t last = bytes.find_last_not_of('\0');
  return last == std::string::npos ? 0 : std::min(bytes.size(), last + 9);
}

}  // namespace ashlar
