// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-types.h"

#include "bbrlab-parameter.h"

#include "ns3/fatal-error.h"

#include <array>
#include <cctype>
#include <cstring>
#include <utility>

namespace bbrlab
{

using namespace ns3;

namespace
{

/// The names in ns-3 that `CamelCase` would not give: each name of the library with its name in
/// ns-3.
const std::pair<const char*, const char*> NAMES[] = {{"bbrplus", "BbrPlus"}};

/// Algorithms that react to the share of marked packets.
const char* const ACCURATE_ECN[] = {"dctcp", "prague"};

/// The largest number of algorithms. There is a class for each algorithm, because a TypeId makes
/// objects of one class.
constexpr std::size_t MOST_ALGORITHMS = 64;

template <std::size_t N>
class Numbered : public Congestion
{
  public:
    Numbered()
        : Congestion(&Algorithms()[N])
    {
    }

    TypeId GetInstanceTypeId() const override
    {
        return Algorithms()[N].typeId;
    }

    Ptr<TcpCongestionOps> Fork() override
    {
        return CopyObject<Numbered>(this);
    }

    static void Construct(TypeId id)
    {
        id.AddConstructor<Numbered>();
    }
};

template <std::size_t... N>
constexpr std::array<void (*)(TypeId), sizeof...(N)>
Constructors(std::index_sequence<N...>)
{
    return {&Numbered<N>::Construct...};
}

Algorithm
Describe(const std::string& name)
{
    Algorithm algorithm;
    algorithm.name = name;
    algorithm.typeName = "bbrlab::" + CamelCase(name);
    for (const auto& other : NAMES)
    {
        if (name == other.first)
        {
            algorithm.typeName = std::string("bbrlab::") + other.second;
        }
    }
    for (const char* other : ACCURATE_ECN)
    {
        algorithm.hasAccurateEcn |= name == other;
    }
    bbrlab_parameter parameter{};
    parameter.size = sizeof parameter;
    for (uint32_t n = 0; bbrlab_algorithm_parameter(name.c_str(), n, &parameter) == BBRLAB_OK; ++n)
    {
        algorithm.parameters.push_back(parameter);
    }
    bbrlab_setup setup{};
    setup.size = sizeof setup;
    setup.mss = 1448;
    setup.initial_cwnd = 10;
    bbrlab_answer answer{};
    answer.size = sizeof answer;
    bbrlab_cc* cc = nullptr;
    if (bbrlab_cc_new(name.c_str(), &setup, &cc) != BBRLAB_OK ||
        bbrlab_cc_answer(cc, &answer) != BBRLAB_OK)
    {
        NS_FATAL_ERROR("bbrlab: " << name << ": " << bbrlab_error());
    }
    bbrlab_cc_free(cc);
    algorithm.hasCongControl = answer.has_cong_control != 0;
    return algorithm;
}

/// Asks the library for its algorithms and makes their TypeIds.
std::vector<Algorithm>
Register()
{
    if (bbrlab_abi_version() != BBRLAB_ABI_VERSION)
    {
        NS_FATAL_ERROR("bbrlab: expected version " << BBRLAB_ABI_VERSION
                                                   << " of the library, found "
                                                   << bbrlab_abi_version());
    }
    const auto constructors = Constructors(std::make_index_sequence<MOST_ALGORITHMS>());
    std::vector<Algorithm> algorithms;
    char name[64];
    for (uint32_t n = 0; bbrlab_algorithm(n, name, sizeof name) == BBRLAB_OK; ++n)
    {
        if (n == MOST_ALGORITHMS)
        {
            NS_FATAL_ERROR("bbrlab: expected at most " << MOST_ALGORITHMS << " algorithms");
        }
        Algorithm algorithm = Describe(name);
        algorithm.typeId = TypeId(algorithm.typeName);
        algorithm.typeId.SetParent(Congestion::GetTypeId());
        algorithm.typeId.SetGroupName("Internet");
        constructors[n](algorithm.typeId);
        for (uint32_t k = 0; k < algorithm.parameters.size(); ++k)
        {
            AddParameter(algorithm.typeId, k, algorithm.parameters[k]);
        }
        algorithms.push_back(algorithm);
    }
    return algorithms;
}

/// Registers the algorithms when the module is loaded.
const std::size_t g_count = Algorithms().size();

} // namespace

const std::vector<Algorithm>&
Algorithms()
{
    static const std::vector<Algorithm> algorithms = Register();
    return algorithms;
}

std::string
CamelCase(const std::string& name)
{
    std::string camel;
    bool isUpper = true;
    for (char letter : name)
    {
        if (letter == '_')
        {
            isUpper = true;
            continue;
        }
        camel += isUpper ? static_cast<char>(std::toupper(letter)) : letter;
        isUpper = false;
    }
    return camel;
}

} // namespace bbrlab
