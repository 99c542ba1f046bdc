// SPDX-License-Identifier: Apache-2.0
//
// Opening, families, and writes. ttl_reads.cc has the reads.
#include "db/utilities/ttl/db_with_ttl.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "ashlar/env.h"
#include "ashlar/utilities/object_registry.h"
#include "db/state/family_handle.h"
#include "db/utilities/ttl/ttl_batch.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

std::shared_ptr<SystemClock> ClockOf(const DBOptions& options) {
  return (options.env == nullptr ? Env::Default() : options.env)->GetSystemClock();
}

// The user's object inside a wrapper of this kind; else the object itself.
template <typename Wrapper, typename Object, typename GetInner>
auto Unwrapped(const Object& object, GetInner&& inner) {
  // The class name is checked instead of the type, because the library does not use RTTI.
  if (object != nullptr && object->IsInstanceOf(Wrapper::kClassName())) {
    return inner(static_cast<const Wrapper&>(*object));
  }
  return object;
}

}  // namespace

// Wrappers that are in the options already, from an OPTIONS file or another DBWithTTL, are taken
// off first, so that values never get two times.
TtlFamily WrapForTtl(const ColumnFamilyOptions& options, int32_t ttl,
                     const std::shared_ptr<SystemClock>& clock, const TtlOptions& ttl_options) {
  TtlFamily family;
  assert(clock != nullptr);
  family.options = options;
  family.ttl = std::make_shared<TtlSetting>(ttl);
  const CompactionFilter* const filter = Unwrapped<TtlCompactionFilter>(
      options.compaction_filter,
      [](const TtlCompactionFilter& wrapper) { return wrapper.user_filter(); });
  // A filter of the user is wrapped; without one a factory does the work, which may wrap that of
  // the user. If the options have a filter, the engine does not ask the factory.
  if (filter != nullptr) {
    // Owned by the database object, because the options only borrow a filter.
    family.filter = std::make_unique<TtlCompactionFilter>(clock, family.ttl, filter);
    family.options.compaction_filter = family.filter.get();
  } else {
    family.options.compaction_filter = nullptr;
    family.options.compaction_filter_factory = std::make_shared<TtlCompactionFilterFactory>(
        clock, family.ttl,
        Unwrapped<TtlCompactionFilterFactory>(
            options.compaction_filter_factory,
            [](const TtlCompactionFilterFactory& wrapper) { return wrapper.user_factory(); }));
  }
  const std::shared_ptr<MergeOperator> merge_operator = Unwrapped<TtlMergeOperator>(
      options.merge_operator,
      [](const TtlMergeOperator& wrapper) { return wrapper.user_operator(); });
  // A merge operator that wraps nothing could not merge, so without one there is none.
  family.options.merge_operator = nullptr;
  if (merge_operator != nullptr) {
    family.options.merge_operator =
        std::make_shared<TtlMergeOperator>(merge_operator, clock, ttl_options.merge_keeps_time);
  }
  return family;
}

// With this an OPTIONS file that names the wrappers can be loaded.
void RegisterTtlObjects() {
  // A local static is initialized once, also if several threads come at the same time.
  static const int registered = [] {
    const std::shared_ptr<ObjectLibrary>& library = ObjectLibrary::Default();
    library->AddFactory<MergeOperator>(
        TtlMergeOperator::kClassName(),
        [](const std::string&, std::unique_ptr<MergeOperator>* guard, std::string*) {
          // Such an object has no operator of the user; the settings of the OPTIONS file add it.
          guard->reset(new TtlMergeOperator(nullptr, SystemClock::Default(), false));
          return guard->get();
        });
    library->AddFactory<CompactionFilterFactory>(
        TtlCompactionFilterFactory::kClassName(),
        [](const std::string&, std::unique_ptr<CompactionFilterFactory>* guard, std::string*) {
          guard->reset(new TtlCompactionFilterFactory(SystemClock::Default(),
                                                      std::make_shared<TtlSetting>(0), nullptr));
          return guard->get();
        });
    return 2;
  }();
  static_cast<void>(registered);
}

Status DBWithTTL::Open(const Options& options, const std::string& dbname, DBWithTTL** dbptr,
                       int32_t ttl, bool read_only) {
  std::vector<ColumnFamilyHandle*> handles;
  const Status status =
      Open(DBOptions(options), dbname, {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)},
           &handles, dbptr, {ttl}, read_only, TtlOptions());
  // The database has a handle of its own for the default family.
  if (status.ok()) return (*dbptr)->DestroyColumnFamilyHandle(handles.front());
  return status;
}

Status DBWithTTL::Open(const DBOptions& db_options, const std::string& dbname,
                       const std::vector<ColumnFamilyDescriptor>& column_families,
                       std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                       const std::vector<int32_t>& ttls, bool read_only) {
  return Open(db_options, dbname, column_families, handles, dbptr, ttls, read_only, TtlOptions());
}

Status DBWithTTL::Open(const DBOptions& db_options, const std::string& dbname,
                       const std::vector<ColumnFamilyDescriptor>& column_families,
                       std::vector<ColumnFamilyHandle*>* handles, DBWithTTL** dbptr,
                       const std::vector<int32_t>& ttls, bool read_only,
                       const TtlOptions& ttl_options) {
  assert(dbptr != nullptr && handles != nullptr);
  *dbptr = nullptr;
  RegisterTtlObjects();
  if (ttls.size() != column_families.size()) {
    return Status::InvalidArgument(StrCat("DBWithTTL::Open: ", ttls.size(), " TTLs for ",
                                          column_families.size(), " column families"));
  }
  // One clock for all families, so that their times can be compared.
  const std::shared_ptr<SystemClock> clock = ClockOf(db_options);
  std::vector<TtlFamily> wrapped;
  // The list of the program is not changed: the wrappers are set in a copy.
  std::vector<ColumnFamilyDescriptor> descriptors = column_families;
  for (size_t i = 0; i < descriptors.size(); ++i) {
    wrapped.push_back(WrapForTtl(descriptors[i].options, ttls[i], clock, ttl_options));
    descriptors[i].options = wrapped.back().options;
  }
  std::unique_ptr<DB> db;
  RETURN_IF_ERROR(read_only ? DB::OpenForReadOnly(db_options, dbname, descriptors, handles, &db)
                            : DB::Open(db_options, dbname, descriptors, handles, &db));
  // The filters of the families go to the object before the program can use it. Until then
  // compactions that opening has started use them through `wrapped`.
  auto opened = std::make_unique<DBWithTTLImpl>(std::move(db), clock, ttl_options);
  assert(wrapped.size() == descriptors.size());
  for (size_t i = 0; i < wrapped.size(); ++i) {
    // The ids are known only after the opening, and the MANIFEST has given them.
    opened->Add((*handles)[i]->GetID(), std::move(wrapped[i]));
  }
  *dbptr = opened.release();
  return Status::OK();
}

DBWithTTLImpl::DBWithTTLImpl(std::unique_ptr<DB> db, std::shared_ptr<SystemClock> clock,
                             const TtlOptions& ttl_options)
    : DBWithTTL(std::move(db)), clock_(std::move(clock)), ttl_options_(ttl_options) {
  assert(clock_ != nullptr);
}

// The database closes first, as its compactions use the filters; the base class then finds a null.
DBWithTTLImpl::~DBWithTTLImpl() { delete std::exchange(db_, nullptr); }

void DBWithTTLImpl::Add(uint32_t family_id, TtlFamily family) {
  assert(family.ttl != nullptr);
  MutexLock lock(&mutex_);
  ttls_.emplace(family_id, std::move(family.ttl));
  // Filters are never removed, because a compaction of a dropped family may still use its filter.
  if (family.filter != nullptr) filters_.push_back(std::move(family.filter));
}

std::shared_ptr<TtlSetting> DBWithTTLImpl::FindTtl(ColumnFamilyHandle* family) const {
  // The setting is shared: it stays valid if the family is dropped while a reader uses it.
  if (family == nullptr) return nullptr;
  // A family of another database may have the same number.
  const auto* const own = static_cast<const FamilyHandle*>(db_->DefaultColumnFamily());
  if (!static_cast<const FamilyHandle*>(family)->SharesDbWith(*own)) return nullptr;
  MutexLock lock(&mutex_);
  const auto found = ttls_.find(family->GetID());
  return found == ttls_.end() ? nullptr : found->second;
}

void DBWithTTLImpl::SetTtl(ColumnFamilyHandle* family, int32_t ttl) {
  const std::shared_ptr<TtlSetting> setting = FindTtl(family);
  // Jobs that run read the new value at once.
  // Relaxed: nothing else depends on the moment at which a job sees the new value.
  if (setting != nullptr) setting->seconds.store(ttl, std::memory_order_relaxed);
}

Status DBWithTTLImpl::GetTtl(ColumnFamilyHandle* family, int32_t* ttl) {
  assert(ttl != nullptr);
  const std::shared_ptr<TtlSetting> setting = FindTtl(family);
  if (setting == nullptr) return Status::InvalidArgument("DBWithTTL::GetTtl: unknown family");
  *ttl = setting->seconds.load(std::memory_order_relaxed);
  return Status::OK();
}

// "ashlar.ttl" is the time to live in seconds; 0 means that values do not expire.
bool DBWithTTLImpl::GetIntProperty(ColumnFamilyHandle* family, const Slice& property,
                                   uint64_t* value) {
  if (property != Slice("ashlar.ttl")) return db_->GetIntProperty(family, property, value);
  assert(value != nullptr);
  int32_t ttl = 0;
  if (!GetTtl(family, &ttl).ok()) return false;
  // Negative values mean the same as 0, and the property has no sign.
  *value = static_cast<uint64_t>(std::max(ttl, 0));
  return true;
}

bool DBWithTTLImpl::GetProperty(ColumnFamilyHandle* family, const Slice& property,
                                std::string* value) {
  uint64_t number = 0;
  assert(value != nullptr);
  if (property != Slice("ashlar.ttl")) return db_->GetProperty(family, property, value);
  if (!GetIntProperty(family, property, &number)) return false;
  *value = std::to_string(number);
  return true;
}

// The filter is kept after an error too: the family may exist, if only its OPTIONS file could not
// be written.
template <typename Make>
Status DBWithTTLImpl::Create(const ColumnFamilyOptions& options, int32_t ttl, Make&& make,
                             ColumnFamilyHandle** handle) {
  assert(handle != nullptr);
  TtlFamily family = WrapForTtl(options, ttl, clock_, ttl_options_);
  const Status status = make(family.options);
  if (status.ok()) {
    Add((*handle)->GetID(), std::move(family));
  } else if (family.filter != nullptr) {
    // The engine may already use the filter in a family whose creation was reported as failed.
    MutexLock lock(&mutex_);
    filters_.push_back(std::move(family.filter));
  }
  return status;
}

Status DBWithTTLImpl::CreateColumnFamily(const ColumnFamilyOptions& options,
                                         const std::string& name, ColumnFamilyHandle** handle) {
  // Without a TTL the values still get a time, so that one can be set later.
  return CreateColumnFamilyWithTtl(options, name, handle, 0);
}

Status DBWithTTLImpl::CreateColumnFamilyWithTtl(const ColumnFamilyOptions& options,
                                                const std::string& name,
                                                ColumnFamilyHandle** handle, int ttl) {
  return Create(
      options, ttl,
      [&](const ColumnFamilyOptions& wrapped) {
        return db_->CreateColumnFamily(wrapped, name, handle);
      },
      handle);
}

Status DBWithTTLImpl::CreateColumnFamilyWithImport(
    const ColumnFamilyOptions& options, const std::string& name,
    const ImportColumnFamilyOptions& import_options,
    const std::vector<const ExportImportFilesMetaData*>& metadatas, ColumnFamilyHandle** handle) {
  return Create(
      options, 0,
      [&](const ColumnFamilyOptions& wrapped) {
        return db_->CreateColumnFamilyWithImport(wrapped, name, import_options, metadatas, handle);
      },
      handle);
}

Status DBWithTTLImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                          const Slice& value) {
  // A single value goes the way of a batch, so there is one place that adds times.
  WriteBatch batch;
  RETURN_IF_ERROR(batch.Put(family, key, value));
  return Write(options, &batch);
}

Status DBWithTTLImpl::Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                          const Slice& ts, const Slice& value) {
  WriteBatch batch;
  RETURN_IF_ERROR(batch.Put(family, key, ts, value));
  return Write(options, &batch);
}

Status DBWithTTLImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, const Slice& value) {
  WriteBatch batch;
  RETURN_IF_ERROR(batch.Merge(family, key, value));
  return Write(options, &batch);
}

Status DBWithTTLImpl::Merge(const WriteOptions& options, ColumnFamilyHandle* family,
                            const Slice& key, const Slice& ts, const Slice& value) {
  WriteBatch batch;
  RETURN_IF_ERROR(batch.Merge(family, key, ts, value));
  return Write(options, &batch);
}

Status DBWithTTLImpl::PutEntity(const WriteOptions&, ColumnFamilyHandle*, const Slice&,
                                const WideColumns&) {
  return Status::NotSupported("DBWithTTL: PutEntity: wide columns have no place for a time");
}
Status DBWithTTLImpl::PutEntity(const WriteOptions&, const Slice&, const AttributeGroups&) {
  return Status::NotSupported("DBWithTTL: PutEntity: wide columns have no place for a time");
}

Status DBWithTTLImpl::Write(const WriteOptions& options, WriteBatch* updates) {
  return WriteWithCallback(options, updates, nullptr);
}

// The batch of the program is not changed; a copy with times is written instead.
Status DBWithTTLImpl::WriteWithCallback(const WriteOptions& options, WriteBatch* updates,
                                        UserWriteCallback* callback) {
  if (updates == nullptr) return Status::InvalidArgument("DBWithTTL::Write: needs a batch");
  int64_t seconds = 0;
  // One time for the whole batch: its updates become visible together.
  RETURN_IF_ERROR(ReadWriteTime(clock_.get(), &seconds));
  // Room for the times of all values, so the batch does not grow while it is filled.
  // Each update needs at most one time; deletions need none, so the room is an upper bound.
  WriteBatch timed(updates->GetDataSize() + updates->Count() * kWriteTimeBytes, /*max_bytes=*/0,
                   updates->GetProtectionBytesPerKey(), /*default_cf_ts_sz=*/0);
  RETURN_IF_ERROR(AddWriteTimes(*updates, seconds, &timed));
  return callback == nullptr ? db_->Write(options, &timed)
                             : db_->WriteWithCallback(options, &timed, callback);
}

Status DBWithTTLImpl::IngestWriteBatchWithIndex(const WriteOptions&,
                                                std::shared_ptr<WriteBatchWithIndex>) {
  return Status::NotSupported(
      "DBWithTTL: IngestWriteBatchWithIndex: the values have no times; use Write()");
}

}  // namespace ashlar
