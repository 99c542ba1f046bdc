// SPDX-License-Identifier: Apache-2.0
//
// sst_dump --command=recompress: the size of a table, and the time to write it, with each
// compression. The entries pass from the table's iterator through a table builder into a file that
// discards them, so nothing is written to any disk. The lines of each trial have the form of
// RocksDB's tool; a table of all trials follows.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "db/options/option_values.h"
#include "env/file_writer.h"
#include "table/format/compression.h"
#include "table/sst/write/table_builder.h"
#include "tools/lib/console.h"
#include "tools/sst_dump/commands.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Discards its contents and counts their bytes.
class DiscardingFile final : public FSWritableFile {
 public:
  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    bytes_ += data.size();
    return IOStatus::OK();
  }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return bytes_; }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  uint64_t bytes_ = 0;
};

// The result of writing the table once with one compression.
struct Trial {
  std::string name;  // kZSTD
  int level = 0;
  uint64_t file_bytes = 0;
  uint64_t data_blocks = 0;
  uint64_t raw_bytes = 0;  // of keys and values
  uint64_t micros = 0;
  // Data and index blocks that were compressed, and that were stored raw because they would not get
  // small enough.
  uint64_t compressed = 0, rejected = 0;
};

// The name that an options file uses.
std::string NameOf(CompressionType type) {
  std::string name;
  PrintEnum(PrintContext(), EnumNames(type), type, &name);
  return name;
}

// Passes all entries of the table to the builder, point entries first: a builder takes range
// tombstones at any time and sorts them itself.
Status CopyEntries(TableInspector* table, TableBuilder* builder) {
  assert(builder != nullptr);
  assert(table != nullptr);
  ASSIGN_OR_RETURN(const TableReader* reader, table->Reader());
  const std::unique_ptr<InternalIterator> entries(reader->NewIterator(ReadOptions(), nullptr));
  for (entries->SeekToFirst(); entries->Valid(); entries->Next()) {
    RETURN_IF_ERROR(builder->Add(entries->key(), entries->value()));
  }
  RETURN_IF_ERROR(entries->status());
  return table->ForEachTombstone(
      [&](const Slice& begin, const Slice& end) { return builder->Add(begin, end); });
}

// Writes the table once. The time includes reading the entries, which is the same for all trials
// once the file is in the page cache.
Result<Trial> Try(TableInspector* table, const RecompressPlan& plan, CompressionType type,
                  int level) {
  assert(table != nullptr);
  ASSIGN_OR_RETURN(const InternalKeyComparator comparator, table->FindComparator());
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  BlockBasedTableOptions table_options;
  table_options.block_size = plan.block_bytes;
  TableBuilderOptions options;
  options.icmp = &comparator;
  options.table = &table_options;
  options.compression = type;
  options.compression_opts = plan.options;
  options.compression_opts.level = level;
  options.statistics = statistics.get();
  const std::unique_ptr<FileWriter> file =
      FileWriter::Wrap(std::make_unique<DiscardingFile>(), table->path(), /*size=*/0);
  const auto start = std::chrono::steady_clock::now();
  TableBuilder builder(options, file.get());
  Status status = CopyEntries(table, &builder);
  if (status.ok()) status = builder.Finish();
  if (!status.ok()) {
    builder.Abandon();
    return status;
  }
  const auto took = std::chrono::steady_clock::now() - start;
  const TableProperties& made = builder.properties();
  return Trial{.name = NameOf(type),
               .level = level,
               .file_bytes = builder.FileSize(),
               .data_blocks = made.num_data_blocks,
               .raw_bytes = made.raw_key_size + made.raw_value_size,
               .micros = static_cast<uint64_t>(
                   std::chrono::duration_cast<std::chrono::microseconds>(took).count()),
               .compressed = statistics->getTickerCount(NUMBER_BLOCK_COMPRESSED),
               .rejected = statistics->getTickerCount(NUMBER_BLOCK_COMPRESSION_REJECTED)};
}

void PrintTrial(const Trial& trial) {
  // `raw` counts data blocks for which compression was not tried. As in RocksDB's tool, only the
  // other two counts include index blocks.
  const uint64_t tried = trial.compressed + trial.rejected;
  const uint64_t raw = trial.data_blocks > tried ? trial.data_blocks - tried : 0;
  const uint64_t blocks = std::max<uint64_t>(1, tried + raw);
  const auto percent = [&](uint64_t count) {
    return 100.0 * static_cast<double>(count) / static_cast<double>(blocks);
  };
  char line[320];
  std::snprintf(
      line, sizeof(line),
      "Compression level: %d Size: %10" PRIu64 " Blocks: %6" PRIu64 " Time Taken: %10" PRIu64
      " microsecs Compressed: %6" PRIu64 " (%5.1f%%) Not compressed (ratio): %6" PRIu64
      " (%5.1f%%) Not compressed (abort): %6" PRIu64 " (%5.1f%%)",
      trial.level, trial.file_bytes, trial.data_blocks, trial.micros, trial.compressed,
      percent(trial.compressed), raw, percent(raw), trial.rejected, percent(trial.rejected));
  PrintLine(line);
}

// One line for each trial, for people: size as a share of the file as it is, time, and speed in MB
// of keys and values a second.
void PrintTable(const std::vector<Trial>& trials, uint64_t file_bytes) {
  if (trials.empty()) return;
  PrintLine("\ncompression                level         bytes  of the file          ms       MB/s");
  for (const Trial& trial : trials) {
    const bool is_default = trial.level == CompressionOptions::kDefaultCompressionLevel;
    const std::string level = is_default ? "-" : StrCat(trial.level);
    const double share =
        100.0 * static_cast<double>(trial.file_bytes) / static_cast<double>(file_bytes);
    const auto micros = static_cast<double>(std::max<uint64_t>(1, trial.micros));
    char line[160];
    std::snprintf(line, sizeof(line), "%-24s %7s %13" PRIu64 " %10.1f %% %11.1f %10.1f",
                  trial.name.c_str(), level.c_str(), trial.file_bytes, share, micros / 1000,
                  static_cast<double>(trial.raw_bytes) / micros);
    PrintLine(line);
  }
}

// Several names may stand for the same type; each type is tried once.
std::vector<CompressionType> AllTypes() {
  std::vector<CompressionType> types;
  for (const EnumName& name : EnumNames(kNoCompression)) {
    const auto type = static_cast<CompressionType>(name.value);
    const bool is_one = type != kDisableCompressionOption;
    if (is_one && std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}

// Names separated by commas, as in an options file.
Result<std::vector<CompressionType>> ParseTypes(const std::string& text) {
  std::vector<CompressionType> types;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    int64_t value = 0;
    if (!ParseEnum(EnumNames(kNoCompression), name, &value).ok() ||
        value == kDisableCompressionOption) {
      return Status::InvalidArgument(
          StrCat("--compression_types: \"", name, "\" is unknown; example: kZSTD,kLZ4Compression"));
    }
    types.push_back(static_cast<CompressionType>(value));
    begin = end + 1;
  }
  return types;
}

// A flag with a number of bytes from 0 to `max`.
Result<uint64_t> Bytes(const CommandLine& line, std::string_view flag, uint64_t default_value,
                       uint64_t max) {
  ASSIGN_OR_RETURN(const int64_t bytes, line.Number(flag, static_cast<int64_t>(default_value)));
  if (bytes >= 0 && static_cast<uint64_t>(bytes) <= max) return static_cast<uint64_t>(bytes);
  return Status::InvalidArgument(StrCat("--", flag, ": expected 0 to ", max, ", found ", bytes));
}

// Levels differ in meaning between compressions, so a range of levels needs a single compression.
Status ParseLevels(const CommandLine& line, RecompressPlan* plan) {
  assert(plan != nullptr);
  const bool has_from = line.Has("compression_level_from");
  if (has_from != line.Has("compression_level_to")) {
    return Status::InvalidArgument(
        "--compression_level_from and --compression_level_to must be given together");
  }
  if (!has_from) return Status::OK();
  if (!line.Has("compression_types") || plan->types.size() != 1) {
    return Status::InvalidArgument("levels need one type: --compression_types=kZSTD");
  }
  ASSIGN_OR_RETURN(const int64_t first, line.Number("compression_level_from", 0));
  ASSIGN_OR_RETURN(const int64_t last, line.Number("compression_level_to", 0));
  constexpr int64_t kMaxLevel = CompressionOptions::kDefaultCompressionLevel;
  if (first > last || first < -kMaxLevel || last > kMaxLevel) {
    return Status::InvalidArgument(StrCat("--compression_level_from=", first,
                                          " and --compression_level_to=", last,
                                          " are not a range"));
  }
  plan->first_level = static_cast<int>(first);
  plan->last_level = static_cast<int>(last);
  return Status::OK();
}

}  // namespace

// Which compressions to try, and with which options. Sizes are in bytes. Wrong flags are
// InvalidArgument before any table is read.
Result<RecompressPlan> ParseRecompressPlan(const CommandLine& line) {
  RecompressPlan plan;
  plan.types = AllTypes();
  if (const std::optional<std::string> types = line.Value("compression_types")) {
    ASSIGN_OR_RETURN(plan.types, ParseTypes(*types));
  }
  RETURN_IF_ERROR(ParseLevels(line, &plan));
  CompressionOptions& options = plan.options;
  ASSIGN_OR_RETURN(plan.block_bytes,
                   Bytes(line, "set_block_size", plan.block_bytes, uint64_t{1} << 30));
  if (plan.block_bytes == 0) return Status::InvalidArgument("--set_block_size must be positive");
  ASSIGN_OR_RETURN(options.max_dict_bytes,
                   Bytes(line, "compression_max_dict_bytes", 0, UINT32_MAX));
  ASSIGN_OR_RETURN(options.zstd_max_train_bytes,
                   Bytes(line, "compression_zstd_max_train_bytes", 0, UINT32_MAX));
  ASSIGN_OR_RETURN(options.max_dict_buffer_bytes,
                   Bytes(line, "compression_max_dict_buffer_bytes", 0, INT64_MAX));
  ASSIGN_OR_RETURN(const bool finalizes, line.Bool("compression_use_zstd_finalize_dict"));
  options.use_zstd_dict_trainer = !finalizes;
  return plan;
}

// A compression that this build lacks is reported and skipped; the rest is tried.
Status Recompress(TableInspector* table, SstDumpRequest* request) {
  assert(table != nullptr);
  assert(request != nullptr);
  const RecompressPlan& plan = request->recompress;
  PrintLine(StrCat("Block Size: ", plan.block_bytes));
  std::vector<Trial> trials;
  for (const CompressionType type : plan.types) {
    const std::string name = NameOf(type);
    if (type != kNoCompression && !IsCompressionSupported(type)) {
      PrintLine(StrCat("Unsupported compression type: ", name, "."));
      continue;
    }
    char title[64];
    std::snprintf(title, sizeof(title), "Compression: %-24s", name.c_str());
    PrintLine(title);
    for (int level = plan.first_level; level <= plan.last_level; ++level) {
      const Heartbeat heartbeat(StrCat("compressing with ", name));
      ASSIGN_OR_RETURN(Trial trial, Try(table, plan, type, level));
      PrintTrial(trial);
      trials.push_back(std::move(trial));
    }
  }
  PrintTable(trials, table->file_bytes());
  return Status::OK();
}

}  // namespace ashlar
