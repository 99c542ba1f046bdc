// SPDX-License-Identifier: Apache-2.0
//
// SimFS is a FaultFileSystem over a MemoryFileSystem, with a log of the operations that took
// effect. The model that replays the log is kept between questions and only moves forward.
#include "env/sim/sim_fs.h"

#include <cassert>
#include <utility>

#include "env/file_util.h"
#include "env/sim/sim_mapped_log.h"
#include "util/result.h"

namespace ashlar {

namespace {

std::shared_ptr<MemoryFileSystem> NewMemoryWith(const SimImage& image,
                                                const std::shared_ptr<SystemClock>& clock) {
  auto memory = std::make_shared<MemoryFileSystem>(clock);
  for (const std::string& path : image.directories) {
    IgnoreError(memory->CreateDirIfMissing(path, IOOptions(), nullptr),
                "the paths of an image do not conflict");
  }
  for (const auto& [path, content] : image.files) memory->PutFile(path, content);
  return memory;
}

}  // namespace

SimFS::SimFS(std::shared_ptr<MemoryFileSystem> memory, SimImage base,
             std::shared_ptr<SystemClock> clock)
    : FaultFileSystem(memory),
      memory_(std::move(memory)),
      base_(std::move(base)),
      clock_(std::move(clock)) {
  assert(memory_ != nullptr);
  assert(clock_ != nullptr);
}

SimFS::~SimFS() = default;

std::shared_ptr<SimFS> SimFS::Create(const std::shared_ptr<SystemClock>& clock) {
  return FromImage(SimImage(), clock);
}

std::shared_ptr<SimFS> SimFS::FromImage(SimImage image, const std::shared_ptr<SystemClock>& clock) {
  auto memory = NewMemoryWith(image, clock);
  return std::shared_ptr<SimFS>(new SimFS(std::move(memory), std::move(image), clock));
}

void SimFS::OnApplied(const FileCall& call, const Slice& written) {
  // Opening a file for reading and writing changes nothing, but later writes refer to it by its id.
  if (!IsMutating(call.kind) && call.kind != CallKind::kOpenReadWrite) return;
  // The bytes are copied: the model points into log_, whose elements do not move.
  MutexLock lock(&log_mutex_);
  log_.push_back({SimOperation::Type::kCall, call, written.ToString()});
}

const void* SimFS::GetOptionsPtr(const std::string& name) const {
  if (name == kName && offers_mapped_logs_) return static_cast<const MappedLogFactory*>(this);
  return FaultFileSystem::GetOptionsPtr(name);
}

Result<std::unique_ptr<MappedLogFile>> SimFS::NewMappedLog(const std::string& path,
                                                           uint64_t initial_bytes,
                                                           uint64_t capacity) {
  FileCall call;
  call.kind = CallKind::kCreate;
  call.path = path;
  call.file_id = NewFileId();
  std::unique_ptr<FSWritableFile> file;
  const FaultFileContext context = {this, path, call.file_id};
  // Numbered here and carried out in the memory below, where it has no number.
  RETURN_IF_ERROR(RunWhole(std::move(call), [&] {
    return memory_->NewWritableFile(path, FileOptions(), &file, nullptr);
  }));
  assert(file != nullptr);
  auto log = std::make_unique<SimMappedLog>(this, context, std::move(file), capacity);
  RETURN_IF_ERROR(log->PopulateAhead(initial_bytes));
  return std::unique_ptr<MappedLogFile>(std::move(log));
}

// A simulated log consists of whole segments. If the old log was cut to another size, the caller
// must use a buffered log.
Result<std::unique_ptr<MappedLogFile>> SimFS::ReuseMappedLog(const std::string& path,
                                                             const std::string& old_path,
                                                             uint64_t initial_bytes,
                                                             uint64_t capacity) {
  // Read below the numbering, as a test would; the old content is known to the model already.
  ASSIGN_OR_RETURN(const std::string content, ReadWholeFile(memory_.get(), old_path));
  if (!SimMappedLog::CanHold(content.size())) {
    return Status::NotSupported(old_path, "the simulation maps whole segments only");
  }
  FileCall call;
  call.kind = CallKind::kReuse;
  call.path = old_path;
  call.target = path;
  call.file_id = NewFileId();
  std::unique_ptr<FSWritableFile> file;
  const FaultFileContext context = {this, path, call.file_id};
  RETURN_IF_ERROR(RunWhole(std::move(call), [&] {
    return memory_->ReuseWritableFile(path, old_path, FileOptions(), &file, nullptr);
  }));
  assert(file != nullptr);
  auto log = std::make_unique<SimMappedLog>(this, context, std::move(file), capacity, content);
  RETURN_IF_ERROR(log->PopulateAhead(initial_bytes));
  return std::unique_ptr<MappedLogFile>(std::move(log));
}

void SimFS::AddMapping(SimMappedLog* log) {
  MutexLock lock(&mutex_);
  assert(log != nullptr);
  mappings_.push_back(log);
}

void SimFS::RemoveMapping(SimMappedLog* log) {
  MutexLock lock(&mutex_);
  // The last stores get their numbers before the mapping is forgotten.
  FindStoresLocked();
  assert(log != nullptr);
  std::erase(mappings_, log);
}

void SimFS::FindStores() {
  for (SimMappedLog* log : mappings_) {
    log->TakeStores([&](const FileCall& call, const Slice& data)
                        REQUIRES(mutex_) { NoteStore(call, data); });
  }
}

void SimFS::OnSyncFailed(const FileCall& call) {
  assert(call.kind == CallKind::kSync || call.kind == CallKind::kSyncDirectory);
  SimModel::DroppedFile dropped;
  {
    MutexLock lock(&log_mutex_);
    log_.push_back({SimOperation::Type::kFailedSync, call, ""});
    if (call.kind == CallKind::kSyncDirectory) return;  // the names stay visible
    // The loss itself has the number of the call, so that it must be replayed, too.
    ReplayToLocked(call.index + 1);
    dropped = model_->ContentOf(call.file_id);
  }
  for (SimMappedLog* log : mappings_) {
    if (log->file_id() == call.file_id) log->Overwrite(dropped.content);
  }
  // The file was unlinked, so that nobody can read it after a crash.
  if (dropped.path.empty()) return;
  std::unique_ptr<FSRandomRWFile> file;
  IgnoreError(memory_->NewRandomRWFile(dropped.path, FileOptions(), &file, nullptr),
              "the model has just found it");
  assert(file != nullptr);
  // Written without a number, because the program did not do it.
  IgnoreError(file->Write(0, dropped.content, IOOptions(), nullptr), "the size does not change");
}

void SimFS::SyncEverything() {
  // Taken before log_mutex_, because CallCount() locks the mutex that comes before it.
  const uint64_t index = CallCount();
  MutexLock lock(&log_mutex_);
  SimOperation operation;
  operation.type = SimOperation::Type::kSyncEverything;
  operation.call.index = index;
  log_.push_back(std::move(operation));
}

std::vector<FileCall> SimFS::MutatingCalls() const {
  MutexLock lock(&log_mutex_);
  std::vector<FileCall> calls;
  for (const SimOperation& operation : log_) {
    if (operation.type == SimOperation::Type::kCall && IsMutating(operation.call.kind)) {
      calls.push_back(operation.call);
    }
  }
  return calls;
}

void SimFS::ReplayToLocked(uint64_t index) const {
  // A SyncEverything() before call `index` happened before that call.
  const auto is_past = [index](const SimOperation& operation) {
    return operation.call.index < index ||
           (operation.type == SimOperation::Type::kSyncEverything && operation.call.index == index);
  };
  // A question about an earlier call starts anew from the base.
  if (model_ == nullptr || (replayed_ > 0 && !is_past(log_[replayed_ - 1]))) {
    model_ = std::make_unique<SimModel>(base_);
    replayed_ = 0;
  }
  assert(replayed_ <= log_.size());
  while (replayed_ < log_.size() && is_past(log_[replayed_])) model_->Apply(log_[replayed_++]);
}

SimImage SimFS::CrashContents(uint64_t index, CrashPolicy policy, uint64_t seed) const {
  MutexLock lock(&log_mutex_);
  ReplayToLocked(index);
  return model_->CrashImage(policy, seed);
}

std::shared_ptr<SimFS> SimFS::CrashImage(uint64_t index, CrashPolicy policy, uint64_t seed) const {
  auto image = FromImage(CrashContents(index, policy, seed), clock_);
  image->OfferMappedLogs(offers_mapped_logs_);
  return image;
}

}  // namespace ashlar
