// SPDX-License-Identifier: Apache-2.0
//
// User collectors receive user keys and EntryType values; a table has internal keys and ValueType
// values.
#include "table/sst/write/property_collectors.h"

#include <cassert>

#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

namespace {

EntryType EntryTypeOf(ValueType type) {
  switch (type) {
    case kTypeValue: return kEntryPut;
    case kTypeDeletion: return kEntryDelete;
    case kTypeDeletionWithTimestamp: return kEntryDeleteWithTimestamp;
    case kTypeSingleDeletion: return kEntrySingleDelete;
    case kTypeMerge: return kEntryMerge;
    case kTypeRangeDeletion: return kEntryRangeDeletion;
    case kTypeBlobIndex: return kEntryBlobIndex;
    case kTypeWideColumnEntity: return kEntryWideColumnEntity;
    case kTypeValuePreferredSeqno: return kEntryTimedPut;
    default: return kEntryOther;
  }
}

}  // namespace

// Also makes the text of the property that names the collectors.
PropertyCollectors::PropertyCollectors(const Factories* factories,
                                       const TablePropertiesCollectorFactory::Context& context) {
  names_ = "[";
  if (factories != nullptr) {
    for (const auto& factory : *factories) {
      if (names_.size() > 1) names_ += ',';
      names_ += factory->Name();
      std::unique_ptr<TablePropertiesCollector> collector(
          factory->CreateTablePropertiesCollector(context));
      if (collector != nullptr) collectors_.push_back(std::move(collector));
    }
  }
  names_ += ']';
}

// Errors of a collector are ignored: they concern only its own properties, and must not fail a
// flush.
void PropertyCollectors::AddEntry(const Slice& internal_key, const Slice& value,
                                  uint64_t file_bytes) {
  assert(internal_key.size() >= kTrailerBytes);
  const uint64_t trailer = ExtractTrailer(internal_key);
  const Slice user_key = ExtractUserKey(internal_key);
  for (const auto& collector : collectors_) {
    IgnoreError(collector->AddUserKey(user_key, value, EntryTypeOf(TrailerType(trailer)),
                                      TrailerSeqno(trailer), file_bytes),
                "a collector that fails must not fail the table");
  }
}

void PropertyCollectors::AddBlock(uint64_t raw_bytes, const SampledBytes& sampled) {
  for (const auto& collector : collectors_) {
    collector->BlockAdd(raw_bytes, sampled.fast, sampled.slow);
  }
}

// The properties of a collector that fails are missing in the table.
void PropertyCollectors::Finish(TableProperties* properties) {
  assert(properties != nullptr);
  properties->property_collectors_names = names_;
  for (const auto& collector : collectors_) {
    UserCollectedProperties collected;
    const Status status = collector->Finish(&collected);
    if (!status.ok()) continue;
    for (auto& [name, value] : collected) {
      properties->user_collected_properties.insert_or_assign(name, std::move(value));
    }
    for (auto& [name, value] : collector->GetReadableProperties()) {
      properties->readable_properties.insert_or_assign(name, value);
    }
  }
}

bool PropertyCollectors::NeedCompact() const {
  for (const auto& collector : collectors_) {
    if (collector->NeedCompact()) return true;
  }
  return false;
}

}  // namespace ashlar
