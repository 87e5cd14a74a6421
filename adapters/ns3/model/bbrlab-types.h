// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_TYPES_H
#define BBRLAB_TYPES_H

#include "bbrlab-congestion.h"
#include "bbrlab.h"

#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace bbrlab
{

/// An algorithm of the library.
struct Algorithm
{
    std::string name;     ///< The name in bbrlab, such as `bbr1`.
    std::string typeName; ///< The name in ns-3, such as `bbrlab::Bbr1`.
    ns3::TypeId typeId;
    bool hasCongControl{false};  ///< Whether it sets cwnd during recoveries, too.
    bool hasAccurateEcn{false};  ///< Whether it needs a count of the marked packets.
    std::vector<bbrlab_parameter> parameters;
};

/// All algorithms of the library, in the library's order. They are registered when the module is
/// loaded.
const std::vector<Algorithm>& Algorithms();

/// Returns the name in ns-3 of an algorithm with the name `name` in the library: `Bbr3Ietf` for
/// `bbr3_ietf`.
std::string CamelCase(const std::string& name);

} // namespace bbrlab

#endif // BBRLAB_TYPES_H
