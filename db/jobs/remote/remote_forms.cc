// SPDX-License-Identifier: Apache-2.0
//
// The messages between a database and a worker. Each begins with a magic and a version, and ends
// with a masked CRC32C of all bytes before it. Tables are encoded in the same form as in the
// MANIFEST.
#include "db/jobs/remote/remote_forms.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/manifest/version_edit.h"
#include "util/hash/crc32c.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kInputMagic[] = "ASHLARCI";
constexpr char kResultMagic[] = "ASHLARC2";
constexpr size_t kMagicBytes = 8;
constexpr uint32_t kVersion = 3;
constexpr uint64_t kMostLevels = 64;  // a message with a higher level is malformed

// The beginning of a message: magic and version.
std::string Begin(const char* magic) {
  std::string bytes(magic, kMagicBytes);
  PutVarint32(&bytes, kVersion);
  return bytes;
}

// Appends the checksum.
std::string End(std::string bytes) {
  PutFixed32(&bytes, crc32c::Mask(crc32c::Value(bytes.data(), bytes.size())));
  return bytes;
}

// Reads the fields of a message one by one. The first error is kept, and all later fields are
// empty, so callers check the status once at the end.
class Fields {
 public:
  Fields(const char* what, Slice bytes) : what_(what), rest_(bytes) {}

  // Verifies magic, checksum and version before any field is read.
  Status Open(const char* magic) {
    const size_t size = rest_.size();
    if (size < kMagicBytes + sizeof(uint32_t) || !rest_.starts_with(Slice(magic, kMagicBytes))) {
      return Status::Corruption(StrCat(what_, ": ", size, " bytes that do not begin with ", magic));
    }
    const uint32_t stored = crc32c::Unmask(DecodeFixed32(rest_.data() + size - sizeof(uint32_t)));
    const uint32_t computed = crc32c::Value(rest_.data(), size - sizeof(uint32_t));
    if (stored != computed) {
      return Status::Corruption(StrCat(what_, ": checksum ", computed, ", expected ", stored));
    }
    rest_.remove_suffix(sizeof(uint32_t));
    rest_.remove_prefix(kMagicBytes);
    uint32_t version = 0;
    if (!GetVarint32(&rest_, &version)) return Status::Corruption(what_, "no version");
    if (version == kVersion) return Status::OK();
    return Status::NotSupported(StrCat(what_, ": version ", version, ", expected ", kVersion));
  }

  // A number of at most `greatest`; 0 after an error.
  uint64_t Number(const char* name, uint64_t greatest = UINT64_MAX) {
    uint64_t value = 0;
    if (!is_ok()) return 0;
    if (!GetVarint64(&rest_, &value)) return Fail(name, "is missing"), 0;
    if (value > greatest) return Fail(name, StrCat("is ", value, ", at most ", greatest)), 0;
    return value;
  }
  bool Flag(const char* name) { return Number(name, 1) == 1; }
  std::string Text(const char* name) {
    Slice value;
    if (is_ok() && !GetLengthPrefixedSlice(&rest_, &value)) Fail(name, "is missing");
    return value.ToString();
  }
  // Reads a number of elements. Each element takes at least one byte, which limits the number.
  uint64_t Count(const char* name) { return Number(name, rest_.size()); }

  bool is_ok() const { return status_.ok(); }
  Status Finish() {
    if (is_ok() && !rest_.empty()) Fail("end", StrCat("has ", rest_.size(), " bytes behind it"));
    return status_;
  }
  // Keeps the first error.
  void Fail(const char* name, const std::string& why) {
    if (is_ok()) status_ = Status::Corruption(StrCat(what_, ": ", name, " ", why));
  }

 private:
  const char* const what_;
  Slice rest_;
  Status status_;
};

void ReadUndecided(Fields* fields, SeqnoRanges* ranges) {
  SequenceNumber behind = 0;  // the range before
  for (uint64_t count = fields->Count("number of undecided ranges"); count > 0 && fields->is_ok();
       count--) {
    const SequenceNumber first = fields->Number("start of an undecided range");
    const SequenceNumber last = fields->Number("end of an undecided range", UINT64_MAX - 1);
    if (first < behind || last < first) fields->Fail("list of undecided ranges", "does not ascend");
    ranges->push_back({.first = first, .last = last});
    behind = last + 1;
  }
}

}  // namespace

// The fields are in the order in which Decode() reads them.
std::string RemoteInput::Encode() const {
  assert(!inputs.empty());
  assert(std::is_sorted(snapshots.begin(), snapshots.end()));
  std::string bytes = Begin(kInputMagic);
  PutLengthPrefixedSlice(&bytes, db_id);
  PutLengthPrefixedSlice(&bytes, family);
  PutFileNumber(&bytes, options_file);
  PutVarint64(&bytes, inputs.size());
  for (const InputLevel& input : inputs) {
    PutVarint32(&bytes, static_cast<uint32_t>(static_cast<int>(input.level)));
    PutVarint64(&bytes, input.files.size());
    for (const FileNumber number : input.files) PutFileNumber(&bytes, number);
  }
  PutVarint64(&bytes, snapshots.size());
  for (const SequenceNumber snapshot : snapshots) PutVarint64(&bytes, snapshot);
  PutVarint64(&bytes, undecided.size());
  for (const SeqnoRange& range : undecided) {
    PutVarint64(&bytes, range.first);
    PutVarint64(&bytes, range.last);
  }
  PutVarint32(&bytes, fails_on_merge);
  PutVarint32(&bytes, static_cast<uint32_t>(static_cast<int>(output_level)));
  PutVarint32(&bytes, static_cast<uint32_t>(static_cast<int>(base_level)));
  PutVarint64(&bytes, target_file_bytes);
  PutVarint64(&bytes, max_grandparent_bytes);
  PutVarint32(&bytes, is_bottommost);
  PutVarint32(&bytes, is_open_below);
  PutVarint32(&bytes, is_manual);
  PutVarint32(&bytes, static_cast<uint8_t>(compression));
  PutVarint32(&bytes, static_cast<uint32_t>(reason));
  PutVarint32(&bytes, static_cast<uint8_t>(temperature));
  PutVarint32(&bytes, young_range.has_value());
  if (young_range.has_value()) {
    PutLengthPrefixedSlice(&bytes, young_range->smallest);
    PutLengthPrefixedSlice(&bytes, young_range->largest);
    PutVarint32(&bytes, young_range->largest_is_exclusive);
  }
  PutVarint64(&bytes, now_seconds);
  PutLengthPrefixedSlice(&bytes, write_times);
  return End(std::move(bytes));
}

// Every field is checked: the bytes come from another process.
Result<RemoteInput> RemoteInput::Decode(const Slice& bytes) {
  Fields fields("input of a remote compaction", bytes);
  RETURN_IF_ERROR(fields.Open(kInputMagic));
  const auto level = [&fields](const char* name) {
    return Level{static_cast<int>(fields.Number(name, kMostLevels - 1))};
  };
  RemoteInput input;
  input.db_id = fields.Text("database id");
  input.family = fields.Text("column family");
  input.options_file = FileNumber{fields.Number("number of the OPTIONS file")};
  for (uint64_t levels = fields.Count("number of levels"); levels > 0 && fields.is_ok(); levels--) {
    InputLevel& each = input.inputs.emplace_back();
    each.level = level("level");
    for (uint64_t files = fields.Count("number of tables"); files > 0 && fields.is_ok(); files--) {
      each.files.emplace_back(fields.Number("table"));
    }
    if (each.files.empty()) fields.Fail("level", "has no tables");
  }
  if (input.inputs.empty()) fields.Fail("list of levels", "is empty");
  for (uint64_t count = fields.Count("number of snapshots"); count > 0 && fields.is_ok(); count--) {
    input.snapshots.push_back(fields.Number("snapshot"));
  }
  if (!std::is_sorted(input.snapshots.begin(), input.snapshots.end())) {
    fields.Fail("list of snapshots", "does not ascend");
  }
  ReadUndecided(&fields, &input.undecided);
  input.fails_on_merge = fields.Flag("fails_on_merge");
  input.output_level = level("output level");
  input.base_level = level("base level");
  input.target_file_bytes = fields.Number("target_file_bytes");
  input.max_grandparent_bytes = fields.Number("max_grandparent_bytes");
  input.is_bottommost = fields.Flag("is_bottommost");
  input.is_open_below = fields.Flag("is_open_below");
  input.is_manual = fields.Flag("is_manual");
  input.compression = static_cast<CompressionType>(fields.Number("compression", UINT8_MAX));
  input.reason = static_cast<CompactionReason>(
      fields.Number("reason", static_cast<uint64_t>(CompactionReason::kNumOfReasons)));
  input.temperature = static_cast<Temperature>(
      fields.Number("temperature", static_cast<uint64_t>(Temperature::kLastTemperature) - 1));
  if (fields.Flag("mark of a range of young entries")) {
    RemoteYoungRange& range = input.young_range.emplace();
    range.smallest = fields.Text("begin of the young range");
    range.largest = fields.Text("end of the young range");
    range.largest_is_exclusive = fields.Flag("largest_is_exclusive");
    if (input.output_level < 2) fields.Fail("young range", "has no level above level 1");
  }
  input.now_seconds = fields.Number("time");
  input.write_times = fields.Text("times of writes");
  RETURN_IF_ERROR(fields.Finish());
  return input;
}

// A failed compaction is encoded as its status, without tables.
std::string RemoteResult::Encode() const {
  std::string bytes = Begin(kResultMagic);
  PutVarint32(&bytes, status.code());
  PutVarint32(&bytes, status.subcode());
  PutLengthPrefixedSlice(&bytes, status.getState() == nullptr ? "" : status.getState());
  PutLengthPrefixedSlice(&bytes, output_dir);
  VersionEdit edit;
  for (const Table& table : tables) edit.AddFile(0, table.meta);
  std::string record;
  edit.EncodeTo(&record);
  PutLengthPrefixedSlice(&bytes, record);
  // The record has one mark for two flags of a table, so the flags follow separately.
  PutVarint64(&bytes, tables.size());
  for (const Table& table : tables) {
    PutVarint32(&bytes, table.meta.marked_for_compaction);
    PutVarint32(&bytes, table.meta.keeps_for_snapshots);
    PutVarint32(&bytes, table.is_young);
  }
  for (const uint64_t count :
       {input_entries, output_entries, hidden_dropped, covered_dropped, tombstones_dropped,
        filtered, range_tombstones_dropped, bytes_written, cpu_micros}) {
    PutVarint64(&bytes, count);
  }
  return End(std::move(bytes));
}

// The status of the worker becomes part of a message, so its severity and flags have no effect
// here.
Result<RemoteResult> RemoteResult::Decode(const Slice& bytes) {
  Fields fields("result of a remote compaction", bytes);
  RETURN_IF_ERROR(fields.Open(kResultMagic));
  RemoteResult result;
  const uint64_t code = fields.Number("status", Status::kMaxCode - 1);
  const uint64_t subcode = fields.Number("subcode", Status::kMaxSubCode - 1);
  const std::string message = fields.Text("message");
  result.output_dir = fields.Text("output directory");
  const std::string record = fields.Text("list of tables");
  struct Marks {
    bool is_marked, keeps_for_snapshots, is_young;
  };
  std::vector<Marks> marks;
  for (uint64_t count = fields.Count("number of tables"); count > 0 && fields.is_ok(); count--) {
    Marks& mark = marks.emplace_back();
    mark.is_marked = fields.Flag("mark");
    mark.keeps_for_snapshots = fields.Flag("keeps_for_snapshots");
    mark.is_young = fields.Flag("is_young");
  }
  for (uint64_t* count :
       {&result.input_entries, &result.output_entries, &result.hidden_dropped,
        &result.covered_dropped, &result.tombstones_dropped, &result.filtered,
        &result.range_tombstones_dropped, &result.bytes_written, &result.cpu_micros}) {
    *count = fields.Number("count");
  }
  RETURN_IF_ERROR(fields.Finish());
  if (code != Status::kOk) {
    result.status = Status::Incomplete(
        StrCat("the worker of a remote compaction failed: code ", code, ".", subcode), message);
  }
  VersionEdit edit;
  RETURN_IF_ERROR(edit.DecodeFrom(record));
  if (marks.size() != edit.new_files.size()) {
    return Status::Corruption(StrCat("result of a remote compaction: ", edit.new_files.size(),
                                     " tables, but marks of ", marks.size()));
  }
  for (size_t i = 0; i < marks.size(); i++) {
    VersionEdit::NewFile& file = edit.new_files[i];
    file.meta.marked_for_compaction = marks[i].is_marked;
    file.meta.keeps_for_snapshots = marks[i].keeps_for_snapshots;
    if (file.meta.smallest.size() < kTrailerBytes || file.meta.largest.size() < kTrailerBytes) {
      return Status::Corruption("result of a remote compaction: a table without boundary keys");
    }
    result.tables.push_back({.meta = std::move(file.meta), .is_young = marks[i].is_young});
  }
  return result;
}

// Finds the inputs in the version that the worker has read. Corruption: some of them are not on
// their levels in this version.
Result<CompactionPlan> PlanFromInput(const RemoteInput& input, const Version& version) {
  assert(!input.inputs.empty());
  CompactionPlan plan;
  for (const RemoteInput::InputLevel& wanted : input.inputs) {
    const bool is_in_order = plan.inputs.empty() || plan.inputs.back().level < wanted.level;
    LevelFiles files{wanted.level, {}};
    for (size_t i = 0;
         wanted.level < version.num_levels() && i < version.files(wanted.level).size(); i++) {
      TableFile* const file = version.files(wanted.level)[i];
      const auto& numbers = wanted.files;
      if (std::find(numbers.begin(), numbers.end(), file->meta.number) != numbers.end()) {
        files.files.push_back(file);
      }
    }
    if (!is_in_order || files.files.size() != wanted.files.size()) {
      return Status::Corruption(StrCat("remote compaction: of ", wanted.files.size(),
                                       " tables of level ", wanted.level, " the MANIFEST has ",
                                       files.files.size(), " there"));
    }
    plan.inputs.push_back(std::move(files));
  }
  plan.start_level = plan.inputs.front().level;
  plan.output_level = input.output_level;
  if (plan.output_level < plan.inputs.back().level || plan.output_level >= version.num_levels()) {
    return Status::Corruption(StrCat("remote compaction: into level ", input.output_level));
  }
  plan.base_level = input.base_level;
  plan.target_file_bytes = input.target_file_bytes;
  plan.max_grandparent_bytes = input.max_grandparent_bytes;
  plan.is_bottommost = input.is_bottommost;
  plan.is_open_below = input.is_open_below;
  plan.is_manual = input.is_manual;
  plan.compression = input.compression;
  plan.reason = input.reason;
  plan.temperature = input.temperature;
  if (input.young_range.has_value()) {
    const RemoteYoungRange& range = *input.young_range;
    if (version.comparator().OrderWithoutTimestamp(range.smallest, range.largest) > 0) {
      return Status::Corruption("remote compaction: a young range that ends before it begins");
    }
    plan.young_range = {.smallest = range.smallest,
                        .largest = range.largest,
                        .largest_is_exclusive = range.largest_is_exclusive};
  }
  // Entries of level 0 may only be dropped if no older file of level 0 holds the key.
  if (plan.output_level == 0) {
    const std::vector<TableFile*>& level0 = version.files(0);
    const auto oldest = std::find(level0.begin(), level0.end(), plan.inputs[0].files.back());
    plan.older_in_level0.assign(oldest + 1, level0.end());
    if (plan.inputs.size() != 1) {
      return Status::Corruption("remote compaction: several input levels, but output level 0");
    }
  } else if (plan.output_level.Next() < version.num_levels() &&
             plan.max_grandparent_bytes != UINT64_MAX) {
    const auto [smallest, largest] = plan.UserKeyRange(version.comparator());
    plan.grandparents = version.Overlapping(plan.output_level.Next(), &smallest, &largest).files;
  }
  return plan;
}

}  // namespace ashlar
