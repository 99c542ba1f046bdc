// SPDX-License-Identifier: Apache-2.0
//
// ExternalFile is a table that a program hands to the database: what it holds, and its staging,
// which gives it a name and a number inside the database.
//
// Crash: a staged file is whole and synced, but nobody names it; the next open deletes it. The
// directory is synced by whoever has staged the last one. Threads: one at a time; no lock needed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/file_system.h"
#include "ashlar/options.h"
#include "ashlar/table_properties.h"
#include "db/manifest/file_metadata.h"
#include "db/table_cache/table_bounds.h"
#include "env/file_util.h"
#include "util/keys/file_number.h"
#include "util/result.h"

namespace ashlar {

class SliceTransform;

struct ExternalFile {
  std::string source;  // as the program names it
  uint64_t bytes = 0;
  std::shared_ptr<const TableProperties> properties;
  TableBounds bounds;
  // All its entries can be given one sequence number; else they keep those that they have.
  bool takes_seqno = false;

  // Staging.
  std::string path;  // inside the database; empty: not staged
  FileNumber number = 0;
  FileChecksum checksum;  // for the MANIFEST; without a function: none

  // One line: name, bytes, bounds.
  std::string DebugString() const;
};

// Whether a reader shows all entries with the one number that the MANIFEST has.
bool TakesSeqno(const TableProperties& properties);

// Pointers outlive the call.
struct InspectOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  const InternalKeyComparator* comparator = nullptr;
  const SliceTransform* prefix_extractor = nullptr;
  uint32_t family_id = 0;
  const IngestExternalFileOptions* ingest = nullptr;
  FileChecksumGenFactory* checksum_factory = nullptr;  // the database's; null: it records none
  bool has_no_blobs = false;  // the MANIFEST it was named in says so; else its entries are asked
};
// Opens the file and says what is in it. InvalidArgument for one that does not belong here (made by
// a database, for another family or comparator, without entries), NotSupported for one with values
// in blob files, Corruption for a damaged one. All blocks are read only if the options ask for it
// or allow a file that was not made by an SstFileWriter.
Result<ExternalFile> InspectExternalFile(const InspectOptions& options, const std::string& source);

// The same for a table that was exported with what the MANIFEST said of it: nothing is asked of it
// but that it can be read. It takes no sequence number.
Result<ExternalFile> InspectImportedTable(const InspectOptions& options, const std::string& source);

// Settles what the MANIFEST is to say of a staged file: the checksum that the program gives, which
// is compared if the options ask for it, or the one that the file has. A database without checksums
// compares with the standard function. InvalidArgument if there is no function by the name,
// Corruption if the file has another checksum.
Status SettleChecksum(const InspectOptions& options, const std::optional<FileChecksum>& given,
                      ExternalFile* file);
// What the program says of file `i`.
std::optional<FileChecksum> GivenChecksum(const IngestExternalFileArg& arg, size_t i);

// Makes the file there under `path`, by a link or a copy as the options say, synced.
Status StageExternalFile(const InspectOptions& options, const std::string& path,
                         ExternalFile* file);

// What the MANIFEST is to say of a staged file. `seqno` is that of all its entries, if it takes
// one.
FileMetadata MetadataOf(const ExternalFile& file, SequenceNumber seqno);

// Writes the sequence number into the file, for releases that look for it there, and notes the
// checksum that the file has now, if it had one.
Status WriteGlobalSeqno(const InspectOptions& options, const ExternalFile& file,
                        FileMetadata* meta);

}  // namespace ashlar
