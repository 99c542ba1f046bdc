// SPDX-License-Identifier: Apache-2.0
//
// Checksums of external files: given by the caller, computed, compared and recorded.
#include "ashlar/file_checksum.h"
#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {

TEST_F(IngestTest, AreComparedWithTheGivenChecksum) {
  Open();
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  SstFileWriter writer(EnvOptions(), options_);
  options_.file_checksum_gen_factory = nullptr;
  ASSERT_OK(writer.Open("/a.sst"));
  ASSERT_OK(writer.Put(Key(1), "a"));
  ExternalSstFileInfo info;
  ASSERT_OK(writer.Finish(&info));
  IngestExternalFileArg arg;
  arg.column_family = handles_[0];
  arg.external_files = {"/a.sst"};
  arg.files_checksums = {"no"};
  arg.files_checksum_func_names = {info.file_checksum_func_name};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsCorruption());
  arg.files_checksum_func_names = {"another"};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsInvalidArgument());
  arg.files_checksum_func_names = {};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsInvalidArgument());
  arg.files_checksums = {info.file_checksum};
  arg.files_checksum_func_names = {info.file_checksum_func_name};
  EXPECT_OK(db_->IngestExternalFiles({arg}));
  EXPECT_EQ(Get(1), "a");
}

// The checksum is computed if the caller gives none; a given one is compared or taken unchecked; it
// is computed again for a changed file.
TEST_F(IngestTest, HaveAChecksumInADatabaseOfFilesWithChecksums) {
  options_.level_compaction_dynamic_level_bytes = false;
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  const auto recorded = [this](int level) { return FileOn(level).file_checksum; };
  const auto on_disk = [this](const std::string& path) {
    auto checksum = ChecksumFile(env_->GetFileSystem().get(), path, FileOptions(),
                                 options_.file_checksum_gen_factory.get());
    return checksum.ok() ? checksum->value : checksum.status().ToString();
  };
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}));
  EXPECT_EQ(recorded(6), on_disk("/a.sst"));
  IngestExternalFileArg arg;
  arg.column_family = handles_[0];
  arg.external_files = {File("/b.sst", 0, 10, "b")};
  arg.files_checksums = {"given"};
  arg.files_checksum_func_names = {kStandardDbFileChecksumFuncName};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsCorruption());
  arg.options.verify_file_checksum = false;
  arg.files_checksum_func_names = {"another"};
  EXPECT_TRUE(db_->IngestExternalFiles({arg}).IsInvalidArgument());
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
  arg.files_checksum_func_names = {kStandardDbFileChecksumFuncName};
  ASSERT_OK(db_->IngestExternalFiles({arg}));
  EXPECT_EQ(recorded(5), "given");
  EXPECT_TRUE(db_->VerifyFileChecksums(ReadOptions()).IsCorruption());
}

TEST_F(IngestTest, HaveTheChecksumOfTheFileWithItsNumber) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  Put(5, "old");
  Flush();
  IngestExternalFileOptions numbered;
  numbered.write_global_seqno = true;
  ASSERT_OK(Ingest({File("/a.sst", 0, 10, "a")}, numbered));
  EXPECT_OK(db_->VerifyFileChecksums(ReadOptions()));
}

}  // namespace ashlar
