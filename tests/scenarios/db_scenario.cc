// SPDX-License-Identifier: Apache-2.0
//
// One function for each command. An answer is "ok", an error status, or the data that was read.
#include "tests/scenarios/db_scenario.h"

#include <algorithm>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "ashlar/metadata.h"
#include "ashlar/write_batch.h"
#include "tests/scenarios/table_text.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kDir[] = "/db";

std::string Answer(const Status& status) {
  if (status.ok()) return "ok";
  std::string text = status.ToString();
  return text.ends_with(": ") ? text.substr(0, text.size() - 2) : text;
}

void AddLine(std::string* text, const std::string& line) {
  StrAppend(text, text->empty() ? "" : "\n", line);
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) AddLine(&text, line);
  return text;
}

// "x" stands for itself, "300x" for 300 of it.
std::string ValueOf(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits + 1 != text.size()) return text;
  return std::string(std::stoul(text), text.back());
}

}  // namespace

// Records the calls of listeners, without numbers and times, which any change of the engine would
// change.
class DbScenario::Events final : public EventListener {
 public:
  std::vector<std::string> Take() { return std::exchange(lines_, {}); }

  void OnFlushCompleted(DB*, const FlushJobInfo& info) override {
    lines_.push_back(
        StrCat("flushed ", info.cf_name, ": ", info.table_properties.num_entries, " entries"));
  }
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override {
    lines_.push_back(StrCat("compaction begins in ", info.cf_name, ": L", info.base_input_level,
                            " -> L", info.output_level, ", inputs ", info.input_files.size()));
  }
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    lines_.push_back(StrCat("compaction ends in ", info.cf_name, ": outputs ",
                            info.output_files.size(), ", ", Answer(info.status)));
  }
  void OnBackgroundError(BackgroundErrorReason, Status* error) override {
    lines_.push_back(StrCat("background error: ", error->ToString()));
  }

 private:
  std::vector<std::string> lines_;
};

DbScenario::DbScenario() : events_(std::make_shared<Events>()) {
  env_ = NewSimEnv(fs_, &executor_);
  options_.env = env_.get();
  options_.create_if_missing = true;
  options_.disable_auto_compactions = true;
  options_.level_compaction_dynamic_level_bytes = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.compression = kNoCompression;
  options_.listeners.push_back(events_);
}

DbScenario::~DbScenario() {
  if (db_ != nullptr) Close(ScenarioStep());
}

const std::map<std::string, DbScenario::Command>& DbScenario::Commands() {
  static const std::map<std::string, Command> commands = {
      {"open", &DbScenario::Open},
      {"close", &DbScenario::Close},
      {"reopen", &DbScenario::Reopen},
      {"write", &DbScenario::Write},
      {"flush", &DbScenario::Flush},
      {"compact", &DbScenario::Compact},
      {"set", &DbScenario::Set},
      {"get", &DbScenario::Get},
      {"multiget", &DbScenario::MultiGet},
      {"scan", &DbScenario::Scan},
      {"scan_back", &DbScenario::Scan},
      {"snapshot", &DbScenario::TakeSnapshot},
      {"release", &DbScenario::ReleaseSnapshot},
      {"create", &DbScenario::Create},
      {"drop", &DbScenario::Drop},
      {"families", &DbScenario::Families},
      {"pause", &DbScenario::Control},
      {"continue", &DbScenario::Control},
      {"abort", &DbScenario::Control},
      {"resume", &DbScenario::Control},
      {"abort_all", &DbScenario::Control},
      {"resume_all", &DbScenario::Control},
      {"disable_manual", &DbScenario::Control},
      {"enable_manual", &DbScenario::Control},
      {"cancel", &DbScenario::Control},
      {"run", &DbScenario::RunJobs},
      {"wait", &DbScenario::Wait},
      {"levels", &DbScenario::Levels},
      {"events", &DbScenario::TakeEvents},
      {"property", &DbScenario::Property},
  };
  return commands;
}

std::string DbScenario::Run(const ScenarioStep& step) {
  const auto command = Commands().find(step.name);
  if (command == Commands().end()) return "unknown command";
  const bool is_opening = step.name == "open" || step.name == "reopen";
  if (db_ == nullptr && !is_opening) return "no database is open";
  const std::string family = step.Argument("cf", kDefaultColumnFamilyName);
  if (!is_opening && !handles_.contains(family)) return "no such family";
  return (this->*command->second)(step);
}

ColumnFamilyHandle* DbScenario::Family(const ScenarioStep& step) {
  return handles_.at(step.Argument("cf", kDefaultColumnFamilyName));
}

std::string DbScenario::Open(const ScenarioStep& step) {
  std::string text;
  for (const auto& [name, value] : step.arguments) StrAppend(&text, name, "=", value, ";");
  const Options base = options_;
  Status status = GetOptionsFromString(base, text, &options_);
  if (!status.ok()) return status.ToString();
  std::vector<std::string> names;
  if (!DB::ListColumnFamilies(options_, kDir, &names).ok()) names = {kDefaultColumnFamilyName};
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, options_);
  std::vector<ColumnFamilyHandle*> handles;
  status = DB::Open(options_, kDir, families, &handles, &db_);
  for (size_t i = 0; i < handles.size(); i++) handles_[names[i]] = handles[i];
  return Answer(status);
}

void DbScenario::CloseHandles() {
  for (const auto& [name, snapshot] : snapshots_) db_->ReleaseSnapshot(snapshot);
  snapshots_.clear();
  for (const auto& [name, handle] : handles_) {
    IgnoreError(db_->DestroyColumnFamilyHandle(handle), "the database is closed next");
  }
  handles_.clear();
  for (ColumnFamilyHandle* handle : old_handles_) {
    IgnoreError(db_->DestroyColumnFamilyHandle(handle), "the database is closed next");
  }
  old_handles_.clear();
}

std::string DbScenario::Close(const ScenarioStep&) {
  CloseHandles();
  const Status status = db_->Close();
  db_.reset();
  return Answer(status);
}

std::string DbScenario::Reopen(const ScenarioStep& step) {
  if (db_ != nullptr) {
    const std::string closed = Close(step);
    if (closed != "ok") return closed;
  }
  return Open(step);
}

std::string DbScenario::Write(const ScenarioStep& step) {
  WriteOptions options;
  options.disableWAL = step.Has("unlogged");
  ColumnFamilyHandle* const family = Family(step);
  WriteBatch batch;
  for (const std::string& line : step.input) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.size() < 2) return StrCat("not a write: ", line);
    Status status = words[0] == "put"   ? batch.Put(family, words[1], ValueOf(words.at(2)))
                    : words[0] == "del" ? batch.Delete(family, words[1])
                                        : batch.SingleDelete(family, words[1]);
    if (status.ok() && !step.Has("batch")) {
      status = db_->Write(options, &batch);
      batch.Clear();
    }
    if (!status.ok()) return StrCat(line, ": ", status.ToString());
  }
  return step.Has("batch") ? Answer(db_->Write(options, &batch)) : "ok";
}

std::string DbScenario::Flush(const ScenarioStep& step) {
  return Answer(db_->Flush(FlushOptions(), Family(step)));
}

std::string DbScenario::Compact(const ScenarioStep& step) {
  CompactRangeOptions options;
  if (step.Has("force")) options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  const std::string from = step.Argument("from"), to = step.Argument("to");
  const Slice begin(from), end(to);
  return Answer(db_->CompactRange(options, Family(step), from.empty() ? nullptr : &begin,
                                  to.empty() ? nullptr : &end));
}

std::string DbScenario::Set(const ScenarioStep& step) {
  std::unordered_map<std::string, std::string> options(step.arguments.begin(),
                                                       step.arguments.end());
  options.erase("cf");
  return Answer(db_->SetOptions(Family(step), options));
}

ReadOptions DbScenario::ReadOptionsOf(const ScenarioStep& step) {
  ReadOptions options;
  const auto snapshot = snapshots_.find(step.Argument("snapshot"));
  if (snapshot != snapshots_.end()) options.snapshot = snapshot->second;
  return options;
}

std::string DbScenario::Get(const ScenarioStep& step) {
  std::string text;
  for (const std::string& key : step.words) {
    std::string value;
    const Status status = db_->Get(ReadOptionsOf(step), Family(step), key, &value);
    AddLine(&text, StrCat(key, " = ", status.ok() ? value : Answer(status)));
  }
  return text;
}

std::string DbScenario::MultiGet(const ScenarioStep& step) {
  const std::vector<Slice> keys(step.words.begin(), step.words.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<Status> statuses(keys.size());
  db_->MultiGet(ReadOptionsOf(step), Family(step), keys.size(), keys.data(), values.data(),
                statuses.data());
  std::string text;
  for (size_t i = 0; i < keys.size(); i++) {
    AddLine(&text, StrCat(step.words[i], " = ",
                          statuses[i].ok() ? values[i].ToString() : Answer(statuses[i])));
  }
  return text;
}

std::string DbScenario::Scan(const ScenarioStep& step) {
  ReadOptions options = ReadOptionsOf(step);
  lower_ = step.Argument("from");
  upper_ = step.Argument("to");
  const Slice lower(lower_), upper(upper_);
  if (!lower_.empty()) options.iterate_lower_bound = &lower;
  if (!upper_.empty()) options.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> rows(db_->NewIterator(options, Family(step)));
  const bool is_back = step.name == "scan_back";
  std::string text;
  for (is_back ? rows->SeekToLast() : rows->SeekToFirst(); rows->Valid();
       is_back ? rows->Prev() : rows->Next()) {
    AddLine(&text, StrCat(rows->key().ToString(), " = ", rows->value().ToString()));
  }
  return rows->status().ok() ? text : rows->status().ToString();
}

std::string DbScenario::TakeSnapshot(const ScenarioStep& step) {
  const Snapshot* const snapshot = db_->GetSnapshot();
  snapshots_[step.Word(0)] = snapshot;
  return StrCat("at ", snapshot->GetSequenceNumber());
}

std::string DbScenario::ReleaseSnapshot(const ScenarioStep& step) {
  const auto snapshot = snapshots_.find(step.Word(0));
  if (snapshot == snapshots_.end()) return "no such snapshot";
  db_->ReleaseSnapshot(snapshot->second);
  snapshots_.erase(snapshot);
  return "ok";
}

std::string DbScenario::Create(const ScenarioStep& step) {
  ColumnFamilyHandle* handle = nullptr;
  const Status status = db_->CreateColumnFamily(options_, step.Word(0), &handle);
  if (!status.ok()) return Answer(status);
  ColumnFamilyHandle*& named = handles_[step.Word(0)];
  if (named != nullptr) old_handles_.push_back(named);
  named = handle;
  return Answer(status);
}

// The handle stays valid, as in a program: "close" releases it.
std::string DbScenario::Drop(const ScenarioStep& step) {
  const auto family = handles_.find(step.Word(0));
  if (family == handles_.end()) return "no such family";
  return Answer(db_->DropColumnFamily(family->second));
}

std::string DbScenario::Families(const ScenarioStep&) {
  std::vector<std::string> names;
  const Status status = DB::ListColumnFamilies(options_, kDir, &names);
  return status.ok() ? Joined(names) : status.ToString();
}

std::string DbScenario::Control(const ScenarioStep& step) {
  if (step.name == "pause") return Answer(db_->PauseBackgroundWork());
  if (step.name == "continue") return Answer(db_->ContinueBackgroundWork());
  if (step.name == "abort") db_->AbortCompactions(Family(step));
  if (step.name == "resume") db_->ResumeCompactions(Family(step));
  if (step.name == "abort_all") db_->AbortAllCompactions();
  if (step.name == "resume_all") db_->ResumeAllCompactions();
  if (step.name == "disable_manual") db_->DisableManualCompaction();
  if (step.name == "enable_manual") db_->EnableManualCompaction();
  if (step.name == "cancel") CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  return "ok";
}

std::string DbScenario::RunJobs(const ScenarioStep&) {
  executor_.RunAll();
  return "ok";
}

std::string DbScenario::Wait(const ScenarioStep& step) {
  WaitForCompactOptions options;
  options.abort_on_pause = step.Has("abort_on_pause");
  return Answer(db_->WaitForCompact(options));
}

std::string DbScenario::Levels(const ScenarioStep& step) {
  ColumnFamilyMetaData metadata;
  db_->GetColumnFamilyMetaData(Family(step), &metadata);
  std::string text;
  for (const LevelMetaData& level : metadata.levels) {
    for (const SstFileMetaData& file : level.files) {
      AddLine(&text,
              StrCat("L", level.level, " | ",
                     TableText(fs_.get(), StrCat(kDir, "/", file.relative_filename), comparator_)));
    }
  }
  return text.empty() ? "no tables" : text;
}

std::string DbScenario::TakeEvents(const ScenarioStep&) {
  const std::vector<std::string> lines = events_->Take();
  return lines.empty() ? "none" : Joined(lines);
}

std::string DbScenario::Property(const ScenarioStep& step) {
  std::string value;
  if (!db_->GetProperty(Family(step), step.Word(0), &value)) return "no such property";
  if (value.ends_with("\n")) value.pop_back();
  return value;
}

}  // namespace ashlar
