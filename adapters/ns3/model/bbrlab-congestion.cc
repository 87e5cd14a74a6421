// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bbrlab-congestion.h"

#include "bbrlab-parameter.h"
#include "bbrlab-recorder.h"
#include "bbrlab-socket-link.h"
#include "bbrlab-types.h"

#include "ns3/boolean.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/log.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/object-ptr-container.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>

namespace bbrlab
{

using namespace ns3;

NS_LOG_COMPONENT_DEFINE("BbrlabCongestion");

namespace
{

/// Returns the largest window in packets that fits ns-3's windows, which are 32-bit numbers of
/// bytes.
uint32_t
WindowClamp(uint32_t mss)
{
    return std::numeric_limits<uint32_t>::max() / mss;
}

/// Returns the socket of this node whose congestion control is `congestion`, or null.
TcpSocketBase*
FindOn(Ptr<Node> node, const Congestion* congestion)
{
    const Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>();
    if (!tcp)
    {
        return nullptr;
    }
    ObjectPtrContainerValue sockets;
    tcp->GetAttribute("SocketList", sockets);
    for (auto it = sockets.Begin(); it != sockets.End(); ++it)
    {
        const Ptr<TcpSocketBase> socket = DynamicCast<TcpSocketBase>(it->second);
        PointerValue ops;
        if (socket && socket->GetAttributeFailSafe("CongestionOps", ops) &&
            PeekPointer(ops.Get<TcpCongestionOps>()) == congestion)
        {
            return PeekPointer(socket);
        }
    }
    return nullptr;
}

/// Whether the socket has an address to which it sends. If it has one, it has sent its SYN.
bool
HasPeer(TcpSocketBase* socket)
{
    Address peer;
    if (socket->GetPeerName(peer) != 0)
    {
        return false;
    }
    return InetSocketAddress::IsMatchingType(peer)
               ? InetSocketAddress::ConvertFrom(peer).GetPort() != 0
               : Inet6SocketAddress::IsMatchingType(peer) &&
                     Inet6SocketAddress::ConvertFrom(peer).GetPort() != 0;
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(Congestion);

TypeId
Congestion::GetTypeId()
{
    static TypeId tid =
        TypeId("bbrlab::Congestion")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("Internet")
            .AddAttribute("Hz",
                          "Ticks per second of the clock of the kernel that is imitated.",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&Congestion::m_hz),
                          MakeUintegerChecker<uint32_t>(100, 1000))
            .AddAttribute("AccurateEcn",
                          "Whether the receiver echoes marks as DCTCP's does, so that each marked "
                          "packet counts. Always so for dctcp and prague. Needs UseEcn.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Congestion::m_hasAccurateEcn),
                          MakeBooleanChecker())
            .AddTraceSource("State",
                            "The name of the algorithm's state, before and after a change.",
                            MakeTraceSourceAccessor(&Congestion::m_stateTrace),
                            "bbrlab::Congestion::StateTracedCallback");
    return tid;
}

Congestion::Congestion(const Algorithm* algorithm)
    : m_algorithm(algorithm),
      m_hasAccurateEcn(false),
      m_hz(1000),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_answer.size = sizeof m_answer;
}

Congestion::Congestion(const Congestion& other)
    : TcpCongestionOps(other),
      m_algorithm(other.m_algorithm),
      m_parameters(other.m_parameters),
      m_hasAccurateEcn(other.m_hasAccurateEcn),
      m_hz(other.m_hz),
      m_random(CreateObject<UniformRandomVariable>())
{
    m_answer.size = sizeof m_answer;
}

Congestion::~Congestion()
{
    if (m_link)
    {
        m_link->Release();
    }
    bbrlab_cc_free(m_cc);
}

std::string
Congestion::GetName() const
{
    return m_algorithm->typeName;
}

bool
Congestion::HasCongControl() const
{
    return m_algorithm->hasCongControl;
}

int64_t
Congestion::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

bool
Congestion::SetParameter(uint32_t number, const std::string& text)
{
    if (number >= m_algorithm->parameters.size())
    {
        return false;
    }
    const bbrlab_parameter& parameter = m_algorithm->parameters[number];
    const std::string initial = parameter.default_value;
    bbrlab_param changed = ToLibrary(parameter, text);
    const bbrlab_param unchanged = ToLibrary(parameter, initial);
    if (changed.kind == unchanged.kind && changed.value == unchanged.value &&
        (changed.kind != BBRLAB_PARAM_TEXT || text == initial))
    {
        m_parameters.erase(number);
        return true;
    }
    bbrlab_setup setup{};
    setup.size = sizeof setup;
    setup.mss = 1448;
    setup.initial_cwnd = 10;
    setup.params = &changed;
    setup.params_count = 1;
    bbrlab_cc* trial = nullptr;
    if (bbrlab_cc_new(m_algorithm->name.c_str(), &setup, &trial) != BBRLAB_OK)
    {
        NS_LOG_ERROR(m_algorithm->typeName << ": " << bbrlab_error());
        return false;
    }
    bbrlab_cc_free(trial);
    m_parameters[number] = text;
    return true;
}

std::string
Congestion::GetParameter(uint32_t number) const
{
    const auto set = m_parameters.find(number);
    return set != m_parameters.end() ? set->second : m_algorithm->parameters[number].default_value;
}

std::string
Congestion::GetLibraryName() const
{
    return m_algorithm->name;
}

std::vector<bbrlab_param>
Congestion::LibraryParameters() const
{
    std::vector<bbrlab_param> params;
    for (const auto& set : m_parameters)
    {
        params.push_back(ToLibrary(m_algorithm->parameters[set.first], set.second));
    }
    return params;
}

void
Congestion::Init(Ptr<TcpSocketState> tcb)
{
    if (m_link)
    {
        m_link->Release();
    }
    m_tcb = tcb;
    m_link = Create<SocketLink>(this);
    m_link->Connect(tcb);
    if (m_hasAccurateEcn || m_algorithm->hasAccurateEcn)
    {
        m_tcb->m_ecnMode = TcpSocketState::DctcpEcn;
    }
    // The node's list of sockets contains the socket only after this call, so the list is searched
    // in an event of its own.
    Simulator::ScheduleNow(&Congestion::FindNewSocket, Ptr<Congestion>(this));
}

void
Congestion::SetSocket(TcpSocketBase* socket)
{
    if (m_socket == socket)
    {
        return;
    }
    m_socket = socket;
    m_buffer = socket->GetTxBuffer();
    UintegerValue threshold;
    socket->GetAttribute("ReTxThreshold", threshold);
    m_threshold = threshold.Get();
    m_link->Connect(socket);
}

void
Congestion::FindNewSocket()
{
    // If the socket has a peer, its SYN was sent at the present time, before its traces were
    // connected. Otherwise, its traces will report the SYN.
    if (!m_socket && FindSocket() && HasPeer(m_socket))
    {
        OnSyn();
    }
}

bool
Congestion::FindSocket()
{
    if (m_socket)
    {
        return true;
    }
    const uint32_t context = Simulator::GetContext();
    TcpSocketBase* found = nullptr;
    if (context < NodeList::GetNNodes())
    {
        found = FindOn(NodeList::GetNode(context), this);
    }
    for (uint32_t n = 0; !found && n < NodeList::GetNNodes(); ++n)
    {
        found = FindOn(NodeList::GetNode(n), this);
    }
    if (found)
    {
        SetSocket(found);
    }
    return found;
}

void
Congestion::Begin()
{
    if (m_cc)
    {
        return;
    }
    if (!FindSocket())
    {
        NS_FATAL_ERROR("bbrlab: " << m_algorithm->typeName
                                  << ": expected the socket in the list of its node's "
                                     "TcpL4Protocol; call SetSocket otherwise");
    }
    const std::vector<bbrlab_param> params = LibraryParameters();
    const uint32_t mss = m_tcb->m_segmentSize;
    bbrlab_setup setup{};
    setup.size = sizeof setup;
    setup.mss = mss;
    setup.seed = (uint64_t{m_random->GetInteger(0, UINT32_MAX)} << 32) |
                 m_random->GetInteger(0, UINT32_MAX);
    setup.max_pacing_rate = m_tcb->m_maxPacingRate.GetBitRate() / 8;
    setup.params = params.data();
    setup.params_count = params.size();
    setup.initial_cwnd = std::max(1U, m_tcb->GetCwndInSegments());
    setup.cwnd_clamp = WindowClamp(mss);
    setup.hz = m_hz;
    setup.ecn_flags =
        m_tcb->m_ecnState == TcpSocketState::ECN_DISABLED ? 0 : BBRLAB_ECN_OK;
    setup.isn = m_buffer->HeadSequence().GetValue();
    Check(bbrlab_cc_new(m_algorithm->name.c_str(), &setup, &m_cc));
    const int64_t rtt_us = m_handshakeRtt.GetMicroSeconds();
    m_srtt_us = rtt_us * 8;
    m_minRtt_us = rtt_us;
    bbrlab_socket socket = Socket();
    socket.now_ns = m_established.GetNanoSeconds();
    Check(bbrlab_cc_init(m_cc, &socket));
    Apply();
    m_isRecorded = Recorder::Get().IsOpen();
    if (m_isRecorded)
    {
        m_flow = Recorder::Get().AddFlow();
        m_lastRow = Simulator::Now();
        m_lastUna = m_buffer->HeadSequence();
    }
}

std::map<std::string, int64_t>
Congestion::GetInfo() const
{
    std::map<std::string, int64_t> info;
    if (m_cc)
    {
        const auto add = [](void* user, const char* name, int64_t value) {
            (*static_cast<std::map<std::string, int64_t>*>(user))[name] = value;
        };
        Check(bbrlab_cc_info(m_cc, add, &info));
    }
    return info;
}

std::string
Congestion::GetState() const
{
    return m_state;
}

uint32_t
Congestion::GetLostBytes() const
{
    return m_scoreboard.LostBytes();
}

void
Congestion::Check(int32_t result) const
{
    if (result != BBRLAB_OK)
    {
        NS_FATAL_ERROR("bbrlab: " << m_algorithm->typeName << ": " << bbrlab_error());
    }
}

} // namespace bbrlab
