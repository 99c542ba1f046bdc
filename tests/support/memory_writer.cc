// SPDX-License-Identifier: Apache-2.0
//
// A writable file over a borrowed string.
#include "tests/support/memory_writer.h"

#include "ashlar/file_system.h"

namespace ashlar {
namespace {

class StringFile final : public FSWritableFile {
 public:
  StringFile(std::string* contents, uint64_t capacity) : contents_(contents), capacity_(capacity) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    if (data.size() > capacity_ - contents_->size())
      return IOStatus::IOError("the test's file is full");
    contents_->append(data.data(), data.size());
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return contents_->size(); }

 private:
  std::string* const contents_;
  const uint64_t capacity_;
};

}  // namespace

std::unique_ptr<FileWriter> WriterIntoString(std::string* contents, uint64_t capacity) {
  FileWriterOptions options;
  options.buffer_bytes = 0;
  return FileWriter::Wrap(std::make_unique<StringFile>(contents, capacity), "memory.sst",
                          contents->size(), options);
}

}  // namespace ashlar
