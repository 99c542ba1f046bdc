// SPDX-License-Identifier: Apache-2.0
//
// Handles of files and of checkpoints.
#pragma once

#include <memory>
#include <vector>

#include "ashlar/metadata.h"
#include "ashlar/utilities/checkpoint.h"
#include "capi/handles.h"

// A list of files, and one file that a program describes itself.
struct ashlar_livefiles_t {
  std::vector<ashlar::LiveFileMetaData> rep;
};
struct ashlar_livefile_t {
  ashlar::LiveFileMetaData rep;
};
struct ashlar_checkpoint_t {
  std::unique_ptr<ashlar::Checkpoint> rep;
};

namespace ashlar::capi {

// Null after an error.
ashlar_checkpoint_t* NewCheckpoint(DB* db, char** errptr);

}  // namespace ashlar::capi
