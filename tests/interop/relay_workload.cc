// SPDX-License-Identifier: Apache-2.0
//
// The batches, and the options of the databases.
#include "tests/interop/relay_workload.h"

#include "ashlar/filter_policy.h"
#include "ashlar/merge_operator.h"
#include "ashlar/slice_transform.h"
#include "ashlar/table.h"
#include "ashlar/write_batch.h"
#include "db/options/stock_merge_operators.h"
#include "util/random.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

DBOptions RelayDbOptions() {
  DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.write_compatible_with = "7.8";
  options.max_manifest_file_size = 16 << 10;  // rolls over
  return options;
}

ColumnFamilyOptions RelayFamilyOptions(const std::string& name) {
  ColumnFamilyOptions options;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 32 << 10;
  options.max_bytes_for_level_base = 96 << 10;
  options.max_bytes_for_level_multiplier = 4;
  options.level0_file_num_compaction_trigger = 3;
  options.compression = kLZ4Compression;
  options.merge_operator =
      NewStringAppendOperator(",");  // ldb creates it by its name in the OPTIONS file
  options.bottommost_compression = name == "cold" ? kZSTD : kSnappyCompression;
  BlockBasedTableOptions table;
  table.block_size = 1024;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  if (name == "users") {
    options.prefix_extractor.reset(NewCappedPrefixTransform(6));
    table.whole_key_filtering = false;
    table.checksum = kxxHash64;
    table.index_block_restart_interval = 8;
  }
  if (name == "cold") {
    table.checksum = kCRC32c;
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  }
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return options;
}

// Executed by either side.
class Target {
 public:
  Target(const std::vector<ColumnFamilyHandle*>* handles, WriteBatch* writes,
         RelayContents* contents)
      : handles_(handles), writes_(writes), contents_(contents) {}

  void Put(size_t family, const std::string& key, const std::string& value) {
    if (writes_ != nullptr) Check(writes_->Put((*handles_)[family], key, value));
    if (contents_ != nullptr) Of(family)[key] = value;
  }
  // RocksDB's tools print the default column.
  void PutEntity(size_t family, const std::string& key, const std::string& value) {
    const WideColumns columns{{"size", Slice("some bytes")}, {"", value}};
    if (writes_ != nullptr) Check(writes_->PutEntity((*handles_)[family], key, columns));
    if (contents_ != nullptr) Of(family)[key] = value;
  }
  void Merge(size_t family, const std::string& key, const std::string& operand) {
    if (writes_ != nullptr) Check(writes_->Merge((*handles_)[family], key, operand));
    if (contents_ == nullptr) return;
    const auto [row, is_new] = Of(family).try_emplace(key, operand);
    if (!is_new) row->second += "," + operand;
  }
  void DeleteRange(size_t family, const std::string& begin, const std::string& end) {
    if (writes_ != nullptr) Check(writes_->DeleteRange((*handles_)[family], begin, end));
    if (contents_ == nullptr) return;
    FamilyContents& rows = Of(family);
    rows.erase(rows.lower_bound(begin), rows.lower_bound(end));
  }
  void Delete(size_t family, const std::string& key, bool is_single) {
    if (writes_ != nullptr) {
      ColumnFamilyHandle* handle = (*handles_)[family];
      Check(is_single ? writes_->SingleDelete(handle, key) : writes_->Delete(handle, key));
    }
    if (contents_ != nullptr) Of(family).erase(key);
  }

 private:
  FamilyContents& Of(size_t family) { return (*contents_)[RelayFamilies()[family]]; }
  static void Check(const Status& status) {
    if (!status.ok()) abort();
  }

  const std::vector<ColumnFamilyHandle*>* const handles_;
  WriteBatch* const writes_;
  RelayContents* const contents_;
};

}  // namespace

void RelayBatch(int batch, const std::vector<ColumnFamilyHandle*>* handles, WriteBatch* writes,
                RelayContents* contents) {
  Target target(handles, writes, contents);
  Random64 random(7919 + static_cast<uint64_t>(batch));
  for (int i = 0; i < 12; i++) {
    const size_t family = random.Next() % RelayFamilies().size();
    const std::string key = StrCat("key", 10000 + random.Next() % 3000);
    if (random.Next() % 5 == 0) {
      target.Delete(family, key, /*is_single=*/false);
      continue;
    }
    std::string value = StrCat("batch ", batch, " ");
    value.append(random.Next() % 120, static_cast<char>('a' + random.Next() % 26));
    value.append(random.Next() % 9, static_cast<char>(random.Next()));
    target.Put(family, key, value);
  }
  // RocksDB 7.8 refuses merges over entities, so these use other keys.
  target.PutEntity(static_cast<size_t>(batch) % RelayFamilies().size(), StrCat("wide", batch % 100),
                   std::string(static_cast<size_t>(batch) % 50, 'w'));
  for (int i = 0; i < 4; i++) {
    const size_t family = random.Next() % RelayFamilies().size();
    // A few keys with many operands, and operands over the values of other writes.
    const uint64_t number = random.Next() % (i == 0 ? 20 : 3000);
    target.Merge(family, StrCat("key", 10000 + number), StrCat("op", batch, "_", i));
  }
  // Ranges of a few keys, sometimes of many; puts of the same batch come before and after them.
  if (batch % 3 == 1) {
    const size_t family = random.Next() % RelayFamilies().size();
    const uint64_t first = 10000 + random.Next() % 3000;
    const uint64_t width =
        batch % 30 == 1 ? 400 : random.Next() % 25;  // an empty one hides nothing
    target.DeleteRange(family, StrCat("key", first), StrCat("key", first + width));
    target.Put(family, StrCat("key", first + width / 2),
               StrCat("after the range of batch ", batch));
  }
  if (batch % 200 == 150) target.Put(0, StrCat("long", batch), std::string(70000, 'L'));
  // Each of these keys is written once and deleted once.
  if (batch % 20 == 5) target.Put(1, StrCat("single", batch), "to be deleted");
  if (batch % 20 == 15) target.Delete(1, StrCat("single", batch - 10), /*is_single=*/true);
  // These keys are put and deleted in turn, and are on several levels in both states.
  const int turn = batch / 4;
  const std::string in_turn = StrCat("turn", turn % 7);
  if (batch % 4 == 0 && turn / 7 % 2 == 0) target.Put(2, in_turn, StrCat("batch ", batch));
  if (batch % 4 == 0 && turn / 7 % 2 == 1) target.Delete(2, in_turn, /*is_single=*/true);
}

Status RelayDatabase::Open(const std::string& dir, std::unique_ptr<RelayDatabase>* database,
                           bool compresses_logs) {
  DBOptions options = RelayDbOptions();
  if (compresses_logs) options.wal_compression = kZSTD;
  std::vector<ColumnFamilyDescriptor> families;
  for (const std::string& name : RelayFamilies()) {
    families.emplace_back(name, RelayFamilyOptions(name));
  }
  auto result = std::make_unique<RelayDatabase>();
  RETURN_IF_ERROR(DB::Open(options, dir, families, &result->handles_, &result->db_));
  *database = std::move(result);
  return Status::OK();
}

RelayDatabase::~RelayDatabase() {
  if (db_ != nullptr) IgnoreError(Close(), "the test has its answer");
}

Status RelayDatabase::Close() {
  if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
  snapshot_ = nullptr;
  for (ColumnFamilyHandle* handle : handles_) {
    RETURN_IF_ERROR(db_->DestroyColumnFamilyHandle(handle));
  }
  handles_.clear();
  const Status status = db_->Close();
  db_.reset();
  return status;
}

Status RelayDatabase::WriteBatches(int begin, int end,
                                   const std::function<void(int)>& acknowledge) {
  for (int batch = begin; batch < end; batch++) {
    WriteBatch writes;
    RelayBatch(batch, &handles_, &writes, nullptr);
    RETURN_IF_ERROR(db_->Write(WriteOptions(), &writes));
    if (acknowledge) acknowledge(batch);
    RETURN_IF_ERROR(Maintain(batch));
  }
  return Status::OK();
}

Status RelayDatabase::Maintain(int batch) {
  if (batch % kBatchesPerSnapshot == 0) {
    if (snapshot_ != nullptr) db_->ReleaseSnapshot(snapshot_);
    snapshot_ = db_->GetSnapshot();
  }
  if (batch % 70 == 69) RETURN_IF_ERROR(db_->Flush(FlushOptions(), handles_[batch % 3]));
  if (batch % 500 != 499) return Status::OK();
  return db_->CompactRange(CompactRangeOptions(), handles_[batch / 500 % 3], nullptr, nullptr);
}

}  // namespace ashlar
