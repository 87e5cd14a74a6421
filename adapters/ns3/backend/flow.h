// A flow: an application that writes, ns-3's sockets on both hosts, and the measurements of the
// flow.
#pragma once

#include "wire.h"

#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-address.h"
#include "ns3/pointer.h"
#include "ns3/tcp-bbr.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-option-sack.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

// Reads the state of ns-3's BBR. Up to ns-3 3.41, only derived classes can read the state.
struct BbrAccess : ns3::TcpBbr
{
    static uint32_t StateOf(ns3::TcpBbr& bbr)
    {
        return (bbr.*&BbrAccess::GetBbrState)();
    }
};

// Converts 32-bit sequence numbers to 64-bit numbers, which do not wrap after 4 GiB.
class Unwrapped
{
  public:
    uint64_t Of(uint32_t number)
    {
        m_last += static_cast<int32_t>(number - static_cast<uint32_t>(m_last));
        return m_last;
    }

  private:
    uint64_t m_last = 0;
};

class Flow
{
  public:
    Flow(uint32_t id, const FlowPlan& plan, ns3::Ptr<ns3::Node> source, ns3::Ptr<ns3::Node> target, ns3::Ipv4Address to)
        : m_id(id),
          m_plan(plan),
          m_source(source),
          m_target(target),
          m_to(to),
          m_port(5000)
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(0), &Flow::Listen, this);
        ns3::Simulator::Schedule(ns3::NanoSeconds(plan.start), &Flow::Start, this);
        if (plan.stop >= 0)
        {
            ns3::Simulator::Schedule(ns3::NanoSeconds(plan.stop), &Flow::Stop, this);
        }
    }

    static const char* RowHeader()
    {
        return "cwnd,ssthresh,unacked,pacing_Bps,srtt_us,sample_us,data_segs,retrans_total,delivered,rx_bytes,ca_state,"
               "state,bbr_min_rtt_us";
    }

    // Returns the values of a row of `flows.csv`, without the columns `t` and `flow`.
    std::string Row() const
    {
        std::ostringstream row;
        if (IsUdp() || !m_socket)
        {
            row << ",,,,,," << m_sent << "," << m_retransmitted << "," << m_delivered << "," << m_read << ",,,";
            return row.str();
        }
        const uint32_t segment = m_plan.segment;
        row << m_cwnd.Value() << ",";
        if (m_ssthresh < 0x7fffffff)
        {
            row << m_ssthresh / segment;
        }
        row << "," << m_inflight / segment << ",";
        if (m_isPacing)
        {
            row << m_pacing / 8;
        }
        row << ",";
        if (m_srtt > 0)
        {
            row << m_srtt / 1000;
        }
        row << ",";
        if (m_rtt > 0)
        {
            row << m_rtt / 1000;
        }
        row << "," << m_sent << "," << m_retransmitted << "," << m_delivered << "," << m_read << ",";
        row << CaState() << "," << BbrState() << ",";
        return row.str();
    }

    static const char* FinalHeader()
    {
        return "flow,data_segs,retrans,delivered,ooo,drops,random,rto,rx_bytes,done_ns,rtt_n,rtt_min,rtt_mean,rtt_p50,rtt_p95,"
               "rtt_p99,rtt_max,sample_n,sample_min,sample_mean,sample_p50,sample_p95,sample_p99,sample_max,cwnd_mean,cwnd_std,"
               "cwnd_p95,cwnd_max";
    }

    std::string Final(const Losses& losses, int64_t at)
    {
        std::ostringstream row;
        const int64_t end = m_plan.stop >= 0 ? std::min(at, m_plan.stop) : at;
        row << m_id << "," << m_sent << "," << m_retransmitted << "," << m_delivered << "," << m_outOfOrder << ","
            << losses.drops << "," << losses.random << "," << m_timeouts << "," << m_read << ",";
        if (m_done >= 0)
        {
            row << m_done;
        }
        row << "," << m_rtts.Columns(1e-6) << "," << m_samples.Columns(1e-6) << "," << m_cwnd.Columns(end);
        return row.str();
    }

    const Quantiles& Rtts() const
    {
        return m_rtts;
    }

    bool IsUdp() const
    {
        return m_plan.type == "udp";
    }

  private:
    static int64_t Now()
    {
        return ns3::Simulator::Now().GetNanoSeconds();
    }

    // Makes a socket as ns-3's helpers do, after setting this flow's attributes as defaults.
    ns3::Ptr<ns3::Socket> Make(ns3::Ptr<ns3::Node> node)
    {
        using namespace ns3;
        for (const auto& [name, value] : m_plan.settings)
        {
            Config::SetDefault(name, StringValue(value));
        }
        if (IsUdp())
        {
            return Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        }
        return node->GetObject<TcpL4Protocol>()->CreateSocket(TypeId::LookupByName(m_plan.type));
    }

    void Listen()
    {
        using namespace ns3;
        Ptr<Socket> socket = Make(m_target);
        socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), m_port));
        if (IsUdp())
        {
            socket->SetRecvCallback(MakeCallback(&Flow::ReadDatagrams, this));
        }
        else
        {
            // An accepted socket inherits the listening socket's traces.
            socket->TraceConnectWithoutContext("Rx", MakeCallback(&Flow::OnReceived, this));
            socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&Flow::OnAccept, this));
            socket->Listen();
        }
        m_listener = socket;
    }

    void OnAccept(ns3::Ptr<ns3::Socket> socket, const ns3::Address&)
    {
        socket->SetRecvCallback(ns3::MakeCallback(&Flow::Read, this));
        m_accepted = socket;
        Read(socket);
    }

    void Read(ns3::Ptr<ns3::Socket> socket)
    {
        while (ns3::Ptr<ns3::Packet> packet = socket->Recv())
        {
            if (packet->GetSize() == 0)
            {
                return;
            }
            m_read += packet->GetSize();
        }
        if (m_plan.kind == "bytes" && m_read >= m_plan.a && m_done < 0)
        {
            m_done = Now();
        }
    }

    void ReadDatagrams(ns3::Ptr<ns3::Socket> socket)
    {
        while (ns3::Ptr<ns3::Packet> packet = socket->Recv())
        {
            ++m_delivered;
            m_read += packet->GetSize();
        }
    }

    void Start()
    {
        using namespace ns3;
        m_cwnd.Begin(Now());
        m_socket = Make(m_source);
        m_socket->Bind();
        if (IsUdp())
        {
            m_socket->Connect(InetSocketAddress(m_to, m_port));
            m_isConnected = true;
            Begin();
            return;
        }
        const auto trace = [this](const char* name, const CallbackBase& callback) {
            if (!m_socket->TraceConnectWithoutContext(name, callback))
            {
                Fail(std::string("ns-3's TCP socket has no trace ") + name);
            }
        };
        trace("Tx", MakeCallback(&Flow::OnSent, this));
        trace("Rx", MakeCallback(&Flow::OnAck, this));
        trace("CongestionWindow", MakeCallback(&Flow::OnCwnd, this));
        trace("SlowStartThreshold", MakeCallback(&Flow::OnSsthresh, this));
        trace("CongState", MakeCallback(&Flow::OnCongState, this));
        trace("RTT", MakeCallback(&Flow::OnSrtt, this));
        trace("RTO", MakeCallback(&Flow::OnRto, this));
        trace("BytesInFlight", MakeCallback(&Flow::OnInflight, this));
        trace("PacingRate", MakeCallback(&Flow::OnPacing, this));
        // From ns-3 3.43 on, the trace `LastRTT` reports the RTT samples. Earlier releases have no
        // trace of the samples, so `m_samples` stays empty.
        m_socket->TraceConnectWithoutContext("LastRTT", MakeCallback(&Flow::OnSample, this));
        PointerValue pointer;
        m_socket->GetAttribute("CongestionOps", pointer);
        m_bbr = pointer.Get<TcpBbr>();
        m_isPacing = m_bbr != nullptr;
        // The types of bbrlab's module have the trace `State`, and pace only if their algorithm
        // does.
        const Ptr<TcpCongestionOps> ops = pointer.Get<TcpCongestionOps>();
        m_isOfModule = ops && ops->TraceConnectWithoutContext("State", MakeCallback(&Flow::OnState, this));
        m_socket->SetConnectCallback(MakeCallback(&Flow::OnConnected, this), MakeCallback(&Flow::OnRefused, this));
        m_socket->SetSendCallback(MakeCallback(&Flow::OnRoom, this));
        m_socket->Connect(InetSocketAddress(m_to, m_port));
        m_socket->ShutdownRecv();
    }

    void Stop()
    {
        m_isStopped = true;
        if (m_socket && !IsUdp())
        {
            m_socket->Close();
        }
    }

    void OnConnected(ns3::Ptr<ns3::Socket>)
    {
        m_isConnected = true;
        Begin();
    }

    void OnRefused(ns3::Ptr<ns3::Socket>)
    {
    }

    void OnRoom(ns3::Ptr<ns3::Socket>, uint32_t)
    {
        ns3::Simulator::ScheduleNow(&Flow::Write, this);
    }

    // Begins to write: as much as the socket's buffer accepts, at a fixed interval, or at the rates
    // of the source.
    void Begin()
    {
        if (m_plan.kind == "bulk" || m_plan.kind == "bytes")
        {
            m_wanted = m_plan.kind == "bytes" ? m_plan.a : UNLIMITED;
            Write();
        }
        else if (m_plan.kind == "write")
        {
            // The first write was due at the flow's start, before the connection was established.
            Tick(m_plan.a, ns3::NanoSeconds(m_plan.b));
        }
        for (const auto& [at, bps] : m_plan.paces)
        {
            const int64_t wait = std::max<int64_t>(0, at - Now());
            ns3::Simulator::Schedule(ns3::NanoSeconds(wait), &Flow::Pace, this, bps);
        }
    }

    void Pace(uint64_t bps)
    {
        m_tick.Cancel();
        if (m_wanted == UNLIMITED)
        {
            m_wanted = m_written;
        }
        if (bps == UNLIMITED)
        {
            m_wanted = UNLIMITED;
            Write();
        }
        else if (bps > 0)
        {
            Tick(m_plan.segment, ns3::NanoSeconds(m_plan.segment * 8e9 / bps));
        }
    }

    // Writes until the socket's buffer is full or all wanted bytes are written, as
    // BulkSendApplication does.
    void Write()
    {
        if (!m_isConnected || m_isStopped || IsUdp())
        {
            return;
        }
        while (m_written < m_wanted)
        {
            const uint32_t size = std::min<uint64_t>(m_plan.write, m_wanted - m_written);
            const int actual = m_socket->Send(ns3::Create<ns3::Packet>(size));
            if (actual > 0)
            {
                m_written += actual;
            }
            if (actual != static_cast<int>(size))
            {
                return;
            }
        }
        if (m_plan.kind == "bytes" && !m_isClosed)
        {
            m_isClosed = true;
            m_socket->Close();
        }
    }

    void Tick(uint64_t bytes, ns3::Time every)
    {
        if (m_isStopped)
        {
            return;
        }
        m_wanted += bytes;
        if (IsUdp())
        {
            while (m_wanted > m_written)
            {
                const uint32_t size = std::min<uint64_t>(m_plan.segment, m_wanted - m_written);
                SendDatagram(size);
                m_written += size;
            }
        }
        else
        {
            Write();
        }
        m_tick = ns3::Simulator::Schedule(every, &Flow::Tick, this, bytes, every);
    }

    void SendDatagram(uint32_t bytes)
    {
        ns3::Ptr<ns3::Packet> packet = ns3::Create<ns3::Packet>(bytes);
        SentTag tag;
        tag.flow = m_id;
        tag.sent = Now();
        packet->AddPacketTag(tag);
        ++m_sent;
        m_socket->Send(packet);
    }

    void OnSent(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header, ns3::Ptr<const ns3::TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        const uint64_t end = m_sentNumbers.Of(header.GetSequenceNumber().GetValue()) + packet->GetSize();
        ++m_sent;
        if (end <= m_highest)
        {
            ++m_retransmitted;
        }
        m_highest = std::max(m_highest, end);
        SentTag tag;
        tag.flow = m_id;
        tag.sent = Now();
        packet->AddPacketTag(tag);
    }

    void OnReceived(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header, ns3::Ptr<const ns3::TcpSocketBase>)
    {
        const uint32_t size = packet->GetSize();
        if (size == 0)
        {
            return;
        }
        uint64_t from = m_receivedNumbers.Of(header.GetSequenceNumber().GetValue());
        uint64_t to = from + size;
        // The first range that begins above `from`.
        auto next = m_ranges.upper_bound(from);
        if (to <= m_inOrder || (next != m_ranges.begin() && std::prev(next)->second >= to))
        {
            return;
        }
        ++m_delivered;
        if (from > m_inOrder)
        {
            ++m_outOfOrder;
        }
        SentTag tag;
        if (packet->PeekPacketTag(tag))
        {
            m_arrived[to] = tag.sent;
        }
        while (next != m_ranges.begin() && std::prev(next)->second >= from)
        {
            --next;
            from = std::min(from, next->first);
            to = std::max(to, next->second);
            next = m_ranges.erase(next);
        }
        while (next != m_ranges.end() && next->first <= to)
        {
            to = std::max(to, next->second);
            next = m_ranges.erase(next);
        }
        if (from <= m_inOrder)
        {
            m_inOrder = std::max(m_inOrder, to);
        }
        else
        {
            m_ranges[from] = to;
        }
    }

    // Adds the RTT of each packet that the ACK newly acknowledges or SACKs: the time since the
    // transmission that arrived was sent.
    void OnAck(ns3::Ptr<const ns3::Packet>, const ns3::TcpHeader& header, ns3::Ptr<const ns3::TcpSocketBase>)
    {
        const uint64_t acked = m_ackNumbers.Of(header.GetAckNumber().GetValue());
        auto at = m_arrived.begin();
        while (at != m_arrived.end() && at->first <= acked)
        {
            m_rtts.Add(Now() - at->second);
            at = m_arrived.erase(at);
        }
        if (!header.HasOption(ns3::TcpOption::SACK))
        {
            return;
        }
        auto option = ns3::DynamicCast<const ns3::TcpOptionSack>(header.GetOption(ns3::TcpOption::SACK));
        for (const auto& [left, right] : option->GetSackList())
        {
            const uint64_t from = acked + (left.GetValue() - static_cast<uint32_t>(acked));
            const uint64_t to = acked + (right.GetValue() - static_cast<uint32_t>(acked));
            at = m_arrived.upper_bound(from);
            while (at != m_arrived.end() && at->first <= to)
            {
                m_rtts.Add(Now() - at->second);
                at = m_arrived.erase(at);
            }
        }
    }

    void OnCwnd(uint32_t, uint32_t bytes)
    {
        m_cwnd.Set(Now(), bytes / m_plan.segment);
    }

    void OnSsthresh(uint32_t, uint32_t bytes)
    {
        m_ssthresh = bytes;
    }

    void OnCongState(ns3::TcpSocketState::TcpCongState_t, ns3::TcpSocketState::TcpCongState_t state)
    {
        m_state = state;
    }

    void OnSrtt(ns3::Time, ns3::Time srtt)
    {
        m_srtt = srtt.GetNanoSeconds();
    }

    void OnSample(ns3::Time, ns3::Time rtt)
    {
        m_rtt = rtt.GetNanoSeconds();
        m_samples.Add(m_rtt);
    }

    // Counts timeouts. ns-3 has no trace of timeouts, but a timeout doubles the RTO, up to 60 s.
    void OnRto(ns3::Time before, ns3::Time after)
    {
        if (after > before && after == std::min(before + before, ns3::Seconds(60)))
        {
            ++m_timeouts;
        }
    }

    void OnInflight(uint32_t, uint32_t bytes)
    {
        m_inflight = bytes;
    }

    void OnState(std::string, std::string state)
    {
        m_ownState = state;
    }

    void OnPacing(ns3::DataRate, ns3::DataRate rate)
    {
        m_isPacing |= m_isOfModule;
        m_pacing = rate.GetBitRate();
    }

    const char* CaState() const
    {
        using ns3::TcpSocketState;
        switch (m_state)
        {
        case TcpSocketState::CA_CWR:
            return "cwr";
        case TcpSocketState::CA_RECOVERY:
            return "recovery";
        case TcpSocketState::CA_LOSS:
            return "loss";
        default:
            return m_cwnd.Value() * m_plan.segment < m_ssthresh ? "slow_start" : "avoidance";
        }
    }

    const char* BbrState() const
    {
        if (!m_bbr)
        {
            return m_ownState.c_str();
        }
        const char* const names[] = {"STARTUP", "DRAIN", "PROBE_BW", "PROBE_RTT"};
        const uint32_t state = BbrAccess::StateOf(*m_bbr);
        return state < 4 ? names[state] : "";
    }

    uint32_t m_id;
    FlowPlan m_plan;
    ns3::Ptr<ns3::Node> m_source;
    ns3::Ptr<ns3::Node> m_target;
    ns3::Ipv4Address m_to;
    uint16_t m_port;
    ns3::Ptr<ns3::Socket> m_socket;
    ns3::Ptr<ns3::Socket> m_listener;
    ns3::Ptr<ns3::Socket> m_accepted;
    ns3::Ptr<ns3::TcpBbr> m_bbr;
    bool m_isConnected = false;
    bool m_isStopped = false;
    bool m_isClosed = false;
    bool m_isPacing = false;
    bool m_isOfModule = false;
    std::string m_ownState;
    uint64_t m_written = 0;
    // The number of bytes that the application wants to have written by now.
    uint64_t m_wanted = 0;
    ns3::EventId m_tick;

    Unwrapped m_sentNumbers;
    Unwrapped m_receivedNumbers;
    Unwrapped m_ackNumbers;
    uint64_t m_highest = 0;
    uint64_t m_sent = 0;
    uint64_t m_retransmitted = 0;
    uint64_t m_delivered = 0;
    uint64_t m_outOfOrder = 0;
    uint64_t m_timeouts = 0;
    uint64_t m_read = 0;
    int64_t m_done = -1;
    // The byte ranges that arrived above a gap (begin and end), and the end of the bytes that
    // arrived in order (the SYN is byte 0).
    std::map<uint64_t, uint64_t> m_ranges;
    uint64_t m_inOrder = 1;
    // The packets that arrived and are not yet acknowledged: the end of their bytes, and the times
    // in nanoseconds at which they were sent.
    std::map<uint64_t, int64_t> m_arrived;

    OverTime m_cwnd;
    Quantiles m_rtts;
    Quantiles m_samples;
    uint32_t m_ssthresh = 0xffffffff;
    uint32_t m_inflight = 0;
    uint64_t m_pacing = 0;
    int64_t m_srtt = 0;
    int64_t m_rtt = 0;
    ns3::TcpSocketState::TcpCongState_t m_state = ns3::TcpSocketState::CA_OPEN;
};
