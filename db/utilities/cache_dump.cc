// SPDX-License-Identifier: Apache-2.0
//
// A dump consists of metadata, packets with one block each, and a last packet with their number:
//
//   packet   fixed32 masked CRC32C of the rest, kind, and
//            for a block: role, varint32 length and bytes of the key, the saved block
//            for the end: fixed64 number of blocks
//   file     for the metadata and each packet: fixed32 length, bytes
//
// The saved form of a block has a hash of its own, and is parsed when the block is taken from the
// second tier (table/sst/read/block_forms.h). In this file it is just bytes.
#include "ashlar/utilities/cache_dump_load.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/system_clock.h"
#include "cache/cached_object.h"
#include "db/db_impl.h"
#include "env/file_writer.h"
#include "env/sequential_reader.h"
#include "util/hash/crc32c.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr char kMagic[] = "Ashlar block cache dump";
constexpr size_t kCrcBytes = 4;
// No block is larger. A damaged length cannot cause a larger allocation.
constexpr uint32_t kMostPacketBytes = 1u << 30;
enum class PacketKind : char { kBlock = 1, kEnd = 2 };

// The text at the beginning of a dump. A loader accepts only its own version.
std::string Metadata() {
  return StrCat(kMagic, "\nversion ", kCacheDumpMajorVersion, ".", kCacheDumpMinorVersion, "\n");
}

// The interfaces of RocksDB's API return IOStatus.
IOStatus ToIO(Status status) { return status_to_io_status(std::move(status)); }

// A packet that has room for the CRC at its beginning.
// The kind follows, and then what belongs to the kind; Seal() completes the packet.
std::string NewPacket(PacketKind kind) {
  std::string packet(kCrcBytes, '\0');
  packet.push_back(static_cast<char>(kind));
  return packet;
}

// Writes the CRC of the rest into the room at the beginning.
void Seal(std::string* packet) {
  assert(packet != nullptr);
  assert(packet->size() > kCrcBytes);
  const uint32_t crc = crc32c::Value(packet->data() + kCrcBytes, packet->size() - kCrcBytes);
  EncodeFixed32(packet->data(), crc32c::Mask(crc));
}

// The limits at which the work ends early.
class Limits {
 public:
  explicit Limits(const CacheDumpOptions& options)
      : clock_(options.clock != nullptr ? options.clock : SystemClock::Default().get()),
        most_bytes_(options.max_size_bytes) {
    // A deadline of 0 or less means that there is none.
    if (options.deadline.count() <= 0) return;
    end_micros_ = clock_->NowMicros() + static_cast<uint64_t>(options.deadline.count());
  }
  // Whether `bytes` more bytes fit below the limit; if so, they are counted.
  bool Take(size_t bytes) {
    // Invariant: bytes_ <= most_bytes_, so the subtraction does not wrap around.
    if (most_bytes_ != 0 && bytes > most_bytes_ - bytes_) return false;
    if (end_micros_ != 0 && clock_->NowMicros() >= end_micros_) return false;
    bytes_ += bytes;
    return true;
  }

 private:
  SystemClock* const clock_;
  const uint64_t most_bytes_;
  uint64_t end_micros_ = 0;  // 0: no limit of time
  uint64_t bytes_ = 0;
};

// Writes packets with their lengths to a file.
class FileDumpWriter final : public CacheDumpWriter {
 public:
  // The writer owns the file, which is incomplete until Close() has returned OK.
  explicit FileDumpWriter(std::unique_ptr<FileWriter> file) : file_(std::move(file)) {}
  IOStatus WriteMetadata(const Slice& metadata) override { return WritePacket(metadata); }
  IOStatus WritePacket(const Slice& data) override {
    if (data.size() > kMostPacketBytes) return IOStatus::InvalidArgument("a packet is too large");
    char length[4];
    EncodeFixed32(length, static_cast<uint32_t>(data.size()));
    // The length comes before the packet, so a reader knows how much to read before it verifies
    // anything.
    Status status = file_->Append(Slice(length, sizeof(length)));
    if (status.ok()) status = file_->Append(data);
    return ToIO(std::move(status));
  }
  // Closes the file after an error as well, and returns the first error.
  IOStatus Close() override {
    // A dump that is closed without an error is durable.
    Status status = file_->Sync();
    Status closed = file_->Close();
    return ToIO(status.ok() ? std::move(closed) : std::move(status));
  }

 private:
  const std::unique_ptr<FileWriter> file_;
};

// Reads packets from a file. An empty packet means the end of the file.
class FileDumpReader final : public CacheDumpReader {
 public:
  explicit FileDumpReader(std::unique_ptr<SequentialReader> file) : file_(std::move(file)) {}
  IOStatus ReadMetadata(std::string* metadata) override { return ToIO(Read(metadata)); }
  IOStatus ReadPacket(std::string* data) override { return ToIO(Read(data)); }

 private:
  Status Read(std::string* packet);
  Status ReadBytes(size_t bytes, std::string* result);

  const std::unique_ptr<SequentialReader> file_;
};

// A length that is too large is Corruption, and so is a file that ends early.
Status FileDumpReader::Read(std::string* packet) {
  assert(packet != nullptr);
  packet->clear();
  const uint64_t offset = file_->offset();
  char scratch[4];
  Slice length;
  RETURN_IF_ERROR(file_->Read(sizeof(scratch), scratch, &length));
  // The file ends between two packets. Whether the end is expected is for the caller to say.
  if (length.empty()) return Status::OK();
  // A partial length gets an impossible value, so that the check below reports it.
  const uint32_t bytes = length.size() == 4 ? DecodeFixed32(length.data()) : kMostPacketBytes + 1;
  if (bytes > kMostPacketBytes) {
    return Status::Corruption(
        StrCat(file_->path(), ": at ", offset, " is no length of a packet of a cache dump"));
  }
  RETURN_IF_ERROR(ReadBytes(bytes, packet));
  if (packet->size() == bytes) return Status::OK();
  return Status::Corruption(StrCat(file_->path(), ": the packet at ", offset, " has ", bytes,
                                   " bytes, but only ", packet->size(), " are there"));
}

// Reads in pieces, so that a damaged length does not allocate more memory than the file has bytes.
Status FileDumpReader::ReadBytes(size_t bytes, std::string* result) {
  assert(result != nullptr);
  constexpr size_t kPieceBytes = 1 << 20;
  while (result->size() < bytes) {
    const size_t before = result->size();
    const size_t wanted = std::min(kPieceBytes, bytes - before);
    result->resize(before + wanted);
    Slice piece;
    const Status status = file_->Read(wanted, result->data() + before, &piece);
    // A file system may return memory of its own instead of filling the buffer.
    if (status.ok() && !piece.empty() && piece.data() != result->data() + before) {
      std::copy(piece.data(), piece.data() + piece.size(), result->data() + before);
    }
    // Shortened to what was read; after an error the bytes of this piece do not count.
    result->resize(before + (status.ok() ? piece.size() : 0));
    RETURN_IF_ERROR(status);
    // A short read means the end of the file; Read() compares the sizes.
    if (piece.size() < wanted) break;
  }
  return Status::OK();
}

// Writes the entries of a cache through a CacheDumpWriter.
class Dumper final : public CacheDumper {
 public:
  Dumper(const CacheDumpOptions& options, std::shared_ptr<Cache> cache,
         std::unique_ptr<CacheDumpWriter> writer)
      : options_(options), cache_(std::move(cache)), writer_(std::move(writer)) {}

  // Adds the tables of these databases; the databases must be open.
  Status SetDumpFilter(std::vector<DB*> db_list) override;
  // The writer is closed after an error as well.
  IOStatus DumpCacheEntriesToWriter() override {
    IOStatus status = Dump();
    IOStatus closed = writer_->Close();
    return status.ok() ? closed : status;
  }

 private:
  std::vector<std::string> WantedKeys() const;
  bool IsWanted(const Slice& key, const Cache::CacheItemHelper* helper) const;
  IOStatus Dump();
  // Returns the packet of an entry; empty if the entry is not in the cache any more.
  Status Save(const std::string& key, std::string* packet) const;

  const CacheDumpOptions options_;
  const std::shared_ptr<Cache> cache_;
  const std::unique_ptr<CacheDumpWriter> writer_;
  // Whether only the files of file_ids_ count.
  bool is_filtered_ = false;
  // The ids of the files whose blocks are dumped, in the form in which BlockKey has them.
  std::set<uint64_t> file_ids_;
};

// Only blocks of the tables of these databases are dumped.
Status Dumper::SetDumpFilter(std::vector<DB*> db_list) {
  is_filtered_ = true;
  // A filter without any database leaves nothing to dump, which differs from no filter.
  for (DB* db : db_list) {
    if (db == nullptr) continue;
    RETURN_IF_ERROR(static_cast<DBImpl*>(db->GetRootDB())->CollectCacheFileIds(&file_ids_));
  }
  return Status::OK();
}

// Entries that cannot be saved in a second tier, such as table readers, are not dumped.
bool Dumper::IsWanted(const Slice& key, const Cache::CacheItemHelper* helper) const {
  if (helper == nullptr || !helper->IsSecondaryCacheCompatible()) return false;
  if (!is_filtered_) return true;
  // Keys of other objects in the same cache have other lengths.
  if (key.size() != sizeof(BlockKey)) return false;
  BlockKey block;
  std::copy(key.data(), key.data() + key.size(), reinterpret_cast<char*>(&block));
  return file_ids_.contains(block.file_id);
}

// Collects only the keys: entries are saved one by one afterwards, so that nothing is written and
// little is allocated while the cache is locked.
std::vector<std::string> Dumper::WantedKeys() const {
  std::vector<std::string> keys;
  cache_->ApplyToAllEntries(
      [&](const Slice& key, Cache::ObjectPtr, size_t, const Cache::CacheItemHelper* helper) {
        if (IsWanted(key, helper)) keys.push_back(key.ToString());
      },
      {});
  return keys;
}

// The handle keeps the entry alive while it is copied.
Status Dumper::Save(const std::string& key, std::string* packet) const {
  assert(packet != nullptr);
  packet->clear();
  // The entry may have been evicted since its key was collected.
  Cache::Handle* const handle = cache_->Lookup(key);
  if (handle == nullptr) return Status::OK();
  const Cache::CacheItemHelper* const helper = cache_->GetCacheItemHelper(handle);
  const Cache::ObjectPtr object = cache_->Value(handle);
  Status status;
  if (helper != nullptr && helper->IsSecondaryCacheCompatible()) {
    *packet = NewPacket(PacketKind::kBlock);
    packet->push_back(static_cast<char>(helper->role));
    PutLengthPrefixedSlice(packet, key);
    const size_t header = packet->size(), bytes = helper->size_cb(object);
    packet->resize(header + bytes);
    status = helper->saveto_cb(object, 0, bytes, packet->data() + header);
    Seal(packet);
  }
  cache_->Release(handle);
  return status;
}

// A dump that is cut short by a limit has an end like any other, so it can be loaded.
IOStatus Dumper::Dump() {
  IOStatus written = writer_->WriteMetadata(Metadata());
  if (!written.ok()) return written;
  Limits limits(options_);
  // Entries that were evicted meanwhile are not counted, because they are not written.
  uint64_t blocks = 0;
  std::string packet;
  for (const std::string& key : WantedKeys()) {
    Status saved = Save(key, &packet);
    if (!saved.ok()) return ToIO(std::move(saved));
    if (packet.empty()) continue;
    if (!limits.Take(packet.size())) break;
    written = writer_->WritePacket(packet);
    if (!written.ok()) return written;
    blocks++;
  }
  packet = NewPacket(PacketKind::kEnd);
  PutFixed64(&packet, blocks);
  Seal(&packet);
  return writer_->WritePacket(packet);
}

// Inserts the blocks of a dump into a second tier.
class Loader final : public CacheDumpedLoader {
 public:
  Loader(const CacheDumpOptions& options, std::shared_ptr<SecondaryCache> cache,
         std::unique_ptr<CacheDumpReader> reader)
      : options_(options), cache_(std::move(cache)), reader_(std::move(reader)) {}

  // Blocks that were inserted before an error stay in the cache.
  IOStatus RestoreCacheEntriesToSecondaryCache() override { return ToIO(Restore()); }

 private:
  Status Restore();
  // Inserts one block, or verifies the number of blocks (*is_end: the packet was the last one).
  Status Take(Slice packet, bool* is_end);

  const CacheDumpOptions options_;
  const std::shared_ptr<SecondaryCache> cache_;
  const std::unique_ptr<CacheDumpReader> reader_;
  // Inserted so far.
  uint64_t blocks_ = 0;
};

// Stops at the end packet, or when a limit is reached.
Status Loader::Restore() {
  std::string packet;
  RETURN_IF_ERROR(reader_->ReadMetadata(&packet));
  if (packet != Metadata()) {
    return Status::Corruption(
        StrCat("not a cache dump of this version: it begins with ",
               EscapeBytes(Slice(packet.data(), std::min<size_t>(packet.size(), 80)))));
  }
  Limits limits(options_);
  for (bool is_end = false; !is_end;) {
    RETURN_IF_ERROR(reader_->ReadPacket(&packet));
    if (packet.empty()) {
      return Status::Corruption(StrCat("a cache dump ends after ", blocks_, " blocks, unfinished"));
    }
    // A limit is no error: the dump is a cache's content, of which any part is useful.
    if (!limits.Take(packet.size())) return Status::OK();
    RETURN_IF_ERROR(Take(packet, &is_end));
  }
  return Status::OK();
}

// Verifies the packet before anything in it is used.
Status Loader::Take(Slice packet, bool* is_end) {
  assert(is_end != nullptr && !*is_end);
  const auto damaged = [this](std::string_view what) {
    return Status::Corruption(StrCat("packet ", blocks_ + 1, " of a cache dump: ", what));
  };
  if (packet.size() <= kCrcBytes) return damaged("it is too short");
  const uint32_t crc = crc32c::Value(packet.data() + kCrcBytes, packet.size() - kCrcBytes);
  if (DecodeFixed32(packet.data()) != crc32c::Mask(crc)) return damaged("its checksum is wrong");
  const auto kind = static_cast<PacketKind>(packet[kCrcBytes]);
  packet.remove_prefix(kCrcBytes + 1);
  if (kind == PacketKind::kEnd) {
    *is_end = true;
    const bool is_whole = packet.size() == 8 && DecodeFixed64(packet.data()) == blocks_;
    return is_whole ? Status::OK() : damaged("the end counts other blocks");
  }
  Slice key;
  if (kind != PacketKind::kBlock || packet.empty()) return damaged("it is of no known kind");
  packet.remove_prefix(1);  // the role, which is only informational
  if (!GetLengthPrefixedSlice(&packet, &key) || key.empty()) return damaged("it has no key");
  // Counted before the insertion, because the number is compared with that of the dump.
  blocks_++;
  // The block is verified again when it is taken from the second tier.
  return cache_->InsertSaved(key, packet, kNoCompression, CacheTier::kVolatileTier);
}

}  // namespace

IOStatus NewToFileCacheDumpWriter(const std::shared_ptr<FileSystem>& fs,
                                  const FileOptions& file_opts, const std::string& file_name,
                                  std::unique_ptr<CacheDumpWriter>* writer) {
  assert(fs != nullptr && writer != nullptr);
  auto file = FileWriter::Create(fs.get(), file_name, file_opts);
  if (!file.ok()) return ToIO(file.status());
  *writer = std::make_unique<FileDumpWriter>(file.Take());
  return IOStatus::OK();
}

IOStatus NewFromFileCacheDumpReader(const std::shared_ptr<FileSystem>& fs,
                                    const FileOptions& file_opts, const std::string& file_name,
                                    std::unique_ptr<CacheDumpReader>* reader) {
  assert(fs != nullptr && reader != nullptr);
  auto file = SequentialReader::Open(fs.get(), file_name, file_opts);
  if (!file.ok()) return ToIO(file.status());
  *reader = std::make_unique<FileDumpReader>(file.Take());
  return IOStatus::OK();
}

// The dumper owns the writer; the cache stays that of the caller and may be in use meanwhile.
Status NewDefaultCacheDumper(const CacheDumpOptions& dump_options,
                             const std::shared_ptr<Cache>& cache,
                             std::unique_ptr<CacheDumpWriter>&& writer,
                             std::unique_ptr<CacheDumper>* cache_dumper) {
  if (cache == nullptr || writer == nullptr) {
    return Status::InvalidArgument("NewDefaultCacheDumper: it needs a cache and a writer");
  }
  assert(cache_dumper != nullptr);
  *cache_dumper = std::make_unique<Dumper>(dump_options, cache, std::move(writer));
  return Status::OK();
}

Status NewDefaultCacheDumpedLoader(const CacheDumpOptions& dump_options,
                                   const BlockBasedTableOptions& /*toptions*/,
                                   const std::shared_ptr<SecondaryCache>& secondary_cache,
                                   std::unique_ptr<CacheDumpReader>&& reader,
                                   std::unique_ptr<CacheDumpedLoader>* cache_dump_loader) {
  if (secondary_cache == nullptr || reader == nullptr) {
    return Status::InvalidArgument(
        "NewDefaultCacheDumpedLoader: it needs a secondary cache and a reader");
  }
  assert(cache_dump_loader != nullptr);
  *cache_dump_loader = std::make_unique<Loader>(dump_options, secondary_cache, std::move(reader));
  return Status::OK();
}

}  // namespace ashlar
