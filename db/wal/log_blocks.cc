// SPDX-License-Identifier: Apache-2.0
//
// The physical layer of LogReader. It reads block by block into one buffer:
//
//     block_   | consumed | header payload | ... | limit_ < 32 KiB only at the end of the file
//                         ^ position_
//
// The order of the checks on a header is part of the format's rules: length, then log number, then
// zeros, then checksum. After damage the rest of the block is skipped, because the length that
// leads to the next record cannot be trusted.
//
// Ends of logs. RocksDB accepts three things as the end of a log: a header without length and type,
// a length beyond the file, and a foreign log number. This reader accepts two more: in a recycled
// log, any bytes that do not name this log; and in any WAL, a record whose end is zeros up to the
// end of the file, because a file that was allocated ahead ends so after a crash of the machine.
// Each of these may also be damage in the middle of a log. So the reader first searches for an
// intact record behind the place. A log that a process wrote through a mapping, and did not finish,
// has none, because its headers are stored in the order of the file (StagingOrder).
#include <algorithm>
#include <cassert>

#include "db/wal/log_reader_internal.h"

namespace ashlar {
namespace {

constexpr size_t kSectorBytes = 512;  // a disk writes it completely or not at all
constexpr size_t kLength = 4, kType = 6, kLogNumber = 7;  // offsets in a header

uint8_t TypeAt(const char* header) { return static_cast<uint8_t>(header[kType]); }
size_t HeaderBytesFor(uint8_t type) {
  return IsRecyclableType(type) ? kRecyclableLogHeaderBytes : kLogHeaderBytes;
}
// Whether the checksum in the header is right for the record, header included.
bool HasGoodChecksum(const char* header, size_t record_bytes) {
  const uint32_t stored = crc32c::Unmask(DecodeFixed32(header));
  return stored == crc32c::Value(header + kType, record_bytes - kType);
}

// Searches the value of the last byte for which the checksum is right, and stores it.
bool RestoreLastByte(char* header, size_t record_bytes) {
  char& last = header[record_bytes - 1];
  for (int value = 1; value < 256; value++) {
    last = static_cast<char>(value);
    if (HasGoodChecksum(header, record_bytes)) return true;
  }
  last = 0;
  return false;
}

// Whether the checksum would be right if the record named this log.
bool HasGoodChecksumFor(FileNumber log_number, const char* header, size_t record_bytes) {
  assert(record_bytes >= kRecyclableLogHeaderBytes);
  std::string renamed(header + kType, record_bytes - kType);
  EncodeFixed32(renamed.data() + (kLogNumber - kType), static_cast<uint32_t>(log_number.value()));
  return crc32c::Unmask(DecodeFixed32(header)) == crc32c::Value(renamed.data(), renamed.size());
}

bool IsZero(const char* p, size_t n) {
  return n == 0 || (p[0] == 0 && std::memcmp(p, p + 1, n - 1) == 0);
}
bool IsKnownType(uint8_t type) { return (type >= 1 && type <= 11) || type == 130 || type == 131; }

}  // namespace

// Reads up to n bytes, first from the bytes that were read ahead. Fewer bytes only at the end of
// the file or after an error.
size_t LogReader::ReadSource(size_t n, char* dst) {
  assert(ahead_position_ <= ahead_.size());
  size_t done = std::min(n, ahead_.size() - ahead_position_);
  if (done > 0) {
    std::memcpy(dst, ahead_.data() + ahead_position_, done);
    ahead_position_ += done;
    return done;
  }
  if (!ahead_.empty()) {
    ahead_.clear();
    ahead_position_ = 0;
  }
  assert(ahead_.empty());
  while (done < n) {
    Slice piece;
    Status status = source_->Read(n - done, dst + done, &piece);
    if (!status.ok()) {
      status_ = status;
      return 0;
    }
    if (piece.empty()) break;
    if (piece.data() != dst + done) std::memcpy(dst + done, piece.data(), piece.size());
    done += piece.size();
  }
  return done;
}

// Reads the next bytes of the current block. Returns false if the file has none.
bool LogReader::FillBlock() {
  assert(limit_ <= kLogBlockBytes);
  const uint64_t end = block_offset_ + limit_;
  if (end >= options_.end_offset) return false;
  const uint64_t wanted = std::min<uint64_t>(kLogBlockBytes - limit_, options_.end_offset - end);
  const size_t read = ReadSource(static_cast<size_t>(wanted), block_.get() + limit_);
  limit_ += read;
  return read > 0;
}

// Returns false if the file ends before the end of the block.
bool LogReader::FillWholeBlock() {
  while (limit_ < kLogBlockBytes) {
    if (!FillBlock()) return false;
  }
  return true;
}

// Moves to the next block. Returns false if this one is not complete, or if there is no next one.
bool LogReader::NextBlock() {
  if (!FillWholeBlock()) return false;
  assert(block_offset_ % kLogBlockBytes == 0);
  block_offset_ += kLogBlockBytes;
  position_ = limit_ = 0;
  return FillBlock();
}

// Reads the next physical record. Less than a header at the end of a block is padding.
LogReader::Physical LogReader::ReadPhysical() {
  while (status_.ok()) {
    if (kLogBlockBytes - position_ < kLogHeaderBytes) {
      if (!NextBlock()) break;
    } else if (limit_ < position_ + kLogHeaderBytes) {
      if (FillBlock()) continue;
      if (limit_ <= position_ || options_.is_tailing) break;
      return Damage(Kind::kIncompleteTail, "header cut off by the end of the file");
    } else {
      return ParseHeader();
    }
  }
  return EndHere();
}

LogReader::Physical LogReader::EndHere() const {
  return Physical{.kind = Kind::kEof, .offset = block_offset_ + limit_};
}

LogReader::Physical LogReader::ParseHeader() {
  assert(limit_ >= position_ + kLogHeaderBytes);
  const char* header = block_.get() + position_;
  if (IsZero(header, kLogHeaderBytes)) return JudgeZeros();
  const uint8_t type = TypeAt(header);
  const size_t record_bytes = HeaderBytesFor(type) + DecodeFixed16(header + kLength);
  // No record has type 0: this header was not stored completely.
  if (options_.is_wal && IsZero(header + kLength, kLogHeaderBytes - kLength)) return JudgeZeros();
  if (IsRecyclableType(type)) {
    if (kLogBlockBytes - position_ < kRecyclableLogHeaderBytes) {
      position_ = kLogBlockBytes;
      return ReadPhysical();
    }
    if (has_read_record_ && !is_recycled_) {
      return Damage(Kind::kBadChecksum, "recyclable record in a log of plain records");
    }
  } else if (is_recycled_) {
    if (type == 0 && record_bytes <= limit_ - position_ && EndsUnwritten(record_bytes)) {
      return JudgeUnwritten();
    }
    // No writer puts a plain record here, so these bytes may be the contents of an old value.
    return Damage(Kind::kBadChecksum, "plain record in a recycled log");
  }
  if (record_bytes > limit_ - position_) {
    if (FillBlock()) return ParseHeader();
    if (limit_ == kLogBlockBytes) return Damage(Kind::kBadLength, "length beyond the block");
    if (options_.is_tailing) return EndHere();
    // A MANIFEST ends with its last record. If that record is complete, only its length is wrong.
    if (!options_.is_wal && HasGoodChecksum(header, limit_ - position_)) {
      return Damage(Kind::kBadLength, "length beyond the intact last record");
    }
    return Damage(Kind::kIncompleteTail, "record cut off by the end of the file");
  }
  return ParseRecord(record_bytes);
}

// Parses a record of which all bytes are in the block.
LogReader::Physical LogReader::ParseRecord(size_t record_bytes) {
  assert(position_ + record_bytes <= limit_);
  const char* header = block_.get() + position_;
  const uint8_t type = TypeAt(header);
  if (IsRecyclableType(type)) {
    const bool is_ours =
        DecodeFixed32(header + kLogNumber) == static_cast<uint32_t>(options_.log_number.value());
    if (!is_ours && (HasGoodChecksum(header, record_bytes) || !EndsUnwritten(record_bytes))) {
      return JudgeOldRecord(header, record_bytes);
    }
    is_recycled_ |= is_ours;
  }
  if (!HasGoodChecksum(header, record_bytes)) {
    if (EndsUnwritten(record_bytes)) return JudgeUnwritten();
    // A file may grow before its bytes are written; a crash in between leaves zeros up to the end
    // of the file. (The last byte of a complete version edit is not zero.)
    const size_t last_byte = position_ + record_bytes - 1;
    const bool ends_in_zeros = !options_.is_wal && limit_ < kLogBlockBytes &&
                               IsZero(block_.get() + last_byte, limit_ - last_byte);
    // A single missing byte looks like a damaged one, but the checksum determines its value.
    if (!ends_in_zeros) return Damage(Kind::kBadChecksum, "checksum mismatch");
    if (!RestoreLastByte(block_.get() + position_, record_bytes)) {
      return Damage(Kind::kIncompleteTail, "record of which the end was not written");
    }
  }
  Physical physical{.kind = Kind::kRecord, .type = type, .offset = block_offset_ + position_};
  const size_t header_bytes = HeaderBytesFor(type);
  physical.payload = Slice(header + header_bytes, record_bytes - header_bytes);
  physical.bytes = record_bytes;
  position_ += record_bytes;
  assert(position_ <= limit_);
  return physical;
}

// The record names another log. If it is intact, it is an old record for sure, unless records of
// this log follow. If it is not intact, it may be the rest of an old record or a damaged record of
// this log, so it is treated as a bad checksum in a recycled log.
LogReader::Physical LogReader::JudgeOldRecord(const char* header, size_t record_bytes) {
  assert(position_ + record_bytes <= limit_);
  if (!HasGoodChecksum(header, record_bytes)) {
    return Damage(Kind::kBadChecksum, "checksum mismatch in a record that names another log");
  }
  is_recycled_ = true;
  Physical old{.kind = Kind::kOldRecord, .offset = block_offset_ + position_};
  old.bytes = record_bytes;
  old.what = "record of an older life of the file";
  if (!options_.is_shared) old.good_record_behind = FindGoodRecordBehind(old.offset);
  if (old.good_record_behind.has_value()) {
    old.kind = Kind::kBadChecksum;
    old.what = "record of another log before records of this one";
  }
  position_ += record_bytes;
  return old;
}

// A header of zeros. Zeros up to the end of the file are space that was allocated ahead. Zeros up
// to the end of a block are padding before a record of a kind that is never cut. Other zeros are an
// unfinished end or, with intact records behind them, damage.
[[gnu::cold]] LogReader::Physical LogReader::JudgeZeros() {
  assert(limit_ >= position_ + kLogHeaderBytes);
  if (options_.is_tailing) return EndHere();
  const uint64_t offset = block_offset_ + position_;
  FillWholeBlock();
  const bool is_unwritten = HasUnwrittenSector(position_, position_ + kLogHeaderBytes);
  const bool is_stale = IsStaleHere();
  bool is_zero = IsZero(block_.get() + position_, limit_ - position_);
  if (is_zero && position_ + kRecyclableLogHeaderBytes > kLogBlockBytes) {
    position_ = kLogBlockBytes;  // too little space for a header with a log number
    return ReadPhysical();
  }
  while (is_zero) {
    if (!NextBlock()) return EndHere();
    FillWholeBlock();
    is_zero = IsZero(block_.get(), limit_);
    const bool is_uncut_kind = !is_zero && IsGoodRecordAt(block_.get(), limit_) &&
                               TypeAt(block_.get()) >= 10 && !has_open_record_;
    if (is_uncut_kind) return ReadPhysical();
  }
  Physical physical{.offset = offset};
  physical.is_unwritten = is_unwritten;
  physical.is_stale = is_stale;
  const bool starts_well = position_ == 0 && IsGoodRecordAt(block_.get(), limit_);
  physical.good_record_behind =
      starts_well ? std::optional<uint64_t>(block_offset_) : FindGoodRecordBehind(offset);
  if (physical.good_record_behind.has_value()) {
    physical.kind = Kind::kBadChecksum;
    physical.what = "zeros before intact records";
    physical.bytes = *physical.good_record_behind - offset;
  } else {
    physical.kind = Kind::kIncompleteTail;
    physical.what = "unfinished record";
    physical.bytes = block_offset_ + limit_ - offset;
  }
  if (!starts_well) position_ = kLogBlockBytes;
  return physical;
}

// Whether a crash has cut the record off while it was written to a file that was allocated ahead.
// Then zeros follow it, and the record itself consists of zeros from the end of its header or from
// the beginning of a sector on. (A closed log ends with its last record. So a damaged record in a
// closed log has no zeros behind it, even if it ends in zeros.)
bool LogReader::EndsUnwritten(size_t record_bytes) {
  const size_t end = position_ + record_bytes;
  assert(end <= limit_);
  if (!options_.is_wal || options_.is_tailing) return false;
  FillWholeBlock();
  if (limit_ == end && limit_ < kLogBlockBytes) return false;
  const size_t last_sector = (end - 1) / kSectorBytes * kSectorBytes;
  const size_t header_end = position_ + HeaderBytesFor(TypeAt(block_.get() + position_));
  const size_t zeros = std::max(last_sector, header_end);
  return zeros < end && IsZero(block_.get() + zeros, limit_ - zeros);
}

// The record at the position was not written completely; or it is damaged if intact records follow.
LogReader::Physical LogReader::JudgeUnwritten() {
  Physical physical = Damage(Kind::kIncompleteTail, "record of which the end was not written");
  physical.good_record_behind = FindGoodRecordBehind(physical.offset);
  if (physical.good_record_behind.has_value()) physical.kind = Kind::kBadChecksum;
  return physical;
}

// Reports damage at the position, and skips the rest of the block.
LogReader::Physical LogReader::Damage(Kind kind, const char* what) {
  assert(limit_ >= position_);
  Physical physical{.kind = kind, .offset = block_offset_ + position_};
  physical.bytes = limit_ - position_;
  physical.what = what;
  size_t record_bytes = limit_ - position_;
  if (record_bytes >= kLogHeaderBytes) {
    const char* header = block_.get() + position_;
    record_bytes = HeaderBytesFor(TypeAt(header)) + DecodeFixed16(header + kLength);
  }
  physical.is_unwritten = HasUnwrittenSector(position_, position_ + record_bytes);
  physical.is_stale = IsStaleHere();
  // The next record of the block, if the length of this one is right. Otherwise the rest of the
  // block is skipped, and not searched: the contents of a damaged record may look like records.
  const size_t next = position_ + record_bytes;
  if (options_.mode == WALRecoveryMode::kSkipAnyCorruptedRecords && kind == Kind::kBadChecksum &&
      next < limit_ && IsGoodRecordAt(block_.get() + next, limit_ - next)) {
    physical.bytes = record_bytes;
    position_ = next;
    return physical;
  }
  position_ = kLogBlockBytes;
  return physical;
}

// Whether these bytes, which are not an intact record, may be a rest of the older log in a recycled
// file. They are not if they name this log, or if the log number is the only wrong thing about
// them.
bool LogReader::IsStaleHere() const {
  assert(position_ <= limit_);
  const size_t available = limit_ - position_;
  if (!is_recycled_) return false;
  if (position_ + kRecyclableLogHeaderBytes > kLogBlockBytes) return true;  // no header fits
  // At the end of the file: as far as can be known, the record is cut off there.
  if (available < kRecyclableLogHeaderBytes) return false;
  const char* header = block_.get() + position_;
  if (DecodeFixed32(header + kLogNumber) == static_cast<uint32_t>(options_.log_number.value())) {
    return false;
  }
  const size_t record_bytes = kRecyclableLogHeaderBytes + DecodeFixed16(header + kLength);
  return record_bytes > available || !IsRecyclableType(TypeAt(header)) ||
         !HasGoodChecksumFor(options_.log_number, header, record_bytes);
}

// Whether all bytes that a record has in one sector are zero. [begin, end) is its range in the
// block.
bool LogReader::HasUnwrittenSector(size_t begin, size_t end) const {
  assert(begin <= end);
  end = std::min(end, limit_);
  while (begin < end) {
    const size_t sector_end = std::min((begin / kSectorBytes + 1) * kSectorBytes, end);
    if (IsZero(block_.get() + begin, sector_end - begin)) return true;
    begin = sector_end;
  }
  return false;
}

// Searches for an intact record byte by byte in the current block, from behind `offset` on, and at
// the beginning of each later block, because an intact block begins with a record. Reads ahead as
// far as necessary.
std::optional<uint64_t> LogReader::FindGoodRecordBehind(uint64_t offset) {
  if (nothing_good_behind_) return std::nullopt;
  const auto found = SearchGoodRecordBehind(offset);
  nothing_good_behind_ = !found.has_value() && !options_.is_tailing;
  return found;
}

// Tries every offset, because damage may have destroyed the length that leads to the next record.
[[gnu::cold]] std::optional<uint64_t> LogReader::SearchGoodRecordBehind(uint64_t offset) {
  const uint64_t from = std::max(offset + 1, block_offset_) - block_offset_;
  for (size_t at = static_cast<size_t>(from); at + kLogHeaderBytes <= limit_; ++at) {
    if (IsGoodRecordAt(block_.get() + at, limit_ - at)) return block_offset_ + at;
  }
  if (!FillWholeBlock()) return std::nullopt;
  // If the reader will not continue behind the place, at most one block of it is kept in memory.
  const bool is_kept = options_.is_tailing || GoesOnAfterDamage();
  size_t at = ahead_position_;
  for (uint64_t block_offset = block_offset_ + kLogBlockBytes;; block_offset += kLogBlockBytes) {
    while (ahead_.size() < at + kLogBlockBytes && ReadAhead(block_offset - at)) {
    }
    if (IsGoodRecordAt(ahead_.data() + at, ahead_.size() - at)) return block_offset;
    if (ahead_.size() < at + kLogBlockBytes) return std::nullopt;
    at += kLogBlockBytes;
    if (is_kept) continue;
    ahead_.erase(0, at);
    at = ahead_position_ = 0;
  }
}

// Appends up to one block to ahead_, whose first byte is at the offset `base` of the file. Returns
// false at the end of the file or after an error.
bool LogReader::ReadAhead(uint64_t base) {
  const size_t old_size = ahead_.size();
  assert(status_.ok());
  if (base + old_size >= options_.end_offset) return false;
  const uint64_t wanted =
      std::min<uint64_t>(kLogBlockBytes, options_.end_offset - (base + old_size));
  ahead_.resize(old_size + static_cast<size_t>(wanted));
  Slice piece;
  status_ = source_->Read(static_cast<size_t>(wanted), ahead_.data() + old_size, &piece);
  if (!status_.ok()) piece = Slice();
  if (!piece.empty()) std::memmove(ahead_.data() + old_size, piece.data(), piece.size());
  ahead_.resize(old_size + piece.size());
  return !piece.empty();
}

// Whether an intact record of this log begins at p. In a recycled file only records that name this
// log count.
bool LogReader::IsGoodRecordAt(const char* p, size_t available) const {
  if (available < kLogHeaderBytes) return false;
  const uint8_t type = TypeAt(p);
  if (!IsKnownType(type)) return false;
  const size_t record_bytes = HeaderBytesFor(type) + DecodeFixed16(p + kLength);
  if (record_bytes > available) return false;
  if (IsRecyclableType(type)) {
    if (DecodeFixed32(p + kLogNumber) != static_cast<uint32_t>(options_.log_number.value()))
      return false;
  } else if (is_recycled_) {
    return false;
  }
  return HasGoodChecksum(p, record_bytes);
}

}  // namespace ashlar
