// SPDX-License-Identifier: Apache-2.0
//
// The table becomes a version with one file on level 0, behind an empty memtable. So the iterator
// and the point read of a database can be used.
#include "ashlar/sst_file_reader.h"

#include <cassert>
#include <string>
#include <utility>

#include "ashlar/utilities/types_util.h"
#include "cache/block_cache.h"
#include "db/column_family/column_family_data.h"
#include "db/options/options_check.h"
#include "db/options/table_factory.h"
#include "db/read/db_iterator.h"
#include "db/read/newest_run.h"
#include "db/read/pinned_iterator.h"
#include "db/read/point_read.h"
#include "db/read/read_view.h"
#include "db/read/stamped_iterator.h"
#include "db/read/stamped_read.h"
#include "db/table_cache/table_bounds.h"
#include "db/table_cache/table_cache.h"
#include "db/version/version.h"
#include "memtable/memtable.h"
#include "table/sst/read/block_forms.h"
#include "table/sst/read/table_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

Status NotOpen() { return Status::InvalidArgument("SstFileReader: no file is open"); }

// Iterates over the entries of the table as they are stored: the keys are internal keys, and
// neither deletions nor merges are applied.
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

// If the first or the last block is damaged, the error is reported when it is read, not when the
// table is opened.
Result<TableBounds> BoundsOf(const TableReader& reader, const InternalKeyComparator& icmp) {
  Result<TableBounds> found = FindTableBounds(reader, icmp);
  if (found.ok()) return found;
  Result<TableBounds> widest = FindWidestBounds(reader, icmp);
  return widest.ok() ? std::move(widest) : std::move(found);
}

}  // namespace

// A family with one table, which never changes.
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

  // After an error the object is only destroyed.
  Status Load(std::unique_ptr<RandomReader> file);

  // The snapshot is ignored: the view shows all entries of the table. The numbers above are left to
  // the updates of a batch on top of it.
  ReadView AcquireViewFor(const Snapshot* /*snapshot*/) override {
    return ReadView(this, SuperVersionRef(super_version()), NewestRun::kFirstSeqno - 1);
  }
  // The table is open for as long as the object lives, so a released view has nothing to clean up.
  void OnViewReleased(Purge) override {}
  void PinSource() override {}  // views must not outlive this object: see the header
  void UnpinSource(Purge) override {}

  const Options& options() const { return options_; }
  const InternalKeyComparator& comparator() const { return icmp_; }
  const TableReader& reader() const { return *reader_; }
  const TableBounds& bounds() const { return bounds_; }
  // Pointers into the options, which outlive every reader.
  MergeTools tools() const {
    return {.merge_operator = options_.merge_operator.get(),
            .info_log = options_.info_log.get(),
            .statistics = options_.statistics.get(),
            .clock = options_.env->GetSystemClock().get()};
  }

 private:
  TableReaderOptions ReaderOptions() const;

  // The members below refer to those above, so the order matters.
  const Options options_;
  const InternalKeyComparator icmp_;
  const std::unique_ptr<BlockCacheView> blocks_;  // null: blocks are not cached
  TableCache tables_;                             // stays empty: the one table is always open
  std::unique_ptr<TableReader> reader_;
  TableBounds bounds_;
  std::unique_ptr<TableFile> file_;
  std::unique_ptr<Version> version_;  // holds a reference itself, so no super version deletes it
};

// The table is read with the options of the program, like a table of a database.
TableReaderOptions OneTable::ReaderOptions() const {
  TableReaderOptions options;
  options.icmp = &icmp_;
  options.block_cache = blocks_.get();
  options.prefix_extractor = options_.prefix_extractor.get();
  options.statistics = options_.statistics.get();
  return options;
}

// Called once. The version and the super version are built by hand, because there is no MANIFEST.
Status OneTable::Load(std::unique_ptr<RandomReader> file) {
  assert(reader_ == nullptr);
  assert(super_version() == nullptr);
  ASSIGN_OR_RETURN(reader_, TableReader::Open(std::move(file), ReaderOptions()));
  ASSIGN_OR_RETURN(bounds_, BoundsOf(*reader_, icmp_));
  FileMetadata meta;
  // Numbers of a file and a family that exist nowhere else: there is one of each.
  meta.number = 1;
  meta.file_size = reader_->file_size();
  meta.smallest_seqno = bounds_.smallest_seqno;
  meta.largest_seqno = bounds_.largest_seqno;
  meta.smallest = bounds_.smallest;
  meta.largest = bounds_.largest;
  Version::Levels levels(1, std::make_shared<LevelTables>());
  // An empty table gives an empty level, because a file without keys has no bounds.
  if (!bounds_.empty()) {
    file_ = std::make_unique<TableFile>(std::move(meta));
    // The table cache must not close the reader, which belongs to this object.
    file_->stays_open.store(true, std::memory_order_relaxed);
    // Release: an epoch that sees the reader also sees everything that Open() has written into it.
    file_->reader.store(reader_.get(), std::memory_order_release);
    Splice<TableFile*> splice;
    splice.inserted.push_back({0, file_.get()});
    levels[0] = LevelTables::Spliced(icmp_, 0, LevelTables(), splice);
  }
  version_ = std::make_unique<Version>(icmp_, &tables_, std::move(levels));
  // The reference of version_ itself, so the super version is not the last to let go.
  version_->Ref();
  SuperVersion::Parts parts;
  // The memtable is only there because a super version has one; nothing is ever written into it.
  parts.mem = new MemTable(icmp_, MemTableOptionsFrom(options_, nullptr), /*id=*/1);
  parts.version = version_.get();
  // Never changes after Load().
  parts.options = std::make_shared<const ColumnFamilyOptions>(options_);
  parts.number = 1;
  MemTable* const mem = parts.mem;
  super_version_.store(new SuperVersion(std::move(parts), /*versions=*/nullptr),
                       std::memory_order_release);
  mem->Unref();  // the super version holds the remaining reference
  return Status::OK();
}

// Readers in an epoch may still see the super version, so the epoch is drained first.
OneTable::~OneTable() {
  // From here on no new reader finds the view.
  if (SuperVersion* last = super_version_.exchange(nullptr, std::memory_order_acq_rel)) {
    // Deletes the super version when no reader of an epoch can see it; EpochDrain() waits for that.
    SuperVersion::Retire(last);
    EpochDrain();
  }
  // The assert only checks: version_ deletes the version in any case.
  assert(version_ == nullptr || version_->Unref());  // all iterators were destroyed before
  if (file_ != nullptr) file_->reader.store(nullptr, std::memory_order_release);
}

struct SstFileReader::Rep {
  Options options;
  std::unique_ptr<OneTable> table;  // null: no table is open
};

SstFileReader::SstFileReader(const Options& options) : rep_(std::make_unique<Rep>()) {
  // Copied, because the program may change or destroy its options before it opens a file.
  rep_->options = options;
}
SstFileReader::~SstFileReader() = default;

// The format of the file decides how it is read. A factory of the program could not read it.
Status SstFileReader::Open(const std::string& file_path) {
  if (rep_->table != nullptr) {
    return Status::InvalidArgument("SstFileReader::Open: a file is open already");
  }
  const Options& options = rep_->options;
  const BlockBasedTableOptions* table = BlockBasedOptionsOf(options.table_factory.get());
  if (table == nullptr) {
    return Status::NotSupported("SstFileReader: a table_factory of the program is not supported",
                                file_path);
  }
  // The key of a block contains the id of the file, so that a cache shared with databases is right.
  std::unique_ptr<BlockCacheView> blocks;
  if (table->block_cache != nullptr && !table->no_block_cache) {
    // The cache is that of the options, so the same blocks are shared by all readers that have
    // them.
    blocks = std::make_unique<BlockCacheView>(table->block_cache, &TableBlockForms());
  }
  ASSIGN_OR_RETURN(auto file, RandomReader::Open(options.env->GetFileSystem().get(), file_path,
                                                 FileOptions(EnvOptions(options))));
  auto opened = std::make_unique<OneTable>(options, std::move(blocks));
  RETURN_IF_ERROR(opened->Load(std::move(file)));
  // Assigned to the reader only when the table is whole, so a failed Open() can be repeated.
  rep_->table = std::move(opened);
  return Status::OK();
}

// The iterator must be destroyed before this reader.
Iterator* SstFileReader::NewIterator(const ReadOptions& options) {
  if (rep_->table == nullptr) return NewErrorIterator(NotOpen());
  const bool is_stamped = rep_->table->comparator().stamp_bytes() != 0;
  ReadView view = rep_->table->AcquireView();
  const Status supported = is_stamped ? CheckStampedIterator(options, *view.super_version())
                                      : CheckIteratorOptionsSupported(options);
  if (!supported.ok()) return NewErrorIterator(supported);
  ReadOptions read = options;
  if (read.pin_data) read.allow_unprepared_value = false;  // the shown value is copied at once
  const MergeTools merge = rep_->table->tools();
  std::unique_ptr<Iterator> iterator;
  if (is_stamped) {
    iterator = std::make_unique<StampedIterator>(read, std::move(view),
                                                 StampedIterator::Setting{.merge = merge});
  } else {
    iterator =
        std::make_unique<DBIterator>(read, std::move(view), DBIteratorSetting{.merge = merge});
  }
  if (options.pin_data) iterator = std::make_unique<PinnedIterator>(std::move(iterator));
  return iterator.release();
}

namespace {

// Finds the newest version of the key that is not above the read's timestamp.
Status GetStamped(OneTable* table, const ReadOptions& read, const Slice& key,
                  PinnableSlice* value) {
  assert(table != nullptr);
  ReadView view = table->AcquireView();
  RETURN_IF_ERROR(CheckStampedRead(read, *view.super_version()));
  StampedIterator versions(StampedPointOptions(read), std::move(view),
                           {.merge = table->tools(), .is_lookup = true});
  const StampedIterator::Found found = versions.Lookup(key);
  RETURN_IF_ERROR(versions.status());
  if (found != StampedIterator::Found::kValue) return Status::NotFound();
  value->PinSelf(versions.value());
  return versions.HasManyOperands() ? Status::OkMergeOperandThresholdExceeded() : Status::OK();
}

}  // namespace

// The read searches an empty memtable and then the one table.
Status SstFileReader::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  if (rep_->table == nullptr) return NotOpen();
  assert(value != nullptr);
  value->Reset();
  if (rep_->table->comparator().stamp_bytes() != 0)
    return GetStamped(rep_->table.get(), options, key, value);
  RETURN_IF_ERROR(CheckReadOptionsSupported(options));
  const ReadView view = rep_->table->AcquireView();
  const LookupKey lookup_key(key, view.seqno(), rep_->table->comparator().order());
  PointLookup lookup(lookup_key, value);
  PointRead read(*view.super_version(), options, &lookup);
  bool is_over = false;
  {
    const EpochGuard guard;
    // What is in memory is searched within the epoch; FinishPointRead() reads from the file after
    // it.
    is_over = read.RunInEpoch(/*skips_memtables=*/false);
  }
  return FinishPointRead(rep_->table->tools(), is_over, &read);
}

Status SstFileReader::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  assert(value != nullptr);
  PinnableSlice pinned(value);
  const Status status = Get(options, key, &pinned);
  // If the read pins a block, the bytes must still be copied into the caller's string.
  if (status.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
  return status;
}

// Keys are read one by one, because one table offers nothing to read together.
std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<PinnableSlice>* values) {
  assert(values != nullptr);
  std::vector<PinnableSlice> found(keys.size());
  std::vector<Status> statuses;
  for (size_t i = 0; i < keys.size(); i++) statuses.push_back(Get(options, keys[i], &found[i]));
  assert(found.size() == keys.size() && statuses.size() == keys.size());
  *values = std::move(found);
  return statuses;
}

std::vector<Status> SstFileReader::MultiGet(const ReadOptions& options,
                                            const std::vector<Slice>& keys,
                                            std::vector<std::string>* values) {
  assert(values != nullptr);
  values->assign(keys.size(), std::string());
  std::vector<Status> statuses;
  for (size_t i = 0; i < keys.size(); i++) statuses.push_back(Get(options, keys[i], &(*values)[i]));
  assert(statuses.size() == values->size());
  return statuses;
}

// Shows every version and deletion, without merging.
std::unique_ptr<Iterator> SstFileReader::NewTableIterator() {
  if (rep_->table == nullptr) return std::unique_ptr<Iterator>(NewErrorIterator(NotOpen()));
  ReadOptions options;
  // A scan of the whole file would displace what other readers of the cache use.
  options.fill_cache = false;
  return std::make_unique<StoredEntries>(rep_->table->reader().NewIterator(options, nullptr));
}

Status SstFileReader::ParseTableIteratorKey(const Slice& raw_table_key,
                                            ParsedEntryInfo* parsed_key) const {
  return ParseEntry(raw_table_key, rep_->options.comparator, parsed_key);
}

std::shared_ptr<const TableProperties> SstFileReader::GetTableProperties() const {
  // Shared, so that the properties may outlive the reader.
  return rep_->table == nullptr ? nullptr : rep_->table->reader().shared_properties();
}

// Reads all blocks of the table.
Status SstFileReader::VerifyChecksum(const ReadOptions& read_options) {
  if (rep_->table == nullptr) return NotOpen();
  return rep_->table->reader().VerifyChecksums(read_options);
}

// Counts the entries and compares with the table's properties.
Status SstFileReader::VerifyNumEntries(const ReadOptions& read_options) {
  if (rep_->table == nullptr) return NotOpen();
  const TableReader& reader = rep_->table->reader();
  ReadOptions options = read_options;
  // Every block is read once, so caching it would only displace others.
  options.fill_cache = false;
  const std::unique_ptr<InternalIterator> it(reader.NewIterator(options, nullptr));
  uint64_t found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) found++;
  RETURN_IF_ERROR(it->status());
  const PropertiesView& properties = reader.facts();
  // num_entries includes the range tombstones, which are not in the data blocks.
  // If damaged properties make this wrap around, the numbers differ and the error below is
  // reported.
  const uint64_t expected = properties.num_entries - properties.num_range_deletions;
  if (found == expected) return Status::OK();
  return Status::Corruption(StrCat("table: ", reader.path(), ": expected ", expected,
                                   " entries as the properties say, found ", found));
}

}  // namespace ashlar
