// SPDX-License-Identifier: Apache-2.0
//
// Decides which of the tables are used that no usable MANIFEST explains.
#include <algorithm>
#include <cassert>
#include <utility>

#include "db/repair/repair.h"
#include "db/repair/repair_parts.h"
#include "table/format/table_property_names.h"
#include "util/keys/coding.h"
#include "util/rare_sort.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether the table was ingested. Such a table may have a greater sequence number than entries of
// its family that are only in the WALs.
bool IsExternal(const TableProperties& properties) {
  return properties.user_collected_properties.contains(std::string(kExternalVersionProperty));
}

// Whether the sequence number of the table may have been in the MANIFEST only: the file has a place
// for one, with 0 in it.
bool MayLackSeqno(const TableProperties& properties, const FileMetadata& meta) {
  const auto found =
      properties.user_collected_properties.find(std::string(kExternalVersionProperty));
  return meta.largest_seqno == 0 && found != properties.user_collected_properties.end() &&
         found->second.size() == sizeof(uint32_t) &&
         DecodeFixed32(found->second.data()) == kExternalTableVersion;
}

bool Overlap(const InternalKeyComparator& order, const FileMetadata& a, const FileMetadata& b) {
  return order.OrderWithoutTimestamp(a.smallest_user_key(), b.largest_user_key()) <= 0 &&
         order.OrderWithoutTimestamp(b.smallest_user_key(), a.largest_user_key()) <= 0;
}

// Gives all entries of an ingested table this number, as readers do that find it in the MANIFEST.
void SetSeqno(SequenceNumber seqno, FileMetadata* meta) {
  assert(meta != nullptr);
  meta->smallest_seqno = meta->largest_seqno = seqno;
  for (std::string* const key : {&meta->smallest, &meta->largest}) {
    const uint64_t trailer = ExtractTrailer(*key);
    if (trailer == kRangeTombstoneSentinel) continue;  // the key marks an end and is not an entry
    *key = MakeInternalKey(ExtractUserKey(*key), seqno, TrailerType(trailer));
  }
}

}  // namespace

Status Repair::SurveyStrays() {
  for (Stray& stray : strays_) {
    const auto family = families_.find(stray.FamilyId());
    const std::string& name = stray.properties.column_family_name;
    // The file stays until the end, and is moved to `lost`.
    if (family == families_.end()) {
      Note(StrCat(stray.path, ": of column family ", stray.FamilyId(), ", which is dropped"));
      continue;
    }
    if (stray.HasFamily() && !name.empty() && name != family->second.name) {
      Note(StrCat(stray.path, ": lost: of a column family \"", name, "\" with id ",
                  stray.FamilyId(), ", which is \"", family->second.name, "\""));
      continue;
    }
    RETURN_IF_ERROR(DescribeStray(&stray, &family->second));
  }
  for (auto& [id, family] : families_) {
    RETURN_IF_ERROR(NumberIngested(&family));
    RETURN_IF_ERROR(TakeStrays(&family));
  }
  return Status::OK();
}

Status Repair::DescribeStray(Stray* stray, Family* family) {
  assert(stray != nullptr && family != nullptr);
  auto meta = DescribeTable(ReadContext(*family), stray->path, stray->number);
  if (meta.ok()) {
    stray->meta = meta.Take();
    family->strays.push_back(stray);
    return Status::OK();
  }
  if (!meta.status().IsCorruption()) return meta.status();
  Note(StrCat(stray->path, ": damaged: ", meta.status().ToString()));
  const SequenceNumber before = family->largest_flushed;
  // The level is left open: the copy gets its place in the tree later, by its contents.
  RETURN_IF_ERROR(
      CopyTable(stray->path, nullptr, family, PlacedTable{.meta = {}, .level = std::nullopt}));
  if (IsExternal(stray->properties)) family->largest_flushed = before;
  return Status::OK();
}

// Tables with smaller file numbers existed when the table was ingested, so all of their keys that
// it has too are older. Their greatest number is at most one less than the lost one: among tables
// with greater file numbers there may be older ones, which then count as newer.
Status Repair::NumberIngested(Family* family) {
  assert(family != nullptr);
  std::vector<const FileMetadata*> all;
  for (const PlacedTable& table : family->tables) all.push_back(&table.meta);
  for (const Stray* const stray : family->strays) all.push_back(&stray->meta);
  for (Stray* const stray : family->strays) {
    FileMetadata& meta = stray->meta;
    if (!MayLackSeqno(stray->properties, meta)) continue;
    // There 0 may be the true number: that of a table that was ingested behind.
    const bool may_be_behind = family->options->cf_allow_ingest_behind;
    SequenceNumber largest = 0;
    bool has_older = false, may_have_others = false;
    for (const FileMetadata* const other : all) {
      if (other == &meta) continue;
      const bool is_before = other->number < meta.number;
      if (is_before) largest = std::max(largest, other->largest_seqno);
      if (!Overlap(family->comparator, *other, meta)) continue;
      may_have_others = may_have_others || !is_before || may_be_behind;
      if (!is_before || has_older || may_be_behind) continue;
      ASSIGN_OR_RETURN(const NewerTable newer, CompareAges(*family, *other, meta));
      has_older = newer != NewerTable::kEqual;
    }
    if (may_have_others) {
      Note(StrCat(stray->path, ": ingested; its age was in the MANIFEST only: it counts as ",
                  may_be_behind ? "older than all other tables"
                                : "newer than tables with smaller numbers only"));
    }
    // Without a common key it may have got no number, so the next one may be that of a later write.
    if (!may_be_behind) SetSeqno(has_older ? largest + 1 : largest, &meta);
  }
  return Status::OK();
}

// A table whose entries are all in complete WALs is the output of a flush that did not end, or of a
// compaction of such tables. It is not used: together with the WALs it would apply merge operands
// twice. But it is used if those WALs are not applied, because another table has newer entries.
Status Repair::TakeStrays(Family* family) {
  assert(family != nullptr);
  // The WALs would hide what was ingested behind the flush of their entries.
  const auto is_below_ingested = [family](const FileMetadata& meta) {
    return std::ranges::any_of(family->strays, [&](const Stray* other) {
      return IsExternal(other->properties) && other->meta.largest_seqno > meta.smallest_seqno &&
             Overlap(family->comparator, other->meta, meta);
    });
  };
  std::vector<const Stray*> in_logs;
  for (const Stray* const stray : family->strays) {
    const bool is_external = IsExternal(stray->properties);
    if (!is_external && stray->meta.smallest_seqno >= logs_.CompleteFrom() &&
        !is_below_ingested(stray->meta)) {
      in_logs.push_back(stray);
    } else {
      RETURN_IF_ERROR(TakeStray(*stray, is_external, family));
    }
  }
  // In this order, a table that is left out is newer than all that are taken after it.
  SortRarely(&in_logs, [](const Stray* a, const Stray* b) {
    return a->meta.smallest_seqno < b->meta.smallest_seqno;
  });
  for (const Stray* const stray : in_logs) {
    if (stray->meta.smallest_seqno > LastNotReplayed(*family)) {
      Note(StrCat(stray->path, ": all of its entries are in WALs"));
    } else {
      RETURN_IF_ERROR(TakeStray(*stray, /*is_external=*/false, family));
    }
  }
  return Status::OK();
}

Status Repair::TakeStray(const Stray& stray, bool is_external, Family* family) {
  assert(family != nullptr);
  FileMetadata meta = stray.meta;
  ASSIGN_OR_RETURN(meta.path_id, PathIdOf(*family, stray.path));
  if (!is_external) {
    family->largest_flushed = std::max(family->largest_flushed, meta.largest_seqno);
  }
  if (!base_.name.empty()) Note(StrCat(stray.path, ": added, the MANIFEST does not name it"));
  family->tables.push_back({.meta = std::move(meta), .level = std::nullopt});
  return Status::OK();
}

Result<NewerTable> Repair::CompareAges(const Family& family, const FileMetadata& first,
                                       const FileMetadata& second) const {
  const TableReadContext context = ReadContext(family);
  ASSIGN_OR_RETURN(const auto a, OpenTableForRepair(context, PathOf(family, first), &first));
  ASSIGN_OR_RETURN(const auto b, OpenTableForRepair(context, PathOf(family, second), &second));
  return CompareTableAges(context, *a, *b);
}

// A table that the MANIFEST names has no entries of the WALs from the MANIFEST's log number on,
// whatever its sequence numbers are: those of ingested and imported tables say nothing about WALs.
// If such tables are lost, older WALs that were kept may replace them, but only where the remaining
// tables are older.
SequenceNumber Repair::LastNotReplayed(const Family& family) const {
  return family.has_losses ? std::max(family.largest_flushed, family.largest_named)
                           : family.largest_flushed;
}

}  // namespace ashlar
