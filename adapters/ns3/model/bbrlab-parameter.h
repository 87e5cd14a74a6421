// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_PARAMETER_H
#define BBRLAB_PARAMETER_H

#include "bbrlab.h"

#include "ns3/type-id.h"

#include <string>

namespace bbrlab
{

/// Adds the algorithm's parameter with this number as an attribute: an integer, a double, a boolean
/// or a string. A switch that also accepts a text is a string.
void AddParameter(ns3::TypeId& typeId, uint32_t number, const bbrlab_parameter& parameter);

/// Converts a parameter's text to the library's form. `parameter` and `text` must outlive the
/// result.
bbrlab_param ToLibrary(const bbrlab_parameter& parameter,
                       const std::string& text);

} // namespace bbrlab

#endif // BBRLAB_PARAMETER_H
