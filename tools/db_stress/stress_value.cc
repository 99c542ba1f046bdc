// SPDX-License-Identifier: Apache-2.0
//
// A record is verified by generating it again and comparing the bytes.
#include "tools/db_stress/stress_value.h"

#include <cassert>
#include <cstring>

#include "util/keys/coding.h"
#include "util/random.h"
#include "util/text/str_cat.h"

namespace ashlar::stress {
namespace {

constexpr size_t kNumberBytes = 8;
// Kind, family, number of the key, generation, number of the operand, and length of the payload.
constexpr size_t kHeadBytes = 1 + 1 + 8 + 4 + 1 + 2;
// The length is stored in 16 bits.
constexpr size_t kMaxPayload = 60'000;

// One put or one merge operand. Its bytes follow from its fields.
struct Record {
  char kind = 'P';
  KeyId key;
  uint32_t generation = 0;
  uint32_t operand = 0;
  size_t payload_bytes = 0;

  // Different for each record, so that no two records have the same payload.
  uint64_t Seed() const {
    return key.number * 0x9e3779b97f4a7c15ull + (uint64_t{generation} << 16) +
           (uint64_t{operand} << 8) + static_cast<uint64_t>(key.family) * 131 +
           static_cast<uint64_t>(kind);
  }
  std::string ToString() const;
};

std::string Record::ToString() const {
  // Layout: kHeadBytes of fixed width, then `payload_bytes` characters between '0' and '7'.
  assert(payload_bytes <= UINT16_MAX);
  std::string text;
  text.reserve(kHeadBytes + payload_bytes);
  text.push_back(kind);
  text.push_back(static_cast<char>(key.family));
  PutFixed64(&text, key.number);
  PutFixed32(&text, generation);
  text.push_back(static_cast<char>(operand));
  PutFixed16(&text, static_cast<uint16_t>(payload_bytes));
  // Only three bits of each byte are random, so that compression helps, but not too much.
  Random64 random(Seed());
  while (text.size() < kHeadBytes + payload_bytes) {
    const uint64_t bits = random.Next();
    const size_t left = kHeadBytes + payload_bytes - text.size();
    for (size_t i = 0; i < std::min<size_t>(left, 21); i++) {
      text.push_back(static_cast<char>('0' + (bits >> (3 * i) & 7)));
    }
  }
  return text;
}

// Parses the record at the beginning of *rest and removes it from there.
// Fails with Corruption for anything that ToString() cannot have produced for this key.
Result<Record> ReadRecord(const KeyId& key, Slice* rest) {
  assert(rest != nullptr);
  if (rest->size() < kHeadBytes) {
    return Status::Corruption(StrCat(rest->size(), " bytes, but a record has ", kHeadBytes));
  }
  Record record;
  const char* at = rest->data();
  record.kind = at[0];
  record.key = {static_cast<uint8_t>(at[1]), DecodeFixed64(at + 2)};
  record.generation = DecodeFixed32(at + 10);
  record.operand = static_cast<uint8_t>(at[14]);
  record.payload_bytes = DecodeFixed16(at + 15);
  // A value under a wrong key is a mistake of the database, so it is reported before the bytes are
  // compared.
  if (record.key.family != key.family || record.key.number != key.number) {
    return Status::Corruption(
        StrCat("a value of key ", record.key.number, " of family ", record.key.family));
  }
  // Generated again from the fields, and compared byte by byte.
  const std::string expected = record.ToString();
  if (!rest->starts_with(expected)) {
    return Status::Corruption(StrCat("wrong bytes in a value of generation ", record.generation));
  }
  rest->remove_prefix(expected.size());
  return record;
}

// The records of a key are joined in the order of the merges, so that a reader sees each of them
// and a lost, repeated or exchanged operand is noticed.
class JoinRecords final : public MergeOperator {
 public:
  explicit JoinRecords(bool no_partial_merges) : no_partial_merges_(no_partial_merges) {}
  const char* Name() const override { return "db_stress.JoinRecords"; }

  bool FullMergeV2(const MergeOperationInput& input, MergeOperationOutput* output) const override {
    if (input.existing_value != nullptr) {
      assert(output != nullptr);
      output->new_value.assign(input.existing_value->data(), input.existing_value->size());
    }
    for (const Slice& operand : input.operand_list) {
      output->new_value.append(operand.data(), operand.size());
    }
    return true;
  }
  bool PartialMerge(const Slice&, const Slice& left, const Slice& right, std::string* result,
                    Logger*) const override {
    // Both ways must give the same values, so each run draws whether the engine may merge in parts.
    assert(result != nullptr);
    if (no_partial_merges_) return false;
    *result = StrCat(left, right);
    return true;
  }

 private:
  const bool no_partial_merges_;
};

}  // namespace

// Eight bytes in big-endian order, so keys sort like their numbers. The tail makes keys of five
// lengths, because equal lengths would hide mistakes of prefixes and of shared bytes.
std::string KeyText(uint64_t number) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8) text.push_back(static_cast<char>(number >> shift));
  text.append(number % 5 * 7, 'k');
  return text;
}

// The inverse of KeyText(): big-endian, so numbers are in the order of keys.
Result<uint64_t> NumberOfKey(const Slice& key) {
  uint64_t number = 0;
  for (size_t i = 0; i < std::min(key.size(), kNumberBytes); i++) {
    number = number << 8 | static_cast<uint8_t>(key[i]);
  }
  // The tail is checked too: a key with a wrong length is not one that this program has written.
  if (key.size() >= kNumberBytes && key == Slice(KeyText(number))) return number;
  return Status::Corruption(StrCat("an unknown key: ", key.ToString(/*hex=*/true)));
}

std::string RecordText(const KeyId& key, const KeyState& state, size_t bytes) {
  assert(state.IsPresent());
  Record record{.kind = state.operands == 0 ? 'P' : 'M',
                .key = key,
                .generation = state.generation,
                .operand = state.operands};
  // Another seed than that of the bytes, so that the length does not depend on them.
  Random64 random(record.Seed() + 1);
  record.payload_bytes = random.Uniform(bytes + 1) * (random.Uniform(32) == 0 ? 8 : 1);
  record.payload_bytes = std::min(record.payload_bytes, kMaxPayload);
  return record.ToString();
}

Result<FoundEvent> ReadValue(const KeyId& key, const Slice& value) {
  // The first record says whether the value begins with a put, or consists of operands alone.
  Slice rest = value;
  FoundEvent found;
  // The records must be the events of one generation, without a gap and in order.
  // An empty value has no record, so the loop runs once for it and ReadRecord() reports the missing
  // bytes.
  for (bool is_first = true; !rest.empty() || is_first; is_first = false) {
    ASSIGN_OR_RETURN(const Record record, ReadRecord(key, &rest));
    if (is_first) {
      found.generation = record.generation;
      found.has_base = record.kind == 'P';
    }
    const uint32_t expected = is_first && found.has_base ? 0 : found.operands + 1;
    const bool is_kind = record.kind == (is_first && found.has_base ? 'P' : 'M');
    if (!is_kind || record.operand != expected || record.generation != found.generation) {
      return Status::Corruption(StrCat("operand ", record.operand, " of generation ",
                                       record.generation, " after operand ", found.operands,
                                       " of generation ", found.generation));
    }
    found.operands = record.operand;
  }
  return found;
}

std::shared_ptr<MergeOperator> NewJoinRecords(bool no_partial_merges) {
  return std::make_shared<JoinRecords>(no_partial_merges);
}

}  // namespace ashlar::stress
