// SPDX-License-Identifier: Apache-2.0
//
// External files that were made for something else: by a database with blob files, for another
// family.
#include <gtest/gtest.h>

#include "env/file_util.h"
#include "tests/db/ingestion/ingest_fixture.h"

namespace ashlar {

// The values would stay behind in the directory that the table comes from.
TEST_F(IngestTest, OfADatabaseAreRefusedIfTheirValuesAreInBlobFiles) {
  options_.enable_blob_files = true;
  Open();
  Put(1, "x");
  Flush();
  ASSERT_OK(CopyFileTo(env_->GetFileSystem().get(), "/db" + FileOn(0).name, "/x.sst"));
  Close();
  ASSERT_OK(DestroyDB("/db", options_));
  Open();
  EXPECT_TRUE(Ingest({"/x.sst"}).IsInvalidArgument());  // as any other of a database
  IngestExternalFileOptions allowed;
  allowed.allow_db_generated_files = true;
  allowed.move_files = true;
  EXPECT_TRUE(Ingest({"/x.sst"}, allowed).IsNotSupported());
  EXPECT_OK(env_->FileExists("/x.sst"));
  EXPECT_EQ(TableFilesOnDisk(), 0);
  Put(1, "y");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Get(1), "y");
  CheckWhole();
}

// Like those of a database, which know their family as well.
TEST_F(IngestTest, OfAnotherFamilyAreTakenIfThoseOfDatabasesAre) {
  Open({kDefaultColumnFamilyName, "second"});
  SstFileWriter writer(EnvOptions(), options_, handles_[1]);
  ASSERT_OK(writer.Open("/a.sst"));
  ASSERT_OK(writer.Put(Key(1), "a"));
  ASSERT_OK(writer.Finish());
  Put(1, "old");
  EXPECT_TRUE(Ingest({"/a.sst"}).IsInvalidArgument());
  EXPECT_EQ(Get(1), "old");
  IngestExternalFileOptions allowed;
  allowed.allow_db_generated_files = true;
  ASSERT_OK(Ingest({"/a.sst"}, allowed));
  EXPECT_EQ(Get(1) + Get(Key(1), nullptr, 1), "a-");
  CheckWhole();
}

}  // namespace ashlar
