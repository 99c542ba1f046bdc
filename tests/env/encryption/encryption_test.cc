// SPDX-License-Identifier: Apache-2.0
//
// Encrypted files: the bytes on disk, sizes and offsets, new prefixes, and whole databases on an
// encrypted file system.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/env_encryption.h"
#include "ashlar/perf_context.h"
#include "ashlar/perf_level.h"
#include "ashlar/utilities/backup_engine.h"
#include "ashlar/utilities/checkpoint.h"
#include "ashlar/utilities/env_chroot.h"
#include "env/file_util.h"
#include "env/mapped_file.h"
#include "env/memory/memory_file_system.h"
#include "env/sim/sim_fs.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"
#include "util/keys/coding.h"
#include "util/random.h"

namespace ashlar {
namespace {

constexpr size_t kPrefix = 4096;

std::shared_ptr<EncryptionProvider> TestProvider() {
  return EncryptionProvider::NewCTRProvider(BlockCipher::NewROT13Cipher(32));
}

class EncryptedFilesTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::vector<std::string>& parts) {
    std::unique_ptr<FSWritableFile> file;
    ASSERT_OK(fs_->NewWritableFile(path, {}, &file, nullptr));
    for (const std::string& part : parts) ASSERT_OK(file->Append(part, {}, nullptr));
    ASSERT_OK(file->Close({}, nullptr));
  }
  static std::string ReadWith(FileSystem* fs, const std::string& path) {
    std::string contents;
    const Status status = ReadFileToString(fs, path, &contents);
    return status.ok() ? contents : status.ToString();
  }
  std::string Read(const std::string& path) { return ReadWith(fs_.get(), path); }
  std::string Raw(const std::string& path) { return ReadWith(base_.get(), path); }

  std::shared_ptr<MemoryFileSystem> base_ = std::make_shared<MemoryFileSystem>();
  std::shared_ptr<FileSystem> fs_ = NewEncryptedFS(base_, TestProvider());
};

TEST_F(EncryptedFilesTest, BytesOnDiskAreThoseOfTheFormat) {
  Write("/f", {"", "hel", "lo, encrypted world, which is longer than one block of the cipher"});
  const std::string text = "hello, encrypted world, which is longer than one block of the cipher";
  EXPECT_EQ(Read("/f"), text);
  const std::string raw = Raw("/f");
  ASSERT_EQ(raw.size(), kPrefix + text.size());
  // The definition, without the code under test: E adds 13 to each byte.
  const uint64_t counter = DecodeFixed64(raw.data());
  for (size_t at = 0; at < text.size(); ++at) {
    std::string block = raw.substr(32, 32);
    EncodeFixed64(block.data(), counter + (kPrefix + at) / 32);
    const char key = static_cast<char>(block[(kPrefix + at) % 32] + 13);
    ASSERT_EQ(raw[kPrefix + at], static_cast<char>(text[at] ^ key)) << at;
  }
}

TEST_F(EncryptedFilesTest, SizesAndOffsetsDoNotCountThePrefix) {
  ASSERT_OK(fs_->CreateDir("/d", {}, nullptr));
  Write("/d/f", {std::string(100, 'a'), "0123456789"});
  uint64_t size = 0;
  ASSERT_OK(fs_->GetFileSize("/d/f", {}, &size, nullptr));
  EXPECT_EQ(size, 110u);
  std::vector<Env::FileAttributes> files;
  ASSERT_OK(fs_->GetChildrenFileAttributes("/d", {}, &files, nullptr));
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].size_bytes, 110u);
  std::unique_ptr<FSRandomAccessFile> random;
  ASSERT_OK(fs_->NewRandomAccessFile("/d/f", {}, &random, nullptr));
  char scratch[64];
  Slice result;
  ASSERT_OK(random->Read(97, 6, {}, &result, scratch, nullptr));
  EXPECT_EQ(result, "aaa012");
  FSReadRequest requests[2];
  char second[64];
  requests[0] = {.offset = 0, .len = 2, .scratch = scratch, .result = {}, .status = {}};
  requests[1] = {.offset = 105, .len = 50, .scratch = second, .result = {}, .status = {}};
  ASSERT_OK(random->MultiRead(requests, 2, {}, nullptr));
  EXPECT_EQ(requests[0].result, "aa");
  EXPECT_EQ(requests[1].result, "56789");
  EXPECT_EQ(requests[1].offset, 105u);
  std::unique_ptr<FSSequentialFile> sequential;
  ASSERT_OK(fs_->NewSequentialFile("/d/f", {}, &sequential, nullptr));
  ASSERT_OK(sequential->Skip(99));
  ASSERT_OK(sequential->Read(4, {}, &result, scratch, nullptr));
  EXPECT_EQ(result, "a012");
  ASSERT_OK(sequential->Read(40, {}, &result, scratch, nullptr));
  EXPECT_EQ(result, "3456789");
  ASSERT_OK(fs_->Truncate("/d/f", 101, {}, nullptr));
  EXPECT_EQ(Read("/d/f"), std::string(100, 'a') + "0");
}

TEST_F(EncryptedFilesTest, RandomPiecesReadBackAsWritten) {
  Random64 random(301);
  for (int round = 0; round < 20; ++round) {
    std::string all;
    std::vector<std::string> parts;
    for (int i = 0; i < 10; ++i) {
      std::string part(random.Uniform(90), '\0');
      for (char& c : part) c = static_cast<char>(random.Uniform(256));
      all += part;
      parts.push_back(std::move(part));
    }
    Write("/f", parts);
    ASSERT_EQ(Read("/f"), all);
    std::unique_ptr<FSRandomRWFile> file;
    ASSERT_OK(fs_->NewRandomRWFile("/f", {}, &file, nullptr));
    if (all.size() < 40) continue;
    const size_t at = random.Uniform(all.size() - 20);
    all.replace(at, 20, "twenty bytes of news");
    ASSERT_OK(file->Write(at, "twenty bytes of news", {}, nullptr));
    ASSERT_OK(file->Close({}, nullptr));
    ASSERT_EQ(Read("/f"), all);
  }
}

TEST_F(EncryptedFilesTest, EveryFileAndEveryReuseHasANewPrefix) {
  Write("/1.log", {"same text"});
  const std::string first = Raw("/1.log");
  Write("/2.log", {"same text"});
  EXPECT_NE(first.substr(0, 64), Raw("/2.log").substr(0, 64));
  Write("/1.log", {"same text"});
  EXPECT_NE(first.substr(0, 64), Raw("/1.log").substr(0, 64));
  const std::string old = Raw("/2.log");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReuseWritableFile("/3.log", "/2.log", {}, &file, nullptr));
  ASSERT_OK(file->Append("same", {}, nullptr));
  ASSERT_OK(file->Close({}, nullptr));
  EXPECT_TRUE(fs_->FileExists("/2.log", {}, nullptr).IsNotFound());
  EXPECT_EQ(Read("/3.log"), "same");
  EXPECT_NE(old.substr(0, 64), Raw("/3.log").substr(0, 64));
  EXPECT_NE(old.substr(kPrefix, 4), Raw("/3.log").substr(kPrefix, 4));
}

TEST_F(EncryptedFilesTest, AppendingContinuesTheFile) {
  Write("/f", {"first "});
  const std::string before = Raw("/f");
  std::unique_ptr<FSWritableFile> file;
  ASSERT_OK(fs_->ReopenWritableFile("/f", {}, &file, nullptr));
  ASSERT_OK(file->Append("second", {}, nullptr));
  EXPECT_EQ(file->GetFileSize({}, nullptr), 12u);
  ASSERT_OK(file->Close({}, nullptr));
  EXPECT_EQ(Read("/f"), "first second");
  EXPECT_EQ(Raw("/f").substr(0, before.size()), before);
  ASSERT_OK(fs_->ReopenWritableFile("/new", {}, &file, nullptr));
  ASSERT_OK(file->Append("x", {}, nullptr));
  ASSERT_OK(file->Close({}, nullptr));
  EXPECT_EQ(Read("/new"), "x");
}

TEST_F(EncryptedFilesTest, AFileWithoutAWholePrefixIsEmpty) {
  for (const size_t bytes : {size_t{0}, size_t{1}, kPrefix - 1}) {
    ASSERT_OK(WriteStringToFile(base_.get(), std::string(bytes, 'x'), "/f"));
    EXPECT_EQ(Read("/f"), "") << bytes;
    uint64_t size = 1;
    ASSERT_OK(fs_->GetFileSize("/f", {}, &size, nullptr));
    EXPECT_EQ(size, 0u);
    std::unique_ptr<FSWritableFile> file;
    ASSERT_OK(fs_->ReopenWritableFile("/f", {}, &file, nullptr));
    ASSERT_OK(file->Append("new", {}, nullptr));
    ASSERT_OK(file->Close({}, nullptr));
    EXPECT_EQ(Read("/f"), "new");
  }
}

TEST_F(EncryptedFilesTest, TheTimeOfEncryptionIsCounted) {
  SetPerfLevel(PerfLevel::kEnableTime);
  get_perf_context()->Reset();
  Write("/f", {std::string(1 << 20, 'x')});
  EXPECT_GT(get_perf_context()->encrypt_data_nanos, 0u);
  EXPECT_EQ(get_perf_context()->decrypt_data_nanos, 0u);
  EXPECT_EQ(Read("/f").size(), size_t{1} << 20);
  EXPECT_GT(get_perf_context()->decrypt_data_nanos, 0u);
  SetPerfLevel(PerfLevel::kDisable);
}

TEST_F(EncryptedFilesTest, NothingIsMapped) {
  FileOptions mapped;
  mapped.use_mmap_reads = true;
  std::unique_ptr<FSRandomAccessFile> file;
  EXPECT_TRUE(fs_->NewRandomAccessFile("/f", mapped, &file, nullptr).IsInvalidArgument());
  std::unique_ptr<MemoryMappedFileBuffer> buffer;
  EXPECT_TRUE(fs_->NewMemoryMappedFileBuffer("/f", &buffer).IsInvalidArgument());
  EXPECT_EQ(MappedLogFactory::Of(NewEncryptedFS(FileSystem::Default(), TestProvider()).get()),
            nullptr);
}

TEST(EncryptionProviders, AreMadeByName) {
  ConfigOptions config;
  config.ignore_unsupported_options = false;
  std::shared_ptr<EncryptionProvider> provider;
  for (const char* name : {"CTR://test", "1://test", "{id=CTR;cipher=ROT13:16}", "CTR"}) {
    ASSERT_OK(EncryptionProvider::CreateFromString(config, name, &provider)) << name;
    EXPECT_EQ(provider->GetPrefixLength(), kPrefix);
  }
  // The last one has no cipher yet.
  std::string prefix(kPrefix, '\0');
  EXPECT_TRUE(provider->CreateNewPrefix("f", prefix.data(), kPrefix).IsInvalidArgument());
  EXPECT_TRUE(provider->AddCipher("AES", "", 32, true).IsNotSupported());
  ASSERT_OK(provider->AddCipher("ROT13", "", 32, true));
  EXPECT_TRUE(provider->AddCipher("ROT13", "", 32, true).IsNotSupported());
  ASSERT_OK(provider->CreateNewPrefix("f", prefix.data(), kPrefix));
  EXPECT_TRUE(EncryptionProvider::CreateFromString(config, "AES", &provider).IsNotSupported());
  std::shared_ptr<BlockCipher> cipher;
  ASSERT_OK(BlockCipher::CreateFromString(config, "ROT13:8", &cipher));
  EXPECT_EQ(cipher->BlockSize(), 8u);
  std::string block = "12345678";
  ASSERT_OK(cipher->Encrypt(block.data()));
  EXPECT_NE(block, "12345678");
  ASSERT_OK(cipher->Decrypt(block.data()));
  EXPECT_EQ(block, "12345678");
  EXPECT_TRUE(BlockCipher::CreateFromString(config, "ROT13:0", &cipher).IsInvalidArgument());
  for (const size_t bad : {4, 4096}) {
    provider = EncryptionProvider::NewCTRProvider(BlockCipher::NewROT13Cipher(bad));
    EXPECT_TRUE(provider->CreateNewPrefix("f", prefix.data(), kPrefix).IsInvalidArgument());
  }
}

// A stream that overrides only the block functions.
class BlockwiseStream final : public BlockAccessCipherStream {
 public:
  size_t BlockSize() override { return 8; }

 protected:
  void AllocateScratch(std::string& scratch) override { scratch.resize(8); }
  Status EncryptBlock(uint64_t index, char* data, char*) override {
    for (int i = 0; i < 8; ++i) data[i] = static_cast<char>(data[i] ^ (index + 1) ^ i);
    return Status::OK();
  }
  Status DecryptBlock(uint64_t index, char* data, char* scratch) override {
    return EncryptBlock(index, data, scratch);
  }
};

TEST(CipherStreams, PartsOfBlocksAreEncryptedAtTheirPlace) {
  BlockwiseStream stream;
  std::string whole = "0123456789abcdefghijklmn", parts = whole;
  const std::string plain = whole;
  ASSERT_OK(stream.Encrypt(0, whole.data(), whole.size()));
  ASSERT_OK(stream.Encrypt(0, parts.data(), 5));
  ASSERT_OK(stream.Encrypt(5, parts.data() + 5, 14));
  ASSERT_OK(stream.Encrypt(19, parts.data() + 19, 5));
  EXPECT_EQ(parts, whole);
  ASSERT_OK(stream.Decrypt(3, parts.data() + 3, 12));
  EXPECT_EQ(parts.substr(3, 12), plain.substr(3, 12));
}

class EncryptedDb : public DbTest {
 protected:
  EncryptedDb() : DbTest(TestFiles::kSim) { Encrypt(); }
  void Encrypt() { UseFiles(NewEncryptedFS(sim_, TestProvider())); }
  // Continues on the files that the crash left.
  void Crash(CrashPolicy policy, uint64_t seed) {
    const std::shared_ptr<SimFS> image = CrashImage(policy, seed);
    Drop();
    sim_ = image;
    Encrypt();
  }
};

TEST_F(EncryptedDb, WritesFlushesCompactsAndReopens) {
  options_.recycle_log_file_num = 2;
  options_.enable_blob_files = true;
  options_.min_blob_size = 500;
  options_.write_buffer_size = 64 << 10;
  Open();
  std::map<std::string, std::string> model;
  Random64 random(7);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 400; ++i) {
      const std::string key = Key(static_cast<int>(random.Uniform(900)));
      if (random.OneIn(5)) {
        Delete(key);
        model.erase(key);
      } else {
        const std::string value(random.Uniform(1000), static_cast<char>('a' + i % 26));
        Put(key, value);
        model[key] = value;
      }
    }
    if (round % 3 == 0) Compact();
    if (round % 2 == 0) Reopen();
    ASSERT_EQ(ReadRows(), model);
  }
  ASSERT_OK(db_->VerifyChecksum());
}

TEST_F(EncryptedDb, NoTextOfTheDatabaseIsOnDisk) {
  Open();
  Put("very-secret-key", "very-secret-value");
  Flush();
  Put("very-secret-key", "very-secret-value");
  ASSERT_OK(db_->SyncWAL());
  Close();  // so that no job deletes a file that was listed
  std::vector<std::string> names;
  ASSERT_OK(sim_->GetChildren(dir_, {}, &names, nullptr));
  int checked = 0;
  for (const std::string& name : names) {
    std::string raw;
    ASSERT_OK(ReadFileToString(sim_.get(), dir_ + "/" + name, &raw));
    for (const char* text : {"very-secret", "bytewise", "MANIFEST", "[Version]", "Options."}) {
      EXPECT_EQ(raw.find(text), std::string::npos) << name << " has " << text;
    }
    ++checked;
  }
  EXPECT_GE(checked, 6);
}

// Whether the environment is the encrypted one or wraps it, and whoever makes the log.
TEST_F(EncryptedDb, InfoLogsAreReadableOnlyThroughTheEnvironment) {
  for (const bool is_wrapped : {false, true}) {
    SCOPED_TRACE(is_wrapped);
    std::string root;
    if (is_wrapped) {
      root = "/root";
      const std::shared_ptr<FileSystem> files = NewEncryptedFS(sim_, TestProvider());
      ASSERT_OK(files->CreateDir(root, {}, nullptr));
      UseFiles(NewChrootFileSystem(files, root));
    }
    Open();
    std::shared_ptr<Logger> own;
    ASSERT_OK(env_->NewLogger("/own.log", &own));
    Info(own, "Options.");
    ASSERT_OK(own->Close());
    Close();
    for (const std::string& path : {dir_ + "/LOG", std::string("/own.log")}) {
      SCOPED_TRACE(path);
      std::string text, raw;
      ASSERT_OK(ReadFileToString(env_->GetFileSystem().get(), path, &text));
      ASSERT_OK(ReadFileToString(sim_.get(), root + path, &raw));
      EXPECT_NE(text.find("Options."), std::string::npos);
      EXPECT_EQ(raw.find("Options."), std::string::npos);
      EXPECT_EQ(raw.size(), kPrefix + text.size());
    }
  }
}

TEST_F(EncryptedDb, SyncedWritesSurviveCrashes) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Open();
    const std::string key = Key(static_cast<int>(seed));
    ASSERT_OK(db_->Put(Synced(), key, "value"));
    if (seed % 3 == 0) Flush();
    Put("unsynced", std::to_string(seed));
    constexpr CrashPolicy kPolicies[] = {CrashPolicy::kStrict, CrashPolicy::kTorn,
                                         CrashPolicy::kReorder, CrashPolicy::kSizeFirst};
    Crash(kPolicies[seed % 4], seed);
    Open();
    for (uint64_t i = 1; i <= seed; ++i) ASSERT_EQ(Get(Key(static_cast<int>(i))), "value");
  }
}

TEST_F(EncryptedDb, CheckpointsAndBackupsCanBeOpenedAndRestored) {
  Open();
  Fill(100);
  Flush();
  Put("in-the-log", "1");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ASSERT_OK(checkpoint->CreateCheckpoint("/copy"));
  BackupEngineOptions backup_options("/backups");
  BackupEngine* opened = nullptr;
  ASSERT_OK(BackupEngine::Open(backup_options, env_.get(), &opened));
  const std::unique_ptr<BackupEngine> engine(opened);
  ASSERT_OK(engine->CreateNewBackup(db_.get()));
  ASSERT_OK(engine->VerifyBackup(1, /*verify_with_checksum=*/true));
  ASSERT_OK(engine->RestoreDBFromLatestBackup("/restored", "/restored"));
  const Rows rows = ReadRows();
  for (const char* dir : {"/copy", "/restored"}) {
    Drop();
    dir_ = dir;
    Open();
    EXPECT_EQ(ReadRows(), rows) << dir;
  }
}

}  // namespace
}  // namespace ashlar
