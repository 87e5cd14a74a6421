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

/// One algorithm of the library.
struct Algorithm
{
    std::string name;     ///< In bbrlab: `bbr1`.
    std::string typeName; ///< In ns-3: `bbrlab::Bbr1`.
    ns3::TypeId typeId;
    bool hasCongControl{false};  ///< Whether it sets cwnd in recovery, too.
    bool hasAccurateEcn{false};  ///< Whether it needs a count of the marked packets.
    std::vector<bbrlab_parameter> parameters;
};

/// All algorithms of the library, in its order. They are registered when the module is loaded.
const std::vector<Algorithm>& Algorithms();

/// The name in ns-3 of a name in the library: `bbr3_ietf` is `Bbr3Ietf`.
std::string CamelCase(const std::string& name);

} // namespace bbrlab

#endif // BBRLAB_TYPES_H
