// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_LINUX_SOCKET_H
#define BBRLAB_LINUX_SOCKET_H

#include "bbrlab-stream-store.h"
#include "bbrlab.h"

#include "ns3/event-id.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket-factory.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-socket-base.h"

#include <array>

namespace bbrlab
{

class Congestion;

/// A TCP socket of ns-3 whose sender is bbrlab's: Linux's scoreboard, RACK-TLP, PRR, undo, timers
/// and pacing.
///
/// TcpSocketBase keeps the handshake's options, the addresses, and everything that receives. The
/// class replaces it where it would send data or process an ACK: `Send`, `Close`, `DoForwardUp` and
/// `SendEmptyPacket`, which are virtual. `SendPendingData`, which is not, finds an empty buffer and
/// does nothing.
///
/// The sender belongs to the side that connects. A socket that a listening socket has accepted is
/// ns-3's own.
class LinuxSocket : public ns3::TcpSocketBase
{
  public:
    static ns3::TypeId GetTypeId();
    ns3::TypeId GetInstanceTypeId() const override;

    LinuxSocket();
    ~LinuxSocket() override;

    int Send(ns3::Ptr<ns3::Packet> packet, uint32_t flags) override;
    int Close() override;
    int ShutdownSend() override;
    uint32_t GetTxAvailable() const override;

    /// Uses the algorithm and the parameters of this object, which is used for nothing else, and
    /// random numbers from `seed`.
    void SetAlgorithm(ns3::Ptr<Congestion> congestion, uint64_t seed);

    /// The state of the sender; all zero before the SYN.
    bbrlab_status GetStatus() const;

  protected:
    void DoForwardUp(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Address& from,
                     const ns3::Address& to) override;
    void SendEmptyPacket(uint8_t flags) override;

  private:
    /// Makes the sender.
    void Begin();

    /// A segment of the peer arrives after the SYN-ACK.
    void Input(ns3::Ptr<ns3::Packet> packet, const ns3::TcpHeader& header);

    /// The ACK of a segment, for the sender.
    bbrlab_segment ToSender(const ns3::TcpHeader& header, uint32_t size) const;

    /// A FIN arrives in order after this socket was closed.
    void OnPeerClose(ns3::SequenceNumber32 end);

    /// Updates the socket's traces after an event, carries out what the sender has decided, and
    /// calls the application.
    void Finish();

    /// Updates the data that wait and the socket's traces.
    void UpdateState(const bbrlab_status& status);

    void Transmit(const bbrlab_segment& segment);
    void Arm(uint32_t timer, uint64_t at_ns);
    void OnTimer(uint32_t timer);

    /// The sender closes: a FIN follows the data.
    int CloseSender();

    /// What the receiving half expects, for the sender.
    void UpdateReceived();

    /// Writes a row to the recorder's file if one is due.
    void Record(const bbrlab_status& status);

    /// Ends the program with the library's text if `result` is an error.
    void Check(int32_t result) const;

    ns3::Ptr<Congestion> m_algorithm;
    uint64_t m_seed{0};
    bbrlab_sender* m_sender{nullptr};
    StreamStore m_store;
    uint64_t m_acked{0}; ///< Bytes that the peer has acknowledged.
    uint32_t m_una{1};   ///< The sequence number after them.
    std::array<ns3::EventId, BBRLAB_TIMERS_COUNT> m_timers;
    bool m_isMuted{false};   ///< Whether ns-3's own pure ACKs are held back.
    bool m_isClosing{false}; ///< Whether a FIN follows the data.
    uint32_t m_newBytes{0};  ///< Bytes sent for the first time in this event.

    /// The recorder's file.
    bool m_isRecorded{false};
    uint32_t m_flow{0};
    ns3::Time m_lastRow;
    ns3::Time m_nextRow;
    uint64_t m_lastAcked{0};
};

/// Makes sockets of this kind. Aggregate it to a node that has an Internet stack, and give
/// applications its name as their protocol. The algorithm is the node's `SocketType`, which must be
/// one of bbrlab's.
class LinuxSocketFactory : public ns3::SocketFactory
{
  public:
    static ns3::TypeId GetTypeId();

    LinuxSocketFactory();

    ns3::Ptr<ns3::Socket> CreateSocket() override;

    /// Takes the seeds of new sockets from the random stream `stream`; returns how many streams
    /// were assigned.
    int64_t AssignStreams(int64_t stream);

  private:
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace bbrlab

#endif // BBRLAB_LINUX_SOCKET_H
