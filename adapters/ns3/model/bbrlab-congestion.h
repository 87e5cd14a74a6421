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
/// ns-3 calls a congestion control with sums per ACK. bbrlab's controls need Linux's events: each
/// packet that is sent, delivered or lost. This class gets them from the socket's own traces, keeps
/// a note of the library for each segment, and reports to the library, which has Linux's rate
/// sampler. ns-3's sampler is not used.
///
/// There is one subclass and one TypeId per algorithm: `bbrlab-types.h`.
class Congestion : public ns3::TcpCongestionOps
{
  public:
    static ns3::TypeId GetTypeId();

    /// `algorithm` lives as long as the program.
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

    /// Uses the random stream `stream`; returns how many streams were assigned.
    int64_t AssignStreams(int64_t stream);

    /// Uses this socket. Needed only for a socket that is not in its node's list of sockets.
    void SetSocket(ns3::TcpSocketBase* socket);

    /// The algorithm's own values under the kernel's names; empty before the first data.
    std::map<std::string, int64_t> GetInfo() const;

    /// The name of the algorithm's state; empty if it has none, or before the first data.
    std::string GetState() const;

    /// Bytes that are marked lost. Equal to ns-3's `TcpTxBuffer::GetLost`, which a test checks.
    uint32_t GetLostBytes() const;

    /// The library's name of the algorithm, and its parameters that were set. The parameters are
    /// valid until this object changes.
    std::string GetLibraryName() const;
    std::vector<bbrlab_param> LibraryParameters() const;

    /// Sets or reads a parameter of the algorithm by its number, as text. Attributes call these.
    bool SetParameter(uint32_t number, const std::string& text);
    std::string GetParameter(uint32_t number) const;

  private:
    friend class SocketLink;

    /// An ACK that arrived and that the socket has not processed to its end.
    struct Ack
    {
        enum
        {
            NONE,    ///< There is none.
            ARRIVED, ///< The socket has received it.
            OPEN     ///< Its packets were reported to the library.
        } stage{NONE};

        ns3::Time at;
        SequenceNumber32 number;
        Scoreboard::Blocks blocks;
        bool hasEce{false};
        uint32_t priorInFlight{0};
    };

    /// Finds the socket and connects to its traces. Returns whether it is known.
    bool FindSocket();

    /// Finds a new socket, which may have sent its SYN already.
    void FindNewSocket();

    /// Makes the library's control. The connection must be established.
    void Begin();

    /// From the socket's traces.
    void OnTx(SequenceNumber32 seq, uint32_t size);
    void OnSyn();
    void OnRx(const ns3::TcpHeader& header);
    void OnCongState(ns3::TcpSocketState::TcpCongState_t from,
                     ns3::TcpSocketState::TcpCongState_t to);

    /// Reports what the ACK delivered, and the losses that follow from it.
    void OpenAck();

    /// Ends the ACK and takes over the answer. A window-based algorithm may raise cwnd only if
    /// ns-3 asks for it.
    void CloseAck(bool mayGrow = false);

    /// The RTTs that the delivered packets give. Sets the library's RTT of this ACK, or -1.
    void MeasureRtt(int64_t& rtt_us, bool& isDelayed);

    /// A retransmission timeout occurred.
    void TimeOut(bool isReducing);

    /// Reports the packets in `m_lost`, and empties it.
    void ReportLost();

    void Event(uint32_t event, uint32_t value = 0);

    /// Writes the library's answer to the socket.
    void Apply();

    /// Writes a row to the recorder's file if one is due.
    void Record();

    /// Whether less than a segment waits while cwnd has room: the application limits the flow.
    bool IsDry() const;

    /// The connection's values as the library wants them.
    bbrlab_socket Socket() const;

    /// Packets in flight without the segment that is being sent, which ns-3 counts already.
    uint32_t InFlight() const;

    /// Rounds up to packets.
    uint32_t Packets(uint32_t bytes) const;

    /// DCTCP's echo of marks: an ACK for what came before a change of the mark.
    void EchoChange(bool isMarked);

    /// Ends the program with the library's text if `result` is an error.
    void Check(int32_t result) const;

    const Algorithm* m_algorithm;
    std::map<uint32_t, std::string> m_parameters; ///< Those that were set, as text.
    bool m_hasAccurateEcn;
    uint32_t m_hz;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    ns3::TracedCallback<std::string, std::string> m_stateTrace;

    ns3::Ptr<ns3::TcpSocketState> m_tcb;
    ns3::Ptr<SocketLink> m_link;
    ns3::TcpSocketBase* m_socket{nullptr}; ///< The owner of this object.
    ns3::Ptr<ns3::TcpTxBuffer> m_buffer;

    bbrlab_cc* m_cc{nullptr};
    bbrlab_answer m_answer{};
    std::string m_state;
    Scoreboard m_scoreboard;
    Ack m_ack;
    Delivered m_delivered;
    std::vector<bbrlab_note> m_lost;
    uint32_t m_threshold{3}; ///< Duplicate ACKs that start a recovery.

    ns3::Time m_established;
    ns3::Time m_synSent;
    uint32_t m_syns{0}; ///< SYNs that were sent.
    ns3::Time m_handshakeRtt;
    ns3::Time m_departure; ///< When pacing lets the next packet go.
    uint32_t m_srtt_us{0}; ///< Times 8.
    uint32_t m_minRtt_us{0};
    uint32_t m_sending{0}; ///< Size of the segment that is being sent.
    bool m_isDry{true};
    bool m_isTimedOut{false}; ///< Whether the timeout was reported before ns-3 announced it.

    /// The recorder's file.
    bool m_isRecorded{false};
    uint32_t m_flow{0};
    ns3::Time m_lastRow;
    ns3::Time m_nextRow;
    SequenceNumber32 m_lastUna;

    /// DCTCP's receiver.
    bool m_isMarked{false};
    bool m_isAckDelayed{false};
    bool m_hasPriorNext{false};
    SequenceNumber32 m_priorNext;
};

} // namespace bbrlab

#endif // BBRLAB_CONGESTION_H
