// SPDX-License-Identifier: Apache-2.0
//
// Whole files and directories in one call, over any FileSystem. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system.h"
#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "util/result.h"

namespace ashlar {

class FileChecksumGenFactory;
class FileChecksumGenerator;

Result<std::string> ReadWholeFile(FileSystem* fs, const std::string& path);

// Makes `contents` the content of dir/final_name in one step that survives a crash: write and sync
// dir/tmp_name, rename it, sync the directory. A crash leaves the old file or the new one.
Status WriteFileAtomically(FileSystem* fs, const std::string& dir, const std::string& tmp_name,
                           const std::string& final_name, const Slice& contents);

// Makes the entries of the directory durable, but for those that a failed sync before the call has
// lost: whoever makes files takes a NewEntries (env/new_entries.h) before.
Status SyncDirectory(FileSystem* fs, const std::string& dir);

// Creates the directory and all missing parents, and makes their names durable. A file system that
// does not say what is a directory is asked for a parent only if it refuses.
Status CreateDirectories(FileSystem* fs, const std::string& dir);

// Names in the directory, without "." and "..". Sorting is most of the work where there are many.
enum class NameOrder : bool { kAny, kSorted };
Result<std::vector<std::string>> ListDirectory(FileSystem* fs, const std::string& dir,
                                               NameOrder order = NameOrder::kSorted);

Result<uint64_t> FileSizeOf(FileSystem* fs, const std::string& path);

// Deletes the file if it is there.
Status DeleteFileIfExists(FileSystem* fs, const std::string& path);

// Copies the first `bytes` bytes (all if UINT64_MAX) to a new file, synced.
Status CopyFileTo(FileSystem* fs, const std::string& from, const std::string& to,
                  uint64_t bytes = UINT64_MAX);

// Gives the whole file to the generator, from its first byte to its last, and finalizes it. `io`:
// what the reads are for.
Status ChecksumFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                    FileChecksumGenerator* generator, const IOOptions& io = IOOptions());

// What is recorded of a file, so that it can be told later whether it is still the same.
struct FileChecksum {
  std::string value;
  std::string function;
};

// The factory's function of this name or, if that is empty, its own; null if it has none.
std::unique_ptr<FileChecksumGenerator> NewChecksumGenerator(FileChecksumGenFactory* factory,
                                                            const std::string& path,
                                                            const std::string& function = "");

// The same by a function of the factory: the one of this name or, if that is empty, the factory's
// own. InvalidArgument if it has none.
Result<FileChecksum> ChecksumFile(FileSystem* fs, const std::string& path,
                                  const FileOptions& options, FileChecksumGenFactory* factory,
                                  const std::string& function = "",
                                  const IOOptions& io = IOOptions());

// Corruption if the file has another checksum.
Status CheckFileChecksum(FileSystem* fs, const std::string& path, const FileOptions& options,
                         FileChecksumGenFactory* factory, const FileChecksum& expected,
                         const IOOptions& io = IOOptions());

// Random and printable: 8-4-4-4-12 lower-case hex digits, a version 4 UUID.
std::string NewUniqueId();

}  // namespace ashlar
