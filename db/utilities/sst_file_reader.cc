// SPDX-License-Identifier: Apache-2.0
//
// The one table becomes a version with one file on level 0, behind an empty memtable: so the
// iterator and the point read are those of a database.
#include "ashlar/sst_file_reader.h"

#include <cassert>
#include <string>
#include <utility>

#include "cache/block_cache.h"
#include "db/column_family/column_family_data.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "db/read/db_iterator.h"
#include "db/read/point_read.h"
#include "db/read/read_view.h"
#include "db/table_cache/table_bounds.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/sst/read/block_forms.h"
#include "table/sst/read/table_reader.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Status NotOpen() { return Status::InvalidArgument("SstFileReader: no file is open"); }

// The table's own entries, as they are stored.
class StoredEntries final : public Iterator {
 public:
  explicit StoredEntries(InternalIterator* it) : it_(it) {}
  bool Valid() const override { return it_->Valid(); }
  void SeekToFirst() override { it_->SeekToFirst(); }
  void SeekToLast() override { it_->SeekToLast(); }
  void Seek(const Slice& target) override { it_->Seek(target); }
  void SeekForPrev(const Slice& target) override { it_->SeekForPrev(target); }
  void Next() override { it_->Next(); }
  void Prev() override { it_->Prev(); }
  Slice key() const override { return it_->key(); }
  Slice value() const override { return it_->value(); }
  Status status() const override { return it_->status(); }

 private:
  const std::unique_ptr<InternalIterator> it_;
};

EntryType EntryTypeOf(ValueType type) {
  switch (type) {
    case kTypeValue: return kEntryPut;
    case kTypeDeletion: return kEntryDelete;
    case kTypeSingleDeletion: return kEntrySingleDelete;
    case kTypeMerge: return kEntryMerge;
    case kTypeRangeDeletion: return kEntryRangeDeletion;
    case kTypeBlobIndex: return kEntryBlobIndex;
    case kTypeWideColumnEntity: return kEntryWideColumnEntity;
    default: return kEntryOther;
  }
}

// Where the first block or the last one is damaged, those who come to it are told, and not those
// who open the table.
Result<TableBounds> BoundsOf(const TableReader& reader, const InternalKeyComparator& icmp) {
  Result<TableBounds> found = FindTableBounds(reader, icmp);
  if (found.ok()) return found;
  Result<TableBounds> widest = FindWidestBounds(reader, icmp);
  return widest.ok() ? std::move(widest) : std::move(found);
}

}  // namespace

// A family of one table that never changes.
class OneTable final : public ReadViewSource {
 public:
  OneTable(const Options& options, std::unique_ptr<BlockCacheView> blocks)
      : options_(options),
        icmp_(options.comparator),
        blocks_(std::move(blocks)),
        tables_(TableCacheOptions(icmp_)) {}
  ~OneTable() override;
  OneTable(const OneTable&) = delete;
  OneTable& operator=(const OneTable&) = delete;

  Status Load(std::unique_ptr<RandomReader> file);

  ReadView AcquireView() override {
    return ReadView(this, SuperVersionRef(super_version()), kMaxSequenceNumber);
  }
  void OnViewReleased(Purge) override {}
  void PinSource() override {}  // whoever holds a view outlives nothing: see the header
  void UnpinSource(Purge) override {}

  const Options& options() const { return options_; }
  const InternalKeyComparator& comparator() const { return icmp_; }
  const TableReader& reader() const { return *reader_; }
  const TableBounds& bounds() const { return bounds_; }
  MergeTools tools() const {
    return {.merge_operator = options_.merge_operator.get(),
            .info_log = options_.info_log.get(),
            .statistics = options_.statistics.get(),
            .clock = options_.env->GetSystemClock().get()};
  }

 private:
  TableReaderOptions ReaderOptions() const;

  const Options options_;
  const InternalKeyComparator icmp_;
  const std::unique_ptr<BlockCacheView> blocks_;  // null: blocks are not cached
  TableCache tables_;                             // of nothing: the one table is always open
  std::unique_ptr<TableReader> reader_;
  TableBounds bounds_;
  std::unique_ptr<TableFile> file_;
  std::unique_ptr<Version> version_;  // with a reference of its own: a super version never frees it
};

TableReaderOptions OneTable::ReaderOptions() const {
  TableReaderOptions options;
  options.icmp = &icmp_;
  options.block_cache = blocks_.get();
  options.prefix_extractor = options_.prefix_extractor.get();
  options.statistics = options_.statistics.get();
  return options;
}

Status OneTable::Load(std::unique_ptr<RandomReader> file) {
  assert(reader_ == nullptr);
  ASSIGN_OR_RETURN(reader_, TableReader::Open(std::move(file), ReaderOptions()));
  ASSIGN_OR_RETURN(bounds_, BoundsOf(*reader_, icmp_));
  FileMetadata meta;
  meta.number = 1;
  meta.file_size = reader_->file_size();
  meta.smallest_seqno = bounds_.smallest_seqno;
  meta.largest_seqno = bounds_.largest_seqno;
  meta.smallest = bounds_.smallest;
  meta.largest = bounds_.largest;
  Version::Levels levels(1, std::make_shared<LevelTables>());
  if (!bounds_.empty()) {
    file_ = std::make_unique<TableFile>(std::move(meta));
    file_->stays_open.store(true, std::memory_order_relaxed);
    file_->reader.store(reader_.get(), std::memory_order_release);
    Splice<TableFile*> splice;
    splice.inserted.push_back({0, file_.get()});
    levels[0] = LevelTables::Spliced(icmp_, 0, LevelTables(), splice);
  }
  version_ = std::make_unique<Version>(icmp_, &tables_, std::move(levels));
  version_->Ref();
  SuperVersion::Parts parts;
  parts.mem = new MemTable(icmp_, MemTableOptionsFrom(options_, nullptr), /*id=*/1);
  parts.version = version_.get();
  parts.options = std::make_shared<const ColumnFamilyOptions>(options_);
  parts.number = 1;
  MemTable* const mem = parts.mem;
  super_version_.store(new SuperVersion(std::move(parts), /*versions=*/nullptr),
                       std::memory_order_release);
  mem->Unref();  // the super version's is left
  return Status::OK();
}

OneTable::~OneTable() {
  if (SuperVersion* last = super_version_.exchange(nullptr, std::memory_order_acq_rel)) {
    SuperVersion::Retire(last);
    EpochDrain();
  }
  assert(version_ == nullptr || version_->Unref());  // iterators went first
  if (file_ != nullptr) file_->reader.store(nullptr, std::memory_order_release);
}

struct SstFileReader::Rep {
  Options options;
  std::unique_ptr<OneTable> table;  // null: none is open
};

SstFileReader::SstFileReader(const Options& options) : rep_(std::make_unique<Rep>()) {
  rep_->options = options;
}
SstFileReader::~SstFileReader() = default;

Status SstFileReader::Open(const std::string& file_path) {
  if (rep_->table != nullptr) {
    return Status::InvalidArgument("SstFileReader::Open: a file is open already");
  }
  const Options& options = rep_->options;
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(options.table_factory.get());
  if (table == nullptr) {
    return Status::NotSupported("SstFileReader: only block-based tables are built", file_path);
  }
  std::unique_ptr<BlockCacheView> blocks;
  if (table->block_cache != nullptr && !table->no_block_cache) {
    blocks = std::make_unique<BlockCacheView>(table->block_cache, &TableBlockForms());
  }
  ASSIGN_OR_RETURN(auto file, RandomReader::Open(options.env->GetFileSystem().get(), file_path,
                                                 FileOptions(EnvOptions(options))));
  auto opened = std::make_unique<OneTable>(options, std::move(blocks));
  RETURN_IF_ERROR(opened->Load(std::move(file)));
  rep_->table = std::move(opened);
  return Status::OK();
}

Iterator* SstFileReader::NewIterator(const ReadOptions& options) {
  if (rep_->table == nullptr) return NewErrorIterator(NotOpen());
  const Status supported = CheckIteratorOptionsSupported(options);
  if (!supported.ok()) return NewErrorIterator(supported);
  return new DBIterator(options, rep_->table->AcquireView(), {.merge = rep_->table->tools()});
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  if (rep_->table == nullptr) return NotOpen();
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  value->Reset();
  const ReadView view = rep_->table->AcquireView();
  const LookupKey lookup_key(key, view.seqno(), rep_->table->comparator().order());
  PointLookup lookup(lookup_key, value);
  PointRead read(*view.super_version(), options, &lookup);
  bool is_over = false;
  {
    const EpochGuard guard;
    is_over = read.RunInEpoch(/*skips_memtables=*/false);
  }
  return FinishPointRead(rep_->table->tools(), is_over, &read);
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  PinnableSlice pinned(value);
  const Status status = Get(options, key, &pinned);
  if (status.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return status;
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<PinnableSlice>* values) {
  std::vector<PinnableSlice> found(keys.size());
  std::vector<Status> statuses;
  for (size_t i = 0; i < keys.size(); i++) statuses.push_back(Get(options, keys[i], &found[i]));
  *values = std::move(found);
  return statuses;
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<std::string>* values) {
  values->assign(keys.size(), std::string());
  std::vector<Status> statuses;
  for (size_t i = 0; i < keys.size(); i++) statuses.push_back(Get(options, keys[i], &(*values)[i]));
  return statuses;
}

std::unique_ptr<Iterator> SstFileReader::NewTableIterator() {
  if (rep_->table == nullptr) return std::unique_ptr<Iterator>(NewErrorIterator(NotOpen()));
  ReadOptions options;
  options.fill_cache = false;
  return std::make_unique<StoredEntries>(rep_->table->reader().NewIterator(options, nullptr));
}

Status SstFileReader::ParseTableIteratorKey(const Slice& raw_table_key,
                                            ParsedEntryInfo* parsed_key) const {
  ParsedInternalKey key;
  if (!ParseInternalKey(raw_table_key, &key)) {
    return Status::InvalidArgument("SstFileReader: not an internal key", KeyInError(raw_table_key));
  }
  parsed_key->user_key = key.user_key;
  parsed_key->timestamp = Slice();
  parsed_key->sequence = key.seqno;
  parsed_key->type = EntryTypeOf(key.type);
  return Status::OK();
}

std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const {
  return rep_->table == nullptr ? nullptr : rep_->table->reader().shared_properties();
}

Status SstFileReader::VerifyChecksum(const ReadOptions& read_options) {
  if (rep_->table == nullptr) return NotOpen();
  return rep_->table->reader().VerifyChecksums(read_options);
}

Status SstFileReader::VerifyNumEntries(const ReadOptions& read_options) {
  if (rep_->table == nullptr) return NotOpen();
  const TableReader& reader = rep_->table->reader();
  ReadOptions options = read_options;
  options.fill_cache = false;
  const std::unique_ptr<InternalIterator> it(reader.NewIterator(options, nullptr));
  uint64_t found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) found++;
  RETURN_IF_ERROR(it->status());
  const PropertiesView& properties = reader.facts();
  // Range tombstones are counted among the entries and are not among those of the data blocks.
  const uint64_t expected = properties.num_entries - properties.num_range_deletions;
  if (found == expected) return Status::OK();
  return Status::Corruption(StrCat("table: ", reader.path(), ": expected ", expected,
                                   " entries as the properties say, found ", found));
}

}  // namespace ashlar
