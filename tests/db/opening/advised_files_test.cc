// SPDX-License-Identifier: Apache-2.0
//
// Files are opened with the options that the file system of the program gives for their kind
// (OptimizeFor...).
#include <set>

#include "ashlar/env_wrapper.h"
#include "ashlar/file_system.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/sst_file_writer.h"
#include "tests/support/test_db.h"
#include "util/threads/mutex.h"

namespace ashlar {
namespace {

// Numbers that identify the kinds. Files in memory ignore the option that carries them.
constexpr size_t kLogWrite = 101, kLogRead = 102, kManifestWrite = 103, kTableWrite = 104;
constexpr size_t kManifestRead = 105, kCompactionRead = 106, kBlobRead = 107, kSane = 108;

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
  FileOptions OptimizeForManifestRead(const FileOptions& options) const override {
    return With(kManifestRead, options);
  }
  FileOptions OptimizeForCompactionTableRead(const FileOptions& options,
                                             const ImmutableDBOptions&) const override {
    return With(kCompactionRead, options);
  }
  FileOptions OptimizeForBlobFileRead(const FileOptions& options,
                                      const ImmutableDBOptions&) const override {
    return With(kBlobRead, options);
  }
  void SanitizeFileOptions(FileOptions* options) const override {
    *options = With(kSane, *options);
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

  IOStatus NewRandomAccessFile(const std::string& f, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* r,
                               IODebugContext* dbg) override {
    read[KindOf(f)].insert(options.writable_file_max_buffer_size);
    return target()->NewRandomAccessFile(f, options, r, dbg);
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
    if (path.ends_with(".blob")) return "blob";
    return path.find("MANIFEST") != std::string::npos ? "MANIFEST" : "other";
  }
};

TEST(AdvisedFiles, AreOpenedAsTheFileSystemSays) {
  const auto fs = std::make_shared<AdvisingFs>();
  TestDb test(fs);
  test.options().create_if_missing = true;
  for (int round = 0; round < 2; round++) {  // the second open reads the log of the first one
    test.Open();
    test.Put("k");
    test.Close();
  }
  EXPECT_EQ(fs->written["log"], std::set<size_t>{kLogWrite});
  EXPECT_EQ(fs->written["MANIFEST"], std::set<size_t>{kManifestWrite});
  EXPECT_EQ(fs->written["table"], std::set<size_t>{kTableWrite});
  EXPECT_EQ(fs->read["log"], std::set<size_t>{kLogRead});
  EXPECT_EQ(fs->read["MANIFEST"], std::set<size_t>{kManifestRead});
}

TEST(AdvisedFiles, ThatReadsAndCompactionsOpen) {
  const auto fs = std::make_shared<AdvisingFs>();
  TestDb test(fs);
  test.options().create_if_missing = true;
  test.options().enable_blob_files = true;
  test.options().disable_auto_compactions = true;
  test.Open();
  for (const char* const value : {"v", "w"}) {
    test.Put("k", value);
    test.Flush();
  }
  fs->read.clear();
  test.Compact();
  EXPECT_EQ(fs->read["table"].count(kCompactionRead), 1u);  // no other read has opened them before
  test.Close();
  fs->read.clear();
  test.Open();
  EXPECT_EQ(test.Get("k"), "w");
  EXPECT_EQ(fs->read["table"], std::set<size_t>{kSane});
  EXPECT_EQ(fs->read["blob"], std::set<size_t>{kBlobRead});
}

// Records the options with which files are created.
class NotingFs final : public FileSystemWrapper {
 public:
  NotingFs() : FileSystemWrapper(std::make_shared<MemoryFileSystem>()) {}
  const char* Name() const override { return "NotingFs"; }
  IOStatus NewWritableFile(const std::string& f, const FileOptions& options,
                           std::unique_ptr<FSWritableFile>* r, IODebugContext* dbg) override {
    Note(f, options);
    return target()->NewWritableFile(f, options, r, dbg);
  }
  void Note(const std::string& f, const FileOptions& options) {
    MutexLock lock(&mutex_);
    if (options.use_mmap_writes) mapped_.insert(f);
    (f.ends_with(".log") ? log_paces_ : other_paces_).insert(options.bytes_per_sync);
    created_++;
  }
  std::set<std::string> mapped() {
    MutexLock lock(&mutex_);
    return mapped_;
  }
  std::set<uint64_t> paces(bool of_logs) {
    MutexLock lock(&mutex_);
    return of_logs ? log_paces_ : other_paces_;
  }
  int created() {
    MutexLock lock(&mutex_);
    return created_;
  }

 private:
  Mutex mutex_{LockRank::kLeaf};
  std::set<std::string> mapped_ GUARDED_BY(mutex_);
  std::set<uint64_t> log_paces_ GUARDED_BY(mutex_), other_paces_ GUARDED_BY(mutex_);
  int created_ GUARDED_BY(mutex_) = 0;
};

// The engine never requests mapped writes, which a file system may not support.
TEST(AdvisedFiles, NoneIsWrittenThroughAMapping) {
  EXPECT_FALSE(EnvOptions().use_mmap_writes);
  EXPECT_FALSE(FileOptions().use_mmap_writes);
  const auto fs = std::make_shared<NotingFs>();
  TestDb test(fs);
  test.options().create_if_missing = true;
  test.Open();
  test.Put("k");
  test.Flush();
  SstFileWriter writer(EnvOptions(), test.options());
  ASSERT_OK(writer.Open("/x.sst"));
  ASSERT_OK(writer.Put("l", "v"));
  ASSERT_OK(writer.Finish());
  ASSERT_OK(test.db()->IngestExternalFile({"/x.sst"}, IngestExternalFileOptions()));
  test.Close();
  EXPECT_GT(fs->created(), 5);  // info log, CURRENT, MANIFEST, OPTIONS, log and tables
  EXPECT_EQ(fs->mapped(), std::set<std::string>{});
}

// A file system of the program is told. The files that grow while they are read are not mapped.
TEST(AdvisedFiles, TablesAndBlobFilesAreMappedOnRequest) {
  const auto fs = std::make_shared<NotingFs>();
  TestDb test(fs);
  test.options().create_if_missing = true;
  test.options().allow_mmap_writes = test.options().use_direct_io_for_compaction_reads = true;
  test.options().enable_blob_files = true;
  test.Open();
  test.Put("k", "v");
  test.Flush();
  EXPECT_EQ(test.Get("k"), "v");
  test.Close();
  std::set<std::string> endings;
  for (const std::string& name : fs->mapped()) endings.insert(name.substr(name.rfind('.') + 1));
  EXPECT_EQ(endings, (std::set<std::string>{"blob", "sst"}));
}

TEST(AdvisedFiles, LogsHaveAPaceOfTheirOwn) {
  const auto fs = std::make_shared<NotingFs>();
  TestDb test(fs);
  test.options().create_if_missing = true;
  test.options().bytes_per_sync = 1111;
  test.options().wal_bytes_per_sync = 2222;
  test.Open();
  test.Close();
  EXPECT_EQ(fs->paces(/*of_logs=*/true), std::set<uint64_t>{2222});
  EXPECT_EQ(fs->paces(/*of_logs=*/false).count(2222), 0u);
  EXPECT_EQ(test.env()->OptimizeForLogWrite(EnvOptions(), test.options()).bytes_per_sync, 2222u);
  const std::unique_ptr<Env> plain = std::make_unique<EnvWrapper>(test.env());
  EXPECT_EQ(plain->Env::OptimizeForLogWrite(EnvOptions(), test.options()).bytes_per_sync, 2222u);
}

}  // namespace
}  // namespace ashlar
