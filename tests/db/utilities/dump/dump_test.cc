// SPDX-License-Identifier: Apache-2.0
//
// Dumps: golden bytes, dump and undump, damaged files.
#include <gtest/gtest.h>

#include <string>

#include "ashlar/db_dump_tool.h"
#include "ashlar/env.h"
#include "db/utilities/dump/dump_format.h"
#include "tests/support/status_matchers.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

class DumpTest : public DbTest {
 protected:
  DumpTest() { Open(); }
  bool Dump(bool anonymous) {
    DumpOptions options;
    options.db_path = dir_;
    options.dump_location = "/dump";
    options.anonymous = anonymous;
    return DbDumpTool().Run(options, options_);
  }
  bool Undump(bool compact = false) {
    UndumpOptions options;
    options.dump_location = "/dump";
    options.db_path = "/copy";
    options.compact_db = compact;
    return DbUndumpTool().Run(options, options_);
  }
  std::string DumpBytes() {
    std::string bytes;
    EXPECT_OK(ReadFileToString(env_.get(), "/dump", &bytes));
    return bytes;
  }
  void OpenCopy() {
    Drop();
    dir_ = "/copy";
    Open();
  }
};

TEST_F(DumpTest, BytesAreThoseOfTheFormat) {
  Put("k1", "v1");
  Put("key2", "");
  Close();
  ASSERT_TRUE(Dump(/*anonymous=*/true));
  EXPECT_EQ(Slice(DumpBytes()).ToString(/*hex=*/true),
            "524F434B44554D50"
            "0000000000000001"
            "020000007B7D"
            "020000006B31020000007631"
            "040000006B65793200000000");
}

TEST_F(DumpTest, TheOriginIsValidJson) {
  EXPECT_EQ(DumpOrigin("/abs/path", "vm", 1795847467),
            "{ \"database-path\": \"/abs/path\", \"hostname\": \"vm\", \"creation-time\": "
            "1795847467 }");
  EXPECT_EQ(DumpOrigin("/a\"b\\c\n", "", 0),
            "{ \"database-path\": \"/a\\\"b\\\\c\\u000a\", \"hostname\": \"\", "
            "\"creation-time\": 0 }");
  Close();
  ASSERT_TRUE(Dump(/*anonymous=*/false));
  EXPECT_NE(DumpBytes().find("\"database-path\": \"/db\""), std::string::npos);
}

TEST_F(DumpTest, RowsComeBack) {
  Fill(3000, /*value_bytes=*/1000);
  Flush();
  Delete(Key(7));
  const Rows rows = ReadRows();
  Close();
  ASSERT_TRUE(Dump(/*anonymous=*/false));
  ASSERT_TRUE(Undump(/*compact=*/true));
  OpenCopy();
  EXPECT_EQ(ReadRows(), rows);
}

TEST_F(DumpTest, AFileThatWasCutFails) {
  Put("key", "value");
  Close();
  ASSERT_TRUE(Dump(/*anonymous=*/true));
  const std::string whole = DumpBytes();
  const size_t head = DumpHead("{}").size();
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    ASSERT_OK(WriteStringToFile(env_.get(), whole.substr(0, bytes), "/dump"));
    EXPECT_EQ(Undump(), bytes == head) << bytes;
  }
  std::string bad = whole;
  bad[head] = '\xff';  // a length beyond the end of the file
  bad[head + 3] = '\x7f';
  ASSERT_OK(WriteStringToFile(env_.get(), bad, "/dump"));
  EXPECT_FALSE(Undump());
  bad = whole;
  bad[kDumpMagicBytes + 7] = 2;
  ASSERT_OK(WriteStringToFile(env_.get(), bad, "/dump"));
  EXPECT_FALSE(Undump());
}

TEST_F(DumpTest, AMissingDatabaseOrFileFails) {
  EXPECT_FALSE(Undump());
  Drop();
  dir_ = "/none";
  EXPECT_FALSE(Dump(/*anonymous=*/true));
}

}  // namespace
}  // namespace ashlar
