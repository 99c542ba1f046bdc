// SPDX-License-Identifier: Apache-2.0
//
// internal id = (session low, hash high ^ file number, hash low), where the hash is the XXH3-128 of
// the database id, seeded with the high word of the session. The public id mixes words 0 and 1, as
// one 128-bit number, with two rounds of multiplication.
#include "table/format/unique_id.h"

#include <cassert>
#include <optional>

#include "ashlar/table_properties.h"
#include "util/hash/hash.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87ull;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Full;
constexpr size_t kLowDigits = 12;
constexpr size_t kMinSessionChars = 13, kMaxSessionChars = 24;
constexpr uint32_t kBase = 36;

// A 128-bit number.
struct Words {
  uint64_t upper = 0;
  uint64_t lower = 0;
};

// No value if there is any other character. Callers pass at most 12 digits, which fit into 64 bits.
std::optional<uint64_t> ParseBase36(std::string_view digits) {
  uint64_t value = 0;
  for (const char c : digits) {
    if (c >= '0' && c <= '9') {
      value = value * kBase + static_cast<uint64_t>(c - '0');
    } else if (c >= 'A' && c <= 'Z') {
      value = value * kBase + static_cast<uint64_t>(c - 'A') + 10;
    } else {
      return std::nullopt;
    }
  }
  return value;
}

// Splits the digits of a session id into two words. The low 12 digits hold 62 bits.
std::optional<Words> ParseSessionId(std::string_view session) {
  if (session.size() < kMinSessionChars || session.size() > kMaxSessionChars) return std::nullopt;
  const size_t split = session.size() - kLowDigits;
  const std::optional<uint64_t> high = ParseBase36(session.substr(0, split));
  const std::optional<uint64_t> low = ParseBase36(session.substr(split));
  if (!high || !low) return std::nullopt;
  return Words{*high >> 2, (*low & (UINT64_MAX >> 2)) | *high << 62};
}

// The two words of a session. A string that is not a session id gets words too, from its hash.
Words SessionWords(std::string_view session) {
  if (const std::optional<Words> words = ParseSessionId(session)) return *words;
  const Hash128 hash = XxHash3_128(session.data(), session.size());
  return {hash.high, hash.low != 0 ? hash.low : hash.high | 1};
}

// Makes every bit of the result depend on all bits of `h`.
uint64_t Avalanche(uint64_t h) {
  h ^= h >> 37;
  h *= 0x165667919E3779F9ull;
  return h ^ (h >> 32);
}

// A product of two 64-bit numbers.
struct Product {
  uint64_t low;
  uint64_t high;
};
Product Multiply(uint64_t a, uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return {static_cast<uint64_t>(product), static_cast<uint64_t>(product >> 64)};
}

// Computes the two words of the public id. The constants and steps are part of the format.
Words Mix(const InternalUniqueId& id) {
  uint64_t high = id.words[1] + 17391078804906429400ull;
  const uint64_t low = id.words[0] + 6417269962128484497ull;
  const Product first = Multiply(low ^ high ^ 0x59973f0033362349ull, kPrime1);
  uint64_t a = first.low + 0x3c0000000000000ull;
  high ^= 0xc202797692d63d58ull;
  const uint64_t b = first.high + high + (high & 0xffffffff) * 0x85EBCA76ull;
  a ^= __builtin_bswap64(b);
  const Product second = Multiply(a, kPrime2);
  return {Avalanche(second.low), Avalanche(second.high + b * kPrime2)};
}

// Appends exactly `digits` digits, with leading zeros.
void PutBase36(std::string* dst, uint64_t value, size_t digits) {
  assert(dst != nullptr);
  std::string reversed;
  for (size_t i = 0; i < digits; ++i, value /= kBase) {
    reversed.push_back("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % kBase]);
  }
  dst->append(reversed.rbegin(), reversed.rend());
}

}  // namespace

Result<InternalUniqueId> MakeInternalUniqueId(const FileIdentity& identity) {
  if (identity.db_id.empty() || identity.db_session_id.empty() || identity.file_number == 0) {
    // Old tables and those of SstFileWriter may lack a part.
    return Status::NotSupported(
        StrCat("unique id: needs a database id, a session id and a file number, found '",
               identity.db_id, "', '", identity.db_session_id, "', ", identity.file_number));
  }
  const Words session = SessionWords(identity.db_session_id);
  const Hash128 hash = XxHash3_128(identity.db_id.data(), identity.db_id.size(), session.upper);
  return InternalUniqueId{{session.lower, hash.high ^ identity.file_number.value(), hash.low}};
}

Result<InternalUniqueId> MakeInternalUniqueId(const TableProperties& properties) {
  return MakeInternalUniqueId(
      {properties.db_id, properties.db_session_id, FileNumber{properties.orig_file_number}});
}

uint64_t CacheFileId(const InternalUniqueId& id, uint32_t checksum_base, uint64_t global_seqno) {
  const uint64_t parts[] = {id.words[0], id.words[1], id.words[2], checksum_base, global_seqno};
  return HashBytes(reinterpret_cast<const char*>(parts), sizeof(parts));
}

std::string PublicUniqueId(const InternalUniqueId& id, UniqueIdForm form) {
  const Words mixed = Mix(id);
  std::string result;
  PutFixed64(&result, mixed.upper);
  PutFixed64(&result, mixed.lower);
  if (form == UniqueIdForm::kExtended) {
    PutFixed64(&result, id.words[2] + mixed.upper + mixed.lower);
  }
  return result;
}

std::string EncodeSessionId(uint64_t upper, uint64_t lower) {
  constexpr size_t kHighDigits = 8;
  std::string result;
  // The inverse of ParseSessionId(): the two highest bits of the low word move into the high
  // digits.
  PutBase36(&result, upper << 2 | lower >> 62, kHighDigits);
  PutBase36(&result, lower & (UINT64_MAX >> 2), kLowDigits);
  return result;
}

}  // namespace ashlar
