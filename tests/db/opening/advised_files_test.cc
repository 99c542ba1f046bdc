// SPDX-License-Identifier: Apache-2.0
//
// A program's file system says how files of a kind are to be opened (OptimizeFor...), and they are.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "ashlar/db.h"
#include "ashlar/file_system.h"
#include "ashlar/file_system_wrapper.h"
#include "env/env_adaptors.h"
#include "env/memory/memory_file_system.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

// Known by a number that is handed on and means nothing to files in memory.
constexpr size_t kLogWrite = 101, kLogRead = 102, kManifestWrite = 103, kTableWrite = 104;

class AdvisingFs final : public FileSystemWrapper {
 public:
  AdvisingFs() : FileSystemWrapper(std::make_shared<MemoryFileSystem>()) {}
  const char* Name() const override { return "AdvisingFs"; }

  FileOptions OptimizeForLogWrite(const FileOptions& options, const DBOptions&) const override {
    return With(kLogWrite, options);
  }
  FileOptions OptimizeForLogRead(const FileOptions& options) const override {
    return With(kLogRead, options);
  }
  FileOptions OptimizeForManifestWrite(const FileOptions& options) const override {
    return With(kManifestWrite, options);
  }
  FileOptions OptimizeForCompactionTableWrite(const FileOptions& options,
                                              const ImmutableDBOptions&) const override {
    return With(kTableWrite, options);
  }

  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    written[KindOf(f)].insert(options.writable_file_max_buffer_size);
    return target()->NewWritableFile(f, options, r, dbg);
  }
  IOStatus NewSequentialFile(const std::string& f, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* r, IODebugContext* dbg) override {
    read[KindOf(f)].insert(options.writable_file_max_buffer_size);
    return target()->NewSequentialFile(f, options, r, dbg);
  }

  // The numbers with which files of a kind were opened.
  std::map<std::string, std::set<size_t>> written, read;

 private:
  static FileOptions With(size_t number, FileOptions options) {
    options.writable_file_max_buffer_size = number;
    return options;
  }
  static std::string KindOf(const std::string& path) {
    if (path.ends_with(".log")) return "log";
    if (path.ends_with(".sst")) return "table";
    return path.find("MANIFEST") != std::string::npos ? "MANIFEST" : "other";
  }
};

TEST(AdvisedFiles, AreOpenedAsTheFileSystemSays) {
  const auto fs = std::make_shared<AdvisingFs>();
  const std::unique_ptr<Env> env = NewCompositeEnv(fs);
  Options options;
  options.create_if_missing = true;
  options.env = env.get();
  for (int round = 0; round < 2; round++) {  // the second one reads the log of the first
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, "/db", &db));
    ASSERT_OK(db->Put(WriteOptions(), "k", "v"));
    ASSERT_OK(db->Close());
  }
  EXPECT_EQ(fs->written["log"], std::set<size_t>{kLogWrite});
  EXPECT_EQ(fs->written["MANIFEST"], std::set<size_t>{kManifestWrite});
  EXPECT_EQ(fs->written["table"], std::set<size_t>{kTableWrite});
  EXPECT_EQ(fs->read["log"], std::set<size_t>{kLogRead});
}

}  // namespace
}  // namespace ashlar
