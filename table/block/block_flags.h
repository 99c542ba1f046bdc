// SPDX-License-Identifier: Apache-2.0
//
// The last word of a block: how many restart points it has, and what else it has.
// docs/formats/block_based_table.md, section 3.
#pragma once

#include <cstdint>

namespace ashlar {

inline constexpr uint32_t kBlockHashIndexFlag = uint32_t{1} << 31;
inline constexpr uint32_t kBlockReservedFlag = uint32_t{1} << 30;
// A hint that keys are spread evenly: nothing here depends on it.
inline constexpr uint32_t kBlockUniformKeysFlag = uint32_t{1} << 29;
inline constexpr uint32_t kBlockSeparateValuesFlag = uint32_t{1} << 28;
inline constexpr uint32_t kBlockRestartCountMask = kBlockSeparateValuesFlag - 1;

}  // namespace ashlar
