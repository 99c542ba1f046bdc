// SPDX-License-Identifier: Apache-2.0
//
// Reads decrypt in the buffer of the caller; writes encrypt a copy of the data. A file without a
// whole prefix has no cipher stream, and so it must not have any data behind the prefix.
#include "env/encryption/encrypted_files.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "ashlar/perf_context.h"
#include "ashlar/system_clock.h"
#include "util/result.h"
#include "util/statistics/perf_level_impl.h"

namespace ashlar {

IOStatus FileCipher::Decrypt(uint64_t offset, Slice* result, char* scratch) const {
  assert(result != nullptr);
  if (result->empty()) return IOStatus::OK();
  if (stream_ == nullptr) return IOStatus::Corruption("an encrypted file without prefix has data");
  PerfTimer timer(SystemClock::Default().get(), &PerfContextBase::decrypt_data_nanos);
  // The caller's buffer is the only memory that may be changed.
  if (result->data() != scratch) std::memmove(scratch, result->data(), result->size());
  *result = Slice(scratch, result->size());
  return status_to_io_status(stream_->Decrypt(offset + prefix_bytes_, scratch, result->size()));
}

IOStatus FileCipher::Encrypt(uint64_t offset, const Slice& data, size_t alignment,
                             AlignedBuffer* buffer, Slice* encrypted) const {
  assert(buffer != nullptr);
  assert(encrypted != nullptr);
  assert(stream_ != nullptr);
  *encrypted = Slice();
  if (data.empty()) return IOStatus::OK();
  PerfTimer timer(SystemClock::Default().get(), &PerfContextBase::encrypt_data_nanos);
  // The buffer only grows. Its old content is not needed.
  if (buffer->size() < data.size()) *buffer = AlignedBuffer(data.size(), alignment);
  std::memcpy(buffer->data(), data.data(), data.size());
  *encrypted = Slice(buffer->data(), data.size());
  return status_to_io_status(stream_->Encrypt(offset + prefix_bytes_, buffer->data(), data.size()));
}

IOStatus EncryptedSequentialFile::Read(size_t n, const IOOptions& options, Slice* result,
                                       char* scratch, IODebugContext* dbg) {
  // If Decrypt() fails, the file below has moved on but offset_ has not. The caller gives the file
  // up after an error.
  RETURN_IF_ERROR(file_->Read(n, options, result, scratch, dbg));
  RETURN_IF_ERROR(cipher_.Decrypt(offset_, result, scratch));
  offset_ += result->size();
  return IOStatus::OK();
}

IOStatus EncryptedSequentialFile::Skip(uint64_t n) {
  RETURN_IF_ERROR(file_->Skip(n));
  offset_ += n;
  return IOStatus::OK();
}

IOStatus EncryptedSequentialFile::PositionedRead(uint64_t offset, size_t n,
                                                 const IOOptions& options, Slice* result,
                                                 char* scratch, IODebugContext* dbg) {
  RETURN_IF_ERROR(
      file_->PositionedRead(offset + cipher_.prefix_bytes(), n, options, result, scratch, dbg));
  return cipher_.Decrypt(offset, result, scratch);
}

IOStatus EncryptedRandomAccessFile::Read(uint64_t offset, size_t n, const IOOptions& options,
                                         Slice* result, char* scratch, IODebugContext* dbg) const {
  RETURN_IF_ERROR(file_->Read(offset + cipher_.prefix_bytes(), n, options, result, scratch, dbg));
  return cipher_.Decrypt(offset, result, scratch);
}

// The file below counts offsets from its prefix on. They are converted back before the call
// returns, because the caller expects its own offsets.
IOStatus EncryptedRandomAccessFile::MultiRead(FSReadRequest* reqs, size_t num_reqs,
                                              const IOOptions& options, IODebugContext* dbg) {
  for (size_t i = 0; i < num_reqs; ++i) reqs[i].offset += cipher_.prefix_bytes();
  const IOStatus status = file_->MultiRead(reqs, num_reqs, options, dbg);
  for (size_t i = 0; i < num_reqs; ++i) {
    FSReadRequest& request = reqs[i];
    request.offset -= cipher_.prefix_bytes();
    if (!status.ok() || !request.status.ok()) continue;
    request.status = cipher_.Decrypt(request.offset, &request.result, request.scratch);
  }
  return status;
}

IOStatus EncryptedRandomAccessFile::GetFileSize(uint64_t* result) {
  RETURN_IF_ERROR(file_->GetFileSize(result));
  *result -= std::min(*result, cipher_.prefix_bytes());
  return IOStatus::OK();
}

IOStatus EncryptedWritableFile::Append(const Slice& data, const IOOptions& options,
                                       IODebugContext* dbg) {
  // The key stream depends on the offset of the data, which is the present size of the file.
  Slice encrypted;
  RETURN_IF_ERROR(cipher_.Encrypt(GetFileSize(options, dbg), data, GetRequiredBufferAlignment(),
                                  &buffer_, &encrypted));
  return file_->Append(encrypted, options, dbg);
}

IOStatus EncryptedWritableFile::PositionedAppend(const Slice& data, uint64_t offset,
                                                 const IOOptions& options, IODebugContext* dbg) {
  Slice encrypted;
  RETURN_IF_ERROR(
      cipher_.Encrypt(offset, data, GetRequiredBufferAlignment(), &buffer_, &encrypted));
  return file_->PositionedAppend(encrypted, offset + cipher_.prefix_bytes(), options, dbg);
}

uint64_t EncryptedWritableFile::GetFileSize(const IOOptions& options, IODebugContext* dbg) {
  const uint64_t size = file_->GetFileSize(options, dbg);
  return size - std::min(size, cipher_.prefix_bytes());
}

IOStatus EncryptedRandomRWFile::Write(uint64_t offset, const Slice& data, const IOOptions& options,
                                      IODebugContext* dbg) {
  AlignedBuffer buffer;
  Slice encrypted;
  RETURN_IF_ERROR(cipher_.Encrypt(offset, data, GetRequiredBufferAlignment(), &buffer, &encrypted));
  return file_->Write(offset + cipher_.prefix_bytes(), encrypted, options, dbg);
}

IOStatus EncryptedRandomRWFile::Read(uint64_t offset, size_t n, const IOOptions& options,
                                     Slice* result, char* scratch, IODebugContext* dbg) const {
  RETURN_IF_ERROR(file_->Read(offset + cipher_.prefix_bytes(), n, options, result, scratch, dbg));
  return cipher_.Decrypt(offset, result, scratch);
}

}  // namespace ashlar
