// SPDX-License-Identifier: Apache-2.0
//
// The physical layer of LogReader. It reads block by block into one buffer:
//
//     block_   | consumed | header payload | ... | limit_ < 32 KiB only at the end of the file
//                         ^ position_
//
// The order of the checks on a header is part of the format's rules: length, then log number, then
// zeros, then checksum. After damage the rest of the block is given up, since the length that would
// lead to the next record cannot be trusted.
//
// Ends of logs. RocksDB takes a header without length and type, a length beyond the file and a
// foreign log number for the end; we, in a recycled log, whatever does not name it, and in any WAL
// a record of which the end, up to the end of the file, is zeros: a file that was allocated ahead
// ends so when the machine dies. Each of them may also be damage in the middle of a log, so before
// they are believed we look for an intact record behind. A log that a process wrote through a
// mapping, and did not finish, has none: its headers are stored in the order of the file
// (StagingOrder).
#include <algorithm>
#include <cassert>

#include "db/wal/log_reader_internal.h"

namespace ashlar {
namespace {

constexpr size_t kSectorBytes = 512;                      // what a disk writes whole or not at all
constexpr size_t kLength = 4, kType = 6, kLogNumber = 7;  // offsets in a header

uint8_t TypeAt(const char* header) { return static_cast<uint8_t>(header[kType]); }
size_t HeaderBytesFor(uint8_t type) {
  return IsRecyclableType(type) ? kRecyclableLogHeaderBytes : kLogHeaderBytes;
}
bool HasGoodChecksum(const char* header, size_t record_bytes) {
  const uint32_t stored = crc32c::Unmask(DecodeFixed32(header));
  return stored == crc32c::Value(header + kType, record_bytes - kType);
}

// Looks for the last byte that makes the checksum right, and puts it in.
bool RestoreLastByte(char* header, size_t record_bytes) {
  char& last = header[record_bytes - 1];
  for (int value = 1; value < 256; value++) {
    last = static_cast<char>(value);
    if (HasGoodChecksum(header, record_bytes)) return true;
  }
  last = 0;
  return false;
}

// What the checksum would be if the record named this log.
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

// Adds what the file has for the current block. False if that is nothing.
bool LogReader::FillBlock() {
  assert(limit_ <= kLogBlockBytes);
  const uint64_t end = block_offset_ + limit_;
  if (end >= options_.end_offset) return false;
  const uint64_t wanted = std::min<uint64_t>(kLogBlockBytes - limit_, options_.end_offset - end);
  const size_t read = ReadSource(static_cast<size_t>(wanted), block_.get() + limit_);
  limit_ += read;
  return read > 0;
}

bool LogReader::FillWholeBlock() {
  while (limit_ < kLogBlockBytes) {
    if (!FillBlock()) return false;
  }
  return true;
}

// Goes to the next block, if this one is complete and there is one.
bool LogReader::NextBlock() {
  if (!FillWholeBlock()) return false;
  assert(block_offset_ % kLogBlockBytes == 0);
  block_offset_ += kLogBlockBytes;
  position_ = limit_ = 0;
  return FillBlock();
}

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
  // No record is of kind 0: its header was not stored to the end.
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
    // Nobody writes one here: it is what somebody once stored in a value.
    return Damage(Kind::kBadChecksum, "plain record in a recycled log");
  }
  if (record_bytes > limit_ - position_) {
    if (FillBlock()) return ParseHeader();
    if (limit_ == kLogBlockBytes) return Damage(Kind::kBadLength, "length beyond the block");
    if (options_.is_tailing) return EndHere();
    // A MANIFEST ends with its last record: if all of it is there, only its length is wrong.
    if (!options_.is_wal && HasGoodChecksum(header, limit_ - position_)) {
      return Damage(Kind::kBadLength, "length beyond the intact last record");
    }
    return Damage(Kind::kIncompleteTail, "record cut off by the end of the file");
  }
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
    // A file may grow before its bytes are written: zeros to the end of the file are what a crash
    // in between leaves. (The last byte of a whole version edit is not zero.)
    const size_t last_byte = position_ + record_bytes - 1;
    const bool ends_in_zeros = !options_.is_wal && limit_ < kLogBlockBytes &&
                               IsZero(block_.get() + last_byte, limit_ - last_byte);
    // A single missing byte cannot be told from a damaged one, but the checksum says what it was.
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

// The record names another log. An intact one is old for sure, unless records of this log follow.
// Otherwise it may be what is left of an old record, or a damaged record of this log: like every
// bad checksum in a recycled log.
LogReader::Physical LogReader::JudgeOldRecord(const char* header, size_t record_bytes) {
  assert(position_ + record_bytes <= limit_);
  if (!HasGoodChecksum(header, record_bytes)) {
    return Damage(Kind::kBadChecksum, "checksum mismatch in a record that names another log");
  }
  is_recycled_ = true;
  Physical old{.kind = Kind::kOldRecord, .offset = block_offset_ + position_};
  old.bytes = record_bytes;
  old.what = "record of an older life of the file";
  old.good_record_behind = FindGoodRecordBehind(old.offset);
  if (old.good_record_behind.has_value()) {
    old.kind = Kind::kBadChecksum;
    old.what = "record of another log before records of this one";
  }
  position_ += record_bytes;
  return old;
}

// A header of zeros. Zeros up to the end of the file are space that was allocated ahead. Zeros up
// to the end of a block come before a record that may not be cut. Anything else is an unfinished
// end or, with intact records behind, damage.
LogReader::Physical LogReader::JudgeZeros() {
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

// Whether a crash cut the record off while it was written to a file that was allocated ahead: there
// are zeros behind it, and in it from its header on or from the beginning of a sector. (A
// record that is damaged elsewhere, and ends in zeros, has no zeros behind it in a log that was
// closed: that one ends with its last record.)
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

LogReader::Physical LogReader::JudgeUnwritten() {
  Physical physical = Damage(Kind::kIncompleteTail, "record of which the end was not written");
  physical.good_record_behind = FindGoodRecordBehind(physical.offset);
  if (physical.good_record_behind.has_value()) physical.kind = Kind::kBadChecksum;
  return physical;
}

// Gives up the rest of the block.
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
  position_ = kLogBlockBytes;
  return physical;
}

// Whether these bytes, which are no intact record, may be left of an older life of the file. Not if
// they name this log, nor if all that is wrong with them is that they do not.
bool LogReader::IsStaleHere() const {
  assert(position_ <= limit_);
  const size_t available = limit_ - position_;
  if (!is_recycled_) return false;
  if (position_ + kRecyclableLogHeaderBytes > kLogBlockBytes) return true;  // no header fits
  // At the end of the file: cut off there, for all that can be known.
  if (available < kRecyclableLogHeaderBytes) return false;
  const char* header = block_.get() + position_;
  if (DecodeFixed32(header + kLogNumber) == static_cast<uint32_t>(options_.log_number.value())) {
    return false;
  }
  const size_t record_bytes = kRecyclableLogHeaderBytes + DecodeFixed16(header + kLength);
  return record_bytes > available || !IsRecyclableType(TypeAt(header)) ||
         !HasGoodChecksumFor(options_.log_number, header, record_bytes);
}

// Whether all that a record, which has these bytes of the block, had in one sector is zero.
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

// Looks byte by byte through the current block, from behind `offset` on, and at the beginning of
// every later block: an intact block begins with a record. Reads ahead as far as needed.
std::optional<uint64_t> LogReader::FindGoodRecordBehind(uint64_t offset) {
  if (nothing_good_behind_) return std::nullopt;
  const auto found = SearchGoodRecordBehind(offset);
  nothing_good_behind_ = !found.has_value() && !options_.is_tailing;
  return found;
}

std::optional<uint64_t> LogReader::SearchGoodRecordBehind(uint64_t offset) {
  const uint64_t from = std::max(offset + 1, block_offset_) - block_offset_;
  for (size_t at = static_cast<size_t>(from); at + kLogHeaderBytes <= limit_; ++at) {
    if (IsGoodRecordAt(block_.get() + at, limit_ - at)) return block_offset_ + at;
  }
  if (!FillWholeBlock()) return std::nullopt;
  // Where nothing behind the place will be read, no more than a block of it is kept in memory.
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

// Appends up to a block to ahead_, whose first byte belongs to `base` of the file.
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

// Whether p begins with an intact record of this log. In a recycled file only records that name
// this log count.
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
