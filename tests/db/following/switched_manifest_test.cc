// SPDX-License-Identifier: Apache-2.0
//
// The families of a database are listed while another process switches to a new MANIFEST.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/file_system_wrapper.h"
#include "env/env_adaptors.h"
#include "tests/support/test_db.h"

namespace ashlar {
namespace {

// Calls a hook before a MANIFEST is opened for reading.
class WatchedManifests final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "WatchedManifests"; }
  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options,
                             std::unique_ptr<FSSequentialFile>* file,
                             IODebugContext* dbg) override {
    if (name.find("/MANIFEST-") != std::string::npos) before_open();
    return FileSystemWrapper::NewSequentialFile(name, options, file, dbg);
  }

  std::function<void()> before_open;
};

class SwitchedManifestTest : public DbTest {
 protected:
  SwitchedManifestTest() { Open({kDefaultColumnFamilyName, "other"}); }
  // Lists the families, and opens the database anew before the first `times` openings of a
  // MANIFEST, which deletes that MANIFEST.
  Status List(int times, std::vector<std::string>* names) {
    files_->before_open = [this, times] {
      if (openings_++ < times) Reopen();
    };
    Options options = options_;
    options.env = reader_env_.get();
    return DB::ListColumnFamilies(options, dir_, names);
  }

  const std::shared_ptr<WatchedManifests> files_ = std::make_shared<WatchedManifests>(memory_);
  const std::unique_ptr<Env> reader_env_ =
      NewCompositeEnvOver(Env::Default(), files_, SystemClock::Default());
  int openings_ = 0;
};

TEST_F(SwitchedManifestTest, TheFamiliesOfTheNewOneAreListed) {
  std::vector<std::string> names;
  ASSERT_OK(List(/*times=*/2, &names));
  EXPECT_EQ(names, (std::vector<std::string>{kDefaultColumnFamilyName, "other"}));
  EXPECT_EQ(openings_, 3);
}

TEST_F(SwitchedManifestTest, NobodyTriesForEver) {
  std::vector<std::string> names;
  EXPECT_TRUE(List(/*times=*/1000, &names).IsCorruption());
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(openings_, 10);
}

}  // namespace
}  // namespace ashlar
