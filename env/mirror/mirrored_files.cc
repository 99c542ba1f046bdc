// SPDX-License-Identifier: Apache-2.0
//
// The hints of a file go to both sides; its properties are those of the first one.
#include "env/mirror/mirrored_files.h"

#include <cassert>

namespace ashlar {
namespace {

// What the pairs have in common.
template <typename File>
class MirroredPair {
 public:
  MirroredPair(MirroredEnvs* envs, std::string path, FilePair<File> files)
      : envs_(envs), path_(std::move(path)), files_(std::move(files)) {
    assert(envs_ != nullptr);
    assert(files_[0] != nullptr && files_[1] != nullptr);
  }

  File* first() const { return files_[0].get(); }
  File* side(size_t i) const {
    assert(i < files_.size());
    return files_[i].get();
  }
  // call(File*) returns a Status.
  template <typename Call>
  Status Both(const char* name, const Call& call) const {
    return envs_->Both(name, path_, [&](size_t i) { return call(side(i)); });
  }
  // Reads up to `n` bytes with read(File*, n, Slice*, char*). The second file may need several
  // calls for as many bytes, because only an empty result means the end of a file for everybody.
  template <typename Read>
  Status ReadBoth(const char* name, size_t n, Slice* result, char* scratch,
                  const Read& read) const {
    assert(result != nullptr);
    std::string second;
    const auto call = [&](size_t i) {
      if (i == 0) return read(side(0), size_t{0}, n, result, scratch);
      const size_t wanted = result->empty() ? n : result->size();
      std::string buffer(wanted, '\0');
      while (second.size() < wanted) {
        Slice part;
        Status status = read(side(1), second.size(), wanted - second.size(), &part, buffer.data());
        if (!status.ok() || part.empty()) return status;
        second.append(part.data(), part.size());
      }
      return Status::OK();
    };
    return envs_->Both(name, path_, call, [&] { return *result == Slice(second); });
  }

 private:
  MirroredEnvs* const envs_;
  const std::string path_;
  FilePair<File> files_;
};

class MirroredSequentialFile final : public SequentialFile {
 public:
  explicit MirroredSequentialFile(MirroredPair<SequentialFile> pair) : pair_(std::move(pair)) {}

  Status Read(size_t n, Slice* result, char* scratch) override {
    return pair_.ReadBoth("Read", n, result, scratch,
                          [](SequentialFile* file, size_t, size_t m, Slice* r, char* buffer) {
                            return file->Read(m, r, buffer);
                          });
  }
  Status Skip(uint64_t n) override {
    return pair_.Both("Skip", [&](SequentialFile* file) { return file->Skip(n); });
  }
  Status PositionedRead(uint64_t offset, size_t n, Slice* result, char* scratch) override {
    return pair_.ReadBoth("PositionedRead", n, result, scratch,
                          [&](SequentialFile* file, size_t done, size_t m, Slice* r, char* buffer) {
                            return file->PositionedRead(offset + done, m, r, buffer);
                          });
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return pair_.first()->InvalidateCache(offset, length);
  }

 private:
  const MirroredPair<SequentialFile> pair_;
};

class MirroredRandomAccessFile final : public RandomAccessFile {
 public:
  explicit MirroredRandomAccessFile(MirroredPair<RandomAccessFile> pair) : pair_(std::move(pair)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return pair_.ReadBoth("Read", n, result, scratch,
                          [&](RandomAccessFile* file, size_t done, size_t m, Slice* r,
                              char* buffer) { return file->Read(offset + done, m, r, buffer); });
  }
  Status Prefetch(uint64_t offset, size_t n) override { return pair_.first()->Prefetch(offset, n); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return pair_.first()->GetUniqueId(id, max_size);
  }
  void Hint(AccessPattern pattern) override {
    pair_.side(0)->Hint(pattern);
    pair_.side(1)->Hint(pattern);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return pair_.first()->InvalidateCache(offset, length);
  }

 private:
  const MirroredPair<RandomAccessFile> pair_;
};

class MirroredWritableFile final : public WritableFile {
 public:
  explicit MirroredWritableFile(MirroredPair<WritableFile> pair) : pair_(std::move(pair)) {}

  using WritableFile::Append;
  using WritableFile::PositionedAppend;
  Status Append(const Slice& data) override {
    return pair_.Both("Append", [&](WritableFile* file) { return file->Append(data); });
  }
  Status PositionedAppend(const Slice& data, uint64_t offset) override {
    return pair_.Both("PositionedAppend",
                      [&](WritableFile* file) { return file->PositionedAppend(data, offset); });
  }
  Status Truncate(uint64_t size) override {
    return pair_.Both("Truncate", [&](WritableFile* file) { return file->Truncate(size); });
  }
  Status Close() override {
    return pair_.Both("Close", [](WritableFile* file) { return file->Close(); });
  }
  Status Flush() override {
    return pair_.Both("Flush", [](WritableFile* file) { return file->Flush(); });
  }
  Status Sync() override {
    return pair_.Both("Sync", [](WritableFile* file) { return file->Sync(); });
  }
  Status Fsync() override {
    return pair_.Both("Fsync", [](WritableFile* file) { return file->Fsync(); });
  }
  bool IsSyncThreadSafe() const override { return true; }  // operations exclude each other
  void SetIOPriority(Env::IOPriority pri) override {
    pair_.side(0)->SetIOPriority(pri);
    pair_.side(1)->SetIOPriority(pri);
  }
  Env::IOPriority GetIOPriority() override { return pair_.first()->GetIOPriority(); }
  void SetWriteLifeTimeHint(Env::WriteLifeTimeHint hint) override {
    pair_.side(0)->SetWriteLifeTimeHint(hint);
    pair_.side(1)->SetWriteLifeTimeHint(hint);
  }
  Env::WriteLifeTimeHint GetWriteLifeTimeHint() override {
    return pair_.first()->GetWriteLifeTimeHint();
  }
  uint64_t GetFileSize() override { return pair_.first()->GetFileSize(); }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return pair_.first()->GetUniqueId(id, max_size);
  }
  Status InvalidateCache(size_t offset, size_t length) override {
    return pair_.first()->InvalidateCache(offset, length);
  }
  Status RangeSync(uint64_t offset, uint64_t nbytes) override {
    return pair_.Both("RangeSync",
                      [&](WritableFile* file) { return file->RangeSync(offset, nbytes); });
  }
  // Space is reserved on one side only, because an environment need not be able to.
  void SetPreallocationBlockSize(size_t size) override {
    pair_.first()->SetPreallocationBlockSize(size);
  }
  void GetPreallocationStatus(size_t* block_size, size_t* last_allocated_block) override {
    pair_.first()->GetPreallocationStatus(block_size, last_allocated_block);
  }
  void PrepareWrite(size_t offset, size_t len) override {
    pair_.first()->PrepareWrite(offset, len);
  }
  Status Allocate(uint64_t offset, uint64_t len) override {
    return pair_.first()->Allocate(offset, len);
  }

 private:
  const MirroredPair<WritableFile> pair_;
};

class MirroredRandomRWFile final : public RandomRWFile {
 public:
  explicit MirroredRandomRWFile(MirroredPair<RandomRWFile> pair) : pair_(std::move(pair)) {}

  Status Write(uint64_t offset, const Slice& data) override {
    return pair_.Both("Write", [&](RandomRWFile* file) { return file->Write(offset, data); });
  }
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    return pair_.ReadBoth("Read", n, result, scratch,
                          [&](RandomRWFile* file, size_t done, size_t m, Slice* r, char* buffer) {
                            return file->Read(offset + done, m, r, buffer);
                          });
  }
  Status Flush() override {
    return pair_.Both("Flush", [](RandomRWFile* file) { return file->Flush(); });
  }
  Status Sync() override {
    return pair_.Both("Sync", [](RandomRWFile* file) { return file->Sync(); });
  }
  Status Fsync() override {
    return pair_.Both("Fsync", [](RandomRWFile* file) { return file->Fsync(); });
  }
  Status Close() override {
    return pair_.Both("Close", [](RandomRWFile* file) { return file->Close(); });
  }

 private:
  const MirroredPair<RandomRWFile> pair_;
};

class MirroredDirectory final : public Directory {
 public:
  explicit MirroredDirectory(MirroredPair<Directory> pair) : pair_(std::move(pair)) {}

  Status Fsync() override {
    return pair_.Both("Fsync", [](Directory* dir) { return dir->Fsync(); });
  }
  Status Close() override {
    return pair_.Both("Close", [](Directory* dir) { return dir->Close(); });
  }
  size_t GetUniqueId(char* id, size_t max_size) const override {
    return pair_.first()->GetUniqueId(id, max_size);
  }

 private:
  const MirroredPair<Directory> pair_;
};

}  // namespace

std::unique_ptr<SequentialFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                                FilePair<SequentialFile> files) {
  return std::make_unique<MirroredSequentialFile>(
      MirroredPair<SequentialFile>(envs, std::move(path), std::move(files)));
}
std::unique_ptr<RandomAccessFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                                  FilePair<RandomAccessFile> files) {
  return std::make_unique<MirroredRandomAccessFile>(
      MirroredPair<RandomAccessFile>(envs, std::move(path), std::move(files)));
}
std::unique_ptr<WritableFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                              FilePair<WritableFile> files) {
  return std::make_unique<MirroredWritableFile>(
      MirroredPair<WritableFile>(envs, std::move(path), std::move(files)));
}
std::unique_ptr<RandomRWFile> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                              FilePair<RandomRWFile> files) {
  return std::make_unique<MirroredRandomRWFile>(
      MirroredPair<RandomRWFile>(envs, std::move(path), std::move(files)));
}
std::unique_ptr<Directory> NewMirroredFile(MirroredEnvs* envs, std::string path,
                                           FilePair<Directory> files) {
  return std::make_unique<MirroredDirectory>(
      MirroredPair<Directory>(envs, std::move(path), std::move(files)));
}

}  // namespace ashlar
