// SPDX-License-Identifier: Apache-2.0
//
// SelfCast: which built-in class an object of the program's options is. In contrast to
// Customizable::CheckedCast() it does not look into objects that wrap another one: the engine uses
// a built-in class without its virtual functions, so those of the wrapper would never be called.
#pragma once

#include "ashlar/customizable.h"

namespace ashlar {

// Returns the object as a T if T is its own class; null if it is of another class, or if it is a
// wrapper around a T. T::kClassName() is a name that no class of a program has. `object` must not
// be null.
template <typename T>
const T* SelfCast(const Customizable* object) {
  return object->IsInstanceOf(T::kClassName()) ? static_cast<const T*>(object) : nullptr;
}

}  // namespace ashlar
