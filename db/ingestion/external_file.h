// SPDX-License-Identifier: Apache-2.0
//
// ExternalFile is a table that a program hands to the database: its properties and bounds, and its
// staging, which gives it a name and a number inside the database.
//
// Crash: a staged file is complete and synced, but no MANIFEST names it, so the next opening
// deletes it. The code that stages several files syncs the directory after the last one. Threads:
// one at a time; no lock needed.
#pragma once

#include <cstdint>
#include <map>
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
struct BareTableFormat;

// The values of one blob file to which a table refers.
struct BlobUse {
  uint64_t count = 0;
  uint64_t bytes = 0;  // of their records
  uint64_t end = 0;    // the offset behind the last one
};

struct ExternalFile {
  std::string source;  // the path that the program has given
  uint64_t bytes = 0;
  std::shared_ptr<const TableProperties> properties;
  TableBounds bounds;
  // Whether all its entries can be given one sequence number; otherwise they keep their own.
  bool takes_seqno = false;
  std::map<FileNumber, BlobUse> blobs;  // by the number that the table has for the blob file

  // Set by staging.
  std::string path;  // inside the database; empty: not staged
  FileNumber number = 0;
  FileChecksum checksum;  // for the MANIFEST; without a function name: none
  // The storage tier, set before staging: recorded, and told to the file system with a copy.
  Temperature temperature = Temperature::kUnknown;

  // One line: name, bytes, bounds.
  std::string DebugString() const;
};

// Whether readers of this table apply the one sequence number that the MANIFEST has for it.
bool TakesSeqno(const TableProperties& properties);

// The objects that the pointers name outlive the call.
struct InspectOptions {
  FileSystem* fs = nullptr;
  FileOptions file_options;
  const InternalKeyComparator* comparator = nullptr;
  const SliceTransform* prefix_extractor = nullptr;
  uint32_t family_id = 0;
  const IngestExternalFileOptions* ingest = nullptr;
  // The format of the family's tables, which must be able to hold the entries; null: with blocks.
  const BareTableFormat* bare = nullptr;
  FileChecksumGenFactory* checksum_factory = nullptr;  // null: the database records no checksums
  // What becomes of values in blob files: a table with such values is refused; or its entries are
  // read to find the files; or it is known that there are none.
  enum class Blobs : uint8_t { kRefused, kFound, kKnownNone };
  Blobs blobs = Blobs::kRefused;
};
// Opens the file and returns its description. InvalidArgument: the file does not belong here
// (written by a database, for another family or comparator, or without entries). NotSupported: it
// refers to blob files. Corruption: it is damaged. All blocks are read only if the options ask for
// it or allow files that were not written by an SstFileWriter.
Result<ExternalFile> InspectExternalFile(const InspectOptions& options, const std::string& source);

// Like InspectExternalFile(), for a table that was exported together with its entry in the
// MANIFEST. It only needs to be readable. It takes no sequence number.
Result<ExternalFile> InspectImportedTable(const InspectOptions& options, const std::string& source);

// Determines the checksum that the MANIFEST will record for a staged file: the one that the program
// gives, which is verified if the options ask for it, or one that is computed. A database without
// checksums verifies with the standard function. InvalidArgument: no function has the given name.
// Corruption: the file has another checksum.
Status SettleChecksum(const InspectOptions& options, const std::optional<FileChecksum>& given,
                      ExternalFile* file);
// The checksum that the program gives for file `i`, if any.
std::optional<FileChecksum> GivenChecksum(const IngestExternalFileArg& arg, size_t i);

// Creates the file at `path`, by a link or a copy as the options say, and syncs it.
Status StageExternalFile(const InspectOptions& options, const std::string& path,
                         ExternalFile* file);

// The entry of a staged file in the MANIFEST. `seqno` is the sequence number of all its entries, if
// it takes one.
FileMetadata MetadataOf(const ExternalFile& file, SequenceNumber seqno);

// Writes the sequence number into the file, for releases that look for it there, and updates the
// checksum in `*meta`, if there was one.
Status WriteGlobalSeqno(const InspectOptions& options, const ExternalFile& file,
                        FileMetadata* meta);

}  // namespace ashlar
