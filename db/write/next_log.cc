// SPDX-License-Identifier: Apache-2.0
//
// The loop ends: MakeNextLocked() releases the DB mutex, but a next log that exists stays until the
// switch, and only this thread may switch.
// The check before the pause only avoids a second pause; the check during the pause decides.
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
