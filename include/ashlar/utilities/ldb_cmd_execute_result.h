// SPDX-License-Identifier: Apache-2.0
//
// How a command of ldb has ended.
#pragma once

#include <string>
#include <utility>

#include "ashlar/export.h"

namespace ashlar {

class ASHLAR_EXPORT LDBCommandExecuteResult {
 public:
  enum State {
    EXEC_NOT_STARTED = 0,
    EXEC_SUCCEED = 1,
    EXEC_FAILED = 2,
  };

  LDBCommandExecuteResult() = default;
  LDBCommandExecuteResult(State state, const std::string& msg) : state_(state), message_(msg) {}

  static LDBCommandExecuteResult Succeed(std::string msg) { return {EXEC_SUCCEED, msg}; }
  static LDBCommandExecuteResult Failed(std::string msg) { return {EXEC_FAILED, msg}; }

  // The message, which "Failed: " or "Not started: " precedes unless the command succeeded.
  std::string ToString() const;
  void Reset() { *this = LDBCommandExecuteResult(); }
  bool IsSucceed() const { return state_ == EXEC_SUCCEED; }
  bool IsNotStarted() const { return state_ == EXEC_NOT_STARTED; }
  bool IsFailed() const { return state_ == EXEC_FAILED; }

 private:
  State state_ = EXEC_NOT_STARTED;
  std::string message_;
};

}  // namespace ashlar
