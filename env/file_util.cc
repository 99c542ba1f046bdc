// SPDX-License-Identifier: Apache-2.0
//
// Functions for whole files and directories.
#include "env/file_util.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <random>

#include "ashlar/file_checksum.h"
#include "env/file_writer.h"
#include "env/new_entries.h"
#include "env/random_reader.h"
#include "env/sequential_reader.h"
#include "util/text/str_cat.h"

namespace ashlar {

Result<std::string> ReadWholeFile(FileSystem* fs, const std::string& path) {
  std::string contents;
  const IOStatus status = ReadFileToString(fs, path, &contents);
  if (!status.ok()) return status;
  return contents;
}

// A crash leaves either the old or the new contents under the final name, and perhaps the temporary
// file.
Status WriteFileAtomically(FileSystem* fs, const std::string& dir, const std::string& tmp_name,
                           const std::string& final_name, const Slice& contents,
                           Temperature temperature) {
  assert(fs != nullptr);
  // Created before the rename: a sync of the directory that fails from now on is noticed.
  const NewEntries entries(fs, dir);
  const std::string tmp_path = StrCat(dir, "/", tmp_name);
  const std::string final_path = StrCat(dir, "/", final_name);
  // The content is durable before the name: a crash cannot show an empty final file.
  FileOptions file_options;
  file_options.temperature = temperature;
  RETURN_IF_ERROR(
      WriteStringToFile(fs, contents, tmp_path, /*should_sync=*/true, IOOptions(), file_options));
  const IOStatus renamed = fs->RenameFile(tmp_path, final_path, IOOptions(), nullptr);
  if (!renamed.ok()) {
    IgnoreError(fs->DeleteFile(tmp_path, IOOptions(), nullptr),
                "the error of the rename is returned");
    return renamed;
  }
  // Until the directory is synced, a crash may bring back the old file.
  return entries.Sync(final_path);
}

Status SyncDirectory(FileSystem* fs, const std::string& dir) { return NewEntries(fs, dir).Sync(); }

Status CreateDirectories(FileSystem* fs, const std::string& dir) {
  assert(fs != nullptr);
  const IOOptions io;
  bool is_dir = false;
  const IOStatus looked = fs->IsDirectory(dir, io, &is_dir, nullptr);
  if (looked.ok() && is_dir) return Status::OK();
  // The slash before the last part of the path; trailing slashes do not count.
  const size_t slash = dir.find_last_not_of('/') == std::string::npos
                           ? std::string::npos
                           : dir.rfind('/', dir.find_last_not_of('/'));
  std::string parent = slash == std::string::npos ? "." : dir.substr(0, slash);
  if (parent.empty()) parent = "/";
  const NewEntries entries(fs, parent);
  // If the file system cannot tell what is a directory, this one is created right away. The process
  // may not be allowed to create its parents, up to the root.
  const bool is_made = looked.IsNotSupported() && fs->CreateDirIfMissing(dir, io, nullptr).ok();
  if (!is_made) {
    if (slash != std::string::npos && slash > 0) {
      RETURN_IF_ERROR(CreateDirectories(fs, dir.substr(0, slash)));
    }
    RETURN_IF_ERROR(fs->CreateDirIfMissing(dir, io, nullptr));
  }
  // A file in the new directory is only durable if the name of the directory is. A parent that
  // cannot be opened cannot be synced, and the directory is used all the same.
  std::unique_ptr<FSDirectory> handle;
  if (!fs->NewDirectory(parent, io, &handle, nullptr).ok()) return Status::OK();
  Status status = entries.SyncThrough(handle.get(), DirFsyncOptions());
  // The directory is removed again. Otherwise the next call would find it, and assume that its name
  // is durable.
  if (!status.ok()) IgnoreError(fs->DeleteDir(dir, io, nullptr), "the first error is more useful");
  return status;
}

Result<std::vector<std::string>> ListDirectory(FileSystem* fs, const std::string& dir,
                                               NameOrder order) {
  assert(fs != nullptr);
  std::vector<std::string> names;
  const IOStatus status = fs->GetChildren(dir, IOOptions(), &names, nullptr);
  if (!status.ok()) return status;
  std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
  if (order == NameOrder::kSorted) std::sort(names.begin(), names.end());
  return names;
}

Result<uint64_t> FileSizeOf(FileSystem* fs, const std::string& path) {
  assert(fs != nullptr);
  uint64_t size = 0;
  const IOStatus status = fs->GetFileSize(path, IOOptions(), &size, nullptr);
  if (!status.ok()) return status;
  return size;
}

Status DeleteFileIfExists(FileSystem* fs, const std::string& path) {
  assert(fs != nullptr);
  const IOStatus status = fs->DeleteFile(path, IOOptions(), nullptr);
  if (IsMissing(status)) return Status::OK();
  return status;
}

Status CopyFileTo(FileSystem* fs, const std::string& from, const std::string& to, uint64_t bytes,
                  Temperature temperature) {
  constexpr uint64_t kChunkBytes = 1 << 20;
  ASSIGN_OR_RETURN(auto reader, SequentialReader::Open(fs, from, FileOptions()));
  // Chunks are larger than any useful buffer, so that they are written directly.
  FileOptions written;
  written.temperature = temperature;
  ASSIGN_OR_RETURN(auto writer, FileWriter::Create(fs, to, written, {.buffer_bytes = 0}));
  const std::unique_ptr<char[]> scratch(new char[kChunkBytes]);
  uint64_t left = bytes;
  while (left > 0) {
    Slice chunk;
    RETURN_IF_ERROR(
        reader->Read(static_cast<size_t>(std::min(left, kChunkBytes)), scratch.get(), &chunk));
    // The end of the source.
    if (chunk.empty()) break;
    RETURN_IF_ERROR(writer->Append(chunk));
    left -= chunk.size();
  }
  // The incomplete copy is not deleted here; the caller deletes it or starts again.
  if (left > 0 && bytes != UINT64_MAX) {
    return Status::Corruption(StrCat("copy ", from),
                              StrCat("expected ", bytes, " bytes, found ", bytes - left));
  }
  RETURN_IF_ERROR(writer->Sync());
  return writer->Close();
}

Status ChecksumFile(FileSystem* fs, const std::string& path, const FileOptions& options,
                    FileChecksumGenerator* generator, const IOOptions& io) {
  assert(generator != nullptr);
  constexpr uint64_t kPieceBytes = 256 * 1024;
  ASSIGN_OR_RETURN(const auto reader, RandomReader::Open(fs, path, options));
  const std::unique_ptr<char[]> scratch(new char[kPieceBytes]);
  for (uint64_t offset = 0; offset < reader->size();) {
    const auto n = static_cast<size_t>(std::min(kPieceBytes, reader->size() - offset));
    Slice piece;
    RETURN_IF_ERROR(reader->ReadExactly(offset, n, scratch.get(), &piece, io));
    generator->Update(piece.data(), piece.size());
    offset += n;
  }
  generator->Finalize();
  return Status::OK();
}

std::unique_ptr<FileChecksumGenerator> NewChecksumGenerator(FileChecksumGenFactory* factory,
                                                            const std::string& path,
                                                            const std::string& function) {
  assert(factory != nullptr);
  FileChecksumGenContext context;
  context.file_name = path;
  context.requested_checksum_func_name = function;
  auto generator = factory->CreateFileChecksumGenerator(context);
  // A factory that does not know the function may return its default one.
  if (generator != nullptr && !function.empty() && function != generator->Name()) return nullptr;
  return generator;
}

Result<FileChecksum> ChecksumFile(FileSystem* fs, const std::string& path,
                                  const FileOptions& options, FileChecksumGenFactory* factory,
                                  const std::string& function, const IOOptions& io) {
  const auto generator = NewChecksumGenerator(factory, path, function);
  if (generator == nullptr) {
    return Status::InvalidArgument(
        StrCat("checksum of ", path, ": ", factory->Name(), " has no function ", function));
  }
  RETURN_IF_ERROR(ChecksumFile(fs, path, options, generator.get(), io));
  // Named by the generator, because an empty `function` means the default one.
  return FileChecksum{.value = generator->GetChecksum(), .function = generator->Name()};
}

Status CheckFileChecksum(FileSystem* fs, const std::string& path, const FileOptions& options,
                         FileChecksumGenFactory* factory, const FileChecksum& expected,
                         const IOOptions& io) {
  ASSIGN_OR_RETURN(const FileChecksum found,
                   ChecksumFile(fs, path, options, factory, expected.function, io));
  if (found.value == expected.value) return Status::OK();
  return Status::Corruption(StrCat(path, ": ", expected.function, " of the whole file: expected ",
                                   Slice(expected.value).ToString(/*hex=*/true), ", found ",
                                   Slice(found.value).ToString(/*hex=*/true)));
}

// The system is asked for random bytes each time; this is rare enough. The state of a generator in
// this process would be copied to forked children, and two processes would make the same ids.
std::string NewUniqueId() {
  std::random_device device;
  uint64_t words[2];
  for (uint64_t& word : words) word = (uint64_t{device()} << 32) | device();
  // Fixed bits of the UUID format.
  words[0] = (words[0] & ~uint64_t{0xf000}) | 0x4000;                  // version 4
  words[1] = (words[1] & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);  // variant 1
  char text[40];
  snprintf(text, sizeof(text), "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(words[0] >> 32),
           static_cast<unsigned>((words[0] >> 16) & 0xffff),
           static_cast<unsigned>(words[0] & 0xffff), static_cast<unsigned>(words[1] >> 48),
           static_cast<unsigned long long>(words[1] & 0xffffffffffff));
  return text;
}

}  // namespace ashlar
