// SPDX-License-Identifier: Apache-2.0
//
// The list of tables is the state; after each change a new version is made from it.
#include "tests/scenarios/tree_scenario.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/table.h"
#include "db/output/table_output.h"
#include "db/version/version_builder.h"
#include "env/filename.h"
#include "tests/scenarios/table_text.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kTreeDir[] = "/tree";

// The internal key of a put.
std::string KeyOf(const std::string& text) {
  const TextEntry entry = ParseEntry(text + " PUT");
  return MakeInternalKey(entry.user_key, entry.seqno, entry.type);
}

std::string TreeAnswer(const Status& status) { return status.ok() ? "ok" : status.ToString(); }

}  // namespace

TreeScenario::TreeScenario() {
  options_.level_compaction_dynamic_level_bytes = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.compression = kNoCompression;
  options_.bottommost_compression = kNoCompression;
  BlockBasedTableOptions table;
  table.checksum = kNoChecksum;  // so that SetEntryCount() need not update one
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  context_.fs = &fs_;
  TableCacheOptions cache(comparator_);
  cache.fs = &fs_;
  cache.paths = {kTreeDir};
  cache_ = std::make_unique<TableCache>(cache);
  IgnoreError(fs_.CreateDirIfMissing(kTreeDir, IOOptions(), nullptr), "memory has room for it");
  MakeVersion();
}

TreeScenario::~TreeScenario() { CloseTables(); }

void TreeScenario::CloseTables() {
  for (const auto& file : built_.added) cache_->Close(file.get());
}

std::string TreeScenario::Run(const ScenarioStep& step) {
  if (step.name == "options") return SetOptions(step);
  if (step.name == "build") return Build(step);
  if (step.name == "snapshots") return SetSnapshots(step);
  if (step.name == "pick") return Pick();
  if (step.name == "compact") return Compact(step);
  if (step.name == "set_entry_count") return SetEntryCount(step);
  if (step.name == "tree") return Tree();
  return "unknown command";
}

std::string TreeScenario::SetOptions(const ScenarioStep& step) {
  std::string text;
  for (const auto& [name, value] : step.arguments) StrAppend(&text, name, "=", value, ";");
  const ColumnFamilyOptions base = options_;
  return TreeAnswer(GetColumnFamilyOptionsFromString(ConfigOptions(), base, text, &options_));
}

std::string TreeScenario::SetSnapshots(const ScenarioStep& step) {
  snapshots_.clear();
  for (const std::string& word : step.words) snapshots_.push_back(std::stoull(word));
  return "ok";
}

std::string TreeScenario::Build(const ScenarioStep& step) {
  for (const std::string& line : step.input) {
    const std::string problem = BuildTable(line);
    if (!problem.empty()) return StrCat(line, ": ", problem);
  }
  MakeVersion();
  return Tree();
}

std::string TreeScenario::BuildTable(const std::string& line) {
  const size_t bar = line.find('|');
  if (bar == std::string::npos) return "no '|'";
  const std::vector<std::string> head = SplitWords(line.substr(0, bar));
  const auto has = [&head](const char* word) {
    return std::find(head.begin(), head.end(), word) != head.end();
  };
  Table table{Level{std::stoi(head.at(0).substr(1))}, FileMetadata(), has("busy")};
  TableOutputOptions output = OutputOptions(table.level);
  output.epoch_number = next_number_++;
  output.file_number = FileNumber{output.epoch_number};
  auto file = TableOutput::Create(output);
  if (!file.ok()) return file.status().ToString();
  std::istringstream entries(line.substr(bar + 1));
  for (std::string text; std::getline(entries, text, ',');) {
    const TextEntry entry = ParseEntry(text);
    const bool is_range = entry.type == kTypeRangeDeletion;
    const Status added =
        is_range
            ? (*file)->AddTombstone({entry.user_key, entry.value, entry.seqno})
            : (*file)->Add(MakeInternalKey(entry.user_key, entry.seqno, entry.type), entry.value);
    if (!added.ok()) return added.ToString();
  }
  const Status status = (*file)->Finish(&table.meta);
  if (!status.ok()) return status.ToString();
  table.meta.marked_for_compaction = has("marked");
  for (const std::string& word : head) {
    if (word.starts_with("smallest=")) table.meta.smallest = KeyOf(word.substr(9));
    if (word.starts_with("largest=")) table.meta.largest = KeyOf(word.substr(8));
  }
  tables_.push_back(std::move(table));
  return "";
}

TableOutputOptions TreeScenario::OutputOptions(Level level) {
  TableOutputOptions output;
  output.context = &context_;
  output.family_options = std::make_shared<const ColumnFamilyOptions>(options_);
  output.comparator = &comparator_;
  output.dir = kTreeDir;
  output.level = level;
  return output;
}

void TreeScenario::MakeVersion() {
  VersionEdit edit;
  for (const Table& table : tables_) edit.AddFile(table.level, table.meta);
  VersionBuilder builder(comparator_, cache_.get(), nullptr, options_.num_levels);
  IgnoreError(builder.Apply(edit), "Build() says what is wrong with the tree");
  CloseTables();
  built_ = BuiltVersion();
  claims_ = CompactionClaims();
  const Status status = builder.Build(&built_);
  if (!status.ok()) fprintf(stderr, "not a tree: %s\n", status.ToString().c_str());
  MutexLock lock(&mutex_);
  for (const Table& table : tables_) {
    for (TableFile* file : version()->files(table.level)) {
      if (file->meta.number == table.meta.number && table.is_busy) {
        claims_.Take({{table.level, {file}}});
      }
    }
  }
}

std::string TreeScenario::Tree() const {
  std::string text;
  for (Level level = 0; level < version()->num_levels(); ++level) {
    for (const TableFile* file : version()->files(level)) {
      bool is_busy;
      {
        MutexLock lock(&mutex_);  // reading the table needs no lock
        is_busy = file->being_compacted;
      }
      StrAppend(&text, text.empty() ? "" : "\n", "L", level, " ", file->meta.number,
                is_busy ? " busy" : "", " | ",
                TableText(context_.fs, TableFileName(kTreeDir, file->meta.number), comparator_));
    }
  }
  return text.empty() ? "empty" : text;
}

std::optional<CompactionPlan> TreeScenario::PickPlan() const {
  MutexLock lock(&mutex_);
  return PickCompaction(*version(), {&options_, &claims_, nullptr}, {});
}

std::string TreeScenario::Pick() const {
  const auto plan = PickPlan();
  return plan.has_value() ? plan->DebugString() : "nothing";
}

std::optional<CompactionPlan> TreeScenario::PickRange(const ScenarioStep& step) {
  const std::string from = step.Argument("from"), to = step.Argument("to");
  const Slice begin(from), end(to);
  RangePickOptions pick;
  pick.options = &options_;
  pick.claims = &claims_;
  pick.input_level = Level{std::stoi(step.Word(0).substr(1))};
  pick.output_level = Level{std::stoi(step.Word(2).substr(1))};
  pick.begin = from.empty() ? nullptr : &begin;
  pick.end = to.empty() ? nullptr : &end;
  pick.allow_trivial_move = step.Has("move");
  bool has_conflict = false;
  MutexLock lock(&mutex_);
  return PickRangeCompaction(*version(), pick, {}, &has_conflict);
}

std::string TreeScenario::Compact(const ScenarioStep& step) {
  std::string text = CompactOnce(step);
  while (step.Has("all") && Pick() != "nothing") StrAppend(&text, "\n", CompactOnce(step));
  return text + "\n" + Tree();
}

std::string TreeScenario::CompactOnce(const ScenarioStep& step) {
  const bool is_range = step.Word(1) == "->";
  const auto plan = is_range ? PickRange(step) : PickPlan();
  return plan.has_value() ? Carry(*plan) : "nothing";
}

// Runs the job of a plan and replaces its inputs by its outputs.
std::string TreeScenario::Carry(const CompactionPlan& plan) {
  const std::string plan_text = plan.DebugString();
  OutputResult result;
  if (!plan.is_trivial_move) {
    CompactionJobOptions job;
    job.table = OutputOptions(plan.output_level);
    job.plan = &plan;
    job.version = version();
    job.snapshots = snapshots_;
    job.new_file_number = [this] { return FileNumber{next_number_++}; };
    job.env = Env::Default();
    const Status status = CompactionJob(job).Run(&result);
    if (!status.ok()) return StrCat(status.ToString(), "; files ", FileCount());
  }
  for (const LevelFiles& level : plan.inputs) {
    for (const TableFile* file : level.files) {
      const auto table = std::find_if(tables_.begin(), tables_.end(), [file](const Table& t) {
        return t.meta.number == file->meta.number;
      });
      if (plan.is_trivial_move) {
        table->level = plan.output_level;
      } else {
        tables_.erase(table);
      }
    }
  }
  for (OutputTable& output : result.tables) {
    tables_.push_back({plan.output_level, std::move(output.meta), false});
  }
  std::string text = plan_text;
  if (!plan.is_trivial_move) {
    StrAppend(&text, "; read ", result.input_entries, ", wrote ", result.output_entries,
              ", hidden ", result.hidden_dropped, ", tombstones ", result.tombstones_dropped);
    if (result.covered_dropped > 0) StrAppend(&text, ", covered ", result.covered_dropped);
  }
  MakeVersion();  // the plan points into the old version
  return text;
}

// In the properties block the number of entries follows its name, as a varint of one byte. The name
// itself is stored without the prefix that it shares with the name before it.
std::string TreeScenario::SetEntryCount(const ScenarioStep& step) {
  const std::string path = TableFileName(kTreeDir, FileNumber{std::stoul(step.Argument("number"))});
  std::string bytes;
  Status status = ReadFileToString(&fs_, path, &bytes);
  if (!status.ok()) return status.ToString();
  const std::string name = "entries";
  const size_t at = bytes.find(name);
  if (at == std::string::npos) return "the table does not say";
  bytes[at + name.size()] = static_cast<char>(std::stoi(step.Argument("entries")));
  status = WriteStringToFile(&fs_, bytes, path);
  MakeVersion();  // with the table opened again
  return TreeAnswer(status);
}

size_t TreeScenario::FileCount() {
  std::vector<std::string> names;
  IgnoreError(fs_.GetChildren(kTreeDir, IOOptions(), &names, nullptr), "then there is none");
  return static_cast<size_t>(std::count_if(names.begin(), names.end(), [](const auto& name) {
    return name.find(".sst") != std::string::npos;
  }));
}

}  // namespace ashlar
