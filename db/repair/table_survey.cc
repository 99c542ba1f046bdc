// SPDX-License-Identifier: Apache-2.0
//
// Tables are read without a block cache: each of them is read once or twice and then never again.
#include "db/repair/table_survey.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/options.h"
#include "db/blob/blob_format.h"
#include "db/table_cache/table_bounds.h"
#include "env/random_reader.h"
#include "table/format/unique_id.h"
#include "table/sst/read/table_identity.h"
#include "table/sst/read/table_salvage.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Reads every entry, without displacing blocks of running databases from a shared cache.
ReadOptions WholeTable() {
  ReadOptions read;
  read.fill_cache = false;
  read.total_order_seek = true;
  return read;
}

// The oldest blob file that an entry refers to.
Status NoteOldestBlob(const TableReader& table, FileMetadata* meta) {
  assert(meta != nullptr);
  const std::unique_ptr<InternalIterator> it(table.NewIterator(WholeTable(), nullptr));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (TrailerType(ExtractTrailer(it->key())) != kTypeBlobIndex) continue;
    BlobIndex index;
    RETURN_IF_ERROR(index.DecodeFrom(it->value()));
    FileNumber& oldest = meta->oldest_blob_file_number;
    oldest = oldest == 0 ? index.file : std::min(oldest, index.file);
  }
  return it->status();
}

// The unique id in the form of the MANIFEST; empty if the properties do not identify the table.
std::string UniqueIdOf(const TableProperties& properties) {
  std::string bytes;
  if (Result<InternalUniqueId> id = MakeInternalUniqueId(properties); id.ok()) {
    for (const uint64_t word : id->ManifestForm()) PutFixed64(&bytes, word);
  }
  return bytes;
}

// Positions the iterator at the newest version of the key, whatever its timestamp is, or at the
// next key.
void SeekFirstVersion(const InternalKeyComparator& order, const Slice& user_key,
                      InternalIterator* it) {
  assert(it != nullptr);
  it->Seek(order.FirstInternalKey(user_key));
}

SequenceNumber SeqnoAt(const InternalIterator& it) {
  assert(it.Valid());
  return TrailerSeqno(ExtractTrailer(it.key()));
}

// Sequence numbers order the versions of one key.
NewerTable Newer(SequenceNumber first, SequenceNumber second) {
  if (first == second) return NewerTable::kEqual;
  return first > second ? NewerTable::kFirst : NewerTable::kSecond;
}

// The iterators take turns: each seeks to the key of the other, so that keys of one table alone
// cost little.
Result<NewerTable> ComparePoints(const InternalKeyComparator& order, InternalIterator* a,
                                 InternalIterator* b) {
  assert(b != nullptr);
  assert(a != nullptr);
  for (a->SeekToFirst(); a->Valid();) {
    SeekFirstVersion(order, ExtractUserKey(a->key()), b);
    if (!b->Valid()) break;
    const std::string key = ExtractUserKey(b->key()).ToString();
    if (order.OrderWithoutTimestamp(ExtractUserKey(a->key()), key) != 0) {
      // The key exists in one table only, so it decides nothing.
      SeekFirstVersion(order, key, a);
      continue;
    }
    const NewerTable newer = Newer(SeqnoAt(*a), SeqnoAt(*b));
    if (newer != NewerTable::kEqual) return newer;
    // Skips the older versions of the key, because only the newest ones are compared.
    while (a->Valid() && order.OrderWithoutTimestamp(ExtractUserKey(a->key()), key) == 0) a->Next();
  }
  RETURN_IF_ERROR(a->status());
  RETURN_IF_ERROR(b->status());
  return NewerTable::kEqual;
}

// Compares the tombstones of `owner` with the points of the other table. kFirst: a tombstone hides
// an entry, so that `owner` is newer.
Result<NewerTable> CompareTombstones(const InternalKeyComparator& order, const TableReader& owner,
                                     InternalIterator* points) {
  assert(points != nullptr);
  if (owner.tombstones() == nullptr) return NewerTable::kEqual;
  for (size_t i = 0; i < owner.tombstones()->size(); i++) {
    const FragmentedTombstones::Fragment fragment = owner.tombstones()->fragment(i);
    SeekFirstVersion(order, fragment.begin, points);
    RETURN_IF_ERROR(points->status());
    if (!points->Valid()) break;
    if (order.OrderWithoutTimestamp(ExtractUserKey(points->key()), fragment.end) >= 0) continue;
    // The first sequence number of a fragment is its greatest.
    assert(!fragment.seqnos.empty());
    const NewerTable newer = Newer(fragment.seqnos.front(), SeqnoAt(*points));
    if (newer != NewerTable::kEqual) return newer;
  }
  return NewerTable::kEqual;
}

NewerTable Reversed(NewerTable newer) {
  if (newer == NewerTable::kEqual) return newer;
  return newer == NewerTable::kFirst ? NewerTable::kSecond : NewerTable::kFirst;
}

// Writes the copy of a damaged table. The file is created when there is something to write.
// One object makes at most one file.
class Copy {
 public:
  // `meta`: of the damaged table; null: its bounds are unknown.
  // `elsewhere`: see SalvageTable().
  Copy(const TableOutputOptions& options, const FileMetadata* meta, const BlobUsers* elsewhere,
       SalvagedTable* result)
      : options_(options), meta_(meta), elsewhere_(elsewhere), result_(*result) {}

  Status Add(const Slice& key, const Slice& value) {
    const ValueType type = TrailerType(ExtractTrailer(key));
    Status fit =
        IsPointEntryType(type) ? Status::OK() : Status::Corruption("unknown kind of entry");
    BlobIndex index;
    if (type == kTypeBlobIndex) fit = index.DecodeFrom(value);
    // An entry outside of the bounds might overlap another table of its level.
    if (!IsInBounds(ExtractUserKey(key))) fit = Status::Corruption("outside of the table's bounds");
    if (!fit.ok()) {
      result_.damage.push_back(StrCat("an entry: ", fit.ToString()));
      return Status::OK();
    }
    if (type == kTypeBlobIndex && elsewhere_ != nullptr &&
        IsRepeated(*elsewhere_, index.file, index.offset, TrailerSeqno(ExtractTrailer(key)))) {
      result_.repeated++;
      return Status::OK();
    }
    RETURN_IF_ERROR(Begin());
    result_.entries++;
    assert(table_ != nullptr);
    return table_->Add(key, value);
  }
  // The tombstones are cut to the bounds of the table, as its readers do.
  Status AddTombstones(const std::vector<RangeTombstone>& all) {
    std::optional<FragmentedTombstones::Border> border;
    if (meta_ != nullptr) border = FragmentedTombstones::BorderOf(meta_->smallest, meta_->largest);
    const FragmentedTombstones fragments(*options_.comparator, all, border ? &*border : nullptr);
    std::vector<RangeTombstone> cut;
    fragments.AppendTo(&cut);
    for (const RangeTombstone& tombstone : cut) {
      // Cutting may leave an empty range.
      if (options_.comparator->OrderWithoutTimestamp(tombstone.begin, tombstone.end) >= 0) continue;
      RETURN_IF_ERROR(Begin());
      result_.entries++;
      assert(table_ != nullptr);
      RETURN_IF_ERROR(table_->AddTombstone(tombstone));
    }
    return Status::OK();
  }
  Status Finish() {
    // Nothing was worth keeping, so there is no file and no description of one.
    if (table_ == nullptr) return Status::OK();
    return table_->Finish(&result_.meta.emplace());
  }

 private:
  // Whether the user key is within the recorded bounds, if there are any.
  bool IsInBounds(const Slice& user_key) const {
    if (meta_ == nullptr) return true;
    const InternalKeyComparator& order = *options_.comparator;
    return order.OrderWithoutTimestamp(user_key, meta_->smallest_user_key()) >= 0 &&
           order.OrderWithoutTimestamp(user_key, meta_->largest_user_key()) <= 0;
  }
  Status Begin() {
    if (table_ != nullptr) return Status::OK();
    ASSIGN_OR_RETURN(table_, TableOutput::Create(options_));
    return Status::OK();
  }

  const TableOutputOptions& options_;
  const FileMetadata* const meta_;
  const BlobUsers* const elsewhere_;
  SalvagedTable& result_;
  std::unique_ptr<TableOutput> table_;
};

}  // namespace

Result<std::unique_ptr<TableReader>> OpenTableForRepair(const TableReadContext& context,
                                                        const std::string& path,
                                                        const FileMetadata* meta) {
  assert(context.fs != nullptr && context.comparator != nullptr);
  ASSIGN_OR_RETURN(auto file, RandomReader::Open(context.fs, path, context.file_options));
  TableReaderOptions options;
  // The MANIFEST's facts are checked by the reader.
  options.icmp = context.comparator;
  options.prefix_extractor = context.prefix_extractor;
  std::optional<FragmentedTombstones::Border> border;
  if (meta != nullptr) {
    options.manifest_smallest_seqno = meta->smallest_seqno;
    options.manifest_largest_seqno = meta->largest_seqno;
    options.expected_unique_id = meta->unique_id;
    border = FragmentedTombstones::BorderOf(meta->smallest, meta->largest);
    options.border = &*border;
  }
  // The border must live until the table is open, because the reader cuts its tombstones by it.
  return TableReader::Open(std::move(file), options);
}

Status VerifyTable(const TableReadContext& context, const std::string& path,
                   const FileMetadata& meta) {
  ASSIGN_OR_RETURN(const auto table, OpenTableForRepair(context, path, &meta));
  // Another length means that it is another file, or a cut one.
  if (table->file_size() != meta.file_size) {
    return Status::Corruption(
        StrCat(path, ": ", table->file_size(), " bytes, but the MANIFEST says ", meta.file_size));
  }
  const RecordedBounds bounds{.smallest = meta.smallest,
                              .largest = meta.largest,
                              .smallest_seqno = meta.smallest_seqno,
                              .largest_seqno = meta.largest_seqno};
  return table->VerifyChecksums(WholeTable(), &bounds);
}

Result<FileMetadata> DescribeTable(const TableReadContext& context, const std::string& path,
                                   FileNumber number) {
  ASSIGN_OR_RETURN(const auto table, OpenTableForRepair(context, path, nullptr));
  RETURN_IF_ERROR(table->VerifyChecksums(WholeTable()));
  ASSIGN_OR_RETURN(const TableBounds bounds, FindTableBounds(*table, *context.comparator));
  assert(context.comparator != nullptr);
  // An empty table would have no place in the tree.
  if (bounds.empty()) return Status::Corruption(path, "has no entries");
  const TableProperties properties = table->properties();
  FileMetadata meta;
  meta.number = number;
  meta.file_size = table->file_size();
  meta.smallest = bounds.smallest;
  meta.largest = bounds.largest;
  meta.smallest_seqno = bounds.smallest_seqno;
  meta.largest_seqno = bounds.largest_seqno;
  meta.oldest_ancestor_time = properties.creation_time;
  meta.file_creation_time = properties.file_creation_time;
  if (properties.tail_start_offset > 0 && properties.tail_start_offset < meta.file_size) {
    meta.tail_bytes = meta.file_size - properties.tail_start_offset;
  }
  meta.unique_id = UniqueIdOf(properties);
  RETURN_IF_ERROR(NoteOldestBlob(*table, &meta));
  return meta;
}

Result<SalvagedTable> SalvageTable(const TableReadContext& context, const std::string& path,
                                   const FileMetadata* meta, const BlobUsers* elsewhere,
                                   const TableOutputOptions& output) {
  SalvagedTable result;
  // The file under this number may be of another database.
  // Without an id the bounds decide, entry by entry.
  if (meta != nullptr && !meta->unique_id.empty()) {
    const auto properties = ReadTableProperties(context.fs, path);
    if (properties.ok() && UniqueIdOf(properties.value()) != meta->unique_id) {
      result.damage.push_back("another file lies under its name");
      return result;
    }
  }
  Copy copy(output, meta, elsewhere, &result);
  const SequenceNumber largest_seqno = meta != nullptr ? meta->largest_seqno : kMaxSequenceNumber;
  const SalvageVisitor visitor{
      .entry = [&copy](const Slice& key, const Slice& value) { return copy.Add(key, value); },
      .tombstones =
          [&copy](const std::vector<RangeTombstone>& all) { return copy.AddTombstones(all); },
      .damage = [&result](const Status& damage) { result.damage.push_back(damage.ToString()); }};
  const Status read = ReadDamagedTable(context.fs, context.file_options, path, *context.comparator,
                                       largest_seqno, visitor);
  if (!read.ok() && !read.IsCorruption()) return read;
  // The part that was read is kept.
  if (!read.ok()) result.damage.push_back(read.ToString());
  RETURN_IF_ERROR(copy.Finish());
  return result;
}

Result<BlobUsers> FindBlobUsers(const TableReadContext& context, const std::string& path,
                                const FileMetadata& meta) {
  BlobUsers users;
  ASSIGN_OR_RETURN(const auto table, OpenTableForRepair(context, path, &meta));
  const std::unique_ptr<InternalIterator> it(table->NewIterator(WholeTable(), nullptr));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const auto trailer = ExtractTrailer(it->key());
    if (TrailerType(trailer) != kTypeBlobIndex) continue;
    BlobIndex index;
    if (!index.DecodeFrom(it->value()).ok()) continue;  // reads of this key return Corruption
    users[index.file].emplace(index.offset, TrailerSeqno(trailer));
  }
  RETURN_IF_ERROR(it->status());
  return users;
}

bool IsRepeated(const BlobUsers& users, FileNumber blob_file, uint64_t offset,
                SequenceNumber seqno) {
  const auto of_file = users.find(blob_file);
  if (of_file == users.end()) return false;
  const auto user = of_file->second.find(offset);
  return user != of_file->second.end() && user->second >= seqno;
}

Status CountBlobUses(const TableReadContext& context, const std::string& path,
                     const FileMetadata& meta, SurveyedBlobs* uses) {
  assert(uses != nullptr);
  ASSIGN_OR_RETURN(const auto table, OpenTableForRepair(context, path, &meta));
  const std::unique_ptr<InternalIterator> it(table->NewIterator(WholeTable(), nullptr));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    if (TrailerType(ExtractTrailer(it->key())) != kTypeBlobIndex) continue;
    BlobIndex index;
    if (!index.DecodeFrom(it->value()).ok()) continue;  // reads of this key return Corruption
    SurveyedBlob& use = (*uses)[index.file];
    use.count++;
    use.bytes += BlobRecordBytes(ExtractUserKey(it->key()).size(), index.size);
  }
  return it->status();
}

Result<NewerTable> CompareTableAges(const TableReadContext& context, const TableReader& first,
                                    const TableReader& second) {
  assert(context.comparator != nullptr);
  const InternalKeyComparator& order = *context.comparator;
  const std::unique_ptr<InternalIterator> of_first(first.NewIterator(WholeTable(), nullptr));
  const std::unique_ptr<InternalIterator> of_second(second.NewIterator(WholeTable(), nullptr));
  // Common keys decide; without any, tombstones that cover keys of the other table do.
  ASSIGN_OR_RETURN(NewerTable newer, ComparePoints(order, of_first.get(), of_second.get()));
  if (newer != NewerTable::kEqual) return newer;
  ASSIGN_OR_RETURN(newer, CompareTombstones(order, first, of_second.get()));
  if (newer != NewerTable::kEqual) return newer;
  ASSIGN_OR_RETURN(newer, CompareTombstones(order, second, of_first.get()));
  // The arguments were exchanged in the last comparison, so its result is turned around.
  return Reversed(newer);
}

}  // namespace ashlar
