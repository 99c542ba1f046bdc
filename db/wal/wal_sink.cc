// SPDX-License-Identifier: Apache-2.0
//
// The parts that both sinks share, and the choice between them.
#include "db/wal/wal_sink.h"

#include <cassert>
#include <new>
#include <utility>

#include "db/wal/buffered_wal_sink.h"
#include "db/wal/mapped_wal_sink.h"
#include "db/wal/wal_compression.h"
#include "env/filename.h"
#include "util/keys/coding.h"

namespace ashlar {

WalSink::WalSink(const WalSinkOptions& options)
    : log_number_(options.log_number),
      path_(options.path),
      framing_(options.log_number, options.is_recyclable || !options.recycle_path.empty(),
               /*is_compressed=*/options.compressors != nullptr),
      compressors_(options.compressors),
      statistics_(options.statistics),
      sync_count_(options.sync_count) {}

Status WalSink::AddSpecialRecord(LogRecordType legacy_type, const Slice& payload) {
  assert(legacy_type >= LogRecordType::kSetCompression);
  std::string bytes;
  const uint64_t offset = reserved_end_.load(std::memory_order_relaxed);
  AppendSpecialRecord(framing_, offset, legacy_type, payload, &bytes);
  const Range range{offset, offset + bytes.size()};
  reserved_end_.store(range.end, std::memory_order_relaxed);
  try {
    return StageRaw(range, bytes);
  } catch (const std::bad_alloc&) {
    // The reserved range will never be staged, and closing the log must not wait for it.
    Abandon(Status::MemoryLimit(path_, "no memory to stage a record"));
    return error();
  }
}

Status WalSink::AddRecord(const Slice& record) {
  if (compressors_ == nullptr) return Stage(Reserve(record.size()), Slice(), record);
  std::string frame;
  RETURN_IF_ERROR(compressors_->Compress(record, &frame));
  return Stage(Reserve(frame.size()), Slice(), frame);
}

Status WalSink::Append(const Slice& record) {
  RETURN_IF_ERROR(AddRecord(record));
  return Deliver(size());
}

namespace {

// A mapped sink if options, file system and kernel allow it; else a buffered one.
Result<std::unique_ptr<WalSink>> OpenPlainSink(const WalSinkOptions& options) {
  if (options.allow_mapped && MappedWalSink::IsPossible(options)) {
    auto sink = MappedWalSink::Open(options);
    if (sink.ok() || !sink.status().IsNotSupported()) return sink;
  }
  return BufferedWalSink::Open(options);
}

}  // namespace

// Half of the capacity of a mapped log: the other half is for the commits in flight, each of which
// may have a batch of 4 GiB.
uint64_t MaxLogBytes(const WalSinkOptions& options) {
  const bool may_be_mapped = options.allow_mapped && MappedWalSink::IsPossible(options);
  return may_be_mapped ? options.mapped_capacity / 2 : UINT64_MAX;
}

Result<std::unique_ptr<WalSink>> OpenWalSink(const WalSinkOptions& options) {
  NewEntries entry(options.fs, DirectoryOf(options.path));
  ASSIGN_OR_RETURN(std::unique_ptr<WalSink> sink, OpenPlainSink(options));
  sink->SetEntry(std::move(entry));
  if (options.compressors == nullptr) return sink;
  std::string kind;
  PutFixed32(&kind, kWalCompressionZstd);
  RETURN_IF_ERROR(sink->AddSpecialRecord(LogRecordType::kSetCompression, kind));
  return sink;
}

}  // namespace ashlar
