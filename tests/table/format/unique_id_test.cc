// SPDX-License-Identifier: Apache-2.0
//
// Unique ids are compared with tests/data/vectors/unique_id.json.
#include "table/format/unique_id.h"

#include <gtest/gtest.h>

#include "tests/support/json.h"
#include "tests/support/paths.h"
#include "tests/support/status_matchers.h"

namespace ashlar {
namespace {

TEST(UniqueId, EqualsVectors) {
  const Json json = Json::ParseFile(SourcePath("tests/data/vectors/unique_id.json"));
  ASSERT_GE(json["vectors"].size(), 3u);
  for (const Json& v : json["vectors"].elements()) {
    const Result<InternalUniqueId> id = MakeInternalUniqueId(
        {v["db_id"].text(), v["db_session_id"].text(), FileNumber{v["file_number"].number()}});
    ASSERT_OK(id);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(id.value().words[i], std::stoull(v["internal"][i].text(), nullptr, 16));
    }
    const std::string bytes = FromHex(v["external_bytes"].text());
    EXPECT_EQ(PublicUniqueId(id.value(), UniqueIdForm::kExtended), bytes);
    EXPECT_EQ(PublicUniqueId(id.value(), UniqueIdForm::kStandard), bytes.substr(0, 16));
  }
}

TEST(UniqueId, NeedsACompleteIdentity) {
  EXPECT_TRUE(MakeInternalUniqueId({"", "ABCDEFGHIJKLMNOPQRST", 7}).status().IsNotSupported());
  EXPECT_TRUE(MakeInternalUniqueId({"db", "", 7}).status().IsNotSupported());
  EXPECT_TRUE(MakeInternalUniqueId({"db", "ABCDEFGHIJKLMNOPQRST", 0}).status().IsNotSupported());
}

TEST(UniqueId, OfMalformedSessionsDiffersByEveryPart) {
  const auto words = [](std::string_view db, std::string_view session, FileNumber number) {
    return MakeInternalUniqueId({db, session, number}).value().ManifestForm();
  };
  const auto reference = words("db", "not base 36", 7);
  EXPECT_NE(reference, words("db2", "not base 36", 7));
  EXPECT_NE(reference, words("db", "not base 37", 7));
  EXPECT_NE(reference, words("db", "not base 36", 8));
}

TEST(SessionId, HasTwentyCharactersThatKeepItsBits) {
  const std::string session = EncodeSessionId(0x7f12345678, 0x9abcdef012345678);
  EXPECT_EQ(session.size(), 20u);
  EXPECT_EQ(session.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"), std::string::npos);
  // The low word of the session is word 0 of the id.
  EXPECT_EQ(MakeInternalUniqueId({"db", session, 1}).value().words[0], 0x9abcdef012345678);
}

}  // namespace
}  // namespace ashlar
