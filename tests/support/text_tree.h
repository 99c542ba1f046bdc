// SPDX-License-Identifier: Apache-2.0
//
// TextTree builds a version from text, with everything it needs, for tests of compaction decisions.
//
//   L1: 5 a-c 100, 6 c@9-f@2 100!      table 5 with keys a to c and 100 bytes; 6, whose first c has
//   L2: 7 a-f 1000* born=77            sequence number 9, is being compacted; 7 is marked, and was
//                                      created in second 77; with kin=66, its oldest data is of
//                                      second 66; with seq=5-9, its sequence numbers are 5 to 9;
//                                      with tier=12, its temperature is kCold
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/manifest/version_edit.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version_builder.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"
#include "util/keys/internal_key.h"
#include "util/threads/mutex.h"

namespace ashlar {

class TextTree {
 public:
  explicit TextTree(const std::string& text, int num_levels = 7) {
    TableCacheOptions options(comparator_);
    options.fs = &fs_;
    options.paths = {"/db"};
    tables_ = std::make_unique<TableCache>(options);
    VersionEdit edit;
    std::vector<FileNumber> busy;
    std::istringstream levels(text);
    for (std::string line; std::getline(levels, line, '\n');) {
      const size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const Level level{std::stoi(line.substr(line.find('L') + 1))};
      std::istringstream files(line.substr(colon + 1));
      for (std::string file; std::getline(files, file, ',');) AddFile(level, file, &edit, &busy);
    }
    VersionBuilder builder(comparator_, tables_.get(), nullptr, num_levels);
    EXPECT_OK(builder.Apply(edit));
    EXPECT_OK(builder.Build(&built_));
    for (const FileNumber number : busy) Claim(number);
  }

  const Version& version() const { return *built_.version; }
  const CompactionClaims& claims() const { return claims_; }
  // Entries from this number on are too young for the last level.
  void SetFirstYoung(SequenceNumber seqno) {
    MutexLock lock(&mutex_);
    claims_.SetFirstYoung(seqno);
  }
  CompactionNeeds Needs(const ColumnFamilyOptions& options) const {
    MutexLock lock(&mutex_);
    return AssessCompaction(version(), options, claims_);
  }
  TableFile* File(FileNumber number) const {
    for (Level level = 0; level < version().num_levels(); ++level) {
      for (TableFile* file : version().files(level)) {
        if (file->meta.number == number) return file;
      }
    }
    ADD_FAILURE() << "no file " << number.value();
    return nullptr;
  }

 private:
  static std::string BoundaryOf(const std::string& text, SequenceNumber default_seqno) {
    const size_t at = text.find('@');
    const SequenceNumber seqno =
        at == std::string::npos ? default_seqno : std::stoull(text.substr(at + 1));
    return MakeInternalKey(text.substr(0, at), seqno, kTypeValue);
  }
  void Claim(FileNumber number) {
    MutexLock lock(&mutex_);
    for (Level level = 0; level < version().num_levels(); ++level) {
      for (TableFile* file : version().files(level)) {
        if (file->meta.number == number) claims_.Take({{level, {file}}});
      }
    }
  }
  static void AddFile(Level level, const std::string& text, VersionEdit* edit,
                      std::vector<FileNumber>* busy) {
    std::istringstream in(text);
    FileMetadata meta;
    std::string range;
    uint64_t number = 0;
    in >> number >> range >> meta.file_size;
    meta.number = FileNumber{number};
    for (std::string word; in >> word;) {
      if (word.starts_with("born=")) meta.file_creation_time = std::stoull(word.substr(5));
      if (word.starts_with("tier=")) {
        meta.temperature = static_cast<uint8_t>(std::stoi(word.substr(5)));
      }
      if (word.starts_with("kin=")) meta.oldest_ancestor_time = std::stoull(word.substr(4));
    }
    if (text.find('!') != std::string::npos) busy->push_back(meta.number);
    meta.marked_for_compaction = text.find('*') != std::string::npos;
    const size_t dash = range.find('-');
    meta.smallest = BoundaryOf(range.substr(0, dash), 100);
    meta.largest = BoundaryOf(range.substr(dash + 1), 1);
    meta.epoch_number = number;
    meta.smallest_seqno = number;
    meta.largest_seqno = 1000 - number;
    if (const size_t at = text.find("seq="); at != std::string::npos) {
      std::istringstream numbers(text.substr(at + 4));
      char between = 0;
      numbers >> meta.smallest_seqno >> between >> meta.largest_seqno;
    }
    edit->AddFile(level, std::move(meta));
  }

  MemoryFileSystem fs_;
  const InternalKeyComparator comparator_{BytewiseComparator()};
  std::unique_ptr<TableCache> tables_;
  BuiltVersion built_;
  CompactionClaims claims_;
  mutable DbMutex mutex_;  // no other thread uses it, but the tested code requires one
};

}  // namespace ashlar
