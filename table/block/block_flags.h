// SPDX-License-Identifier: Apache-2.0
//
// The flags in the last word of a block, whose other bits are the number of restart points.
// docs/formats/block_based_table.md, section 3.
#pragma once

#include <cstdint>

namespace ashlar {

inline constexpr uint32_t kBlockHashIndexFlag = uint32_t{1} << 31;
inline constexpr uint32_t kBlockReservedFlag = uint32_t{1} << 30;
// A hint that keys are spread evenly; our reader does not use it.
inline constexpr uint32_t kBlockUniformKeysFlag = uint32_t{1} << 29;
inline constexpr uint32_t kBlockSeparateValuesFlag = uint32_t{1} << 28;
inline constexpr uint32_t kBlockRestartCountMask = kBlockSeparateValuesFlag - 1;

}  // namespace ashlar
