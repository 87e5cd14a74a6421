/* Returns the BBRLAB_ABI_VERSION of the library. It must equal the header's constant. */
uint32_t bbrlab_abi_version(void);

/* Returns the text of the last error in this thread, until its next call. */
const char *bbrlab_error(void);

/* Writes the name of the algorithm with this number, from 0 on, with a final zero byte. Returns
 * BBRLAB_ERROR_ARGUMENT after the last algorithm, or if `capacity` bytes are too few. */
int32_t bbrlab_algorithm(uint32_t number, char *name, uint32_t capacity);

/* Fills in the algorithm's parameter with this number, from 0 on. `parameter->size` must be set.
 * Returns BBRLAB_ERROR_ARGUMENT after the last parameter. */
int32_t bbrlab_algorithm_parameter(const char *algorithm, uint32_t number,
        bbrlab_parameter *parameter);

/* Makes the control of a connection. Every function with a `bbrlab_cc *` may be called from any
 * thread, but not from two at a time. */
int32_t bbrlab_cc_new(const char *algorithm, const bbrlab_setup *setup, bbrlab_cc **cc);

/* Frees a control; a null pointer is allowed. */
void bbrlab_cc_free(bbrlab_cc *cc);

/* The connection is established. This must be the first event of a control. */
int32_t bbrlab_cc_init(bbrlab_cc *cc, const bbrlab_socket *socket);

/* A packet is sent or retransmitted; `socket` does not include it yet. Fills in the packet's note,
 * which replaces that of an earlier transmission. */
int32_t bbrlab_cc_sent(bbrlab_cc *cc, const bbrlab_socket *socket, const bbrlab_packet *packet,
        bbrlab_note *note);

/* An ACK arrives. Then follow, in this order: bbrlab_cc_acked for each packet that it acknowledges
 * for the first time, cumulatively or by SACK; bbrlab_cc_lost and bbrlab_cc_event for its
 * consequences; bbrlab_cc_ack_end. */
int32_t bbrlab_cc_ack_begin(bbrlab_cc *cc, const bbrlab_socket *socket, const bbrlab_ack *ack);

/* The packet with this note is delivered. */
int32_t bbrlab_cc_acked(bbrlab_cc *cc, const bbrlab_note *note);

/* The packet with this note is marked lost, in an ACK or outside. */
int32_t bbrlab_cc_lost(bbrlab_cc *cc, const bbrlab_socket *socket, const bbrlab_note *note);

/* The ACK is processed; `socket` is the connection after it. `rs` is the calling program's own rate
 * sample. If `rs` is null, the library takes the sample as Linux does. */
int32_t bbrlab_cc_ack_end(bbrlab_cc *cc, const bbrlab_socket *socket,
        const bbrlab_rate_sample *rs);

/* An event other than a packet sent or an ACK: BBRLAB_EVENT_*. */
int32_t bbrlab_cc_event(bbrlab_cc *cc, const bbrlab_socket *socket, uint32_t event,
        uint32_t value);

/* Sets cwnd to a value that the calling program computed, for example by PRR; at least 1 packet. */
int32_t bbrlab_cc_set_cwnd(bbrlab_cc *cc, uint32_t cwnd);

/* Fills in the answer to the events so far. `answer->size` must be set. */
int32_t bbrlab_cc_answer(bbrlab_cc *cc, bbrlab_answer *answer);

/* Fill in the struct with the current values. Its `size` must be set. The rate sample is that of
 * the last ACK. */
int32_t bbrlab_cc_control(const bbrlab_cc *cc, bbrlab_control *control);
int32_t bbrlab_cc_conn(const bbrlab_cc *cc, bbrlab_conn *conn);
int32_t bbrlab_cc_rate_sample(const bbrlab_cc *cc, bbrlab_rate_sample *rs);

/* Calls `field` with each value of the algorithm's own state, under the kernel's names. */
int32_t bbrlab_cc_info(const bbrlab_cc *cc,
        void (*field)(void *user, const char *name, int64_t value), void *user);

/* Makes a whole sender of Linux: scoreboard, RACK-TLP, PRR, timers, pacing and a congestion control.
 * The calling program carries its segments and runs its timers. After each of the following events,
 * the program must call bbrlab_sender_action until no action is left. Times are nanoseconds of the
 * program's clock, which may begin with 0 and never goes back. */
int32_t bbrlab_sender_new(const char *algorithm, const bbrlab_sender_setup *setup,
        bbrlab_sender **sender);

/* Frees a sender; a null pointer is allowed. */
void bbrlab_sender_free(bbrlab_sender *sender);

/* Sends the SYN. This must be the first event of a sender. */
int32_t bbrlab_sender_connect(bbrlab_sender *sender, uint64_t now_ns);

/* A segment arrives from the peer: the SYN-ACK or an ACK. A FIN of the peer is not the sender's:
 * leave out its flag. */
int32_t bbrlab_sender_segment(bbrlab_sender *sender, uint64_t now_ns,
        const bbrlab_segment *segment);

/* A timer fires. */
int32_t bbrlab_sender_timer(bbrlab_sender *sender, uint64_t now_ns, uint32_t timer);

/* The application writes with one call. Data that does not fit into the send buffer waits in front
 * of it, as in an application whose call blocks. */
int32_t bbrlab_sender_write(bbrlab_sender *sender, uint64_t now_ns, uint64_t bytes);

/* The application closes: a FIN follows the data. */
int32_t bbrlab_sender_close(bbrlab_sender *sender, uint64_t now_ns);

/* The calling program received data: the next byte that it expects, and its window in bytes. */
int32_t bbrlab_sender_received(bbrlab_sender *sender, uint32_t rcv_nxt, uint32_t wnd);

/* Fills in and removes the oldest action that the calling program must still carry out; its kind is
 * BBRLAB_ACTION_NONE if no action is left. `action->size` must be set. */
int32_t bbrlab_sender_action(bbrlab_sender *sender, bbrlab_action *action);

/* Fills in the state of the sender. `status->size` must be set. */
int32_t bbrlab_sender_status(const bbrlab_sender *sender, bbrlab_status *status);
