// SPDX-License-Identifier: Apache-2.0
//
// The look before the pause only saves a second one; the look in it decides.
#include "db/write/next_log.h"

#include "util/result.h"

namespace ashlar {

Status PauseWithNextLog(LogTurn* turn) {
  while (true) {
    if (!turn->HasNextLocked() && turn->CurrentHasRecordsLocked())
      RETURN_IF_ERROR(turn->MakeNextLocked());
    turn->Pause();
    if (turn->HasNextLocked() || !turn->CurrentHasRecordsLocked()) return Status::OK();
    turn->Resume();
  }
}

}  // namespace ashlar
