// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests of the module: each algorithm fills a lossy bottleneck, the scoreboard agrees with ns-3's,
// and wrong parameters and names are refused.
#include "bbrlab-congestion.h"
#include "bbrlab-helper.h"
#include "bbrlab-linux-socket.h"
#include "bbrlab-scoreboard.h"
#include "bbrlab-stream-store.h"
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

/// The number of ACKs at whose arrival ns-3 had bytes that were marked lost, for all algorithms
/// together.
uint32_t losses = 0;

/// A transfer over one link with a rate of 10 Mbit/s and a delay of 10 ms.
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
    uint64_t maxBytes{0};   ///< Bytes before the application closes; 0 for no end.
    bool isLinux{false};    ///< Whether bbrlab's whole sender sends.
    bool losesSyn{false};   ///< Whether the first SYN is lost.

    /// The results.
    uint64_t received{0};
    int64_t streams{0};
    uint32_t acks{0};
    uint32_t disagreements{0};
    uint32_t lossy{0};     ///< ACKs at whose arrival ns-3 had bytes that were marked lost.
    uint64_t times{0}; ///< Sum of the times of all ACKs.
    std::vector<std::string> states;
    bbrlab_status status{}; ///< The state of bbrlab's whole sender at the end.
    int64_t firstByte_ms{0};

    void Run();

    void OnReceived(Ptr<const Packet>, const Address&)
    {
        firstByte_ms = firstByte_ms == 0 ? Simulator::Now().GetMilliSeconds() : firstByte_ms;
    }

    void ReadStatus(Ptr<Node> node)
    {
        ObjectPtrContainerValue sockets;
        node->GetObject<TcpL4Protocol>()->GetAttribute("SocketList", sockets);
        status = DynamicCast<bbrlab::LinuxSocket>(sockets.Get(0))->GetStatus();
    }

    /// Compares the bytes that the congestion control has marked lost with ns-3's own count.
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
        // The streams must be assigned before the first data is sent, because the algorithm then
        // gets its seed.
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
    firstByte_ms = 0;
    // `Reset` also resets the run number, so the run number is set after it.
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
    const std::string factory =
        isLinux ? "bbrlab::LinuxSocketFactory" : "ns3::TcpSocketFactory";
    if (isLinux)
    {
        bbrlab::Helper::InstallLinuxSender(NodeContainer(nodes.Get(0)));
        bbrlab::Helper::AssignStreams(NodeContainer(nodes.Get(0)), 7);
    }
    if (losesSyn)
    {
        const auto losses = CreateObject<ReceiveListErrorModel>();
        losses->SetList({0});
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
    }
    if (onOffBytes > 0)
    {
        OnOffHelper source(factory, to);
        source.SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=0.1]"));
        source.SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0.3]"));
        source.SetAttribute("DataRate", DataRateValue(DataRate(onOffBytes * 80)));
        source.SetAttribute("PacketSize", UintegerValue(700));
        sources = source.Install(nodes.Get(0));
    }
    else
    {
        BulkSendHelper source(factory, to);
        source.SetAttribute("MaxBytes", UintegerValue(maxBytes));
        sources = source.Install(nodes.Get(0));
    }
    sources.Start(Seconds(0));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer sinks = sink.Install(nodes.Get(1));
    sinks.Start(Seconds(0));
    sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Transfer::OnReceived, this));
    if (isLinux)
    {
        const Time end = Seconds(seconds) - MilliSeconds(1);
        Simulator::Schedule(end, &Transfer::ReadStatus, this, nodes.Get(0));
    }
    else
    {
        Simulator::Schedule(MilliSeconds(1), &Transfer::Connect, this, nodes.Get(0));
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    received = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    Simulator::Destroy();
}

/// Tests each algorithm with a shallow queue, without SACK, with marks, and with an application
/// that pauses.
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
        // In 4 s, a link of 10 Mbit/s carries 5 MB.
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

/// Checks that the transfers had losses. Without losses, comparing the lost bytes would show
/// nothing.
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

/// Checks that runs with the same seed are equal, and that not all seeds give the same run.
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
        // BBR chooses one of seven phases for the begin of its gain cycle, so two runs with
        // different seeds may be equal.
        std::set<uint64_t> times;
        for (uint32_t run : {1, 1, 2, 3, 4, 5})
        {
            Transfer transfer;
            transfer.run = run;
            transfer.typeName = "bbrlab::Bbr1";
            transfer.Run();
            times.insert(transfer.times);
            const bool isEqual = run > 1 || times.size() == 1;
            NS_TEST_EXPECT_MSG_EQ(isEqual, true, "equal run numbers");
        }
        NS_TEST_EXPECT_MSG_GT(times.size(), 1, "other run numbers");
    }
};

/// Checks that parameters can be set and read as attributes.
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

/// Tests bbrlab's whole sender.
class LinuxCase : public TestCase
{
  public:
    explicit LinuxCase(const std::string& typeName)
        : TestCase(typeName + " in the whole sender"),
          m_typeName(typeName)
    {
    }

  private:
    void DoRun() override
    {
        Transfer plain;
        plain.isLinux = true;
        plain.typeName = m_typeName;
        plain.Run();
        NS_TEST_EXPECT_MSG_GT(plain.received, 4000000, "a shallow queue");
        NS_TEST_EXPECT_MSG_EQ(plain.status.rto_count, 0, "without a timeout");
        Transfer again = plain;
        again.Run();
        NS_TEST_EXPECT_MSG_EQ(again.status.sent, plain.status.sent, "again the same");
        Transfer shallow = plain;
        shallow.queuePackets = 5;
        shallow.Run();
        NS_TEST_EXPECT_MSG_GT(shallow.received, 3000000, "five packets");
        NS_TEST_EXPECT_MSG_GT(shallow.status.retransmitted, 0, "with losses");
        Transfer marked = plain;
        marked.hasEcn = true;
        marked.Run();
        NS_TEST_EXPECT_MSG_GT(marked.received, 3000000, "with marks");
        Transfer pausing = plain;
        pausing.onOffBytes = 30000;
        pausing.Run();
        NS_TEST_EXPECT_MSG_GT(pausing.received, 200000, "with pauses");
        Transfer ending = plain;
        ending.queuePackets = 5;
        ending.maxBytes = 300001;
        ending.Run();
        NS_TEST_EXPECT_MSG_EQ(ending.received, 300001, "all bytes of a transfer that ends");
        NS_TEST_EXPECT_MSG_EQ(ending.status.is_all_acked, 1, "and its FIN");
        Transfer late = plain;
        late.losesSyn = true;
        late.Run();
        // Linux repeats a SYN after 1 s, ns-3 repeats it after 3 s.
        NS_TEST_EXPECT_MSG_GT(late.firstByte_ms, 1000, "a lost SYN");
        NS_TEST_EXPECT_MSG_LT(late.firstByte_ms, 1100, "a lost SYN");
    }

    std::string m_typeName;
};

/// Tests the store of the bytes that are not yet acknowledged.
class StoreCase : public TestCase
{
  public:
    StoreCase()
        : TestCase("stream store")
    {
    }

  private:
    void DoRun() override
    {
        bbrlab::StreamStore store;
        std::vector<uint8_t> bytes(250);
        for (std::size_t n = 0; n < bytes.size(); ++n)
        {
            bytes[n] = n;
        }
        store.Add(Create<Packet>(bytes.data(), 100));
        store.Add(Create<Packet>(bytes.data() + 100, 50));
        store.Add(Create<Packet>(bytes.data() + 150, 100));
        std::vector<uint8_t> read(120);
        const auto across = store.Copy(90, 120);
        across->CopyData(read.data(), read.size());
        NS_TEST_EXPECT_MSG_EQ(across->GetSize(), 120, "across three packets");
        NS_TEST_EXPECT_MSG_EQ(read[0], 90, "the first byte");
        NS_TEST_EXPECT_MSG_EQ(read[119], 209, "the last byte");
        store.Forget(149);
        NS_TEST_EXPECT_MSG_EQ(store.Copy(120, 40)->GetSize(), 40, "kept with a later byte");
        NS_TEST_EXPECT_MSG_EQ(store.Copy(10, 10)->GetSize(), 0, "forgotten");
        NS_TEST_EXPECT_MSG_EQ(store.Copy(240, 40)->GetSize(), 10, "up to the end");
        NS_TEST_EXPECT_MSG_EQ(store.End(), 250, "all bytes");
    }
};

/// Tests the scoreboard without ns-3's sockets.
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
        // Retransmits two segments as one, and a part of another segment.
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
        AddTestCase(new StoreCase);
        AddTestCase(new LinuxCase("bbrlab::Bbr3"));
        AddTestCase(new LinuxCase("bbrlab::Cubic"));
    }
};

Suite g_suite;

} // namespace
