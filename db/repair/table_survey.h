// SPDX-License-Identifier: Apache-2.0
//
// What repair does with one table: verify it, describe it, copy what can be read of it, count its
// references to blob files, and compare the ages of two tables.
//
// A status that is Corruption is a finding about the file. Any other error is one of the file
// system, or of options that do not fit, and says nothing about the contents. Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ashlar/file_system.h"
#include "db/manifest/file_metadata.h"
#include "db/output/table_output.h"
#include "table/sst/read/table_reader.h"
#include "util/keys/internal_key.h"
#include "util/result.h"

namespace ashlar {

class SliceTransform;

// How the tables of a family are read. Pointers outlive the calls.
struct TableReadContext {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  const InternalKeyComparator* comparator = nullptr;
  const SliceTransform* prefix_extractor = nullptr;
};

// References of tables to one blob file.
struct SurveyedBlob {
  uint64_t count = 0;
  uint64_t bytes = 0;  // of whole records
};
using SurveyedBlobs = std::map<FileNumber, SurveyedBlob>;

// The blobs to which entries refer: by blob file and offset, the sequence number of the entry.
using BlobUsers = std::map<FileNumber, std::unordered_map<uint64_t, SequenceNumber>>;

// Reads the whole table, and compares it with what the MANIFEST says about it.
Status VerifyTable(const TableReadContext& context, const std::string& path,
                   const FileMetadata& meta);

// The facts that the MANIFEST has to record about a table that it does not name, without level and
// epoch. Reads the whole table; Corruption if it is damaged or empty.
Result<FileMetadata> DescribeTable(const TableReadContext& context, const std::string& path,
                                   FileNumber number);

// The result of copying a damaged table.
struct SalvagedTable {
  std::optional<FileMetadata> meta;  // of the copy; none: no entry could be read
  uint64_t entries = 0;              // copied, range tombstones included
  uint64_t repeated = 0;             // left out because of `elsewhere`
  std::vector<std::string> damage;   // a line for each part that could not be read
};
// Copies all entries that can be read to a new table. `meta` is what the MANIFEST says about the
// damaged one; null: nothing. Entries that repeat one of `elsewhere` (IsRepeated()) are left out;
// null: none are.
Result<SalvagedTable> SalvageTable(const TableReadContext& context, const std::string& path,
                                   const FileMetadata* meta, const BlobUsers* elsewhere,
                                   const TableOutputOptions& output);

// The blobs to which the entries of the table refer.
Result<BlobUsers> FindBlobUsers(const TableReadContext& context, const std::string& path,
                                const FileMetadata& meta);
// Whether an entry with this sequence number only repeats one of `users`: each blob belongs to one
// version of one key. An entry with a greater number is kept: older tombstones do not hide it.
bool IsRepeated(const BlobUsers& users, FileNumber blob_file, uint64_t offset,
                SequenceNumber seqno);

// Adds the references of the table's entries to `*uses`.
Status CountBlobUses(const TableReadContext& context, const std::string& path,
                     const FileMetadata& meta, SurveyedBlobs* uses);

// Which of two tables with a common key has the newer version of it: kFirst, kSecond, or kEqual if
// they have no common key, or the same versions of all common keys. The first common key decides,
// so both tables come from one database in which each was at one age.
enum class NewerTable : uint8_t { kFirst, kSecond, kEqual };
Result<NewerTable> CompareTableAges(const TableReadContext& context, const TableReader& first,
                                    const TableReader& second);

// Opens a table without a block cache. `meta` may be null.
Result<std::unique_ptr<TableReader>> OpenTableForRepair(const TableReadContext& context,
                                                        const std::string& path,
                                                        const FileMetadata* meta);

}  // namespace ashlar
