// SPDX-License-Identifier: Apache-2.0
//
// If checksums are verified, the whole record is read, otherwise only the value. If the value is
// not compressed, the memory that was read becomes the value's memory, without a copy.
#include "db/blob/blob_store.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "ashlar/system_clock.h"
#include "env/filename.h"
#include "env/io_deadline.h"
#include "env/io_rule.h"
#include "env/read_together.h"
#include "table/format/compression.h"
#include "util/keys/coding.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/data_in_errors.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// A gap of this size is read along, because reading it costs less than one more read.
constexpr uint64_t kWorthReadingOver = 16 << 10;
// The maximal size of a piece of several records.
constexpr uint64_t kMostOfAPiece = 1 << 20;

// Deadlines of reads refer to this clock.
SystemClock* ClockOf(const BlobStoreOptions& options) {
  return options.clock != nullptr ? options.clock : SystemClock::Default().get();
}

// Adds the place to an error.
Status InFile(const Status& status, const std::string& path, uint64_t offset, const Slice& key) {
  return Status::CopyAppendMessage(status, "; in ",
                                   StrCat(path, ", offset ", offset, ", key ", KeyInError(key)));
}

}  // namespace

// A value in its own memory, as it is in the cache.
class BlobStore::Value {
 public:
  // `value` lies in `memory`.
  Value(std::unique_ptr<char[]> memory, size_t memory_bytes, const Slice& value)
      : memory_(std::move(memory)), memory_bytes_(memory_bytes), value_(value) {}
  explicit Value(const Slice& value)
      : memory_(std::make_unique_for_overwrite<char[]>(value.size())), memory_bytes_(value.size()) {
    std::memcpy(memory_.get(), value.data(), value.size());
    value_ = Slice(memory_.get(), value.size());
  }

  const Slice& value() const { return value_; }
  size_t charge() const { return sizeof(Value) + memory_bytes_; }

  static const Cache::CacheItemHelper* Helper() {
    static constexpr Cache::CacheItemHelper kHelper(
        CacheEntryRole::kBlobValue, [](Cache::ObjectPtr value, MemoryAllocator* /*unused*/) {
          delete static_cast<Value*>(value);
        });
    return &kHelper;
  }

 private:
  const std::unique_ptr<char[]> memory_;
  const size_t memory_bytes_;
  Slice value_;
};

// A value that must be read, and where it is.
struct BlobStore::Located {
  BlobIndex index;
  std::shared_ptr<BlobFile> file;
  std::shared_ptr<const OpenBlobFile> open;
  uint64_t begin = 0;  // range to read: the record, or only the value
  uint64_t end = 0;
  size_t place = 0;  // index in the span of reads
};

// Without a cache, the id is not used.
BlobStore::BlobStore(BlobStoreOptions options)
    : options_(std::move(options)),
      cache_id_(options_.cache == nullptr ? 0 : options_.cache->NewId()) {}

std::string BlobStore::PathOf(FileNumber number) const {
  return BlobFileName(options_.dir, number);
}

std::string BlobStore::CacheKey(FileNumber file, uint64_t offset) const {
  std::string key;
  key.reserve(3 * sizeof(uint64_t));
  PutFixed64(&key, cache_id_);
  PutFixed64(&key, file.value());
  PutFixed64(&key, offset);
  return key;
}

// Decodes the index, and finds the file. Corruption if the version does not have it.
Status BlobStore::Locate(const BlobFiles* files, const BlobRead& read, Located* located) {
  assert(located != nullptr);
  BlobIndex& index = located->index;
  const Status decoded = index.DecodeFrom(read.index);
  if (!decoded.ok()) {
    return Status::CopyAppendMessage(decoded, "; of key ", KeyInError(read.user_key));
  }
  const BlobFiles::Live* const live = files == nullptr ? nullptr : files->Find(index.file);
  if (live == nullptr) {
    return Status::Corruption(StrCat("key ", KeyInError(read.user_key), " refers to ",
                                     index.DebugString(), ", but the MANIFEST has no such file"));
  }
  located->file = live->file;
  const uint64_t least = kBlobHeaderBytes + kBlobRecordHeaderBytes + read.user_key.size();
  if (index.offset >= least) return Status::OK();
  return InFile(Status::Corruption(StrCat("blob index: no value can be before offset ", least)),
                located->file->path, index.offset, read.user_key);
}

// A value that is found is pinned by the handle of the cache until `value` is reset.
bool BlobStore::FindInCache(const Located& located, BlobRead* read) const {
  assert(read != nullptr);
  Cache* const cache = options_.cache.get();
  if (cache == nullptr) return false;
  Cache::Handle* const handle =
      cache->Lookup(CacheKey(located.index.file, located.index.offset), Value::Helper());
  if (handle == nullptr) {
    RecordTick(options_.statistics, BLOB_DB_CACHE_MISS);
    return false;
  }
  const Slice value = static_cast<const Value*>(cache->Value(handle))->value();
  RecordTick(options_.statistics, BLOB_DB_CACHE_HIT);
  RecordTick(options_.statistics, BLOB_DB_CACHE_BYTES_READ, value.size());
  AddPerfCount(&PerfContextBase::blob_cache_hit_count);
  AddPerfCount(&PerfContextBase::blob_cache_read_byte, value.size());
  // A cached value may outlive the file: it is pinned by the handle, not by the file.
  read->value->Reset();
  read->value->PinSlice(
      value,
      [](void* owner, void* held) {
        static_cast<Cache*>(owner)->Release(static_cast<Cache::Handle*>(held));
      },
      cache, handle);
  return true;
}

// Opens a file, and checks its header and footer against the metadata.
Result<std::shared_ptr<const OpenBlobFile>> BlobStore::OpenFile(const BlobFile& file) const {
  AssertIoAllowed();
  auto open = std::make_shared<OpenBlobFile>();
  ASSIGN_OR_RETURN(open->reader, RandomReader::Open(options_.fs, file.path, options_.file_options));
  RecordTick(options_.statistics, NO_FILE_OPENS);
  const uint64_t bytes = open->reader->size();
  // The header and the footer are read separately; both are small.
  if (bytes < kBlobHeaderBytes + kBlobFooterBytes) {
    return Status::Corruption(StrCat(file.path, ": ", bytes,
                                     " bytes, but a blob file has at least ",
                                     kBlobHeaderBytes + kBlobFooterBytes));
  }
  const auto in_file = [&file](const Status& status, const char* what, uint64_t offset) {
    return Status::CopyAppendMessage(status, "; in ",
                                     StrCat(what, " of ", file.path, ", offset ", offset));
  };
  char scratch[std::max(kBlobHeaderBytes, kBlobFooterBytes)];
  Slice result;
  RETURN_IF_ERROR(open->reader->ReadExactly(0, kBlobHeaderBytes, scratch, &result));
  BlobFileHeader header;
  Status status = header.DecodeFrom(result);
  if (status.ok() && header.family_id != file.family_id) {
    status = Status::Corruption(
        StrCat("the file is of column family ", header.family_id, ", expected ", file.family_id));
  }
  if (!status.ok()) return in_file(status, "header", 0);
  open->compression = header.compression;
  const uint64_t footer_offset = bytes - kBlobFooterBytes;
  RETURN_IF_ERROR(open->reader->ReadExactly(footer_offset, kBlobFooterBytes, scratch, &result));
  BlobFileFooter footer;
  status = footer.DecodeFrom(result);
  if (!status.ok()) return in_file(status, "footer", footer_offset);
  // Values are read in the order of keys, which is not that of the file.
  open->reader->Hint(FSRandomAccessFile::kRandom);
  return std::shared_ptr<const OpenBlobFile>(std::move(open));
}

// Notes an open file. If the number of open files is limited, the files that were opened first are
// closed: one, or several if the limit was lowered.
void BlobStore::NoteOpened(const std::shared_ptr<BlobFile>& file) const {
  std::vector<std::shared_ptr<BlobFile>> victims;  // closed after the mutex is released
  {
    MutexLock lock(&mutex_);
    // Files that were destroyed meanwhile are closed already.
    std::erase_if(open_, [](const std::weak_ptr<BlobFile>& one) { return one.expired(); });
    open_.push_back(file);
    const int most =
        options_.most_open == nullptr ? -1 : options_.most_open->load(std::memory_order_relaxed);
    while (most >= 0 && open_.size() - victims.size() > static_cast<size_t>(most)) {
      victims.push_back(open_[victims.size()].lock());
    }
    // Closing is done below, because it may wait for the file system.
    open_.erase(open_.begin(), open_.begin() + static_cast<ptrdiff_t>(victims.size()));
  }
  for (const std::shared_ptr<BlobFile>& victim : victims) {
    if (victim != nullptr) victim->SetOpened(nullptr);
  }
}

Result<std::shared_ptr<const OpenBlobFile>> BlobStore::Open(
    const std::shared_ptr<BlobFile>& file) const {
  if (auto open = file->opened(); open != nullptr) return open;
  ASSIGN_OR_RETURN(std::shared_ptr<const OpenBlobFile> open, OpenFile(*file));
  // Two threads may open a file at the same time. Each reads through its own reader, and one of the
  // readers is kept.
  if (file->SetOpened(open) == nullptr) NoteOpened(file);
  return open;
}

// Opens the file and checks the index against it.
Status BlobStore::OpenFor(Located* located, const BlobRead& read) const {
  assert(located != nullptr);
  ASSIGN_OR_RETURN(located->open, Open(located->file));
  const BlobIndex& index = located->index;
  // The footer is not part of any record.
  const uint64_t end = located->open->reader->size() - kBlobFooterBytes;
  if (index.offset > end || index.size > end - index.offset) {
    return InFile(
        Status::Corruption(StrCat("blob index: a value of ", index.size,
                                  " bytes reaches behind the last record, which ends at ", end)),
        located->file->path, index.offset, read.user_key);
  }
  // The header says how all values of the file are compressed.
  if (index.compression != located->open->compression) {
    return InFile(Status::Corruption(StrCat(
                      "blob index: compression ", static_cast<int>(index.compression),
                      ", but that of the file is ", static_cast<int>(located->open->compression))),
                  located->file->path, index.offset, read.user_key);
  }
  return Status::OK();
}

// Makes the value from the bytes that were read, which are the range of `located`. `memory`: owns
// the bytes; null: the bytes belong to others and are copied.
Status BlobStore::Take(const Located& located, const Slice& bytes, std::unique_ptr<char[]> memory,
                       const ReadOptions& options, BlobRead* read) const {
  assert(bytes.size() == located.end - located.begin);
  const BlobIndex& index = located.index;
  AddPerfCount(&PerfContextBase::blob_read_count);
  AddPerfCount(&PerfContextBase::blob_read_byte, bytes.size());
  RecordTick(options_.statistics, BLOB_DB_BLOB_FILE_BYTES_READ, bytes.size());
  // Without verification only the value was read, and nothing is checked but the decompression.
  if (options.verify_checksums) {
    const PerfTimer timer(&PerfContextBase::blob_checksum_time);
    const Status status = CheckBlobRecord(bytes, read->user_key, index.size);
    if (!status.ok()) {
      return InFile(status, located.file->path, located.begin, read->user_key);
    }
  }
  const Slice stored(bytes.data() + (index.offset - located.begin), index.size);
  if (index.compression == kNoCompression) {
    auto value = memory != nullptr
                     ? std::make_unique<Value>(std::move(memory), bytes.size(), stored)
                     : std::make_unique<Value>(stored);
    HandOut(located, std::move(value), options.fill_cache, read);
    return Status::OK();
  }
  const PerfTimer timer(&PerfContextBase::blob_decompress_time);
  const StopWatch watch(ClockOf(options_), options_.statistics, BLOB_DB_DECOMPRESSION_MICROS);
  Result<CompressedBlock> block = ParseCompressedBlock(index.compression, stored);
  if (!block.ok()) {
    return InFile(block.status(), located.file->path, index.offset, read->user_key);
  }
  // The size was checked by ParseCompressedBlock(), so that damage cannot ask for too much memory.
  auto raw = std::make_unique_for_overwrite<char[]>(block->raw_bytes);
  const Status status = UncompressBlock(*block, /*dict=*/nullptr, raw.get());
  if (!status.ok()) return InFile(status, located.file->path, index.offset, read->user_key);
  const Slice value(raw.get(), block->raw_bytes);
  HandOut(located, std::make_unique<Value>(std::move(raw), value.size(), value), options.fill_cache,
          read);
  return Status::OK();
}

// Pins the value in read->value, and puts it into the cache if wanted. The cache then owns it.
void BlobStore::HandOut(const Located& located, std::unique_ptr<Value> value, bool fills_cache,
                        BlobRead* read) const {
  assert(read != nullptr);
  // Stays valid when the ownership of the value passes to the cache.
  const Slice bytes = value->value();
  read->value->Reset();
  if (Cache* const cache = options_.cache.get(); cache != nullptr && fills_cache) {
    Cache::Handle* handle = nullptr;
    const Status added =
        cache->Insert(CacheKey(located.index.file, located.index.offset), value.get(),
                      Value::Helper(), value->charge(), &handle, Cache::Priority::BOTTOM);
    // A cache that refuses the value leaves it to the reader.
    RecordTick(options_.statistics, added.ok() ? BLOB_DB_CACHE_ADD : BLOB_DB_CACHE_ADD_FAILURES);
    if (added.ok()) {
      RecordTick(options_.statistics, BLOB_DB_CACHE_BYTES_WRITE, value->charge());
      static_cast<void>(value.release());
      return read->value->PinSlice(
          bytes,
          [](void* owner, void* held) {
            static_cast<Cache*>(owner)->Release(static_cast<Cache::Handle*>(held));
          },
          cache, handle);
    }
  }
  read->value->PinSlice(
      bytes, [](void* owner, void* /*unused*/) { delete static_cast<Value*>(owner); }, value.get(),
      nullptr);
  static_cast<void>(value.release());
}

// The cache has its own copy, because the job continues to use the value.
void BlobStore::Prepopulate(FileNumber file, uint64_t offset, const Slice& value) const {
  if (options_.cache == nullptr) return;
  auto copy = std::make_unique<Value>(value);
  const size_t charge = copy->charge();
  const Status added = options_.cache->Insert(CacheKey(file, offset), copy.get(), Value::Helper(),
                                              charge, nullptr, Cache::Priority::BOTTOM);
  RecordTick(options_.statistics, added.ok() ? BLOB_DB_CACHE_ADD : BLOB_DB_CACHE_ADD_FAILURES);
  if (!added.ok()) return;
  static_cast<void>(copy.release());
  RecordTick(options_.statistics, BLOB_DB_CACHE_BYTES_WRITE, charge);
}

void BlobStore::Prefetch(const BlobFiles* files, const BlobIndex& index, size_t n) const {
  const BlobFiles::Live* const live = files == nullptr ? nullptr : files->Find(index.file);
  // A hint fails silently; the read reports errors.
  if (live == nullptr || n == 0) return;
  auto open = Open(live->file);
  if (!open.ok() || index.offset >= (*open)->reader->size()) return;
  const uint64_t rest = (*open)->reader->size() - index.offset;
  IgnoreError((*open)->reader->Prefetch(index.offset, std::min<uint64_t>(n, rest)), "a hint");
}

// Collects the values that can be located and are not in the cache, and reads them together.
void BlobStore::ReadMany(const BlobFiles* files, const ReadOptions& options,
                         std::span<BlobRead> reads) const {
  assert(!InEpoch());
  std::vector<Located> wanted;
  for (size_t i = 0; i < reads.size(); i++) {
    BlobRead& read = reads[i];
    Located located;
    located.place = i;
    read.status = Locate(files, read, &located);
    if (!read.status.ok() || FindInCache(located, &read)) continue;
    if (options.read_tier == kBlockCacheTier || options.read_tier == kMemtableTier) {
      read.status = Status::Incomplete("a value must be read from a blob file: no I/O allowed");
      continue;
    }
    read.status = OpenFor(&located, read);
    if (!read.status.ok()) continue;
    // The record begins with its header and the key.
    const uint64_t before =
        options.verify_checksums ? kBlobRecordHeaderBytes + read.user_key.size() : 0;
    located.begin = located.index.offset - before;
    located.end = located.index.offset + located.index.size;
    wanted.push_back(std::move(located));
  }
  if (!wanted.empty()) ReadPieces(&wanted, options, reads);
  // A failed request has no value, also not one that it pinned before.
  for (BlobRead& read : reads) {
    if (!read.status.ok()) read.value->Reset();
  }
}

// Cuts the reads, which are sorted by position, into pieces: reads that are close together form one
// piece.
std::vector<BlobStore::Piece> BlobStore::CutIntoPieces(const std::vector<Located>& wanted) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < wanted.size(); i++) {
    const Located& next = wanted[i];
    if (!pieces.empty()) {
      Piece& piece = pieces.back();
      // Same file, a small gap, and a limited total.
      const Located& first = wanted[piece.first];
      if (first.index.file == next.index.file && next.begin <= piece.end + kWorthReadingOver &&
          next.end - first.begin <= kMostOfAPiece) {
        piece.last = i;
        piece.end = std::max(piece.end, next.end);
        continue;
      }
    }
    pieces.push_back({.first = i, .last = i, .begin = next.begin, .end = next.end, .memory = {}});
  }
  assert(pieces.size() <= wanted.size());
  return pieces;
}

void BlobStore::ReadPieces(std::vector<Located>* wanted, const ReadOptions& options,
                           std::span<BlobRead> reads) const {
  assert(wanted != nullptr);
  assert(!wanted->empty());
  std::sort(wanted->begin(), wanted->end(), [](const Located& a, const Located& b) {
    return std::pair(a.index.file, a.begin) < std::pair(b.index.file, b.begin);
  });
  std::vector<Piece> pieces = CutIntoPieces(*wanted);
  std::vector<FileRead> file_reads;
  file_reads.reserve(pieces.size());
  for (Piece& piece : pieces) {
    const size_t n = piece.end - piece.begin;
    piece.memory = std::make_unique_for_overwrite<char[]>(n);
    file_reads.push_back({.file = (*wanted)[piece.first].open->reader.get(),
                          .offset = piece.begin,
                          .n = n,
                          .scratch = piece.memory.get()});
  }
  // One deadline for all pieces. If it has passed, nothing is read.
  IOOptions io;
  const Status in_time = IoDeadline(options, ClockOf(options_)).Prepare(&io);
  io.rate_limiter_priority = options.rate_limiter_priority;
  if (in_time.ok()) {
    const PerfTimer timer(&PerfContextBase::blob_read_time);
    const StopWatch watch(ClockOf(options_), options_.statistics, BLOB_DB_BLOB_FILE_READ_MICROS);
    ReadTogether(file_reads, io);
  }
  for (size_t p = 0; p < pieces.size(); p++) {
    const FileRead& done = file_reads[p];
    // The value may take over the memory of a piece that contains nothing else.
    const bool is_alone =
        pieces[p].first == pieces[p].last && done.result.data() == pieces[p].memory.get();
    for (size_t i = pieces[p].first; i <= pieces[p].last; i++) {
      const Located& located = (*wanted)[i];
      BlobRead& read = reads[located.place];
      // All requests of a piece share the result of its read.
      read.status = in_time.ok() ? done.status : in_time;
      if (!read.status.ok()) continue;
      const Slice bytes(done.result.data() + (located.begin - done.offset),
                        located.end - located.begin);
      read.status =
          Take(located, bytes, is_alone ? std::move(pieces[p].memory) : nullptr, options, &read);
    }
  }
}

Status BlobStore::Read(const BlobFiles* files, const ReadOptions& options, BlobRead* read) const {
  assert(read != nullptr);
  ReadMany(files, options, std::span(read, 1));
  return read->status;
}

}  // namespace ashlar
