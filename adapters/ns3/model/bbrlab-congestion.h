// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef BBRLAB_CONGESTION_H
#define BBRLAB_CONGESTION_H

#include "bbrlab-scoreboard.h"
#include "bbrlab.h"

#include "ns3/random-variable-stream.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/traced-callback.h"

#include <map>
#include <string>
#include <vector>

namespace bbrlab
{

class SocketLink;
struct Algorithm;

/// One of bbrlab's congestion controls in a TCP socket of ns-3.
///
/// ns-3 reports sums per ACK to a congestion control. bbrlab's controls need Linux's events: each
/// packet that is sent, delivered or lost. This class gets these events from the traces of the
/// socket, and reports them to bbrlab's library. For each segment, the class keeps a note that the
/// library has written. The library has Linux's rate sampler; ns-3's sampler is not used.
///
/// There is one subclass with one TypeId per algorithm: see `bbrlab-types.h`.
class Congestion : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId();

    /// `algorithm` must live until the program ends.
    explicit Congestion(const Algorithm* algorithm);
    Congestion(const Congestion& other);
    ~Congestion() override;

    std::string GetName() const override;
    void Init(ns3::Ptr<ns3::TcpSocketState> tcb) override;
    uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> tcb, uint32_t segmentsAcked) override;
    void PktsAcked(ns3::Ptr<ns3::TcpSocketState> tcb,
                   uint32_t segmentsAcked,
                   const ns3::Time& rtt) override;
    void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb,
                            const ns3::TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(ns3::Ptr<ns3::TcpSocketState> tcb,
                   const ns3::TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb,
                     const ns3::TcpRateOps::TcpRateConnection& rc,
                     const ns3::TcpRateOps::TcpRateSample& rs) override;

    /// Draws random numbers from the stream `stream`. Returns the number of streams that were
    /// assigned: 1.
    int64_t AssignStreams(int64_t stream);

    /// Uses this socket. The call is needed only for a socket that is not in its node's list of
    /// sockets.
    void SetSocket(ns3::TcpSocketBase* socket);

    /// The algorithm's own values, by the names that the kernel has for them; empty before the
    /// first data is sent.
    std::map<std::string, int64_t> GetInfo() const;

    /// The name of the algorithm's state; empty if the algorithm has none, or before the first data
    /// is sent.
    std::string GetState() const;

    /// The number of bytes that are marked lost. A test checks that it equals ns-3's
    /// `TcpTxBuffer::GetLost`.
    uint32_t GetLostBytes() const;

    /// The name of the algorithm in the library, and the parameters that differ from their
    /// defaults. The parameters are valid until this object changes.
    std::string GetLibraryName() const;
    std::vector<bbrlab_param> LibraryParameters() const;

    /// Sets or returns a parameter of the algorithm as text, by the parameter's number. The
    /// attributes of ns-3 call these functions.
    bool SetParameter(uint32_t number, const std::string& text);
    std::string GetParameter(uint32_t number) const;

  private:
    friend class SocketLink;

    /// An ACK that arrived and that the socket has not processed to its end.
    struct Ack
    {
        enum
        {
            NONE,    ///< No ACK is being processed.
            ARRIVED, ///< The socket has received the ACK.
            OPEN     ///< The ACK's packets were reported to the library.
        } stage{NONE};

        ns3::Time at;
        SequenceNumber32 number;
        Scoreboard::Blocks blocks;
        bool hasEce{false};
        uint32_t priorInFlight{0};
    };

    /// Finds the socket that has this congestion control, and connects to its traces. Returns
    /// whether the socket is known.
    bool FindSocket();

    /// Finds a new socket, and records its SYN if the SYN has already been sent.
    void FindNewSocket();

    /// Makes the library's control if there is none. The connection must be established.
    void Begin();

    /// The socket's traces call these functions.
    void OnTx(SequenceNumber32 seq, uint32_t size);
    void OnSyn();
    void OnRx(const ns3::TcpHeader& header);
    void OnCongState(ns3::TcpSocketState::TcpCongState_t from,
                     ns3::TcpSocketState::TcpCongState_t to);

    /// Reports to the library the packets that the ACK delivered, and the losses that follow from
    /// the ACK.
    void OpenAck();

    /// Ends the ACK, and writes the library's answer to the socket. A window-based algorithm may
    /// raise cwnd only if ns-3 asks for it (`mayGrow`).
    void CloseAck(bool mayGrow = false);

    /// Computes the RTTs of the delivered packets. Sets `rtt_us` to the RTT that the library gets
    /// for this ACK, if there is one, and `isDelayed` to whether the receiver may have delayed the
    /// ACK.
    void MeasureRtt(int64_t& rtt_us, bool& isDelayed);

    /// Reports a retransmission timeout. `isReducing` says whether the timeout reduces ssthresh.
    void TimeOut(bool isReducing);

    /// Reports the packets in `m_lost` as lost, and empties the list.
    void ReportLost();

    void Event(uint32_t event, uint32_t value = 0);

    /// Writes the library's answer to the socket: cwnd, ssthresh and pacing rate.
    void Apply();

    /// Writes a row to the recorder's file if one is due.
    void Record();

    /// Whether the application limits the flow: less than a segment waits, cwnd has space for more
    /// packets, and no lost segment waits for its retransmission.
    bool IsDry() const;

    /// The connection's values in the form in which the library needs them.
    bbrlab_socket Socket() const;

    /// The number of packets in flight, without the segment that is being sent, which ns-3 already
    /// counts.
    uint32_t InFlight() const;

    /// Converts bytes to packets, rounded up.
    uint32_t Packets(uint32_t bytes) const;

    /// Echoes marks as DCTCP does: if the mark has changed and an ACK is delayed, first sends an
    /// ACK with the old mark for the data that arrived before the change.
    void EchoChange(bool isMarked);

    /// Ends the program with the library's text if `result` is an error.
    void Check(int32_t result) const;

    const Algorithm* m_algorithm;
    std::map<uint32_t, std::string> m_parameters; ///< By number; without defaults.
    bool m_hasAccurateEcn;
    uint32_t m_hz;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    ns3::TracedCallback<std::string, std::string> m_stateTrace;

    ns3::Ptr<ns3::TcpSocketState> m_tcb;
    ns3::Ptr<SocketLink> m_link;
    ns3::TcpSocketBase* m_socket{nullptr}; ///< The socket that has this congestion control.
    ns3::Ptr<ns3::TcpTxBuffer> m_buffer;

    bbrlab_cc* m_cc{nullptr};
    bbrlab_answer m_answer{};
    std::string m_state;
    Scoreboard m_scoreboard;
    Ack m_ack;
    Delivered m_delivered;
    std::vector<bbrlab_note> m_lost;
    uint32_t m_threshold{3}; ///< The number of duplicate ACKs that start a recovery.

    ns3::Time m_established;
    ns3::Time m_synSent;
    uint32_t m_syns{0}; ///< The number of SYNs that were sent.
    ns3::Time m_handshakeRtt;
    ns3::Time m_departure; ///< The time at which pacing permits the next packet.
    uint32_t m_srtt_us{0}; ///< The smoothed RTT, multiplied by 8.
    uint32_t m_minRtt_us{0};
    uint32_t m_sending{0}; ///< The size of the segment that is being sent; 0 if there is none.
    bool m_isDry{true};
    bool m_isTimedOut{false}; ///< Whether the timeout was reported before ns-3 announced it.

    /// The state of the rows in the recorder's file.
    bool m_isRecorded{false};
    uint32_t m_flow{0};
    ns3::Time m_lastRow;
    ns3::Time m_nextRow;
    SequenceNumber32 m_lastUna;

    /// The state of DCTCP's receiver.
    bool m_isMarked{false};
    bool m_isAckDelayed{false};
    bool m_hasPriorNext{false};
    SequenceNumber32 m_priorNext;
};

} // namespace bbrlab

#endif // BBRLAB_CONGESTION_H
