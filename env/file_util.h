// SPDX-License-Identifier: Apache-2.0
//
// Functions for whole files and directories, over any FileSystem. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "ashlar/types.h"
#include "util/result.h"

namespace ashlar {

class FileChecksumGenFactory;
class FileChecksumGenerator;

// The contents of a file. For small files: all of it is in memory.
Result<std::string> ReadWholeFile(FileSystem* fs, const std::string& path);

// Replaces the contents of dir/final_name in one step that survives a crash: writes and syncs
// dir/tmp_name, renames it, and syncs the directory. A crash leaves either the old file or the new
// one, and perhaps the temporary file. After an error of the last sync either may be there. The
// file system is told the tier of storage.
Status WriteFileAtomically(FileSystem* fs, const std::string& dir, const std::string& tmp_name,
                           const std::string& final_name, const Slice& contents,
                           Temperature temperature = Temperature::kUnknown);

// Makes the entries of the directory durable, except entries that a failed sync before this call
// has lost. A caller that has made files must therefore create a NewEntries (env/new_entries.h)
// before it makes them.
Status SyncDirectory(FileSystem* fs, const std::string& dir);

// Creates the directory and all missing parents, and makes their names durable. If the file system
// does not know what is a directory, parents are created only if creating the directory itself
// fails.
Status CreateDirectories(FileSystem* fs, const std::string& dir);

// The names in the directory, without "." and "..". In large directories most of the time is spent
// on sorting.
enum class NameOrder : bool { kAny, kSorted };
Result<std::vector<std::string>> ListDirectory(FileSystem* fs, const std::string& dir,
                                               NameOrder order = NameOrder::kSorted);

// The size of the file in bytes.
Result<uint64_t> FileSizeOf(FileSystem* fs, const std::string& path);

// Whether a call failed because a file or its directory does not exist. File systems use two codes
// for it.
inline bool IsMissing(const Status& status) {
  return status.IsPathNotFound() || status.IsNotFound();
}

// Deletes the file if it exists. OK means that the name is gone, but not durably.
Status DeleteFileIfExists(FileSystem* fs, const std::string& path);

// Copies the first `bytes` bytes (UINT64_MAX: all) to a new file, and syncs the file but not its
// directory. Corruption if the source is shorter. After an error the copy is incomplete.
Status CopyFileTo(FileSystem* fs, const std::string& from, const std::string& to,
                  uint64_t bytes = UINT64_MAX, Temperature temperature = Temperature::kUnknown);

// Passes the whole file to the generator, from the first byte to the last, and finalizes it. `io`
// says what the reads are for.
Status ChecksumFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                    FileChecksumGenerator* generator, const IOOptions& io = IOOptions());

// The recorded checksum of a file, with which a later check detects that the file has changed.
// `value` is binary; `function` is the name of the generator.
struct FileChecksum {
  std::string value;
  std::string function;
};

// The function of the factory with this name; an empty name means the factory's default one. Null
// if there is none. One generator is for one file.
std::unique_ptr<FileChecksumGenerator> NewChecksumGenerator(FileChecksumGenFactory* factory,
                                                            const std::string& path,
                                                            const std::string& function = "");

// The same with a function of the factory, chosen like in NewChecksumGenerator(). InvalidArgument
// if there is none.
Result<FileChecksum> ChecksumFile(FileSystem* fs, const std::string& path,
                                  const FileOptions& options, FileChecksumGenFactory* factory,
                                  const std::string& function = "",
                                  const IOOptions& io = IOOptions());

// Corruption if the file has a different checksum; the message has both in hexadecimal.
Status CheckFileChecksum(FileSystem* fs, const std::string& path, const FileOptions& options,
                         FileChecksumGenFactory* factory, const FileChecksum& expected,
                         const IOOptions& io = IOOptions());

// A random, printable id: 8-4-4-4-12 lower-case hex digits, a version 4 UUID.
std::string NewUniqueId();

}  // namespace ashlar
