// SPDX-License-Identifier: Apache-2.0
//
// The hash contains the file number at the creation of a table. For tables that were imported with
// another number, no candidate matches, and their properties are read.
#include "db/utilities/backup/file_identities.h"

#include <utility>

#include "ashlar/file_checksum.h"
#include "ashlar/utilities/backup_engine.h"
#include "table/format/unique_id.h"
#include "table/sst/read/table_identity.h"
#include "util/keys/coding.h"
#include "util/text/str_cat.h"

namespace ashlar {
namespace {

// Whether this session of the database has made the table: then the unique id computed from the
// three parts is the one that the MANIFEST records.
bool IsMadeBy(const DatabaseIdentity& database, const std::string& session_id,
              const LiveFileStorageInfo& table) {
  const Result<InternalUniqueId> id =
      MakeInternalUniqueId(FileIdentity{.db_id = database.id,
                                        .db_session_id = session_id,
                                        .file_number = FileNumber{table.file_number}});
  if (!id.ok()) return false;
  std::string bytes;
  for (const uint64_t word : id.value().ManifestForm()) PutFixed64(&bytes, word);
  return bytes == table.unique_id;
}

}  // namespace

// The session is needed for the name of the shared file, and is stored only inside of the table.
Result<TableMaker> FileIdentities::MakerOf(const DatabaseIdentity& database, FileSystem* fs,
                                           const LiveFileStorageInfo& table) {
  if (!table.unique_id.empty()) {
    // Cheap candidates first: the current session, then the sessions in names of backups, then what
    // this engine has read before. The file is opened last.
    if (IsMadeBy(database, database.session_id, table))
      return TableMaker{database.session_id, /*is_exact=*/true};
    for (std::string& session_id : catalog_->SessionIdsOf(table.relative_filename)) {
      if (IsMadeBy(database, session_id, table))
        return TableMaker{std::move(session_id), /*is_exact=*/true};
    }
    MutexLock lock(&mutex_);
    const auto known = sessions_.find(table.unique_id);
    if (known != sessions_.end())
      return TableMaker{known->second, IsMadeBy(database, known->second, table)};
  }
  Result<TableProperties> read =
      ReadTableProperties(fs, StrCat(table.directory, "/", table.relative_filename));
  if (read.status().IsCorruption() || read.status().IsNotSupported()) return TableMaker();
  if (!read.ok()) return read.status();
  if (!table.unique_id.empty()) {
    MutexLock lock(&mutex_);
    sessions_[table.unique_id] = read->db_session_id;
  }
  const bool is_exact = read->db_id == database.id && read->orig_file_number == table.file_number;
  return TableMaker{std::move(read->db_session_id), is_exact};
}

std::optional<uint32_t> FileIdentities::KnownCrc(const DatabaseIdentity& database,
                                                 uint64_t file_number) const {
  MutexLock lock(&mutex_);
  // File numbers identify files within one session only: after a restore they may be used again.
  if (database.session_id.empty() || database.session_id != crcs_of_session_) return std::nullopt;
  const auto known = crcs_.find(file_number);
  if (known == crcs_.end()) return std::nullopt;
  return known->second;
}

void FileIdentities::RememberCrcs(const DatabaseIdentity& database, Crcs crcs) {
  MutexLock lock(&mutex_);
  crcs_of_session_ = database.session_id;
  crcs_ = std::move(crcs);
}

void FileIdentities::AddCrcs(Crcs crcs) {
  MutexLock lock(&mutex_);
  crcs_.merge(std::move(crcs));
}

// The CRC-32C that the database has recorded. Other checksum functions are of no use for backups.
std::optional<uint32_t> RecordedCrc(const LiveFileStorageInfo& file) {
  if (file.file_checksum_func_name != kDbFileChecksumFuncName) return std::nullopt;
  if (file.file_checksum.size() != sizeof(uint32_t)) return std::nullopt;
  uint32_t crc = 0;
  // The recorded checksum is in big-endian order.
  for (const char byte : file.file_checksum) crc = crc << 8 | static_cast<unsigned char>(byte);
  return crc;
}

}  // namespace ashlar
