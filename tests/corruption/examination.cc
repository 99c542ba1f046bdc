// SPDX-License-Identifier: Apache-2.0
//
// All results are kept, because rows before an error are checked, too.
#include "tests/corruption/examination.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ashlar/env.h"
#include "env/memory/memory_file_system.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

using RowList = std::vector<std::pair<std::string, std::string>>;

// One family, read in four ways.
struct Reading {
  RowList forward, backward;
  Status forward_status, backward_status;
  using Lookups = std::map<std::string, std::pair<Status, std::string>>;
  Lookups gets, batch;  // of the same keys

  std::vector<const Lookups*> lookups() const { return {&gets, &batch}; }

  Status FirstError() const {
    if (!forward_status.ok()) return forward_status;
    if (!backward_status.ok()) return backward_status;
    for (const Lookups* found : lookups()) {
      for (const auto& [key, got] : *found) {
        if (!got.first.ok() && !got.first.IsNotFound()) return got.first;
      }
    }
    return Status::OK();
  }
};
using Readings = std::map<std::string, Reading>;  // by family

class Examination {
 public:
  Examination(const Sample& sample, bool may_be_forged)
      : sample_(sample),
        may_be_forged_(may_be_forged),
        fs_(std::make_shared<MemoryFileSystem>()),
        env_(NewCompositeEnv(fs_)),
        options_(OptionsOf(sample, env_.get())) {
    options_.create_if_missing = false;
  }

  Findings Run(const Files& files, const std::vector<std::string>& directories);

 private:
  void Wrong(const std::string& what) {
    if (findings_.wrong.empty()) findings_.wrong = what;
  }
  void Note(const Status& status) {
    if (findings_.error.ok()) findings_.error = status;
  }
  void CheckUntouched(const Files& files);
  Readings ReadAll(OpenedDb* opened);
  Reading ReadFamily(DB* db, ColumnFamilyHandle* handle);
  static void ReadBatch(DB* db, ColumnFamilyHandle* handle, Reading* reading);
  void JudgeFirst(const Readings& readings);
  void JudgeAgain(const Readings& readings);
  bool IsConsistent(const Readings& readings);
  void CheckLookups(const Reading& reading, const Rows& rows);
  bool FitsSomeState(const Readings& readings) const;
  bool Fits(const Readings& readings, const Contents& state) const;
  bool FitsFamily(const Reading& reading, const Rows& rows) const;
  void Maintain(OpenedDb* opened, const Readings& readings);

  const Sample& sample_;
  const bool may_be_forged_;
  const std::shared_ptr<MemoryFileSystem> fs_;
  const std::unique_ptr<Env> env_;
  Options options_;
  Findings findings_;
};

Findings Examination::Run(const Files& files, const std::vector<std::string>& directories) {
  for (const auto& [path, bytes] : files) fs_->PutFile(path, bytes);
  for (const std::string& dir : directories) Note(env_->CreateDir(dir));
  {
    OpenedDb opened;
    Note(opened.Open(options_, kSampleDir));
    if (opened.db() == nullptr) {
      CheckUntouched(files);
      return std::move(findings_);
    }
    (void)opened.db()->GetProperty("ashlar.recovery-report", &findings_.report);
    findings_.levels = LevelsOf(opened.db());
    const Readings readings = ReadAll(&opened);
    JudgeFirst(readings);
    Maintain(&opened, readings);
  }
  OpenedDb opened;
  const Status status = opened.Open(options_, kSampleDir);
  if (status.ok()) {
    JudgeAgain(ReadAll(&opened));
  } else if (findings_.error.ok()) {
    Wrong("cannot be opened again: " + status.ToString());
  }
  return std::move(findings_);
}

// A refused open must not change the directory.
void Examination::CheckUntouched(const Files& files) {
  const Files after = fs_->AllFiles();
  for (const auto& [path, bytes] : files) {
    const auto it = after.find(path);
    if (it == after.end())
      Wrong("refused, but deletes " + path);
    else if (it->second != bytes)
      Wrong("refused, but changes " + path);
  }
}

Readings Examination::ReadAll(OpenedDb* opened) {
  Readings readings;
  for (ColumnFamilyHandle* handle : opened->handles()) {
    readings[handle->GetName()] = ReadFamily(opened->db(), handle);
  }
  return readings;
}

Reading Examination::ReadFamily(DB* db, ColumnFamilyHandle* handle) {
  Reading reading;
  ReadOptions options;
  options.total_order_seek = true;
  std::unique_ptr<Iterator> it(db->NewIterator(options, handle));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    reading.forward.emplace_back(it->key().ToString(), it->value().ToString());
  }
  reading.forward_status = it->status();
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    reading.backward.emplace_back(it->key().ToString(), it->value().ToString());
  }
  reading.backward_status = it->status();
  const auto get = [&](const std::string& key) {
    auto& [status, value] = reading.gets[key];
    status = db->Get(options, handle, key, &value);
  };
  for (const auto& [key, value] : reading.forward) get(key);
  const auto expected = sample_.expected.find(handle->GetName());
  if (expected != sample_.expected.end()) {
    for (const auto& [key, value] : expected->second) get(key);
  }
  ReadBatch(db, handle, &reading);
  return reading;
}

void Examination::ReadBatch(DB* db, ColumnFamilyHandle* handle, Reading* reading) {
  std::vector<Slice> keys;
  for (const auto& [key, got] : reading->gets) keys.emplace_back(key);
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db->MultiGet(ReadOptions(), handle, keys.size(), keys.data(), values.data(), statuses.data());
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string value = statuses[i].ok() ? values[i].ToString() : "";
    reading->batch[keys[i].ToString()] = {statuses[i], value};
  }
}

void Examination::JudgeFirst(const Readings& readings) {
  for (const auto& [family, reading] : readings) {
    Note(reading.FirstError());
    findings_.found[family] = Rows(reading.forward.begin(), reading.forward.end());
  }
  if (!findings_.error.ok() && !may_be_forged_ && !FitsSomeState(readings)) {
    Wrong("wrong rows in front of an error: " + findings_.error.ToString());
  }
}

// An error of any call excuses contradictions, so they are checked last.
void Examination::Maintain(OpenedDb* opened, const Readings& readings) {
  const bool was_clean = findings_.error.ok();
  const Status verified = opened->db()->VerifyChecksum();
  Note(verified);
  if (was_clean && verified.ok()) (void)IsConsistent(readings);
  CompactRangeOptions compact;
  compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  for (ColumnFamilyHandle* handle : opened->handles()) {
    Note(opened->db()->CompactRange(compact, handle, nullptr, nullptr));
  }
}

void Examination::JudgeAgain(const Readings& readings) {
  if (!findings_.error.ok()) {
    if (!may_be_forged_ && !FitsSomeState(readings)) Wrong("wrong rows after reopening");
    return;
  }
  if (!IsConsistent(readings)) return;
  for (const auto& [family, reading] : readings) {
    if (!reading.FirstError().ok()) {
      Wrong("an error after reopening: " + reading.FirstError().ToString());
    } else if (findings_.found[family] != Rows(reading.forward.begin(), reading.forward.end())) {
      Wrong(kOtherRowsLater);
    }
  }
}

// Without errors, the ways of reading agree.
bool Examination::IsConsistent(const Readings& readings) {
  for (const auto& [family, reading] : readings) {
    if (!reading.FirstError().ok()) continue;
    const Rows rows(reading.forward.begin(), reading.forward.end());
    if (rows.size() != reading.forward.size()) Wrong("a key comes twice");
    const auto is_disorder = [&](const auto& a, const auto& b) {
      return options_.comparator->Compare(a.first, b.first) >= 0;
    };
    if (std::adjacent_find(reading.forward.begin(), reading.forward.end(), is_disorder) !=
        reading.forward.end()) {
      Wrong("keys out of order");
    }
    RowList reversed(reading.backward.rbegin(), reading.backward.rend());
    if (reversed != reading.forward) Wrong("other rows backwards");
    CheckLookups(reading, rows);
  }
  return findings_.wrong.empty();
}

void Examination::CheckLookups(const Reading& reading, const Rows& rows) {
  for (const auto& [key, got] : reading.gets) {
    const auto row = rows.find(key);
    const bool is_there = row != rows.end();
    if (is_there != got.first.ok())
      Wrong(StrCat(kGetAndScanDisagree, " on the presence of ", key));
    else if (is_there && row->second != got.second)
      Wrong(StrCat(kGetAndScanDisagree, " on ", key));
    const auto& [status, value] = reading.batch.at(key);
    if (got.first.ok() != status.ok() || (status.ok() && got.second != value))
      Wrong(StrCat("get and batch disagree on ", key));
  }
}

bool Examination::FitsSomeState(const Readings& readings) const {
  if (Fits(readings, sample_.expected)) return true;
  if (findings_.report.empty()) return false;
  return std::any_of(sample_.earlier.begin(), sample_.earlier.end(),
                     [&](const Contents& state) { return Fits(readings, state); });
}

bool Examination::Fits(const Readings& readings, const Contents& state) const {
  for (const auto& [family, reading] : readings) {
    const auto rows = state.find(family);
    if (rows == state.end() || !FitsFamily(reading, rows->second)) return false;
  }
  return true;
}

// Rows before an error are the first of `rows` from that side; a key is missing only if it is
// missing there.
bool Examination::FitsFamily(const Reading& reading, const Rows& rows) const {
  RowList sorted(rows.begin(), rows.end());
  const Comparator* const comparator = options_.comparator;
  std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return comparator->Compare(a.first, b.first) < 0;
  });
  const auto fits_scan = [&](const RowList& seen, const Status& status) {
    if (seen.size() > sorted.size() || (status.ok() && seen.size() < sorted.size())) return false;
    return std::equal(seen.begin(), seen.end(), sorted.begin());
  };
  if (!fits_scan(reading.forward, reading.forward_status)) return false;
  std::reverse(sorted.begin(), sorted.end());
  if (!fits_scan(reading.backward, reading.backward_status)) return false;
  const auto fits_lookup = [&](const auto& got) {
    const auto& [status, value] = got.second;
    const auto row = rows.find(got.first);
    if (status.ok()) return row != rows.end() && row->second == value;
    return !status.IsNotFound() || row == rows.end();
  };
  return std::ranges::all_of(reading.gets, fits_lookup) &&
         std::ranges::all_of(reading.batch, fits_lookup);
}

}  // namespace

Findings Examine(const Sample& sample, const Files& files,
                 const std::vector<std::string>& directories, bool may_be_forged) {
  return Examination(sample, may_be_forged).Run(files, directories);
}

}  // namespace ashlar
