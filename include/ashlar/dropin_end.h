// SPDX-License-Identifier: Apache-2.0
//
// Closes what dropin_begin.h opened. Not guarded.
#pragma pop_macro("ashlar")
