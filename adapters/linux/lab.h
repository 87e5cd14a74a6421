/*
 * lab: the first program of a guest. It reads a scenario, runs its set-up script, is sender,
 * receiver and sampler in one loop, writes records, and switches the guest off. Compiled with
 * host.c instead of guest.c, it runs on a host in real time.
 *
 * README.md describes the language of scenarios and the records.
 *
 * In a guest, time stands still while a program computes. It moves on if the guest waits, and by
 * 256 ns if a process reads the clock. So a read of the clock changes what happens after it: the
 * code here reads the clock only where a record needs it.
 */
#ifndef LAB_H
#define LAB_H

#define _GNU_SOURCE

#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define SEC 1000000000LL
#define NEVER INT64_MAX
#define CHUNK (1 << 20)
#define UNLIMITED (INT64_MAX / 2)
#define NAME 16 /* of a namespace, a device, a congestion control */

/* ---- scenario.c ---- */

enum mode { BULK, PERIODIC, TRAIN, SCRIPT, BYTES, PACE, REQUESTS };

/* A write of the application that the receiver is to read as a whole. */
struct message {
	int64_t end; /* bytes of the connection up to its end; of a datagram its number */
	int64_t bytes, written; /* size; time of the write */
};

/* The last one of a flow is valid for all further ones. */
struct response {
	int64_t bytes, think; /* think: ns from its reading to the next request */
};

struct flow {
	/* as given */
	char cc[NAME], dstcc[NAME], src[NAME], dst[NAME], addr[32];
	enum mode mode;
	int is_udp, nodelay, has_latency, is_sampled, closes;
	int64_t size, interval, gap, count, lowat, clamp, rcvbuf, sndbuf, reply, mss, tos, unit;
	int64_t notsent_lowat, pacing, start, stop, read_bytes, read_interval;
	char path_ns[NAME], path_dev[NAME];
	struct response *responses;
	int64_t n_responses;

	/* sockets: listening, sending, receiving; -1 = none */
	int lfd, sfd, rfd;
	int has_started, is_deaf, waits, is_over;
	int is_open; /* the connection of sfd is established */
	uint32_t syn_retrans; /* retransmissions of its SYN or SYN-ACK */
	int is_closing; /* the timer is that of `closes` */

	/* bytes: read in all and of this connection; that the application wants sent and has sent;
	 * left of its present call of send() */
	int64_t rx, rx_now, want, sent, call;
	int64_t due, read_due; /* ns since t = 0 */
	int64_t connected, done;
	int64_t transfers; /* that were read and have a row */
	/* the transfer that has no row yet: its bytes, 0 = none; its end, -1 = not read */
	int64_t transfer_bytes, transfer_begin, transfer_end;
	/* mode pace: bits/s, -1 = unlimited; what is to pass from pace_from to the next unit */
	int64_t rate, pace_from;
	__int128 debt; /* bits * 10^9 */
	/* mode requests: bytes of requests that the sender has read; of responses before the present
	 * one; whether the first request is sent */
	int64_t requested, read_before;
	int has_asked;
	int64_t datagrams_sent, datagrams_read, datagrams_late, datagrams_again, highest;
	uint8_t *seen; /* datagrams that have arrived */
	size_t n_seen;
	void *last; /* the kernel's record of the last socket, if it is closed */
	struct message *messages;
	size_t n_messages, first_message;
};

extern struct flow *flows;
extern int n_flows;

/* An entry of the time table. */
struct action {
	int64_t at;
	int kind; /* 'a' command, 'w' write, 'r' read on or off, 'p' pace, 's' stop */
	int flow;
	int64_t value;
	char *command;
	int order; /* in the file */
};

extern struct action *actions;
extern int n_actions;

struct line {
	char *text;
};

extern struct line *sysctls, *writes, *ends, *features, *params, *tuns;
extern int n_sysctls, n_writes, n_ends, n_features, n_params, n_tuns;

extern char out[400], setup[400];
extern int extra, has_bbr_columns;
extern int64_t duration, period, phase;

void load(const char *path);

/* ---- guest.c, host.c: what differs between a guest and a host ---- */

const char *find_scenario(void);
void set_up(void);
void begin_at(int64_t t0);
void switch_off(void) __attribute__((noreturn));

/* ---- main.c ---- */

extern char *buf;
int64_t now(void);
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void enter(const char *ns);
void *grow(void *list, int n, size_t size);

enum kind { K_TIMER, K_LISTEN, K_SEND, K_RECV, K_END }; /* K_END: an early end is wanted */
void watch(int fd, enum kind kind, int i, unsigned events, int op);
void set_due(int i, int64_t due);
void set_read_due(int i, int64_t due);
int status_of(const char *command);

/* ---- traffic.c ---- */

void begin_listening(int i);
void on_timer(int i);
void on_read_timer(int i);
void on_accept(int i);
void on_send(int i);
int on_receive(int i, int64_t most);
void on_write(int i, int64_t bytes, int64_t at);
void on_pace(int i, int64_t rate, int64_t at);
void on_stop(int i);
void on_hearing(int i, int hears);

/* ---- qdisc.c ---- */

struct qdisc_stats {
	unsigned qlen, drops, overlimits;
	unsigned long long backlog, bytes, packets, marks;
};

struct queue {
	char ns[NAME], dev[NAME];
	int ifindex, host; /* host: its namespace's socket in the list */
	struct qdisc_stats stats;
};

extern struct queue *queues;
extern int n_queues;

void open_queues(void);
void read_queues(void);
void read_queue_of(const char *ns, const char *dev, struct qdisc_stats *stats);
void set_ecn_low(const char *ns, const char *gateway);

/* ---- records.c ---- */

extern FILE *transfers_csv, *messages_csv;
void open_records(void);
void sample(int64_t at);
void record_end(void);
void flush_records(void);
void close_records(void);
FILE *create(const char *suffix);
void finish(FILE *file);
void record_transfer(int i);
void note_open(int i);
void keep_socket(int i);
void record_message(int i, int64_t number, const struct message *message, int64_t read);

/* ---- capture.c ---- */

struct capture {
	char ns[NAME], dev[NAME];
	int fd;
};

extern struct capture *captures;
extern int n_captures;
void open_captures(void);
void save_captures(void);

#endif
