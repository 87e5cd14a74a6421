// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the module: each algorithm fills a lossy bottleneck, the scoreboard agrees with ns-3's,
// and what a user may do wrong is refused.
#include "bbrlab-congestion.h"
#include "bbrlab-helper.h"
#include "bbrlab-scoreboard.h"
#include "bbrlab-types.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <set>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/// ACKs of all transfers that found something marked lost.
uint32_t losses = 0;

/// A transfer over one link of 10 Mbit/s with 10 ms.
struct Transfer
{
    std::string typeName;
    uint32_t queuePackets{20};
    uint32_t mss{1000};
    bool hasSack{true};
    bool hasEcn{false};
    double seconds{4};
    uint32_t run{1};        ///< Number of the run, which all random numbers follow.
    uint32_t onOffBytes{0}; ///< Bytes per burst of 100 ms; 0 for a transfer without end.

    /// Results.
    uint64_t received{0};
    int64_t streams{0};
    uint32_t acks{0};
    uint32_t disagreements{0};
    uint32_t lossy{0};     ///< ACKs that found something marked lost.
    uint64_t times{0}; ///< Sum of the times of all ACKs.
    std::vector<std::string> states;

    void Run();

    /// Compares what is marked lost with ns-3's own count.
    void OnRx(Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase> socket)
    {
        PointerValue ops;
        socket->GetAttribute("CongestionOps", ops);
        const auto congestion = DynamicCast<bbrlab::Congestion>(ops.Get<TcpCongestionOps>());
        ++acks;
        lossy += socket->GetTxBuffer()->GetLost() > 0 ? 1 : 0;
        times += Simulator::Now().GetNanoSeconds();
        disagreements += congestion->GetLostBytes() != socket->GetTxBuffer()->GetLost() ? 1 : 0;
    }

    void OnState(std::string, std::string to)
    {
        states.push_back(to);
    }

    void Connect(Ptr<Node> node)
    {
        ObjectPtrContainerValue sockets;
        node->GetObject<TcpL4Protocol>()->GetAttribute("SocketList", sockets);
        const auto socket = DynamicCast<TcpSocketBase>(sockets.Get(0));
        // Before the first data, when the algorithm gets its seed.
        streams = bbrlab::Helper::AssignStreams(NodeContainer(node), 7);
        socket->TraceConnectWithoutContext("Rx", MakeCallback(&Transfer::OnRx, this));
        PointerValue ops;
        socket->GetAttribute("CongestionOps", ops);
        ops.GetObject()->TraceConnectWithoutContext("State",
                                                    MakeCallback(&Transfer::OnState, this));
    }
};

void
Transfer::Run()
{
    // This also resets the run number.
    Config::Reset();
    RngSeedManager::SetRun(run);
    bbrlab::Helper::UseByDefault(typeName);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1000000));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(hasSack));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(hasEcn ? "On" : "Off"));
    NodeContainer nodes;
    nodes.Create(2);
    InternetStackHelper().Install(nodes);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("10ms"));
    const std::string packets = std::to_string(queuePackets) + "p";
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(hasEcn ? "1p" : packets));
    if (!hasEcn)
    {
        link.DisableFlowControl();
    }
    NetDeviceContainer devices = link.Install(nodes);
    if (hasEcn)
    {
        TrafficControlHelper disc;
        disc.SetRootQueueDisc("ns3::CoDelQueueDisc", "UseEcn", BooleanValue(true));
        disc.Install(devices);
    }
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = address.Assign(devices);
    const InetSocketAddress to(interfaces.GetAddress(1), 5000);
    ApplicationContainer sources;
    if (onOffBytes > 0)
    {
        OnOffHelper source("ns3::TcpSocketFactory", to);
        source.SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=0.1]"));
        source.SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0.3]"));
        source.SetAttribute("DataRate", DataRateValue(DataRate(onOffBytes * 80)));
        source.SetAttribute("PacketSize", UintegerValue(700));
        sources = source.Install(nodes.Get(0));
    }
    else
    {
        sources = BulkSendHelper("ns3::TcpSocketFactory", to).Install(nodes.Get(0));
    }
    sources.Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));
    Simulator::Schedule(MilliSeconds(1), &Transfer::Connect, this, nodes.Get(0));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    Simulator::Destroy();
}

/// Each algorithm, with a shallow queue, without SACK, with marks, and with an application that
/// pauses.
class AlgorithmCase : public TestCase
{
  public:
    explicit AlgorithmCase(const bbrlab::Algorithm& algorithm)
        : TestCase(algorithm.typeName + " carries data"),
          m_algorithm(algorithm)
    {
    }

  private:
    void DoRun() override
    {
        Transfer plain;
        plain.typeName = m_algorithm.typeName;
        plain.Run();
        // 4 s at 10 Mbit/s are 5 MB.
        NS_TEST_EXPECT_MSG_GT(plain.received, 2000000, "a shallow queue");
        NS_TEST_EXPECT_MSG_EQ(plain.streams, 1, "one socket, one random stream");
        NS_TEST_EXPECT_MSG_GT(plain.acks, 500, "the socket's trace was found");
        NS_TEST_EXPECT_MSG_EQ(plain.disagreements, 0, "lost bytes differ from ns-3's");
        losses += plain.lossy;
        const bool isBbr = m_algorithm.typeName.find("Bbr") != std::string::npos;
        NS_TEST_EXPECT_MSG_EQ(!isBbr || !plain.states.empty(), true, "BBR has states");
        Transfer sackless = plain;
        sackless.hasSack = false;
        sackless.received = 0;
        sackless.Run();
        NS_TEST_EXPECT_MSG_GT(sackless.received, 500000, "without SACK");
        Transfer marked = plain;
        marked.hasEcn = true;
        marked.Run();
        NS_TEST_EXPECT_MSG_GT(marked.received, 2000000, "with marks");
        Transfer pausing = plain;
        pausing.onOffBytes = 30000;
        pausing.Run();
        NS_TEST_EXPECT_MSG_GT(pausing.received, 200000, "with pauses");
    }

    const bbrlab::Algorithm& m_algorithm;
};

/// Without losses, the comparison of lost bytes would show nothing.
class LossCase : public TestCase
{
  public:
    LossCase()
        : TestCase("the transfers had losses")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_GT(losses, 1000, "ACKs that found something marked lost");
    }
};

/// A run with the same seed gives the same bytes.
class RepeatCase : public TestCase
{
  public:
    RepeatCase()
        : TestCase("equal seeds give equal runs")
    {
    }

  private:
    void DoRun() override
    {
        // A gain cycle has seven phases to begin with, so two runs may agree.
        std::set<uint64_t> times;
        for (uint32_t run : {1, 1, 2, 3, 4, 5})
        {
            Transfer transfer;
            transfer.run = run;
            transfer.typeName = "bbrlab::Bbr1";
            transfer.Run();
            NS_TEST_EXPECT_MSG_EQ(run == 1 && times.size() == 1 && !times.count(transfer.times),
                                  false,
                                  "equal run numbers");
            times.insert(transfer.times);
        }
        NS_TEST_EXPECT_MSG_GT(times.size(), 1, "other run numbers");
    }
};

/// Parameters as attributes.
class ParameterCase : public TestCase
{
  public:
    ParameterCase()
        : TestCase("parameters are attributes")
    {
    }

  private:
    void DoRun() override
    {
        ObjectFactory factory("bbrlab::Bbr1");
        const auto bbr1 = factory.Create<TcpCongestionOps>();
        DoubleValue margin;
        bbr1->GetAttribute("Margin", margin);
        NS_TEST_EXPECT_MSG_EQ(margin.Get(), 0.01, "a default");
        NS_TEST_EXPECT_MSG_EQ(bbr1->SetAttributeFailSafe("Margin", DoubleValue(0.25)), true, "set");
        bbr1->GetAttribute("Margin", margin);
        NS_TEST_EXPECT_MSG_EQ(margin.Get(), 0.25, "what was set");
        NS_TEST_EXPECT_MSG_EQ(bbr1->SetAttributeFailSafe("Margin", DoubleValue(7)),
                              false,
                              "beyond its range");
        NS_TEST_EXPECT_MSG_EQ(bbr1->SetAttributeFailSafe("Quantum", StringValue("some")),
                              false,
                              "no such choice");
        NS_TEST_EXPECT_MSG_EQ(bbr1->SetAttributeFailSafe("Colour", IntegerValue(1)),
                              false,
                              "no such parameter");
        const auto copy = bbr1->Fork();
        copy->GetAttribute("Margin", margin);
        NS_TEST_EXPECT_MSG_EQ(margin.Get(), 0.25, "kept by a copy");
        TypeId found;
        NS_TEST_EXPECT_MSG_EQ(TypeId::LookupByNameFailSafe("bbrlab::Bbr9", &found),
                              false,
                              "no such algorithm");
    }
};

/// The scoreboard alone.
class ScoreboardCase : public TestCase
{
  public:
    ScoreboardCase()
        : TestCase("scoreboard")
    {
    }

  private:
    void DoRun() override
    {
        bbrlab::Scoreboard board;
        for (uint32_t n = 0; n < 8; ++n)
        {
            board.Send(SequenceNumber32(n * 100), 100);
        }
        bbrlab::Delivered delivered;
        std::vector<bbrlab_note> lost;
        board.Acknowledge(SequenceNumber32(100),
                          {{SequenceNumber32(300), SequenceNumber32(600)}},
                          delivered);
        NS_TEST_EXPECT_MSG_EQ(delivered.acked.size(), 1, "cumulatively");
        NS_TEST_EXPECT_MSG_EQ(delivered.sacked.size(), 3, "by SACK");
        board.MarkBySacks(3, lost);
        NS_TEST_EXPECT_MSG_EQ(lost.size(), 2, "below three SACKed segments");
        NS_TEST_EXPECT_MSG_EQ(board.LostBytes(), 200, "in bytes");
        // A retransmission of two segments in one, then of a part of another.
        board.Send(SequenceNumber32(100), 200);
        board.Send(SequenceNumber32(600), 50);
        NS_TEST_EXPECT_MSG_EQ(board.Segments().size(), 7, "joined and cut");
        delivered = bbrlab::Delivered();
        board.Acknowledge(SequenceNumber32(620), {}, delivered);
        NS_TEST_EXPECT_MSG_EQ(delivered.passed, 4, "with those SACKed before");
        NS_TEST_EXPECT_MSG_EQ(delivered.acked.size(), 1, "and without");
        NS_TEST_EXPECT_MSG_EQ(board.Segments().front().size, 30, "the rest of a segment");
        lost.clear();
        board.MarkAll(lost);
        NS_TEST_EXPECT_MSG_EQ(lost.size(), 3, "by a timeout");
        board.MarkAll(lost);
        NS_TEST_EXPECT_MSG_EQ(lost.size(), 3, "not again without a retransmission");
    }
};

class Suite : public TestSuite
{
  public:
    Suite()
        : TestSuite("bbrlab")
    {
        AddTestCase(new ScoreboardCase);
        AddTestCase(new ParameterCase);
        AddTestCase(new RepeatCase);
        for (const bbrlab::Algorithm& algorithm : bbrlab::Algorithms())
        {
            AddTestCase(new AlgorithmCase(algorithm));
        }
        AddTestCase(new LossCase);
    }
};

Suite g_suite;

} // namespace
