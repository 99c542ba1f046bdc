// SPDX-License-Identifier: Apache-2.0
//
// LogReader reads the records of a WAL or MANIFEST. The recovery mode decides how it treats damage
// and an incomplete end. Rules: docs/formats/wal.md, sections 6 and 7.
//
// No field of a record is used before its checksum is verified. In addition to RocksDB's rules, the
// reader distinguishes damage from an incomplete end of the log by a search for intact records
// behind the bad place: a run of zeros, a cut length or a foreign log number with good records
// behind it is damage. Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ashlar/options.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "db/wal/log_format.h"
#include "util/keys/file_number.h"

namespace ashlar {

class SequentialReader;
class WalDecompressor;

// A sequential source of the bytes of a log.
class LogSource {
 public:
  virtual ~LogSource() = default;
  // The next n bytes; fewer only at the end (for now) of the file.
  virtual Status Read(size_t n, char* scratch, Slice* result) = 0;
  virtual const std::string& name() const = 0;
};
std::unique_ptr<LogSource> NewFileLogSource(std::unique_ptr<SequentialReader> file);
// A source over bytes in memory; the bytes outlive the source.
std::unique_ptr<LogSource> NewMemoryLogSource(const Slice& contents, const std::string& name);

// One place of a log that could not be read.
struct LogDamage {
  uint64_t offset = 0;         // in the file
  uint64_t dropped_bytes = 0;  // as far as known
  Status reason;               // Corruption, naming file and offset
  // Offset of an intact record behind the place, if one was found. Then the place is not an
  // incomplete end of the log.
  std::optional<uint64_t> good_record_behind;
  // All bytes of the record within one sector are zero, as after a crash before the sector was
  // written to the disk.
  bool is_unwritten = false;
};

class LogReader {
 public:
  class Reporter {
   public:
    virtual ~Reporter() = default;
    virtual void OnDamage(const LogDamage& damage) = 0;
  };

  struct Options {
    FileNumber log_number = 0;  // from the file's name; 0 for a MANIFEST
    WALRecoveryMode mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
    // Records are write batches: shorter than 12 bytes, or a sequence number of 2^56 or more, is
    // damage.
    bool is_wal = false;
    // Reading continues after a report, for callers that only log damage. Always the case with
    // kSkipAnyCorruptedRecords.
    bool continue_after_report = false;
    // The file may still grow: its end means "for now", nothing is dropped there, and ReadRecord()
    // may be called again after it returned false.
    bool is_tailing = false;
    // Another process may be writing the file, so a record that cannot be read may be one that is
    // being written: reading ends before it, nothing is reported, and no search for records behind
    // it is made. Together with is_tailing. A new reader with `start_offset` continues later.
    bool is_shared = false;
    // The record that says so is in front of `start_offset`.
    bool is_compressed = false;
    // Reading never goes beyond this offset of the file.
    uint64_t end_offset = UINT64_MAX;
    // Reading begins here, where a record or a part of one begins; the source begins with the block
    // around it (BlockOf). The rest of a record that began before this offset is skipped.
    uint64_t start_offset = 0;
  };
  static uint64_t BlockOf(uint64_t offset) { return offset - offset % kLogBlockBytes; }

  // The reporter, which may be null, outlives the reader.
  LogReader(std::unique_ptr<LogSource> source, const Options& options, Reporter* reporter);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // The next logical record, valid until the next call. False at the end of the readable records:
  // see status() for I/O errors; damage has been reported to the reporter.
  bool ReadRecord(Slice* record);

  // An error of the source, or NotSupported; not damage.
  const Status& status() const { return status_; }
  bool has_reported() const { return has_reported_; }
  // Offsets in the file of the begin and the end of the last returned record.
  uint64_t record_offset() const { return record_offset_; }
  uint64_t record_end() const { return record_end_; }
  // The end of the last record about the log itself (compression, timestamp sizes, predecessor); 0:
  // there was none.
  uint64_t special_end() const { return special_end_; }
  // Mode kPointInTimeRecovery: the log ended in a rest of the older log in its file. The next log
  // then does not continue this one.
  bool ended_at_old_record() const { return ended_at_old_record_; }
  // With is_shared: the reason why the record behind the last one could not be read; null at the
  // end of the file.
  const char* unreadable() const { return unreadable_; }
  // Bytes of an unfinished record that were dropped silently at the end of the file.
  uint64_t torn_tail_bytes() const { return torn_tail_bytes_; }

  // The contents of the records about the log itself, as far as the log was read.
  bool is_compressed() const { return decompressor_ != nullptr; }
  const std::vector<TimestampSize>& timestamp_sizes() const { return timestamp_sizes_; }
  const std::optional<PredecessorWalInfo>& predecessor() const { return predecessor_; }

  // For a tailing reader: the file may be read up to this offset from now on.
  void SetEnd(uint64_t end_offset) { options_.end_offset = end_offset; }

 private:
  // Results of the physical layer: log_reader_internal.h.
  enum class Kind : uint8_t;
  enum class Event : uint8_t;
  struct Physical;

  // Physical layer (log_blocks.cc): one header and payload after the other.
  Physical ReadPhysical();
  Physical EndHere() const;
  Physical ParseHeader();
  Physical ParseRecord(size_t record_bytes);
  Physical JudgeOldRecord(const char* header, size_t record_bytes);
  Physical JudgeZeros();
  Physical Damage(Kind kind, const char* what);
  bool EndsUnwritten(size_t record_bytes);
  Physical JudgeUnwritten();
  bool HasUnwrittenSector(size_t begin, size_t end) const;
  bool IsStaleHere() const;
  bool FillBlock();
  bool FillWholeBlock();
  bool NextBlock();
  size_t ReadSource(size_t n, char* dst);
  bool ReadAhead(uint64_t base);
  std::optional<uint64_t> FindGoodRecordBehind(uint64_t offset);
  std::optional<uint64_t> SearchGoodRecordBehind(uint64_t offset);
  bool IsGoodRecordAt(const char* p, size_t available) const;

  // Logical layer (log_reader.cc).
  bool HandlePhysical(const Physical& physical, Slice* record);
  bool HandleRecord(const Physical& physical, Slice* record);
  bool HandleFragment(const Physical& physical, Slice* record);
  void HandleSpecial(const Physical& physical);
  void HandleCompression(const Physical& physical);
  void StartDecompressor();
  void LookForCompression(const Slice& payload);
  void HandleTimestampSizes(const Physical& physical);
  bool FinishRecord(const Physical& last, const Slice& payload, Slice* record);
  void DropFragments();
  void ReactToDamage(Physical physical);
  void React(Event event, const Physical& physical);
  void StopAt(const Physical& physical);
  bool GoesOnAfterDamage() const {
    return options_.continue_after_report ||
           options_.mode == WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  void Report(const Physical& physical, std::optional<uint64_t> good_record_behind);

  const std::unique_ptr<LogSource> source_;
  Options options_;
  Reporter* const reporter_;
  Status status_;

  // The current block: bytes [block_offset_, block_offset_ + limit_) of the file, consumed up to
  // position_. After damage position_ may be beyond limit_, because the rest of the block is
  // skipped.
  const std::unique_ptr<char[]> block_;
  uint64_t block_offset_ = 0;
  size_t position_ = 0;
  size_t limit_ = 0;
  // Bytes behind the current block that were read ahead to judge a bad place.
  std::string ahead_;
  size_t ahead_position_ = 0;
  bool nothing_good_behind_ = false;  // a search found nothing, so no later one will

  bool is_finished_ = false;
  bool has_reported_ = false;
  bool is_recycled_ = false;      // a recyclable header was seen
  bool has_read_record_ = false;  // a complete logical record was returned
  bool has_open_record_ = false;  // a First fragment was read, but not its Last
  bool skips_rest_ = false;       // reading began inside a record, whose rest is skipped
  std::string fragments_;         // payload of the open record, or of the last returned record
  uint64_t fragments_offset_ = 0;
  uint64_t record_offset_ = 0;
  uint64_t record_end_ = 0;
  uint64_t special_end_ = 0;
  bool ended_at_old_record_ = false;
  uint64_t torn_tail_bytes_ = 0;
  const char* unreadable_ = nullptr;

  std::unique_ptr<WalDecompressor> decompressor_;
  std::string decompressed_;
  std::vector<TimestampSize> timestamp_sizes_;
  std::optional<PredecessorWalInfo> predecessor_;
};

}  // namespace ashlar
