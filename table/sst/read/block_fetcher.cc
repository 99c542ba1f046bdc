// SPDX-License-Identifier: Apache-2.0
//
// Stored bytes are read into memory on the stack if they fit, as nearly all data blocks do; they
// are needed only until they are decompressed or copied.
#include "table/sst/read/block_fetcher.h"

#include <cassert>
#include <cstring>
#include <string>
#include <utility>

#include "ashlar/statistics.h"
#include "table/format/properties.h"
#include "table/sst/read/readahead.h"
#include "util/statistics/perf_level_impl.h"
#include "util/statistics/statistics.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

constexpr std::string_view kFilterKind = "filter";
constexpr std::string_view kIndexKind = "index";
constexpr std::string_view kPropertiesKind = "properties";

// Counts a block that was read from the file in the thread's perf context.
void CountRead(size_t bytes, uint64_t PerfContextBase::*bytes_of_kind) {
  // Without counting the thread's context is not even touched.
  if (!CountsPerf()) return;
  PerfContext* const context = get_perf_context();
  assert(context != nullptr);
  context->block_read_count++;
  context->block_read_byte += bytes;
  context->*bytes_of_kind += bytes;
  if (bytes_of_kind == &PerfContextBase::index_block_read_byte) context->index_block_read_count++;
  if (bytes_of_kind == &PerfContextBase::filter_block_read_byte) context->filter_block_read_count++;
  if (bytes_of_kind == &PerfContextBase::compression_dict_block_read_byte) {
    context->compression_dict_block_read_count++;
  }
}

// The counter of bytes for blocks other than data blocks and filters.
uint64_t PerfContextBase::*BytesOf(std::string_view kind) {
  if (kind.starts_with(kIndexKind)) return &PerfContextBase::index_block_read_byte;
  if (kind.starts_with(kDictionaryKind)) return &PerfContextBase::compression_dict_block_read_byte;
  return &PerfContextBase::metadata_block_read_byte;
}

// Runs a step of reading a block and adds its time to a counter of the perf context, if times are
// measured.
template <typename Step>
auto Timed(uint64_t PerfContextBase::*nanos, Step step) {
  const PerfTimer timer(nanos);
  return step();
}

// Memory for the stored bytes of one block; on the stack up to 16 KiB.
class StoredBytes {
 public:
  // Returns memory for `n` bytes, valid as long as this object. Called once.
  char* Reserve(size_t n) {
    assert(heap_ == nullptr);
    if (n <= sizeof(inline_)) return inline_;
    heap_ = std::make_unique_for_overwrite<char[]>(n);
    return heap_.get();
  }

 private:
  std::unique_ptr<char[]> heap_;
  char inline_[16 * 1024];
};

Status AsData(const Slice& contents, DataBlock* block) {
  assert(block != nullptr);
  return Block::Parse(contents, &block->block);
}

}  // namespace

// Adds the kind of block, the path and the position to an error, which keeps its code.
[[gnu::cold]] Status BlockFetcher::Describe(const Status& status, std::string_view kind,
                                            const BlockHandle& handle) const {
  const char* detail = status.getState() == nullptr ? "" : status.getState();
  const std::string message =
      StrCat(kind, ": ", path(), ", offset ", handle.offset, ", ", handle.size, " bytes: ", detail);
  if (status.IsNotSupported()) return Status::NotSupported(message);
  if (status.IsCorruption()) return Status::Corruption(message);
  return status;
}

Status BlockFetcher::CheckHandle(const BlockHandle& handle, std::string_view kind) const {
  if (handle.FitsBefore(limit_)) [[likely]]
    return Status::OK();
  return Status::Corruption(StrCat(kind, ": ", path(), ", offset ", handle.offset, ", ",
                                   handle.size, " bytes, but blocks end before ", limit_));
}

Result<DataBlock*> BlockFetcher::ReadData(const BlockHandle& handle, Readahead* readahead,
                                          const IOOptions& io, const Making& making) const {
  RETURN_IF_ERROR(CheckHandle(handle, kDataKind));
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  StoredBytes scratch;
  // The read happens in this memory, unless the file is mapped.
  char* const memory = scratch.Reserve(n);
  Slice stored;
  const CpuTimer cpu_timer(&PerfContextBase::block_read_cpu_time);
  const bool is_for_compaction = io.io_activity == Env::IOActivity::kCompaction;
  const StopWatch watch(SystemClock::Default().get(), statistics_,
                        is_for_compaction ? READ_BLOCK_COMPACTION_MICROS : READ_BLOCK_GET_MICROS);
  RETURN_IF_ERROR(Timed(&PerfContextBase::block_read_time, [&]() -> Status {
    if (readahead != nullptr) return readahead->Read(*file_, handle.offset, n, memory, &stored, io);
    // Both ways read the trailer too, which has the checksum.
    return file_->ReadExactly(handle.offset, n, memory, &stored, io);
  }));
  return ParseData(handle, stored.data(), making);
}

// If the second read fails too, the first error is returned, because it describes the bytes that
// the caller has.
Result<const char*> BlockFetcher::Verified(const BlockHandle& handle, const char* stored,
                                           std::string_view kind, PageArray* again) const {
  assert(again != nullptr);
  const Status status = Verify(handle, stored, kind);
  if (status.ok()) [[likely]]
    return stored;
  // The bytes may have been damaged on their way; a second read tells that from damage of the file.
  if (!status.IsCorruption()) return status;
  RecordTick(statistics_, FILE_READ_CORRUPTION_RETRY_COUNT);
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  // The new memory must live as long as the bytes that are returned.
  *again = MakePageArray(n);
  Slice bytes;
  if (!file_->ReadAgain(handle.offset, n, again->get(), &bytes).ok()) return status;
  if (!Verify(handle, bytes.data(), kind).ok()) return status;
  RecordTick(statistics_, FILE_READ_CORRUPTION_RETRY_SUCCESS_COUNT);
  return bytes.data();
}

// The properties block may have been changed after the table was written (its global sequence
// number), so its checksum has a rule of its own.
Status BlockFetcher::Verify(const BlockHandle& handle, const char* stored,
                            std::string_view kind) const {
  assert(stored != nullptr);
  assert(handle.FitsBefore(limit_));
  RecordTick(statistics_, BLOCK_CHECKSUM_COMPUTE_COUNT);
  Status status = Timed(&PerfContextBase::block_checksum_time, [&] {
    if (kind == kPropertiesKind) return VerifyPropertiesBlock(checksum_, handle, stored, path());
    return VerifyBlock(checksum_, handle, stored, {path(), kind});
  });
  if (status.IsCorruption()) RecordTick(statistics_, BLOCK_CHECKSUM_MISMATCH_COUNT);
  return status;
}

bool BlockFetcher::IsIntact(const BlockHandle& handle, const char* stored) const {
  assert(stored != nullptr);
  return Verify(handle, stored, kDataKind).ok();
}

// Blocks that are stored uncompressed are only copied, and are not measured.
Status BlockFetcher::Uncompress(const CompressedBlock& compressed,
                                const UncompressionDict* dictionary, char* raw) const {
  assert(raw != nullptr);
  if (compressed.type == kNoCompression) return UncompressBlock(compressed, dictionary, raw);
  const PerfTimer timer(&PerfContextBase::block_decompress_time);
  AddPerfCount(&PerfContextBase::block_decompress_count);
  SystemClock* const clock = WantsTimers(statistics_) ? SystemClock::Default().get() : nullptr;
  const uint64_t start_nanos = clock == nullptr ? 0 : clock->NowNanos();
  Status status = UncompressBlock(compressed, dictionary, raw);
  if (clock != nullptr) {
    RecordTime(statistics_, DECOMPRESSION_TIMES_NANOS, clock->NowNanos() - start_nanos);
  }
  RecordTick(statistics_, NUMBER_BLOCK_DECOMPRESSED);
  RecordTick(statistics_, BYTES_DECOMPRESSED_FROM, compressed.payload.size());
  RecordTick(statistics_, BYTES_DECOMPRESSED_TO, compressed.raw_bytes);
  return status;
}

Status BlockFetcher::CheckData(const BlockHandle& handle) const {
  return CheckHandle(handle, kDataKind);
}

Result<DataBlock*> BlockFetcher::ParseData(const BlockHandle& handle, const char* bytes,
                                           const Making& making) const {
  assert(handle.FitsBefore(limit_));
  assert(bytes != nullptr);
  CountRead(static_cast<size_t>(handle.size) + kBlockTrailerBytes,
            &PerfContextBase::data_block_read_byte);
  PageArray again;
  ASSIGN_OR_RETURN(const char* const stored, Verified(handle, bytes, kDataKind, &again));
  const CompressionType type = StoredCompressionType(stored, handle.size);
  const Slice payload(stored, static_cast<size_t>(handle.size));
  Result<CompressedBlock> compressed = ParseCompressedBlock(type, payload);
  if (!compressed.ok()) return Describe(compressed.status(), kDataKind, handle);
  const UncompressionDict* const dictionary =
      making.dictionary != nullptr ? making.dictionary : dictionary_;
  const bool decodes = making.decode_in && compressed->raw_bytes <= DecodedBlock::kMaxBlockBytes;
  Result<DataBlock*> block = decodes ? MakeDecoded(*compressed, dictionary, *making.decode_in)
                                     : MakeAsStored(*compressed, dictionary);
  if (!block.ok()) return Describe(block.status(), kDataKind, handle);
  return block;
}

// The block in the form of the file: entries are decoded when they are read.
Result<DataBlock*> BlockFetcher::MakeAsStored(const CompressedBlock& compressed,
                                              const UncompressionDict* dictionary) const {
  auto block = ObjectRef<DataBlock>::Own(DataBlock::Allocate(compressed.raw_bytes));
  RETURN_IF_ERROR(Uncompress(compressed, dictionary, block->bytes()));
  RETURN_IF_ERROR(AsData(Slice(block->bytes(), compressed.raw_bytes), block.get()));
  block->Protect(checksum_bytes_);
  return block.Leave();
}

// The block with all entries decoded, which makes later searches faster and needs more memory.
Result<DataBlock*> BlockFetcher::MakeDecoded(const CompressedBlock& compressed,
                                             const UncompressionDict* dictionary,
                                             KeyOrder order) const {
  assert(checksum_bytes_ == 0);  // only blocks in stored form have checksums of entries
  StoredBytes scratch;
  Slice raw = compressed.payload;
  if (compressed.type != kNoCompression) {
    char* const memory = scratch.Reserve(compressed.raw_bytes);
    RETURN_IF_ERROR(Uncompress(compressed, dictionary, memory));
    raw = Slice(memory, compressed.raw_bytes);
  }
  Block parsed;
  RETURN_IF_ERROR(Block::Parse(raw, &parsed));
  if (DataBlock* const decoded = DataBlock::Decode(parsed, order)) return decoded;
  // A block that cannot be decoded is kept in the form of the file.
  return MakeAsStored({.raw_bytes = raw.size(), .payload = raw}, /*dictionary=*/nullptr);
}

Result<FilterBlock*> BlockFetcher::ReadFilter(const BlockHandle& handle,
                                              const IOOptions& io) const {
  RETURN_IF_ERROR(CheckHandle(handle, kFilterKind));
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  auto filter = ObjectRef<FilterBlock>::Own(FilterBlock::Allocate(n));
  Slice stored;
  const PerfTimer timer(&PerfContextBase::read_filter_block_nanos);
  RETURN_IF_ERROR(Timed(&PerfContextBase::block_read_time, [&] {
    return file_->ReadExactly(handle.offset, n, filter->bytes(), &stored, io);
  }));
  return FinishFilter(handle, stored.data(), std::move(filter));
}

Result<FilterBlock*> BlockFetcher::ParseFilter(const BlockHandle& handle,
                                               const char* stored) const {
  assert(stored != nullptr);
  assert(handle.FitsBefore(limit_));
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  return FinishFilter(handle, stored, ObjectRef<FilterBlock>::Own(FilterBlock::Allocate(n)));
}

// `bytes` may lie in the filter's own memory.
Result<FilterBlock*> BlockFetcher::FinishFilter(const BlockHandle& handle, const char* bytes,
                                                ObjectRef<FilterBlock> filter) const {
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  CountRead(n, &PerfContextBase::filter_block_read_byte);
  PageArray again;
  ASSIGN_OR_RETURN(const char* const stored, Verified(handle, bytes, kFilterKind, &again));
  // In a mapped file the bytes are elsewhere, and the filter needs a copy of its own.
  if (stored != filter->bytes()) std::memcpy(filter->bytes(), stored, n);
  if (StoredCompressionType(filter->bytes(), handle.size) != kNoCompression) {
    return Describe(Status::Corruption("a filter is never compressed"), kFilterKind, handle);
  }
  filter->view = FilterView(Slice(filter->bytes(), static_cast<size_t>(handle.size)));
  // The caller gets the reference that is taken here.
  filter->Ref();
  return filter.get();
}

// A block that belongs to the caller and is not in the cache.
Result<LooseBlock> BlockFetcher::ReadLoose(const BlockHandle& handle, std::string_view kind,
                                           const IOOptions& io) const {
  RETURN_IF_ERROR(CheckHandle(handle, kind));
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  auto memory = MakePageArray(n);
  Slice stored;
  const PerfTimer timer(
      kind.starts_with(kIndexKind) && TimesPerf() ? SystemClock::Default().get() : nullptr,
      &PerfContextBase::read_index_block_nanos);
  RETURN_IF_ERROR(Timed(&PerfContextBase::block_read_time, [&] {
    return file_->ReadExactly(handle.offset, n, memory.get(), &stored, io);
  }));
  return FinishLoose(handle, kind, stored.data(), std::move(memory));
}

// `stored` are the bytes of the block as they are in the file, with the trailer. They are copied.
Result<LooseBlock> BlockFetcher::ParseLoose(const BlockHandle& handle, std::string_view kind,
                                            const char* stored) const {
  assert(stored != nullptr);
  assert(handle.FitsBefore(limit_));
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  auto memory = MakePageArray(n);
  char* const bytes = memory.get();
  std::memcpy(bytes, stored, n);
  return FinishLoose(handle, kind, bytes, std::move(memory));
}

// `bytes` are the bytes as the file stores them. They lie in `memory`, or in memory that belongs to
// the file object (for example a mapping).
Result<LooseBlock> BlockFetcher::FinishLoose(const BlockHandle& handle, std::string_view kind,
                                             const char* bytes, PageArray memory) const {
  assert(bytes != nullptr);
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  CountRead(n, BytesOf(kind));
  PageArray again;
  ASSIGN_OR_RETURN(const char* const stored, Verified(handle, bytes, kind, &again));
  if (again != nullptr) memory = std::move(again);
  const CompressionType type = StoredCompressionType(stored, handle.size);
  const Slice payload(stored, static_cast<size_t>(handle.size));
  // The contents point into the memory, so both are returned together.
  if (type == kNoCompression) return LooseBlock{.memory = std::move(memory), .contents = payload};
  Result<CompressedBlock> compressed = ParseCompressedBlock(type, payload);
  if (!compressed.ok()) return Describe(compressed.status(), kind, handle);
  auto raw = MakePageArray(compressed->raw_bytes);
  Status status = Uncompress(*compressed, nullptr, raw.get());
  if (!status.ok()) return Describe(status, kind, handle);
  const Slice contents(raw.get(), compressed->raw_bytes);
  return LooseBlock{.memory = std::move(raw), .contents = contents};
}

// The properties are never compressed.
Result<LooseBlock> BlockFetcher::ReadProperties(const BlockHandle& handle) const {
  RETURN_IF_ERROR(CheckHandle(handle, kPropertiesKind));
  const size_t n = static_cast<size_t>(handle.size) + kBlockTrailerBytes;
  auto memory = MakePageArray(n);
  Slice stored;
  RETURN_IF_ERROR(file_->ReadExactly(handle.offset, n, memory.get(), &stored));
  PageArray again;
  ASSIGN_OR_RETURN(const char* const verified,
                   Verified(handle, stored.data(), kPropertiesKind, &again));
  if (again != nullptr) memory = std::move(again);
  if (StoredCompressionType(verified, handle.size) != kNoCompression) {
    return Describe(Status::Corruption("properties are never compressed"), kPropertiesKind, handle);
  }
  const Slice contents(verified, static_cast<size_t>(handle.size));
  return LooseBlock{.memory = std::move(memory), .contents = contents};
}

}  // namespace ashlar
