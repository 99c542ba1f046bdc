// SPDX-License-Identifier: Apache-2.0
//
// A database of write-unprepared transactions on simulated files, which can crash. Threads: one.
#pragma once

#include <memory>
#include <string>

#include "env/sim/sim_fs.h"
#include "tests/db/transaction/hidden_data_fixture.h"

namespace ashlar {

class WriteUnpreparedTest : public HiddenDataTest {
 protected:
  // By default each update writes those before it.
  WriteUnpreparedTest() : HiddenDataTest(WRITE_UNPREPARED) {
    db_options_.default_write_batch_flush_threshold = 1;
    UseFiles(SimFS::Create());
  }
  ~WriteUnpreparedTest() override { db_.reset(); }

  void UseFiles(const std::shared_ptr<SimFS>& files) {
    sim_ = files;
    env_ = NewCompositeEnv(files);
    options_.env = env_.get();
  }
  // The process is killed while a transaction is running.
  void Crash(std::unique_ptr<Transaction>* running) {
    const auto image = sim_->CrashImage(sim_->CallCount(), CrashPolicy::kAll);
    running->reset();
    db_.reset();
    UseFiles(image);
  }
  void CrashAndReopen(std::unique_ptr<Transaction>* running) {
    Crash(running);
    Open();
  }
  static size_t BatchCount(Transaction* transaction) {
    return transaction->GetWriteBatch()->GetWriteBatch()->Count();
  }
  std::string ScanOwn(Transaction* transaction) {
    const std::unique_ptr<Iterator> it(transaction->GetIterator(ReadOptions()));
    const std::string forward = ScanForward(it.get());
    EXPECT_EQ(ScanBackward(it.get()), forward);
    return forward;
  }

  std::shared_ptr<SimFS> sim_;
};

}  // namespace ashlar
