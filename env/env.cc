// SPDX-License-Identifier: Apache-2.0
//
// Default implementations of the Env interfaces.
#include "ashlar/env.h"

#include <pthread.h>

#include <array>
#include <cassert>
#include <cstring>

#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "env/env_adaptors.h"
#include "env/file_util.h"
#include "env/info_log.h"
#include "env/thread_list.h"
#include "util/result.h"
#include "util/text/str_cat.h"

namespace ashlar {

namespace {

// The status of a function that an environment need not offer.
Status NotOffered(const char* call, const std::string& what) {
  return Status::NotSupported(StrCat(call, ": not offered by this environment"), what);
}

}  // namespace

EnvOptions::EnvOptions() = default;

Env::Env() : file_system_(NewFileSystemOverEnv(this)), system_clock_(NewSystemClockOverEnv(this)) {}
Env::Env(const std::shared_ptr<FileSystem>& fs)
    : file_system_(fs), system_clock_(NewSystemClockOverEnv(this)) {}
Env::Env(const std::shared_ptr<FileSystem>& fs, const std::shared_ptr<SystemClock>& clock)
    : file_system_(fs), system_clock_(clock) {}
Env::~Env() = default;

const std::shared_ptr<FileSystem>& Env::GetFileSystem() const { return file_system_; }
const std::shared_ptr<SystemClock>& Env::GetSystemClock() const { return system_clock_; }

Status Env::ReopenWritableFile(const std::string& fname, std::unique_ptr<WritableFile>* result,
                               const EnvOptions& /*options*/) {
  result->reset();
  return NotOffered("Env::ReopenWritableFile", fname);
}

// Renames the old file and creates it anew, so its content is lost. The file system of the
// operating system keeps the content instead, which saves allocations; readers of logs accept both.
Status Env::ReuseWritableFile(const std::string& fname, const std::string& old_fname,
                              std::unique_ptr<WritableFile>* result, const EnvOptions& options) {
  Status status = RenameFile(old_fname, fname);
  if (!status.ok()) return status;
  return NewWritableFile(fname, result, options);
}

Status Env::NewRandomRWFile(const std::string& fname, std::unique_ptr<RandomRWFile>* result,
                            const EnvOptions& /*options*/) {
  result->reset();
  return NotOffered("Env::NewRandomRWFile", fname);
}

Status Env::NewMemoryMappedFileBuffer(const std::string& fname,
                                      std::unique_ptr<MemoryMappedFileBuffer>* result) {
  result->reset();
  return NotOffered("Env::NewMemoryMappedFileBuffer", fname);
}

// A file may be deleted between the listing and the query of its size. It is left out then.
Status Env::GetChildrenFileAttributes(const std::string& dir, std::vector<FileAttributes>* result) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(GetChildren(dir, &names));
  result->clear();
  for (std::string& name : names) {
    FileAttributes attributes{std::move(name), 0, Temperature::kUnknown};
    const std::string path = StrCat(dir, "/", attributes.name);
    const Status status = GetFileSize(path, &attributes.size_bytes);
    if (status.ok()) {
      result->push_back(std::move(attributes));
    } else if (FileExists(path).ok()) {
      return status;
    }
  }
  return Status::OK();
}

Status Env::Truncate(const std::string& fname, size_t /*size*/) {
  return NotOffered("Env::Truncate", fname);
}
Status Env::LinkFile(const std::string& src, const std::string& /*target*/) {
  return NotOffered("Env::LinkFile", src);
}
Status Env::NumFileLinks(const std::string& fname, uint64_t* /*count*/) {
  return NotOffered("Env::NumFileLinks", fname);
}
Status Env::AreFilesSame(const std::string& first, const std::string& /*second*/,
                         bool* /*result*/) {
  return NotOffered("Env::AreFilesSame", first);
}

// Syncing any descriptor of a file makes all of its bytes durable. The file is opened for append,
// which does not change it.
Status Env::SyncFile(const std::string& fname, const EnvOptions& options, bool use_fsync) {
  std::unique_ptr<WritableFile> file;
  RETURN_IF_ERROR(ReopenWritableFile(fname, &file, options));
  RETURN_IF_ERROR(use_fsync ? file->Fsync() : file->Sync());
  return file->Close();
}

Status Env::LoadLibrary(const std::string& lib_name, const std::string& /*search_path*/,
                        std::shared_ptr<DynamicLibrary>* /*result*/) {
  return NotOffered("Env::LoadLibrary", lib_name);
}

std::string Env::PriorityToString(Priority priority) {
  static constexpr std::array<const char*, 4> kNames = {"Bottom", "Low", "High", "User"};
  return priority < kNames.size() ? kNames[priority] : "Invalid";
}

std::string Env::IOActivityToString(IOActivity activity) {
  static constexpr std::array<const char*, 12> kNames = {"Flush",
                                                         "Compaction",
                                                         "DBOpen",
                                                         "Get",
                                                         "MultiGet",
                                                         "DBIterator",
                                                         "VerifyDBChecksum",
                                                         "VerifyFileChecksums",
                                                         "GetEntity",
                                                         "MultiGetEntity",
                                                         "GetFileChecksumsFromCurrentManifest",
                                                         "LazyResolve"};
  const auto number = static_cast<uint8_t>(activity);
  if (number < kNames.size()) return kNames[number];
  if (activity == IOActivity::kUnknown) return "Unknown";
  if (activity < IOActivity::kFirstCustomIOActivity) return "Invalid";
  // Custom activities are named by their number in hexadecimal.
  constexpr const char* kDigits = "0123456789ABCDEF";
  return std::string("CustomIOActivity") + kDigits[number >> 4] + kDigits[number & 15];
}

Status Env::SetAllowNonOwnerAccess(bool /*allow_non_owner_access*/) {
  return NotOffered("Env::SetAllowNonOwnerAccess", "");
}
Status Env::LowerThreadPoolCPUPriority(Priority pool, CpuPriority /*pri*/) {
  return NotOffered("Env::LowerThreadPoolCPUPriority", PriorityToString(pool));
}
Status Env::GetThreadList(std::vector<ThreadStatus>* thread_list) {
  assert(thread_list != nullptr);
  thread_list->clear();
  const ThreadStatusUpdater* const list = GetThreadStatusUpdater();
  if (list == nullptr) return NotOffered("Env::GetThreadList", "");
  for (ThreadStatus& thread : list->List()) thread_list->push_back(std::move(thread));
  return Status::OK();
}

// The id is that of the POSIX thread, not of the kernel, because GetThreadList() shows the same.
uint64_t Env::GetThreadID() const {
  uint64_t id = 0;
  const pthread_t self = pthread_self();
  memcpy(&id, &self, std::min(sizeof(id), sizeof(self)));
  return id;
}

Status Env::NewLogger(const std::string& fname, std::shared_ptr<Logger>* result) {
  return NewEnvLogger(fname, this, result);
}

Status Env::GetHostNameString(std::string* result) {
  char name[256] = {};
  Status status = GetHostName(name, sizeof(name));
  // A name that was cut may lack the terminating zero.
  if (status.ok()) {
    name[sizeof(name) - 1] = '\0';
    *result = name;
  }
  return status;
}

std::string Env::GenerateUniqueId() { return NewUniqueId(); }

// Logs and MANIFESTs are read once from the start, so direct reads would gain nothing.
EnvOptions Env::OptimizeForLogRead(const EnvOptions& env_options) const {
  EnvOptions result = env_options;
  result.use_direct_reads = false;
  return result;
}
EnvOptions Env::OptimizeForManifestRead(const EnvOptions& env_options) const {
  EnvOptions result = env_options;
  result.use_direct_reads = false;
  return result;
}
EnvOptions Env::OptimizeForManifestWrite(const EnvOptions& env_options) const {
  EnvOptions result = env_options;
  result.use_direct_writes = result.use_mmap_writes = false;
  return result;
}
EnvOptions Env::OptimizeForCompactionTableWrite(const EnvOptions& env_options,
                                                const ImmutableDBOptions& /*options*/) const {
  return env_options;
}
EnvOptions Env::OptimizeForCompactionTableRead(const EnvOptions& env_options,
                                               const ImmutableDBOptions& /*options*/) const {
  return env_options;
}
EnvOptions Env::OptimizeForBlobFileRead(const EnvOptions& env_options,
                                        const ImmutableDBOptions& /*options*/) const {
  return env_options;
}

Status Env::GetFreeSpace(const std::string& path, uint64_t* /*diskfree*/) {
  return NotOffered("Env::GetFreeSpace", path);
}
Status Env::IsDirectory(const std::string& path, bool* /*is_dir*/) {
  return NotOffered("Env::IsDirectory", path);
}

EnvWrapper::EnvWrapper(Env* t) : target_(t) { target_.Prepare(); }
EnvWrapper::EnvWrapper(std::unique_ptr<Env>&& t) : target_(std::move(t)) { target_.Prepare(); }
EnvWrapper::EnvWrapper(const std::shared_ptr<Env>& t) : target_(t) { target_.Prepare(); }
EnvWrapper::~EnvWrapper() = default;

SequentialFile::~SequentialFile() = default;
Status SequentialFile::InvalidateCache(size_t /*offset*/, size_t /*length*/) {
  return NotOffered("SequentialFile::InvalidateCache", "");
}
Status SequentialFile::PositionedRead(uint64_t /*offset*/, size_t /*n*/, Slice* /*result*/,
                                      char* /*scratch*/) {
  return NotOffered("SequentialFile::PositionedRead", "");
}

RandomAccessFile::~RandomAccessFile() = default;
Status RandomAccessFile::Prefetch(uint64_t /*offset*/, size_t /*n*/) {
  return NotOffered("RandomAccessFile::Prefetch", "");
}
// Serves the requests one after the other. Each has a status of its own, so the call itself
// succeeds.
Status RandomAccessFile::MultiRead(ReadRequest* reqs, size_t num_reqs) {
  for (ReadRequest* req = reqs; req != reqs + num_reqs; ++req) {
    req->status = Read(req->offset, req->len, &req->result, req->scratch);
  }
  return Status::OK();
}
Status RandomAccessFile::InvalidateCache(size_t /*offset*/, size_t /*length*/) {
  return NotOffered("RandomAccessFile::InvalidateCache", "");
}
Status RandomAccessFile::GetFileSize(uint64_t* /*size*/) {
  return NotOffered("RandomAccessFile::GetFileSize", "");
}

WritableFile::~WritableFile() = default;
Status WritableFile::PositionedAppend(const Slice& /*data*/, uint64_t /*offset*/) {
  return NotOffered("WritableFile::PositionedAppend", "");
}
Status WritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                      const DataVerificationInfo& /*verification_info*/) {
  return PositionedAppend(data, offset);
}
Status WritableFile::Truncate(uint64_t /*size*/) { return Status::OK(); }
Status WritableFile::InvalidateCache(size_t /*offset*/, size_t /*length*/) {
  return NotOffered("WritableFile::InvalidateCache", "");
}
Status WritableFile::RangeSync(uint64_t /*offset*/, uint64_t /*nbytes*/) {
  // Without write-out in the background, a strict file syncs everything.
  return strict_bytes_per_sync_ ? Sync() : Status::OK();
}
Status WritableFile::Allocate(uint64_t /*offset*/, uint64_t /*len*/) { return Status::OK(); }

// Allocates space in whole blocks ahead of the write. Block 0 begins at the start of the file.
void WritableFile::PrepareWrite(size_t offset, size_t len) {
  if (preallocation_block_size_ == 0) return;
  const size_t block = preallocation_block_size_;
  const size_t blocks_needed = (offset + len + block - 1) / block;
  if (blocks_needed <= last_preallocated_block_) return;
  IgnoreError(Allocate(block * last_preallocated_block_,
                       block * (blocks_needed - last_preallocated_block_)),
              "allocating ahead is a hint; the write will report errors");
  last_preallocated_block_ = blocks_needed;
}

RandomRWFile::~RandomRWFile() = default;
MemoryMappedFileBuffer::~MemoryMappedFileBuffer() = default;
Directory::~Directory() = default;
Status Directory::Close() { return NotOffered("Directory::Close", ""); }
FileLock::~FileLock() = default;
DynamicLibrary::~DynamicLibrary() = default;

Status WriteStringToFile(Env* env, const Slice& data, const std::string& fname, bool should_sync,
                         const IOOptions* io_options) {
  return WriteStringToFile(env->GetFileSystem().get(), data, fname, should_sync,
                           io_options != nullptr ? *io_options : IOOptions());
}

Status ReadFileToString(Env* env, const std::string& fname, std::string* data) {
  return ReadFileToString(env->GetFileSystem().get(), fname, data);
}

Status NewEnvLogger(const std::string& fname, Env* env, std::shared_ptr<Logger>* result) {
  assert(result != nullptr);
  result->reset();
  ASSIGN_OR_RETURN(*result, OpenLogFile(env->GetFileSystem(), env->GetSystemClock(), fname,
                                        InfoLogLevel::INFO_LEVEL));
  return Status::OK();
}

}  // namespace ashlar
