// SPDX-License-Identifier: Apache-2.0
//
// DbDumpTool and DbUndumpTool. Rows are read and written in order, in pieces of about a megabyte.
#include <unistd.h>
#include <cassert>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "ashlar/db.h"
#include "ashlar/db_dump_tool.h"
#include "ashlar/env.h"
#include "ashlar/file_system.h"
#include "ashlar/write_batch.h"
#include "db/utilities/dump/dump_format.h"
#include "env/sequential_reader.h"
#include "util/keys/coding.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

// Quotes, backslashes and control characters of a path are escaped, which RocksDB does not do.
std::string DumpOrigin(const std::string& path, const std::string& host, int64_t seconds) {
  const auto quoted = [](const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') result.push_back('\\');
      if (static_cast<unsigned char>(c) >= ' ') {
        result.push_back(c);
      } else {
        char code[8];
        std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
        result += code;
      }
    }
    return result + "\"";
  };
  return StrCat("{ \"database-path\": ", quoted(path), ", \"hostname\": ", quoted(host),
                ", \"creation-time\": ", seconds, " }");
}

std::string DumpHead(const std::string& origin) {
  std::string head(kDumpMagic, kDumpMagicBytes);
  head.append(kDumpVersion, kDumpVersionBytes);
  PutFixed32(&head, static_cast<uint32_t>(origin.size()));
  return head + origin;
}

// A length in four bytes and the bytes themselves.
Status AppendDumpPart(const Slice& bytes, std::string* to) {
  assert(to != nullptr);
  if (bytes.size() > UINT32_MAX) {
    return Status::InvalidArgument(StrCat("dump: ", bytes.size(), " bytes of a key or value"));
  }
  PutFixed32(to, static_cast<uint32_t>(bytes.size()));
  to->append(bytes.data(), bytes.size());
  return Status::OK();
}

namespace {

// A piece may exceed this by one row.
constexpr size_t kPieceBytes = 1 << 20;

// The text about the origin, which is the second part of a dump.
Result<std::string> OriginOf(const DumpOptions& dump, Env* env) {
  if (dump.anonymous) return std::string("{}");
  // One byte is kept for the zero at the end of the host's name.
  std::string path, host(256, '\0');
  RETURN_IF_ERROR(env->GetAbsolutePath(dump.db_path, &path));
  RETURN_IF_ERROR(env->GetHostName(host.data(), host.size() - 1));
  int64_t seconds = 0;
  RETURN_IF_ERROR(env->GetCurrentTime(&seconds));
  return DumpOrigin(path, host.c_str(), seconds);
}

// Rows that are read once do not belong into the block cache.
Status Dump(const DumpOptions& dump, const Options& options) {
  std::unique_ptr<DB> db;
  RETURN_IF_ERROR(DB::OpenForReadOnly(options, dump.db_path, &db));
  FileSystem* const fs = options.env->GetFileSystem().get();
  std::unique_ptr<FSWritableFile> file;
  RETURN_IF_ERROR(fs->NewWritableFile(dump.dump_location, FileOptions(), &file, nullptr));
  ASSIGN_OR_RETURN(const std::string origin, OriginOf(dump, options.env));
  std::string piece = DumpHead(origin);
  ReadOptions read;
  read.fill_cache = false;
  const std::unique_ptr<Iterator> it(db->NewIterator(read));
  assert(it != nullptr);
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    RETURN_IF_ERROR(AppendDumpPart(it->key(), &piece));
    RETURN_IF_ERROR(AppendDumpPart(it->value(), &piece));
    // Pieces bound the memory, whatever the size of the database is.
    if (piece.size() < kPieceBytes) continue;
    RETURN_IF_ERROR(file->Append(piece, IOOptions(), nullptr));
    piece.clear();
  }
  RETURN_IF_ERROR(it->status());
  RETURN_IF_ERROR(file->Append(piece, IOOptions(), nullptr));
  // The dump is durable when the call returns OK. After an error an incomplete file is left.
  RETURN_IF_ERROR(file->Sync(IOOptions(), nullptr));
  return file->Close(IOOptions(), nullptr);
}

// Reads the parts of a dump. Threads: one.
class DumpReader {
 public:
  DumpReader(std::unique_ptr<SequentialReader> file, uint64_t size)
      : file_(std::move(file)), size_(size) {
    assert(file_ != nullptr);
  }

  bool at_end() const { return file_->offset() >= size_; }
  // Corruption if the file ends before.
  Status ReadBytes(uint64_t count, std::string* bytes) {
    assert(bytes != nullptr);
    // The length may be damaged, so it is compared with the rest of the file before that much
    // memory is allocated.
    if (count > size_ - std::min(size_, file_->offset())) return Cut(count);
    bytes->resize(count);
    Slice result;
    RETURN_IF_ERROR(file_->Read(count, bytes->data(), &result));
    if (result.size() < count) return Cut(count);
    if (result.data() != bytes->data()) bytes->assign(result.data(), result.size());
    return Status::OK();
  }
  Status ReadPart(std::string* bytes) {
    std::string length;
    RETURN_IF_ERROR(ReadBytes(kDumpLengthBytes, &length));
    return ReadBytes(DecodeFixed32(length.data()), bytes);
  }
  // The head ends with a text about the origin of the dump, which is read but not used.
  Status ReadHead() {
    std::string magic, version, origin;
    RETURN_IF_ERROR(ReadBytes(kDumpMagicBytes, &magic));
    if (magic != kDumpMagic) return Status::Corruption(file_->path(), "not a dump");
    RETURN_IF_ERROR(ReadBytes(kDumpVersionBytes, &version));
    if (version != std::string(kDumpVersion, kDumpVersionBytes)) {
      return Status::NotSupported(file_->path(), "a dump of another version");
    }
    return ReadPart(&origin);
  }

 private:
  Status Cut(uint64_t count) const {
    return Status::Corruption(StrCat(file_->path(), ": offset ", file_->offset(), ": expected ",
                                     count, " bytes, the file has ", size_));
  }

  const std::unique_ptr<SequentialReader> file_;
  // The size of the dump file when it was opened, in bytes. No length field in the file may be
  // greater, so that a damaged length cannot make us allocate much memory.
  const uint64_t size_;
};

// Rows that were written before an error stay in the database.
Status Undump(const UndumpOptions& undump, Options options) {
  FileSystem* const fs = options.env->GetFileSystem().get();
  uint64_t size = 0;
  RETURN_IF_ERROR(fs->GetFileSize(undump.dump_location, IOOptions(), &size, nullptr));
  ASSIGN_OR_RETURN(std::unique_ptr<SequentialReader> file,
                   SequentialReader::Open(fs, undump.dump_location, FileOptions()));
  DumpReader reader(std::move(file), size);
  RETURN_IF_ERROR(reader.ReadHead());
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  RETURN_IF_ERROR(DB::Open(options, undump.db_path, &db));
  WriteBatch batch;
  std::string key, value;
  Status status;
  while (status.ok() && !reader.at_end()) {
    status = reader.ReadPart(&key);
    if (status.ok()) status = reader.ReadPart(&value);
    if (status.ok()) status = batch.Put(key, value);
    if (!status.ok() || batch.GetDataSize() < kPieceBytes) continue;
    status = db->Write(WriteOptions(), &batch);
    batch.Clear();
  }
  // The rows before an error are written as well.
  const Status written = db->Write(WriteOptions(), &batch);
  if (status.ok()) status = written;
  if (status.ok() && undump.compact_db) {
    status = db->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  }
  // Nothing was synced before.
  if (status.ok()) status = db->SyncWAL();
  // Closed in any case; the first error is the one that is returned.
  const Status closed = db->Close();
  return status.ok() ? closed : status;
}

// Prints an error to stderr. Returns true if there is none.
bool Tell(const char* tool, const Status& status) {
  assert(tool != nullptr);
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", tool, status.ToString().c_str());
  return status.ok();
}

}  // namespace

bool DbDumpTool::Run(const DumpOptions& dump_options, Options options) {
  return Tell("dump", Dump(dump_options, options));
}

bool DbUndumpTool::Run(const UndumpOptions& undump_options, Options options) {
  return Tell("undump", Undump(undump_options, std::move(options)));
}

}  // namespace ashlar
