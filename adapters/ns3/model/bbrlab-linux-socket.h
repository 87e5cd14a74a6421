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
/// TcpSocketBase keeps the handshake's options, the addresses, and everything that receives. This
/// class replaces the functions that send data or process an ACK: `Send`, `Close`, `DoForwardUp`
/// and `SendEmptyPacket`, which are virtual. `SendPendingData` is not virtual; it finds an empty
/// buffer and does nothing.
///
/// Only the side that connects has bbrlab's sender. A socket that a listening socket has accepted
/// sends with ns-3's own sender.
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

    /// Uses the algorithm and the parameters of `congestion`, which is used for nothing else.
    /// Random numbers are derived from `seed`.
    void SetAlgorithm(ns3::Ptr<Congestion> congestion, uint64_t seed);

    /// The state of the sender; all values are zero before the SYN is sent.
    bbrlab_status GetStatus() const;

  protected:
    void DoForwardUp(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Address& from,
                     const ns3::Address& to) override;
    void SendEmptyPacket(uint8_t flags) override;

  private:
    /// Makes bbrlab's sender.
    void Begin();

    /// Processes a segment of the peer that arrives after the SYN-ACK.
    void Input(ns3::Ptr<ns3::Packet> packet, const ns3::TcpHeader& header);

    /// Converts a received segment with `size` bytes of payload to the library's struct.
    bbrlab_segment ToSender(const ns3::TcpHeader& header, uint32_t size) const;

    /// Processes a FIN with the sequence number `end` that arrives after this socket was closed.
    void OnPeerClose(ns3::SequenceNumber32 end);

    /// Updates the socket's traces after an event, carries out the sender's actions, and calls the
    /// application.
    void Finish();

    /// Removes acknowledged data from the store, and updates the socket's traces.
    void UpdateState(const bbrlab_status& status);

    void Transmit(const bbrlab_segment& segment);
    void Arm(uint32_t timer, uint64_t at_ns);
    void OnTimer(uint32_t timer);

    /// Closes the sender, which sends a FIN after the data.
    int CloseSender();

    /// Tells the sender the next sequence number that the receiving half expects, and its window.
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
    uint32_t m_una{1};   ///< The sequence number after these bytes.
    std::array<ns3::EventId, BBRLAB_TIMERS_COUNT> m_timers;
    bool m_isMuted{false};   ///< Whether ns-3's own pure ACKs are held back.
    bool m_isClosing{false}; ///< Whether a FIN follows the data.
    uint32_t m_newBytes{0};  ///< Bytes sent for the first time in this event.

    /// The state of the rows in the recorder's file.
    bool m_isRecorded{false};
    uint32_t m_flow{0};
    ns3::Time m_lastRow;
    ns3::Time m_nextRow;
    uint64_t m_lastAcked{0};
};

/// Makes sockets of the class LinuxSocket. Aggregate the factory to a node that has an Internet
/// stack, and give the name of its TypeId to applications as their protocol. The algorithm is the
/// node's `SocketType`, which must be one of bbrlab's.
class LinuxSocketFactory : public ns3::SocketFactory
{
  public:
    static ns3::TypeId GetTypeId();

    LinuxSocketFactory();

    ns3::Ptr<ns3::Socket> CreateSocket() override;

    /// Draws the seeds of new sockets from the random stream `stream`. Returns the number of
    /// streams that were assigned: 1.
    int64_t AssignStreams(int64_t stream);

  private:
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace bbrlab

#endif // BBRLAB_LINUX_SOCKET_H
