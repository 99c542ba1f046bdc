// SPDX-License-Identifier: Apache-2.0
//
// What each of our file systems guarantees. The tests run with the POSIX one, the one in memory,
// the fault wrapper, the simulated one, through the Env adaptors in both directions, below a
// directory, and with two environments that are compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/env.h"
#include "ashlar/file_checksum.h"
#include "ashlar/file_system.h"
#include "ashlar/file_system_wrapper.h"
#include "ashlar/utilities/env_chroot.h"
#include "ashlar/utilities/env_mirror.h"
#include "env/env_adaptors.h"
#include "env/fault/fault_file_system.h"
#include "env/file_util.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"
#include "util/hash/crc32c.h"

namespace ashlar {
namespace {

struct Kind {
  const char* name;
  std::function<std::shared_ptr<FileSystem>()> make;
};

std::shared_ptr<FileSystem> MakeOverEnv() {
  // The Env must outlive the file system over it.
  std::shared_ptr<Env> env = NewCompositeEnv(std::make_shared<MemoryFileSystem>());
  auto fs = NewFileSystemOverEnv(env.get());
  return std::shared_ptr<FileSystem>(fs.get(), [env, fs](FileSystem*) {});
}

std::string FreshRoot() {
  const std::string root = FreshTempDir("file_system_root");
  EXPECT_OK(CreateDirectories(FileSystem::Default().get(), root));
  return root;
}

// Files of the machine, and the same in memory. The Env must outlive the file system over it.
std::shared_ptr<FileSystem> MakeMirror() {
  const std::shared_ptr<Env> env =
      std::make_shared<EnvMirror>(NewChrootEnv(Env::Default(), FreshRoot()),
                                  NewMemEnv(Env::Default()), /*free_a=*/true, /*free_b=*/true);
  return std::shared_ptr<FileSystem>(env->GetFileSystem().get(), [env](FileSystem*) {});
}

const Kind kKinds[] = {
    {"posix", [] { return FileSystem::Default(); }},
    {"memory", [] { return std::make_shared<MemoryFileSystem>(); }},
    {"fault", [] { return std::make_shared<FaultFileSystem>(FileSystem::Default()); }},
    {"sim", [] { return SimFS::Create(); }},
    {"over_env", MakeOverEnv},
    {"chroot", [] { return NewChrootFileSystem(FileSystem::Default(), FreshRoot()); }},
    {"mirror", MakeMirror},
};

class FileSystemTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    fs_ = GetParam().make();
    dir_ = FreshTempDir("file_system");
    ASSERT_OK(CreateDirectories(fs_.get(), dir_));
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  void Put(const std::string& name, const std::string& contents) {
    ASSERT_OK(WriteStringToFile(fs_.get(), contents, Path(name)));
  }
  std::string Get(const std::string& name) {
    auto contents = ReadWholeFile(fs_.get(), Path(name));
    return contents.ok() ? contents.Take() : contents.status().ToString();
  }

  std::shared_ptr<FileSystem> fs_;
  std::string dir_;
  const IOOptions io_;
};

TEST_P(FileSystemTest, AppendsAreReadBackSequentially) {
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->NewWritableFile(Path("a"), FileOptions(), &file, nullptr));
  ASSERT_OK(file->Append("hello ", io_, nullptr));
  ASSERT_OK(file->Append("world", io_, nullptr));
  EXPECT_EQ(file->GetFileSize(io_, nullptr), 11u);
  ASSERT_OK(file->Sync(io_, nullptr));
  ASSERT_OK(file->Fsync(io_, nullptr));
  ASSERT_OK(file->Close(io_, nullptr));
  EXPECT_EQ(Get("a"), "hello world");
}

TEST_P(FileSystemTest, RandomReadsStopAtTheEnd) {
  Put("a", "0123456789");
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(Path("a"), FileOptions(), &file, nullptr));
  char scratch[16];
  Slice result;
  ASSERT_OK(file->Read(2, 3, io_, &result, scratch, nullptr));
  EXPECT_EQ(result.ToString(), "234");
  ASSERT_OK(file->Read(8, 5, io_, &result, scratch, nullptr));
  EXPECT_EQ(result.ToString(), "89");
  ASSERT_OK(file->Read(10, 5, io_, &result, scratch, nullptr));
  EXPECT_TRUE(result.empty());
}

TEST_P(FileSystemTest, MultiReadAnswersEachRequest) {
  Put("a", "0123456789");
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(Path("a"), FileOptions(), &file, nullptr));
  char scratch[2][4];
  FSReadRequest requests[2];
  for (size_t i = 0; i < 2; ++i) {
    requests[i].offset = 1 + 5 * i;
    requests[i].len = 4;
    requests[i].scratch = scratch[i];
  }
  ASSERT_OK(file->MultiRead(requests, 2, io_, nullptr));
  EXPECT_EQ(requests[0].result.ToString(), "1234");
  EXPECT_EQ(requests[1].result.ToString(), "6789");
}

TEST_P(FileSystemTest, SkipMovesTheSequentialPosition) {
  Put("a", "0123456789");
  std::unique_ptr<FSSequentialFile> file;
  ASSERT_OK(fs_->NewSequentialFile(Path("a"), FileOptions(), &file, nullptr));
  ASSERT_OK(file->Skip(7));
  char scratch[16];
  Slice result;
  ASSERT_OK(file->Read(2, io_, &result, scratch, nullptr));
  EXPECT_EQ(result.ToString(), "78");
  ASSERT_OK(file->Skip(100));
  ASSERT_OK(file->Read(2, io_, &result, scratch, nullptr));
  EXPECT_TRUE(result.empty());
}

TEST_P(FileSystemTest, MissingFilesAreNamedAndTellSo) {
  std::unique_ptr<FSSequentialFile> file;
  const IOStatus status = fs_->NewSequentialFile(Path("none"), FileOptions(), &file, nullptr);
  EXPECT_TRUE(status.IsPathNotFound()) << status.ToString();
  EXPECT_NE(status.ToString().find(Path("none")), std::string::npos);
  EXPECT_EQ(file, nullptr);
  EXPECT_TRUE(fs_->FileExists(Path("none"), io_, nullptr).IsNotFound());
  std::vector<std::string> children;
  EXPECT_TRUE(fs_->GetChildren(Path("none"), io_, &children, nullptr).IsNotFound());
  uint64_t size = 0;
  EXPECT_TRUE(fs_->GetFileSize(Path("none"), io_, &size, nullptr).IsPathNotFound());
  EXPECT_TRUE(fs_->DeleteFile(Path("none"), io_, nullptr).IsPathNotFound());
  std::unique_ptr<FSWritableFile> writable;
  EXPECT_TRUE(
      fs_->NewWritableFile(Path("no/dir"), FileOptions(), &writable, nullptr).IsPathNotFound());
}

TEST_P(FileSystemTest, ReopenAppendsBehindWhatIsThere) {
  Put("a", "old");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReopenWritableFile(Path("a"), FileOptions(), &file, nullptr));
  EXPECT_EQ(file->GetFileSize(io_, nullptr), 3u);
  ASSERT_OK(file->Append("+new", io_, nullptr));
  ASSERT_OK(file->Close(io_, nullptr));
  EXPECT_EQ(Get("a"), "old+new");
}

TEST_P(FileSystemTest, ReuseOverwritesFromTheStartAndKeepsTheRest) {
  Put("old", "0123456789");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReuseWritableFile(Path("new"), Path("old"), FileOptions(), &file, nullptr));
  ASSERT_OK(file->Append("abc", io_, nullptr));
  ASSERT_OK(file->Close(io_, nullptr));
  EXPECT_EQ(Get("new"), "abc3456789");
  EXPECT_FALSE(fs_->FileExists(Path("old"), io_, nullptr).ok());
}

TEST_P(FileSystemTest, CreatingEmptiesAnExistingFile) {
  Put("a", "something long");
  Put("a", "x");
  EXPECT_EQ(Get("a"), "x");
}

TEST_P(FileSystemTest, PositionedWritesAndTruncation) {
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->NewWritableFile(Path("a"), FileOptions(), &file, nullptr));
  ASSERT_OK(file->PositionedAppend("world", 6, io_, nullptr));
  ASSERT_OK(file->PositionedAppend("hello ", 0, io_, nullptr));
  ASSERT_OK(file->Truncate(8, io_, nullptr));
  ASSERT_OK(file->Append("!", io_, nullptr));
  ASSERT_OK(file->Close(io_, nullptr));
  EXPECT_EQ(Get("a"), "hello wo!");
  ASSERT_OK(fs_->Truncate(Path("a"), 5, io_, nullptr));
  EXPECT_EQ(Get("a"), "hello");
}

TEST_P(FileSystemTest, RandomReadWriteFile) {
  Put("a", "0123456789");
  std::unique_ptr<FSRandomRWFile> file;
  ASSERT_OK(fs_->NewRandomRWFile(Path("a"), FileOptions(), &file, nullptr));
  ASSERT_OK(file->Write(3, "xyz", io_, nullptr));
  char scratch[8];
  Slice result;
  ASSERT_OK(file->Read(2, 5, io_, &result, scratch, nullptr));
  EXPECT_EQ(result.ToString(), "2xyz6");
  ASSERT_OK(file->Sync(io_, nullptr));
  ASSERT_OK(file->Close(io_, nullptr));
}

TEST_P(FileSystemTest, RenameReplacesItsTarget) {
  Put("a", "new");
  Put("b", "old");
  ASSERT_OK(fs_->RenameFile(Path("a"), Path("b"), io_, nullptr));
  EXPECT_EQ(Get("b"), "new");
  EXPECT_TRUE(fs_->FileExists(Path("a"), io_, nullptr).IsNotFound());
}

TEST_P(FileSystemTest, LinkedFilesShareTheirContent) {
  Put("a", "x");
  ASSERT_OK(fs_->LinkFile(Path("a"), Path("b"), io_, nullptr));
  uint64_t links = 0;
  ASSERT_OK(fs_->NumFileLinks(Path("a"), io_, &links, nullptr));
  EXPECT_EQ(links, 2u);
  bool same = false;
  ASSERT_OK(fs_->AreFilesSame(Path("a"), Path("b"), io_, &same, nullptr));
  EXPECT_TRUE(same);
  ASSERT_OK(fs_->DeleteFile(Path("a"), io_, nullptr));
  EXPECT_EQ(Get("b"), "x");
}

TEST_P(FileSystemTest, OpenFilesOutliveTheirName) {
  Put("a", "still here");
  std::unique_ptr<FSRandomAccessFile> file;
  ASSERT_OK(fs_->NewRandomAccessFile(Path("a"), FileOptions(), &file, nullptr));
  ASSERT_OK(fs_->DeleteFile(Path("a"), io_, nullptr));
  char scratch[16];
  Slice result;
  ASSERT_OK(file->Read(0, 16, io_, &result, scratch, nullptr));
  EXPECT_EQ(result.ToString(), "still here");
}

TEST_P(FileSystemTest, DirectoriesListTheirChildrenOnly) {
  Put("a", "1");
  ASSERT_OK(fs_->CreateDir(Path("sub"), io_, nullptr));
  Put("sub/b", "22");
  auto names = ListDirectory(fs_.get(), dir_);
  ASSERT_OK(names);
  EXPECT_EQ(*names, (std::vector<std::string>{"a", "sub"}));
  std::vector<FileAttributes> attributes;
  ASSERT_OK(fs_->GetChildrenFileAttributes(Path("sub"), io_, &attributes, nullptr));
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(attributes[0].name, "b");
  EXPECT_EQ(attributes[0].size_bytes, 2u);
}

TEST_P(FileSystemTest, DirectoryCreationAndRemoval) {
  ASSERT_OK(fs_->CreateDir(Path("d"), io_, nullptr));
  EXPECT_FALSE(fs_->CreateDir(Path("d"), io_, nullptr).ok());
  ASSERT_OK(fs_->CreateDirIfMissing(Path("d"), io_, nullptr));
  Put("f", "");
  EXPECT_FALSE(fs_->CreateDirIfMissing(Path("f"), io_, nullptr).ok());
  bool is_dir = false;
  ASSERT_OK(fs_->IsDirectory(Path("d"), io_, &is_dir, nullptr));
  EXPECT_TRUE(is_dir);
  ASSERT_OK(fs_->IsDirectory(Path("f"), io_, &is_dir, nullptr));
  EXPECT_FALSE(is_dir);
  Put("d/x", "");
  EXPECT_FALSE(fs_->DeleteDir(Path("d"), io_, nullptr).ok());
  ASSERT_OK(fs_->DeleteFile(Path("d/x"), io_, nullptr));
  ASSERT_OK(fs_->DeleteDir(Path("d"), io_, nullptr));
  EXPECT_TRUE(fs_->FileExists(Path("d"), io_, nullptr).IsNotFound());
}

TEST_P(FileSystemTest, DirectoriesCanBeSynced) { EXPECT_OK(SyncDirectory(fs_.get(), dir_)); }

TEST_P(FileSystemTest, ALockedFileCannotBeLockedAgain) {
  FileLock* lock = nullptr;
  ASSERT_OK(fs_->LockFile(Path("LOCK"), io_, &lock, nullptr));
  EXPECT_OK(fs_->FileExists(Path("LOCK"), io_, nullptr));
  FileLock* second = nullptr;
  const IOStatus status = fs_->LockFile(Path("LOCK"), io_, &second, nullptr);
  EXPECT_TRUE(status.IsIOError());
  EXPECT_EQ(second, nullptr);
  EXPECT_NE(status.ToString().find("already held by this process"), std::string::npos);
  ASSERT_OK(fs_->UnlockFile(lock, io_, nullptr));
  ASSERT_OK(fs_->LockFile(Path("LOCK"), io_, &lock, nullptr));
  ASSERT_OK(fs_->UnlockFile(lock, io_, nullptr));
}

TEST_P(FileSystemTest, AtomicWriteLeavesNoTemporaryFile) {
  ASSERT_OK(WriteFileAtomically(fs_.get(), dir_, "tmp", "final", "one"));
  ASSERT_OK(WriteFileAtomically(fs_.get(), dir_, "tmp", "final", "two"));
  EXPECT_EQ(Get("final"), "two");
  EXPECT_TRUE(fs_->FileExists(Path("tmp"), io_, nullptr).IsNotFound());
}

TEST_P(FileSystemTest, CopyOfAPrefix) {
  Put("a", "0123456789");
  ASSERT_OK(CopyFileTo(fs_.get(), Path("a"), Path("b"), 4));
  EXPECT_EQ(Get("b"), "0123");
  ASSERT_OK(CopyFileTo(fs_.get(), Path("a"), Path("c")));
  EXPECT_EQ(Get("c"), "0123456789");
  EXPECT_TRUE(CopyFileTo(fs_.get(), Path("a"), Path("d"), 11).IsCorruption());
}

// Files of more than one piece, and an empty file.
TEST_P(FileSystemTest, ChecksumOfAWholeFile) {
  const auto checksum = [this](const std::string& name, Status* status) {
    const auto generator = GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
    *status = ChecksumFile(fs_.get(), Path(name), FileOptions(), generator.get());
    return generator->GetChecksum();
  };
  const auto checksum_of_bytes = [](const std::string& bytes) {
    const uint32_t crc = crc32c::Value(bytes.data(), bytes.size());
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(crc >> shift & 0xff);
    return text;
  };
  std::string large(600 * 1024 + 1, 'x');
  large.front() = 'a';
  large.back() = 'z';
  Put("large", large);
  Put("empty", "");
  Status status;
  EXPECT_EQ(checksum("large", &status), checksum_of_bytes(large));
  EXPECT_OK(status);
  EXPECT_EQ(checksum("empty", &status), checksum_of_bytes(""));
  EXPECT_OK(status);
  EXPECT_EQ(checksum("missing", &status), "");  // not finalized
  EXPECT_TRUE(status.IsIOError() || status.IsNotFound()) << status.ToString();
}

TEST_P(FileSystemTest, LoggerWritesToTheFile) {
  std::shared_ptr<Logger> logger;
  ASSERT_OK(fs_->NewLogger(Path("log"), io_, &logger, nullptr));
  Info(logger, "number %d", 42);
  ASSERT_OK(logger->Close());
  EXPECT_NE(Get("log").find("number 42\n"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest, testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MemoryFileSystem, PathsAreTheSameInAllSpellings) {
  EXPECT_EQ(MemoryFileSystem::CleanPath("/a//b/"), "/a/b");
  EXPECT_EQ(MemoryFileSystem::CleanPath("a/./b"), "/a/b");
  EXPECT_EQ(MemoryFileSystem::CleanPath("/a/../b"), "/b");
  EXPECT_EQ(MemoryFileSystem::CleanPath("/../.."), "/");
}

TEST(MemoryFileSystem, AQuotaCutsWritesShort) {
  MemoryFileSystem fs;
  fs.SetByteQuota(5);
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs.NewWritableFile("/a", FileOptions(), &file, nullptr));
  EXPECT_TRUE(file->Append("12345678", IOOptions(), nullptr).IsNoSpace());
  EXPECT_EQ(fs.AllFiles()["/a"], "12345");
  file.reset();
  ASSERT_OK(fs.DeleteFile("/a", IOOptions(), nullptr));
  EXPECT_EQ(fs.UsedBytes(), 0u);
}

TEST(MemoryFileSystem, DirectoriesMoveWithTheirContents) {
  MemoryFileSystem fs;
  fs.PutFile("/a/b/c", "x");
  ASSERT_OK(fs.RenameFile("/a/b", "/a/z", IOOptions(), nullptr));
  EXPECT_EQ(fs.AllFiles(), (std::map<std::string, std::string>{{"/a/z/c", "x"}}));
}

// A file system of a program that cannot tell what is a directory, and does not create missing
// parents.
class BlindFs final : public FileSystemWrapper {
 public:
  BlindFs() : FileSystemWrapper(std::make_shared<MemoryFileSystem>()) {}
  const char* Name() const override { return "BlindFs"; }
  IOStatus IsDirectory(const std::string&, const IOOptions&, bool*, IODebugContext*) override {
    return IOStatus::NotSupported();
  }
  IOStatus CreateDirIfMissing(const std::string& d, const IOOptions& options,
                              IODebugContext* dbg) override {
    asked.push_back(d);
    const std::string parent = d.substr(0, d.rfind('/'));
    if (!target()->FileExists(parent, options, dbg).ok()) return IOStatus::PathNotFound(d);
    return target()->CreateDirIfMissing(d, options, dbg);
  }
  IOStatus NewDirectory(const std::string& d, const IOOptions& options,
                        std::unique_ptr<FSDirectory>* r, IODebugContext* dbg) override {
    opened.push_back(d);
    return target()->NewDirectory(d, options, r, dbg);
  }
  std::vector<std::string> asked, opened;
};

TEST(CreateDirectories, AsksForParentsOnlyWhereTheyAreMissing) {
  BlindFs fs;
  ASSERT_OK(fs.target()->CreateDir("/mnt", IOOptions(), nullptr));
  ASSERT_OK(CreateDirectories(&fs, "/mnt/db"));
  EXPECT_EQ(fs.asked, std::vector<std::string>{"/mnt/db"});
  EXPECT_EQ(fs.opened, std::vector<std::string>{"/mnt"}) << "the name is synced";
  fs.asked.clear();
  ASSERT_OK(CreateDirectories(&fs, "/mnt/a/b"));
  EXPECT_EQ(fs.asked, (std::vector<std::string>{"/mnt/a/b", "/mnt/a", "/mnt/a/b"}));
  EXPECT_EQ(fs.opened, (std::vector<std::string>{"/mnt", "/mnt", "/mnt/a"}));
}

TEST(MemEnv, FilesLiveOnlyInIt) {
  const std::unique_ptr<Env> env(NewMemEnv(Env::Default()));
  const std::string dir = FreshTempDir("mem_env") + "/never";
  ASSERT_OK(env->CreateDirIfMissing(dir));
  ASSERT_OK(WriteStringToFile(env.get(), "data", dir + "/f"));
  std::string contents;
  ASSERT_OK(ReadFileToString(env.get(), dir + "/f", &contents));
  EXPECT_EQ(contents, "data");
  EXPECT_FALSE(Env::Default()->FileExists(dir).ok());
}

// An EnvWrapper that overrides one call of the older interface.
class CountingEnv : public EnvWrapper {
 public:
  using EnvWrapper::EnvWrapper;
  Status NewWritableFile(const std::string& f, std::unique_ptr<WritableFile>* r,
                         const EnvOptions& options) override {
    ++count;
    return EnvWrapper::NewWritableFile(f, r, options);
  }
  int count = 0;
};

TEST(EnvWrapper, OverriddenCallsAreReachedThroughItsFileSystem) {
  const std::unique_ptr<Env> base(NewMemEnv(Env::Default()));
  CountingEnv env(base.get());
  ASSERT_OK(WriteStringToFile(env.GetFileSystem().get(), "x", "/f"));
  EXPECT_EQ(env.count, 1);
  std::string contents;
  ASSERT_OK(ReadFileToString(&env, "/f", &contents));
  EXPECT_EQ(contents, "x");
}

TEST(EnvWrapper, AnEmptyWrapperIsTheDefault) {
  EnvWrapper env(static_cast<Env*>(nullptr));
  EXPECT_EQ(env.target(), Env::Default());
}

}  // namespace
}  // namespace ashlar
