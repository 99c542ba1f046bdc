// SPDX-License-Identifier: Apache-2.0
//
// A DBWithTTL in memory with a clock that tests move. db_ is the DBWithTTL, so the calls of TestDb
// go through it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ashlar/utilities/db_ttl.h"
#include "tests/support/moved_clock.h"
#include "tests/support/test_db.h"

namespace ashlar {

class TtlTest : public DbTest {
 protected:
  TtlTest() { UseFiles(memory_, clock_); }

  void OpenTtl(int32_t ttl, const TtlOptions& ttl_options = {}, bool read_only = false) {
    OpenTtl({"default"}, {ttl}, ttl_options, read_only);
  }
  // handles_ has the families in this order.
  void OpenTtl(const std::vector<std::string>& families, const std::vector<int32_t>& ttls,
               const TtlOptions& ttl_options = {}, bool read_only = false) {
    Drop();
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : families) descriptors.emplace_back(name, options_);
    ASSERT_OK(DBWithTTL::Open(options_, dir_, descriptors, &handles_, &ttl_db_, ttls, read_only,
                              ttl_options));
    db_.reset(ttl_db_);
  }
  // Continues as a plain database.
  void OpenPlain() {
    Drop();
    Open();
  }
  void Pass(int64_t seconds) { clock_->moved_by_seconds += seconds; }
  int64_t Now() const {
    int64_t now = 0;
    EXPECT_OK(clock_->GetCurrentTime(&now));
    return now;
  }

  std::shared_ptr<MovedClock> clock_ = std::make_shared<MovedClock>();
  DBWithTTL* ttl_db_ = nullptr;  // db_
};

}  // namespace ashlar
