// SPDX-License-Identifier: Apache-2.0
//
// The names of enumerators in option texts.
//
// The names are those of the enumerators in the public headers. They are part of the format of
// OPTIONS files, so a name is never changed; a new enumerator adds a row.
#include <cassert>

#include "db/options/option_values.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// When a value has two names, the first one is printed.
constexpr EnumName kCompressionNames[] = {
    {"kNoCompression", kNoCompression},
    {"kSnappyCompression", kSnappyCompression},
    {"kZlibCompression", kZlibCompression},
    {"kBZip2Compression", kBZip2Compression},
    {"kLZ4Compression", kLZ4Compression},
    {"kLZ4HCCompression", kLZ4HCCompression},
    {"kXpressCompression", kXpressCompression},
    {"kZSTD", kZSTD},
    {"kDisableCompressionOption", kDisableCompressionOption},
    {"kZSTDNotFinalCompression", kZSTD},  // until 2016
};

constexpr EnumName kCompactionStyleNames[] = {
    {"kCompactionStyleLevel", kCompactionStyleLevel},
    {"kCompactionStyleUniversal", kCompactionStyleUniversal},
    {"kCompactionStyleFIFO", kCompactionStyleFIFO},
    {"kCompactionStyleNone", kCompactionStyleNone},
};

constexpr EnumName kCompactionPriNames[] = {
    {"kByCompensatedSize", kByCompensatedSize},
    {"kOldestLargestSeqFirst", kOldestLargestSeqFirst},
    {"kOldestSmallestSeqFirst", kOldestSmallestSeqFirst},
    {"kMinOverlappingRatio", kMinOverlappingRatio},
    {"kRoundRobin", kRoundRobin},
};

constexpr EnumName kStopStyleNames[] = {
    {"kCompactionStopStyleSimilarSize", kCompactionStopStyleSimilarSize},
    {"kCompactionStopStyleTotalSize", kCompactionStopStyleTotalSize},
};

constexpr EnumName kChecksumNames[] = {
    {"kNoChecksum", kNoChecksum}, {"kCRC32c", kCRC32c}, {"kxxHash", kxxHash},
    {"kxxHash64", kxxHash64},     {"kXXH3", kXXH3},
};

constexpr EnumName kIndexTypeNames[] = {
    {"kBinarySearch", static_cast<int64_t>(BlockBasedTableOptions::kBinarySearch)},
    {"kHashSearch", static_cast<int64_t>(BlockBasedTableOptions::kHashSearch)},
    {"kTwoLevelIndexSearch", static_cast<int64_t>(BlockBasedTableOptions::kTwoLevelIndexSearch)},
    {"kBinarySearchWithFirstKey",
     static_cast<int64_t>(BlockBasedTableOptions::kBinarySearchWithFirstKey)},
};

constexpr EnumName kBlockSearchNames[] = {
    {"kBinary", static_cast<int64_t>(BlockBasedTableOptions::kBinary)},
    {"kInterpolation", static_cast<int64_t>(BlockBasedTableOptions::kInterpolation)},
    {"kAuto", static_cast<int64_t>(BlockBasedTableOptions::kAuto)},
};

constexpr EnumName kDataBlockIndexNames[] = {
    {"kDataBlockBinarySearch",
     static_cast<int64_t>(BlockBasedTableOptions::kDataBlockBinarySearch)},
    {"kDataBlockBinaryAndHash",
     static_cast<int64_t>(BlockBasedTableOptions::kDataBlockBinaryAndHash)},
};

constexpr EnumName kShorteningNames[] = {
    {"kNoShortening",
     static_cast<int64_t>(BlockBasedTableOptions::IndexShorteningMode::kNoShortening)},
    {"kShortenSeparators",
     static_cast<int64_t>(BlockBasedTableOptions::IndexShorteningMode::kShortenSeparators)},
    {"kShortenSeparatorsAndSuccessor",
     static_cast<int64_t>(
         BlockBasedTableOptions::IndexShorteningMode::kShortenSeparatorsAndSuccessor)},
};

// A third text is the name of the nearest value that RocksDB 7.8 knows.
constexpr EnumName kPrepopulateBlockNames[] = {
    {"kDisable", static_cast<int64_t>(BlockBasedTableOptions::PrepopulateBlockCache::kDisable)},
    {"kFlushOnly", static_cast<int64_t>(BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly)},
    {"kFlushAndCompaction",
     static_cast<int64_t>(BlockBasedTableOptions::PrepopulateBlockCache::kFlushAndCompaction),
     "kFlushOnly"},
};

constexpr EnumName kPinningNames[] = {
    {"kFallback", static_cast<int64_t>(PinningTier::kFallback)},
    {"kNone", static_cast<int64_t>(PinningTier::kNone)},
    {"kFlushedAndSimilar", static_cast<int64_t>(PinningTier::kFlushedAndSimilar)},
    {"kAll", static_cast<int64_t>(PinningTier::kAll)},
};

constexpr EnumName kPrepopulateBlobNames[] = {
    {"kDisable", static_cast<int64_t>(PrepopulateBlobCache::kDisable)},
    {"kFlushOnly", static_cast<int64_t>(PrepopulateBlobCache::kFlushOnly)},
};

constexpr EnumName kRecoveryModeNames[] = {
    {"kTolerateCorruptedTailRecords",
     static_cast<int64_t>(WALRecoveryMode::kTolerateCorruptedTailRecords)},
    {"kAbsoluteConsistency", static_cast<int64_t>(WALRecoveryMode::kAbsoluteConsistency)},
    {"kPointInTimeRecovery", static_cast<int64_t>(WALRecoveryMode::kPointInTimeRecovery)},
    {"kSkipAnyCorruptedRecords", static_cast<int64_t>(WALRecoveryMode::kSkipAnyCorruptedRecords)},
};

constexpr EnumName kInfoLogLevelNames[] = {
    {"DEBUG_LEVEL", DEBUG_LEVEL}, {"INFO_LEVEL", INFO_LEVEL},   {"WARN_LEVEL", WARN_LEVEL},
    {"ERROR_LEVEL", ERROR_LEVEL}, {"FATAL_LEVEL", FATAL_LEVEL}, {"HEADER_LEVEL", HEADER_LEVEL},
};

constexpr EnumName kTemperatureNames[] = {
    {"kUnknown", static_cast<int64_t>(Temperature::kUnknown)},
    {"kHot", static_cast<int64_t>(Temperature::kHot)},
    {"kWarm", static_cast<int64_t>(Temperature::kWarm)},
    {"kCool", static_cast<int64_t>(Temperature::kCool), "kWarm"},
    {"kCold", static_cast<int64_t>(Temperature::kCold)},
    {"kIce", static_cast<int64_t>(Temperature::kIce), "kCold"},
};

constexpr EnumName kCacheTierNames[] = {
    {"kVolatileTier", static_cast<int64_t>(CacheTier::kVolatileTier)},
    {"kVolatileCompressedTier", static_cast<int64_t>(CacheTier::kVolatileCompressedTier),
     "kVolatileTier"},
    {"kNonVolatileBlockTier", static_cast<int64_t>(CacheTier::kNonVolatileBlockTier)},
};

constexpr EnumName kEncodingNames[] = {
    {"kPlain", kPlain},
    {"kPrefix", kPrefix},
};

// Names of plug-in compression types contain their number: kCustomCompression80 ... FE.
constexpr std::string_view kCustomCompressionPrefix = "kCustomCompression";

// "kCustomCompression" followed by the number of the type in hexadecimal digits.
bool ParseCustomCompression(std::string_view text, int64_t* value) {
  assert(value != nullptr);
  if (text.substr(0, kCustomCompressionPrefix.size()) != kCustomCompressionPrefix) return false;
  int64_t number = 0;
  for (char c : text.substr(kCustomCompressionPrefix.size())) {
    const size_t digit = std::string_view("0123456789ABCDEF").find(c);
    // The check of `number` comes before the multiplication, which therefore cannot overflow.
    if (digit == std::string_view::npos || number > 0xff) return false;
    number = number * 16 + static_cast<int64_t>(digit);
  }
  *value = number;
  return number >= kFirstCustomCompression && number <= kLastCustomCompression;
}

}  // namespace

std::span<const EnumName> EnumNames(CompressionType) { return kCompressionNames; }
std::span<const EnumName> EnumNames(CompactionStyle) { return kCompactionStyleNames; }
std::span<const EnumName> EnumNames(CompactionPri) { return kCompactionPriNames; }
std::span<const EnumName> EnumNames(CompactionStopStyle) { return kStopStyleNames; }
std::span<const EnumName> EnumNames(ChecksumType) { return kChecksumNames; }
std::span<const EnumName> EnumNames(BlockBasedTableOptions::IndexType) { return kIndexTypeNames; }
std::span<const EnumName> EnumNames(BlockBasedTableOptions::BlockSearchType) {
  return kBlockSearchNames;
}
std::span<const EnumName> EnumNames(BlockBasedTableOptions::DataBlockIndexType) {
  return kDataBlockIndexNames;
}
std::span<const EnumName> EnumNames(BlockBasedTableOptions::IndexShorteningMode) {
  return kShorteningNames;
}
std::span<const EnumName> EnumNames(BlockBasedTableOptions::PrepopulateBlockCache) {
  return kPrepopulateBlockNames;
}
std::span<const EnumName> EnumNames(PinningTier) { return kPinningNames; }
std::span<const EnumName> EnumNames(PrepopulateBlobCache) { return kPrepopulateBlobNames; }
std::span<const EnumName> EnumNames(WALRecoveryMode) { return kRecoveryModeNames; }
std::span<const EnumName> EnumNames(InfoLogLevel) { return kInfoLogLevelNames; }
std::span<const EnumName> EnumNames(Temperature) { return kTemperatureNames; }
std::span<const EnumName> EnumNames(CacheTier) { return kCacheTierNames; }
std::span<const EnumName> EnumNames(EncodingType) { return kEncodingNames; }
std::span<const EnumName> EnumNames(VerifyOutputFlags) { return {}; }

// An enumeration without names is a set of flags, written as a number.
Status ParseEnum(std::span<const EnumName> names, std::string_view text, int64_t* value) {
  assert(value != nullptr);
  const std::string_view name = TrimSpaces(text);
  for (const EnumName& row : names) {
    if (name != row.name) continue;
    *value = row.value;
    return Status::OK();
  }
  if (names.data() == kCompressionNames && ParseCustomCompression(name, value)) {
    return Status::OK();
  }
  // Flags are an unsigned 32-bit number.
  uint64_t flags = 0;
  if (names.empty() && ParseUint64Text(name, &flags) && flags <= UINT32_MAX) {
    *value = static_cast<int64_t>(flags);
    return Status::OK();
  }
  // The message lists all names, so that a user finds the right one without the documentation.
  std::string expected = "one of";
  for (const EnumName& row : names) StrAppend(&expected, " ", row.name);
  return BadOptionValue(names.empty() ? "a number" : expected, text);
}

// A value that RocksDB 7.8 does not know is printed as the nearest one that it knows.
void PrintEnum(const PrintContext& context, std::span<const EnumName> names, int64_t value,
               std::string* text) {
  assert(text != nullptr);
  if (context.as_numbers) {
    text->append(std::to_string(value));
    return;
  }
  for (const EnumName& row : names) {
    if (row.value != value) continue;
    const bool is_unknown = context.newest == Since::kRocksDb78 && row.name_for_7_8 != nullptr;
    text->append(is_unknown ? row.name_for_7_8 : row.name);
    return;
  }
  if (names.data() == kCompressionNames && value >= kFirstCustomCompression) {
    constexpr const char* kDigits = "0123456789ABCDEF";
    StrAppend(text, kCustomCompressionPrefix, kDigits[value / 16], kDigits[value % 16]);
    return;
  }
  // A value without a name comes from a program that has cast a number; it is shown as one.
  text->append(std::to_string(value));
}

// Plug-in types have no name here.
Status GetStringFromCompressionType(std::string* compression_str,
                                    CompressionType compression_type) {
  assert(compression_str != nullptr);
  for (const EnumName& row : kCompressionNames) {
    if (row.value != compression_type) continue;
    *compression_str = row.name;
    return Status::OK();
  }
  return Status::InvalidArgument("GetStringFromCompressionType: no such type",
                                 std::to_string(static_cast<int>(compression_type)));
}

}  // namespace ashlar
