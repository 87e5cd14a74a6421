/* A C program that drives one of bbrlab's algorithms, BBR v1 by default. It sends 400 packets, two
 * per millisecond, and acknowledges each packet 20 ms later, except one, which is lost. The program
 * prints cwnd and pacing rate after each ACK.
 *
 *   cargo build -p bbrlab-ffi
 *   cc -I crates/bbrlab-ffi/include adapters/c/host.c target/debug/libbbrlab_ffi.a -lm -lpthread -ldl -o host
 *   ./host bbr1
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bbrlab.h"

enum { MSS = 1448, PACKETS = 400, RTT_MS = 20, LOST = 250 };

static void must(int32_t result) {
    if (result != BBRLAB_OK) {
        fprintf(stderr, "error %" PRId32 ": %s\n", result, bbrlab_error());
        exit(1);
    }
}

int main(int count, char **arguments) {
    static bbrlab_note notes[PACKETS];
    const char *algorithm = count > 1 ? arguments[1] : "bbr1";
    if (bbrlab_abi_version() != BBRLAB_ABI_VERSION) return 2;
    bbrlab_setup setup = {.size = sizeof setup, .mss = MSS, .initial_cwnd = 10, .seed = 7};
    bbrlab_socket socket = {.size = sizeof socket};
    bbrlab_cc *cc;
    must(bbrlab_cc_new(algorithm, &setup, &cc));
    must(bbrlab_cc_init(cc, &socket));
    uint32_t sent = 0, acked = 0;
    for (uint64_t ms = 0; acked < PACKETS; ms++) {
        socket.now_ns = ms * 1000000;
        for (int i = 0; i < 2 && sent < PACKETS; i++, sent++) {
            bbrlab_packet packet = {.size = sizeof packet, .segments = 1, .seq = sent * MSS,
                                    .end_seq = (sent + 1) * MSS};
            must(bbrlab_cc_sent(cc, &socket, &packet, &notes[sent]));
            socket.snd_nxt = packet.end_seq;
            socket.inflight++;
            socket.packets_out++;
        }
        bbrlab_answer window = {.size = sizeof window};
        must(bbrlab_cc_answer(cc, &window));
        must(bbrlab_cc_event(cc, &socket, BBRLAB_EVENT_WINDOW_USED,
                             socket.inflight >= window.cwnd));
        if (ms < RTT_MS) continue;
        bbrlab_ack ack = {.size = sizeof ack, .rtt_us = RTT_MS * 1000, .pkts_acked = 2,
                          .ack_seq = (acked + 2) * MSS, .prior_in_flight = socket.inflight};
        socket.srtt_us = RTT_MS * 1000 * 8;
        socket.min_rtt_us = RTT_MS * 1000;
        must(bbrlab_cc_ack_begin(cc, &socket, &ack));
        socket.snd_una = ack.ack_seq;
        socket.inflight -= 2;
        socket.packets_out -= 2;
        for (int i = 0; i < 2; i++, acked++) {
            if (acked != LOST) must(bbrlab_cc_acked(cc, &notes[acked]));
        }
        if (acked - 2 == LOST) {
            must(bbrlab_cc_lost(cc, &socket, &notes[LOST]));
            must(bbrlab_cc_event(cc, &socket, BBRLAB_EVENT_RECOVERY_ENTERED, 0));
        }
        must(bbrlab_cc_ack_end(cc, &socket, NULL));
        if (acked - 2 == LOST + 40) must(bbrlab_cc_event(cc, &socket, BBRLAB_EVENT_LEFT, 0));
        bbrlab_answer answer = {.size = sizeof answer};
        must(bbrlab_cc_answer(cc, &answer));
        printf("%" PRIu32 " cwnd %" PRIu32 " pacing_rate %" PRIu64 " %s\n", acked, answer.cwnd,
               answer.pacing_rate, answer.state);
    }
    bbrlab_cc_free(cc);
    return 0;
}
