// SPDX-License-Identifier: Apache-2.0
//
// Unpacks and reads samples with tar and gzip, and compares contents.
#include "tests/support/sample_database.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "ashlar/iterator.h"
#include "ashlar/slice.h"
#include "tests/support/paths.h"
#include "tests/support/run_command.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::string SamplePath(const std::string& name) {
  return SharedDataExists() ? SharedPath(StrCat("data/db/", name))
                            : SourcePath(StrCat("tests/data/db/", name));
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  EXPECT_TRUE(Slice(hex).DecodeHex(&bytes)) << hex;
  return bytes;
}

std::string HexOf(const Slice& bytes) { return bytes.ToString(/*hex=*/true); }

testing::AssertionResult Same(Iterator* it, const std::pair<std::string, std::string>& entry) {
  if (!it->Valid()) {
    return testing::AssertionFailure()
           << "ends before " << HexOf(entry.first) << ", status " << it->status().ToString();
  }
  if (it->key() != Slice(entry.first)) {
    return testing::AssertionFailure()
           << "found key " << HexOf(it->key()) << ", expected " << HexOf(entry.first);
  }
  if (it->value() != Slice(entry.second)) {
    return testing::AssertionFailure() << "other value of key " << HexOf(entry.first);
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult Ended(Iterator* it) {
  if (it->Valid()) return testing::AssertionFailure() << "extra key " << HexOf(it->key());
  if (!it->status().ok()) return testing::AssertionFailure() << it->status().ToString();
  return testing::AssertionSuccess();
}

testing::AssertionResult ScansEqual(Iterator* it, const Entries& expected) {
  it->SeekToFirst();
  for (const auto& entry : expected) {
    testing::AssertionResult same = Same(it, entry);
    if (!same) return same << " (forwards)";
    it->Next();
  }
  testing::AssertionResult ended = Ended(it);
  if (!ended) return ended << " (forwards)";
  it->SeekToLast();
  for (size_t i = expected.size(); i-- > 0;) {
    testing::AssertionResult same = Same(it, expected[i]);
    if (!same) return same << " (backwards)";
    it->Prev();
  }
  ended = Ended(it);
  if (!ended) return ended << " (backwards)";
  return testing::AssertionSuccess();
}

// Seeks to every key, and changes direction at some.
testing::AssertionResult SeeksEqual(Iterator* it, const Entries& expected) {
  for (size_t i = 0; i < expected.size(); i++) {
    it->Seek(expected[i].first);
    testing::AssertionResult same = Same(it, expected[i]);
    if (!same) return same << " (Seek)";
    if (i % 3 == 0 && i > 0) {
      it->Prev();
      same = Same(it, expected[i - 1]);
      if (!same) return same << " (Seek, Prev)";
    }
    it->SeekForPrev(expected[i].first + std::string(1, '\0'));
    same = Same(it, expected[i]);
    if (!same) return same << " (SeekForPrev)";
    if (i % 3 == 1 && i + 1 < expected.size()) {
      it->Next();
      same = Same(it, expected[i + 1]);
      if (!same) return same << " (SeekForPrev, Next)";
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult GetsEqual(DB* db, ColumnFamilyHandle* family, const Entries& expected) {
  for (const auto& [key, value] : expected) {
    std::string found;
    const Status status = db->Get(ReadOptions(), family, key, &found);
    if (!status.ok() || found != value) {
      return testing::AssertionFailure() << "Get " << HexOf(key) << ": " << status.ToString()
                                         << (status.ok() ? ", other value" : "");
    }
    const std::string absent = key + "~absent";
    const bool is_absent = std::none_of(expected.begin(), expected.end(),
                                        [&](const auto& entry) { return entry.first == absent; });
    if (is_absent && !db->Get(ReadOptions(), family, absent, &found).IsNotFound()) {
      return testing::AssertionFailure() << "Get finds " << HexOf(absent);
    }
  }
  std::vector<Slice> keys;
  for (const auto& entry : expected) keys.emplace_back(entry.first);
  std::vector<std::string> values;
  const std::vector<Status> statuses = db->MultiGet(
      ReadOptions(), std::vector<ColumnFamilyHandle*>(keys.size(), family), keys, &values);
  for (size_t i = 0; i < keys.size(); i++) {
    if (!statuses[i].ok() || values[i] != expected[i].second) {
      return testing::AssertionFailure()
             << "MultiGet " << HexOf(keys[i]) << ": " << statuses[i].ToString();
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace

std::vector<std::string> SampleDatabaseNames() {
  std::vector<std::string> names;
  for (const char* version : {"rocksdb-7.8", "rocksdb-11.9"}) {
    for (const auto& file : std::filesystem::directory_iterator(SamplePath(version))) {
      const std::string name = file.path().filename();
      constexpr char kSuffix[] = ".tar.gz";
      if (!Slice(name).ends_with(kSuffix)) continue;
      names.push_back(StrCat(version, "/", name.substr(0, name.size() - (sizeof(kSuffix) - 1))));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string UnpackSampleDatabase(const std::string& name) {
  const std::string dir = FreshTempDir("sample_database");
  int exit_code = 0;
  const std::string output =
      RunCommand(StrCat("tar -xzf '", SamplePath(name), ".tar.gz' -C '", dir, "'"), &exit_code);
  EXPECT_EQ(exit_code, 0) << output;
  return StrCat(dir, "/", name.substr(name.find('/') + 1));
}

std::map<std::string, Entries> SampleDatabaseEntries(const std::string& name) {
  std::map<std::string, Entries> families;
  int exit_code = 0;
  std::istringstream lines(
      RunCommand(StrCat("gzip -dc '", SamplePath(name), ".expected.tsv.gz'"), &exit_code));
  EXPECT_EQ(exit_code, 0) << name;
  families["default"];
  for (std::string line; std::getline(lines, line);) {
    const size_t key = line.find('\t') + 1;
    const size_t value = line.find('\t', key) + 1;
    families[line.substr(0, key - 1)].emplace_back(FromHex(line.substr(key, value - 1 - key)),
                                                   FromHex(line.substr(value)));
  }
  return families;
}

std::map<std::string, std::string> FilesOf(const std::string& dir) {
  std::map<std::string, std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(dir)) {
    std::ifstream stream(file.path(), std::ios::binary);
    files[file.path().filename()] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
  return files;
}

std::string DifferencesBetween(const std::map<std::string, std::string>& before,
                               const std::map<std::string, std::string>& after) {
  std::string differences;
  for (const auto& [name, contents] : before) {
    const auto it = after.find(name);
    if (it == after.end()) {
      StrAppend(&differences, "removed ", name, "; ");
    } else if (it->second != contents) {
      StrAppend(&differences, "changed ", name, "; ");
    }
  }
  for (const auto& [name, contents] : after) {
    if (!before.contains(name)) StrAppend(&differences, "added ", name, "; ");
  }
  return differences;
}

testing::AssertionResult HoldsExactly(DB* db, ColumnFamilyHandle* family, const Entries& expected) {
  ReadOptions options;
  options.total_order_seek = true;
  std::unique_ptr<Iterator> it(db->NewIterator(options, family));
  testing::AssertionResult result = ScansEqual(it.get(), expected);
  if (result) result = GetsEqual(db, family, expected);
  const bool is_bytewise = std::is_sorted(expected.begin(), expected.end());
  if (result && is_bytewise) result = SeeksEqual(it.get(), expected);
  return result;
}

}  // namespace ashlar
