// SPDX-License-Identifier: Apache-2.0
//
// The logical layer of LogReader: joins fragments, and reacts to events according to one table.
#include "db/wal/log_reader.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "db/wal/log_reader_internal.h"
#include "db/wal/wal_compression.h"
#include "util/keys/internal_key.h"
#include "util/text/str_cat.h"

namespace ashlar {

enum class LogReader::Event : uint8_t {
  kEofInRecord,
  kIncompleteTail,
  kBadLength,
  kBadChecksum,
  kRecycledDamage,  // bad length or checksum in a recycled log
  kOldRecord,
  kOldRecordInRecord,
  kStaleBytes,  // bytes that are not an intact record and do not belong to this log
  kStructure,   // fragments that do not fit together, records of unknown kind
  kShortRecord,
  kBadSeqno,
};

namespace {

// A write batch begins with a sequence number and a count.
constexpr size_t kMinWalRecordBytes = 12;

enum class Action : uint8_t {
  kOn,      // drops the record silently, and reads on
  kEnd,     // ends the log silently
  kReport,  // reports the damage; continue_after_report decides whether to read on
  kReportEnd,
};
constexpr Action kOn = Action::kOn, kEnd = Action::kEnd;
constexpr Action kReport = Action::kReport, kReportEnd = Action::kReportEnd;

// The action for each event and recovery mode: docs/formats/wal.md, section 7.
constexpr Action kActions[][4] = {
    // tolerate tail, absolute, point in time, skip any
    {kEnd, kReport, kReportEnd, kEnd},     // kEofInRecord
    {kEnd, kReport, kReportEnd, kEnd},     // kIncompleteTail
    {kReport, kReport, kReport, kReport},  // kBadLength
    {kReport, kReport, kReport, kReport},  // kBadChecksum
    {kEnd, kReport, kReport, kReport},     // kRecycledDamage
    {kEnd, kEnd, kEnd, kOn},               // kOldRecord
    {kEnd, kReport, kReportEnd, kOn},      // kOldRecordInRecord
    {kEnd, kReport, kEnd, kEnd},           // kStaleBytes
    {kReport, kReport, kReport, kReport},  // kStructure
    {kReport, kReport, kReport, kOn},      // kShortRecord
    {kReport, kReport, kReport, kOn},      // kBadSeqno
};

}  // namespace

LogReader::LogReader(std::unique_ptr<LogSource> source, const Options& options, Reporter* reporter)
    : source_(std::move(source)),
      options_(options),
      reporter_(reporter),
      block_(new char[kLogBlockBytes]),
      block_offset_(BlockOf(options.start_offset)),
      position_(static_cast<size_t>(options.start_offset - block_offset_)),
      skips_rest_(options.start_offset > 0) {
  assert(!options_.is_shared || options_.is_tailing);
  if (options_.is_compressed) StartDecompressor();
}

LogReader::~LogReader() = default;

// A tailing reader that comes to the end is not finished: a later call continues there, after the
// writer has appended.
bool LogReader::ReadRecord(Slice* record) {
  while (!is_finished_ && status_.ok()) {
    const Physical physical = ReadPhysical();
    if (!status_.ok()) return false;
    if (physical.kind == Kind::kEof) {
      if (options_.is_tailing) return false;
      if (has_open_record_) React(Event::kEofInRecord, physical);
      is_finished_ = true;
    } else if (HandlePhysical(physical, record)) {
      return true;
    }
  }
  return false;
}

// True if *record is complete.
bool LogReader::HandlePhysical(const Physical& physical, Slice* record) {
  assert(!is_finished_);
  assert(physical.kind != Kind::kEof);
  if (options_.is_shared && physical.kind != Kind::kRecord) {
    StopAt(physical);
    return false;
  }
  switch (physical.kind) {
    case Kind::kRecord: return HandleRecord(physical, record);
    case Kind::kIncompleteTail:
    case Kind::kBadLength:
    case Kind::kBadChecksum: ReactToDamage(physical); break;
    case Kind::kOldRecord:
      ended_at_old_record_ = options_.mode == WALRecoveryMode::kPointInTimeRecovery;
      React(has_open_record_ ? Event::kOldRecordInRecord : Event::kOldRecord, physical);
      break;
    case Kind::kEof: break;
  }
  return false;
}

// Returns true if *record is a complete logical record.
bool LogReader::HandleRecord(const Physical& physical, Slice* record) {
  switch (static_cast<LogRecordType>(physical.type)) {
    case LogRecordType::kFull:
    case LogRecordType::kRecyclableFull:
    case LogRecordType::kFirst:
    case LogRecordType::kRecyclableFirst:
    case LogRecordType::kMiddle:
    case LogRecordType::kRecyclableMiddle:
    case LogRecordType::kLast:
    case LogRecordType::kRecyclableLast: return HandleFragment(physical, record);
    default: HandleSpecial(physical); return false;
  }
}

// Joins the fragments of a record that spans blocks.
bool LogReader::HandleFragment(const Physical& physical, Slice* record) {
  assert(physical.type > 0);
  const int kind = (physical.type - 1) % 4;  // full, first, middle, last
  const bool begins = kind <= 1, ends = kind == 0 || kind == 3;
  if (begins && has_open_record_) {
    if (!fragments_.empty()) {
      Physical dropped = physical;
      dropped.what = "record begins inside another";
      dropped.bytes = fragments_.size();
      React(Event::kStructure, dropped);
      if (is_finished_) return false;
    }
    DropFragments();
  }
  if (begins) skips_rest_ = false;
  if (!begins && skips_rest_) return false;
  if (!begins && !has_open_record_) {
    Physical dropped = physical;
    dropped.what = "continuation of no record";
    React(Event::kStructure, dropped);
    return false;
  }
  if (begins) {
    fragments_.clear();  // of the last returned record, or empty
    fragments_offset_ = physical.offset;
    if (ends) return FinishRecord(physical, physical.payload, record);
    has_open_record_ = true;
  }
  assert(has_open_record_);
  fragments_.append(physical.payload.data(), physical.payload.size());
  if (!ends) return false;
  has_open_record_ = false;
  return FinishRecord(physical, fragments_, record);
}

// Checks and returns a record whose fragments were joined. Returns false if it is damaged.
bool LogReader::FinishRecord(const Physical& last, const Slice& payload, Slice* record) {
  assert(!has_open_record_);
  Physical whole = last;
  whole.offset = fragments_offset_;
  whole.bytes = payload.size();
  Slice contents = payload;
  if (decompressor_ == nullptr && has_reported_ && !has_read_record_) LookForCompression(payload);
  if (decompressor_ != nullptr) {
    if (!decompressor_->Decompress(payload, &decompressed_)) {
      whole.what = "record cannot be decompressed";
      React(Event::kStructure, whole);
      return false;
    }
    contents = decompressed_;
  }
  has_read_record_ = true;
  if (options_.is_wal && contents.size() < kMinWalRecordBytes) {
    whole.what = "record is too short for a write batch";
    React(Event::kShortRecord, whole);
    return false;
  }
  if (options_.is_wal && DecodeFixed64(contents.data()) > kMaxSequenceNumber) {
    whole.what = "sequence number of 2^56 or more";
    React(Event::kBadSeqno, whole);
    return false;
  }
  record_offset_ = fragments_offset_;
  record_end_ = last.offset + last.bytes;
  assert(record_offset_ < record_end_);
  *record = contents;
  return true;
}

// ---- Records about the log itself

// Records that describe the log itself and contain no updates. Unknown kinds whose number says that
// they may be ignored are passed over, so that logs of newer versions can be read.
void LogReader::HandleSpecial(const Physical& physical) {
  Physical report = physical;
  if (has_open_record_) {
    report.what = "record begins inside another";
    React(Event::kStructure, report);
    if (is_finished_) return;
  }
  special_end_ = physical.offset + physical.bytes;
  switch (static_cast<LogRecordType>(physical.type)) {
    case LogRecordType::kSetCompression: HandleCompression(physical); return;
    case LogRecordType::kTimestampSizes:
    case LogRecordType::kRecyclableTimestampSizes: HandleTimestampSizes(physical); return;
    case LogRecordType::kPredecessorInfo:
    case LogRecordType::kRecyclablePredecessorInfo: {
      PredecessorWalInfo info;
      if (DecodePredecessorInfo(physical.payload, &info)) {
        predecessor_ = info;
        return;
      }
      report.what = "record about the predecessor is not of 24 bytes";
      break;
    }
    default:
      if (IsIgnorableType(physical.type)) return;
      report.what = "record of unknown kind";
      break;
  }
  React(Event::kStructure, report);
}

// The record must come before all others, because the records behind it are read with the
// decompressor.
void LogReader::HandleCompression(const Physical& physical) {
  Physical report = physical;
  if (physical.payload.size() != sizeof(uint32_t) ||
      DecodeFixed32(physical.payload.data()) != kWalCompressionZstd) {
    report.what = "unknown compression";
    React(Event::kStructure, report);
    return;
  }
  if (decompressor_ != nullptr || has_read_record_) {
    report.what = "compression set after the first record";
    React(Event::kStructure, report);
    if (is_finished_) return;
  }
  StartDecompressor();
}

void LogReader::StartDecompressor() {
  auto decompressor = WalDecompressor::Create();
  status_ = decompressor.status();
  if (decompressor.ok()) decompressor_ = decompressor.Take();
}

// The record that declares compression may have been damaged. An intact frame shows as well that
// the log is compressed: no batch begins with the checksum of its own end.
void LogReader::LookForCompression(const Slice& payload) {
  assert(decompressor_ == nullptr);
  assert(has_reported_);
  if (!WalDecompressor::IsFrame(payload)) return;
  auto decompressor = WalDecompressor::Create();
  if (!decompressor.ok() || !(*decompressor)->Decompress(payload, &decompressed_)) return;
  decompressor_ = decompressor.Take();
}

// The writer records the size of a family once and only if it is not 0. Anything else is damage.
void LogReader::HandleTimestampSizes(const Physical& physical) {
  std::vector<TimestampSize> sizes;
  bool is_good = DecodeTimestampSizes(physical.payload, &sizes);
  for (const TimestampSize& size : sizes) {
    const auto is_same = [&](const TimestampSize& other) {
      return other.column_family == size.column_family;
    };
    is_good = is_good && size.bytes > 0 &&
              std::none_of(timestamp_sizes_.begin(), timestamp_sizes_.end(), is_same);
    if (is_good) timestamp_sizes_.push_back(size);
  }
  if (is_good) return;
  Physical report = physical;
  report.what = "bad record of timestamp sizes";
  React(Event::kStructure, report);
}

// ---- Damage

void LogReader::DropFragments() {
  has_open_record_ = false;
  fragments_.clear();
}

// Whether intact records follow decides about the event. At the end of the file and at an intact
// old record, the search has been made already.
void LogReader::ReactToDamage(Physical physical) {
  if (!physical.good_record_behind.has_value()) {
    physical.good_record_behind = FindGoodRecordBehind(physical.offset);
  }
  if (physical.is_stale && !has_open_record_ && !physical.good_record_behind.has_value()) {
    ended_at_old_record_ = options_.mode == WALRecoveryMode::kPointInTimeRecovery;
    return React(Event::kStaleBytes, physical);
  }
  switch (physical.kind) {
    case Kind::kIncompleteTail: return React(Event::kIncompleteTail, physical);
    case Kind::kBadLength:
      return React(is_recycled_ ? Event::kRecycledDamage : Event::kBadLength, physical);
    default: return React(is_recycled_ ? Event::kRecycledDamage : Event::kBadChecksum, physical);
  }
}

// Applies the recovery mode to an event: ignore it, report it, or stop.
void LogReader::React(Event event, const Physical& physical) {
  assert(static_cast<size_t>(event) < std::size(kActions));
  if (options_.is_shared) return StopAt(physical);
  const auto mode = static_cast<size_t>(options_.mode);
  Action action = kActions[static_cast<size_t>(event)][mode];
  // An end without a report requires that no intact records follow; otherwise it is damage.
  const std::optional<uint64_t> good_behind = physical.good_record_behind;
  if (action == kEnd && good_behind.has_value()) action = kReportEnd;

  Physical place = physical;
  if (event == Event::kEofInRecord) {
    place.what = "record cut off by the end of the file";
    place.offset = fragments_offset_;
    place.bytes = fragments_.size();
  }
  if (action == kReport || action == kReportEnd) Report(place, good_behind);
  if (action == kEnd && event != Event::kOldRecord && event != Event::kStaleBytes) {
    torn_tail_bytes_ = place.bytes;
    if (has_open_record_ && event != Event::kEofInRecord) torn_tail_bytes_ += fragments_.size();
  }
  if (action == kEnd || action == kReportEnd || (action == kReport && !GoesOnAfterDamage())) {
    is_finished_ = true;
  }
  // A later continuation must not be joined to the fragments before the bad place.
  DropFragments();
}

void LogReader::StopAt(const Physical& physical) {
  assert(options_.is_shared);
  unreadable_ = physical.what;
  is_finished_ = true;
  DropFragments();
}

// `good_record_behind` is the offset of an intact record after the damage. It tells damage in the
// middle of a log from a tail that a crash has cut.
[[gnu::cold]] void LogReader::Report(const Physical& physical,
                                     std::optional<uint64_t> good_record_behind) {
  assert(physical.what != nullptr);
  has_reported_ = true;
  if (reporter_ == nullptr) return;
  LogDamage damage;
  damage.offset = physical.offset;
  damage.dropped_bytes = physical.bytes;
  damage.good_record_behind = good_record_behind;
  damage.is_unwritten = physical.is_unwritten;
  std::string text = StrCat(source_->name(), ": ", physical.what, " at offset ", physical.offset,
                            ", ", physical.bytes, " bytes dropped");
  if (good_record_behind.has_value()) {
    StrAppend(&text, "; intact records follow from offset ", *good_record_behind);
  }
  damage.reason = Status::Corruption(text);
  reporter_->OnDamage(damage);
}

}  // namespace ashlar
