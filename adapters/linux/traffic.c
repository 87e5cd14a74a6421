/* Senders and receivers. */
#include "lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>


#define PORT 5000
#define REQUEST 100 /* bytes */
#define RATE_UNLIMITED (-1)
#define LINGER SEC /* from the end of the last transfer until the sockets are closed */

/* The value fits into 32 bits: the reader of the scenario refuses others. */
static void set(int fd, int level, int name, int64_t value, const char *what)
{
	int number = (int)value;

	if (value && setsockopt(fd, level, name, &number, sizeof(number)))
		die("%s %lld", what, (long long)value);
}

static void set_control(int fd, const char *cc)
{
	if (*cc && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, strlen(cc)))
		die("congestion control %s", cc);
}

/* The options of a flow's data sender; its socket may be accepted or connected. */
static void set_sender(int fd, const struct flow *f)
{
	uint64_t pacing = (uint64_t)f->pacing;

	set_control(fd, f->cc);
	set(fd, SOL_SOCKET, SO_SNDBUF, f->sndbuf, "sndbuf");
	set(fd, IPPROTO_TCP, TCP_MAXSEG, f->mss, "mss");
	set(fd, IPPROTO_TCP, TCP_NODELAY, f->nodelay, "nodelay");
	set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, f->notsent_lowat, "notsent_lowat");
	set(fd, IPPROTO_IP, IP_TOS, f->tos, "tos");
	if (pacing && setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &pacing, sizeof(pacing)))
		die("pacing");
}

static void set_receiver(int fd, const struct flow *f)
{
	set(fd, SOL_SOCKET, SO_RCVBUF, f->rcvbuf, "rcvbuf");
	set(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, f->clamp, "clamp");
	set(fd, IPPROTO_TCP, TCP_MAXSEG, f->mss, "mss");
	set(fd, IPPROTO_IP, IP_TOS, f->tos, "tos");
	set_control(fd, f->dstcc);
}

static struct sockaddr_in address(int i, const char *addr)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)(PORT + i)) };

	if (addr)
		inet_aton(addr, &a.sin_addr);
	return a;
}

/* Whether the sending application reads nothing. */
static int only_sends(const struct flow *f)
{
	return !f->reply && f->mode != REQUESTS;
}

/*
 * An application that only sends waits for room after a failed send(), and never asks before. The
 * kernel lets the send buffer grow when an application waits. Each epoll_ctl(), and each
 * epoll_wait() after a level-triggered event, asks for room and so makes the application one that
 * waits (tcp_poll() sets SOCK_NOSPACE). Such a socket is therefore watched once, for edges.
 */
static unsigned sender_events(const struct flow *f, int has_more)
{
	return only_sends(f) ? EPOLLOUT | EPOLLET : EPOLLIN | (has_more ? EPOLLOUT : 0);
}

static void watch_sender(int i, int has_more)
{
	struct flow *f = &flows[i];

	if (!only_sends(f))
		watch(f->sfd, K_SEND, i, sender_events(f, has_more), EPOLL_CTL_MOD);
}

/* In the mode `requests`, the receiver connects to the sender. */
static int is_server(const struct flow *f)
{
	return f->mode == REQUESTS;
}

void begin_listening(int i)
{
	struct flow *f = &flows[i];
	struct sockaddr_in a = address(i, NULL);
	int one = 1, type = f->is_udp ? SOCK_DGRAM : SOCK_STREAM;

	if (PORT + i > 65535)
		die("flow %d: at most %d flows", i, 65536 - PORT);
	enter(is_server(f) ? f->src : f->dst);
	f->lfd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (f->lfd < 0)
		die("socket");
	setsockopt(f->lfd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (f->is_udp)
		set(f->lfd, SOL_SOCKET, SO_RCVBUF, f->rcvbuf, "rcvbuf");
	else if (is_server(f))
		set_sender(f->lfd, f);
	else
		set_receiver(f->lfd, f);
	if (bind(f->lfd, (void *)&a, sizeof(a)))
		die("bind flow %d", i);
	if (f->is_udp) {
		f->rfd = f->lfd;
		watch(f->rfd, K_RECV, i, EPOLLIN, EPOLL_CTL_ADD);
		return;
	}
	if (listen(f->lfd, 16))
		die("listen");
	watch(f->lfd, K_LISTEN, i, EPOLLIN, EPOLL_CTL_ADD);
}

/* ---- messages ---- */

static void begin_message(struct flow *f, int64_t end, int64_t bytes, int64_t written)
{
	if (!f->has_latency)
		return;
	f->messages = grow(f->messages, (int)f->n_messages, sizeof(*f->messages));
	f->messages[f->n_messages++] = (struct message){ end, bytes, written };
}

/* The receiver of a connection has read `f->rx_now` bytes. */
static void end_messages(int i)
{
	struct flow *f = &flows[i];
	int64_t at;

	if (f->first_message == f->n_messages || f->messages[f->first_message].end > f->rx_now)
		return;
	at = now();
	for (; f->first_message < f->n_messages; f->first_message++) {
		const struct message *message = &f->messages[f->first_message];

		if (message->end > f->rx_now)
			return;
		record_message(i, (int64_t)f->first_message, message, at);
	}
}

/* ---- senders ---- */

/* The response with this number. The last `request` line is valid for all further ones. */
static const struct response *response(const struct flow *f, int64_t number)
{
	return &f->responses[number < f->n_responses ? number : f->n_responses - 1];
}

static void begin_transfer(struct flow *f, int64_t bytes, int64_t at)
{
	f->transfer_bytes = bytes;
	f->transfer_begin = at;
	f->transfer_end = -1;
}

static void connect_flow(int i)
{
	struct flow *f = &flows[i];
	struct sockaddr_in a = address(i, f->addr);
	int fd, type = f->is_udp ? SOCK_DGRAM : SOCK_STREAM;

	enter(is_server(f) ? f->dst : f->src);
	fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket");
	if (f->is_udp) {
		set(fd, SOL_SOCKET, SO_SNDBUF, f->sndbuf, "sndbuf");
		set(fd, IPPROTO_IP, IP_TOS, f->tos, "tos");
	} else if (is_server(f)) {
		set_receiver(fd, f);
	} else {
		set_sender(fd, f);
	}
	if (f->mode == TRAIN)
		f->connected = now();
	else
		f->connected = f->due;
	if (f->mode == TRAIN || f->mode == BYTES)
		begin_transfer(f, f->size, f->connected);
	else if (is_server(f))
		begin_transfer(f, response(f, 0)->bytes, f->connected);
	f->has_started = 1;
	f->is_open = 0;
	f->syn_retrans = 0;
	f->sent = f->rx_now = f->call = 0;
	f->waits = 0;
	f->want = f->mode == TRAIN || f->mode == BYTES ? f->size : f->mode == BULK ? UNLIMITED : 0;
	if (f->mode == BYTES)
		begin_message(f, f->size, f->size, f->due);
	if (connect(fd, (void *)&a, sizeof(a)) && errno != EINPROGRESS)
		die("connect flow %d", i);
	if (is_server(f)) {
		f->rfd = fd;
		watch(fd, K_RECV, i, EPOLLIN | EPOLLOUT, EPOLL_CTL_ADD);
		return;
	}
	f->sfd = fd;
	if (!f->is_udp)
		watch(fd, K_SEND, i, sender_events(f, 1), EPOLL_CTL_ADD);
}

static void send_datagrams(int i, int64_t bytes, int64_t at)
{
	struct flow *f = &flows[i];

	while (bytes > 0) {
		int64_t size = bytes < f->unit ? bytes : f->unit;
		uint32_t number = htonl((uint32_t)f->datagrams_sent);

		memcpy(buf, &number, sizeof(number));
		begin_message(f, f->datagrams_sent, size, at);
		/* A full queue of the device drops the datagram: it was sent and is lost. */
		if (send(f->sfd, buf, (size_t)size, MSG_NOSIGNAL) < 0 && errno != ENOBUFS &&
		    errno != EAGAIN)
			die("send a datagram of flow %d", i);
		memset(buf, 'x', sizeof(number));
		f->datagrams_sent++;
		f->sent += size;
		bytes -= size;
	}
}

/* The application hands over more. */
static void want_more(int i, int64_t bytes, int64_t at)
{
	struct flow *f = &flows[i];
	int is_waiting;

	if (f->is_udp) {
		if (f->sfd >= 0)
			send_datagrams(i, bytes, at);
		return;
	}
	is_waiting = f->want > f->sent;
	f->want += bytes;
	begin_message(f, f->want, bytes, at);
	/* An application calls send() first, and waits for room only if that fails. A socket with
	 * room may be called not writable: it needs a third of its buffer free for that. */
	if (f->sfd >= 0 && !is_waiting) {
		on_send(i);
		if (f->want > f->sent)
			watch_sender(i, 1);
	}
}

static int has_blocks(const struct flow *f)
{
	return f->mode == PERIODIC || (f->mode == PACE && f->rate != RATE_UNLIMITED);
}

/* The bytes of the application's next send(). It has an own one for each block that it writes,
 * also if it is late. */
static int64_t next_call(const struct flow *f)
{
	int64_t left = f->want - f->sent, block = CHUNK;

	if (f->call > 0)
		return f->call;
	if (has_blocks(f))
		block = f->mode == PACE ? f->unit : f->size;
	return left < block ? left : block;
}

void on_send(int i)
{
	struct flow *f = &flows[i];
	ssize_t n = 0;

	if (!f->is_open && !f->is_udp)
		note_open(i);
	while (is_server(f) && (n = recv(f->sfd, buf, CHUNK, MSG_TRUNC)) > 0) {
		int64_t before = f->requested / REQUEST;

		f->requested += n;
		for (int64_t k = before; k < f->requested / REQUEST; k++)
			f->want += response(f, k)->bytes;
	}
	n = 0;
	while (f->want > f->sent) {
		int64_t call = next_call(f);

		n = send(f->sfd, buf, (size_t)(call < CHUNK ? call : CHUNK), MSG_NOSIGNAL);
		if (n <= 0)
			break;
		f->sent += n;
		f->call = has_blocks(f) ? call - n : 0;
	}
	if (n < 0 && errno != EAGAIN)
		die("send of flow %d", i);
	if (f->reply)
		while (recv(f->sfd, buf, CHUNK, MSG_TRUNC) > 0)
			;
	/* Idle until there is more to write; a server is woken by the next request. */
	if (f->want <= f->sent)
		watch_sender(i, 0);
	else if (is_server(f))
		watch_sender(i, 1);
}

/* ---- a rate ---- */

/* The time at which the next unit is due, rounded up to nanoseconds. */
static int64_t pace_due(const struct flow *f)
{
	if (f->rate <= 0)
		return NEVER;
	return f->pace_from + (int64_t)((f->debt + f->rate - 1) / f->rate);
}

static void write_unit(int i)
{
	struct flow *f = &flows[i];

	want_more(i, f->unit, f->due);
	f->debt += (__int128)f->unit * 8 * SEC;
	set_due(i, pace_due(f));
}

/* From now on the application writes at `rate`: bits per second, 0 or RATE_UNLIMITED. The bytes
 * that it writes are the integral of the rate. */
void on_pace(int i, int64_t rate, int64_t at)
{
	struct flow *f = &flows[i];

	if (f->is_over)
		return;
	if (f->rate == RATE_UNLIMITED) {
		f->want = f->sent;
		f->call = 0;
	}
	if (f->rate > 0 && f->has_started) {
		f->debt -= (__int128)f->rate * (at - f->pace_from);
		if (f->debt < 0)
			f->debt = 0;
	}
	f->rate = rate;
	f->pace_from = at;
	if (!f->has_started)
		return;
	if (rate == RATE_UNLIMITED) {
		f->want = UNLIMITED;
		if (f->sfd >= 0 && !f->is_udp)
			on_send(i);
	}
	set_due(i, pace_due(f));
}

/* ---- transfers ---- */

/* The receiver has read the last byte of a transfer. Returns whether a timer was set. */
static int end_transfer(int i)
{
	struct flow *f = &flows[i];
	int64_t at = now();

	f->transfer_end = f->done = at;
	/* The row of a train's transfer has the segments that its socket sends until it is closed. */
	if (f->mode == TRAIN) {
		f->waits = 1;
		set_due(i, at + f->gap);
		return 1;
	}
	record_transfer(i);
	if (f->mode == REQUESTS && f->transfers < f->count && !f->is_over) {
		set_due(i, at + response(f, f->transfers - 1)->think);
		return 1;
	}
	if (!f->closes)
		return 0;
	f->is_closing = 1;
	set_due(i, at + LINGER);
	return 1;
}

static void close_flow(int i)
{
	struct flow *f = &flows[i];

	set_due(i, NEVER);
	keep_socket(i);
	close(f->sfd);
	close(f->rfd);
	close(f->lfd);
	f->sfd = f->rfd = f->lfd = -1;
}

/* The end of the transfer that the receiver is reading, in bytes of its connection. */
static int64_t end_of_transfer(const struct flow *f)
{
	int64_t end = f->size;

	if (f->mode == TRAIN || f->mode == BYTES)
		return f->transfers && f->mode == BYTES ? NEVER : end;
	if (f->mode != REQUESTS || f->transfers == f->count)
		return NEVER;
	return f->read_before + response(f, f->transfers)->bytes;
}

/* Closes a socket without a FIN or RST, as in the simulator. A FIN would be in front of the next
 * connection's SYN in the queues, and the kernel would go on repeating data of the old connection. */
static void close_silently(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &one, sizeof(one)))
		die("repair");
	close(fd);
}

static void next_of_train(int i)
{
	struct flow *f = &flows[i];

	record_transfer(i);
	if (f->transfers == f->count)
		keep_socket(i);
	close_silently(f->sfd);
	f->sfd = -1;
	if (f->rfd >= 0)
		close_silently(f->rfd);
	f->rfd = -1;
	set_due(i, NEVER);
	f->waits = 0;
	if (f->transfers < f->count)
		connect_flow(i);
}

static void send_request(int i)
{
	struct flow *f = &flows[i];

	if (send(f->rfd, buf, REQUEST, MSG_NOSIGNAL) != REQUEST)
		die("request of flow %d", i);
}

/* ---- events ---- */

void on_timer(int i)
{
	struct flow *f = &flows[i];
	int64_t due = f->due;

	if (f->is_closing && f->sfd >= 0) {
		close_flow(i);
	} else if (due >= f->stop) {
		/* The entry in the time table comes after the timers. */
		set_due(i, NEVER);
	} else if (!f->has_started) {
		connect_flow(i);
		set_due(i, NEVER);
		if (f->mode == PERIODIC) {
			set_due(i, due + f->interval);
			/* The first block waits for the handshake. */
			if (f->is_udp) {
				send_datagrams(i, f->size, due);
			} else {
				f->want = f->size;
				begin_message(f, f->want, f->size, due);
			}
		} else if (f->mode == PACE) {
			if (f->pace_from < due)
				f->pace_from = due;
			if (f->rate == RATE_UNLIMITED)
				f->want = UNLIMITED;
			set_due(i, pace_due(f));
		}
	} else if (f->mode == PERIODIC) {
		set_due(i, due + f->interval);
		want_more(i, f->size, due);
	} else if (f->mode == PACE) {
		write_unit(i);
	} else if (f->mode == TRAIN && f->waits) {
		next_of_train(i);
	} else if (f->mode == REQUESTS) {
		begin_transfer(f, response(f, f->transfers)->bytes, due);
		set_due(i, NEVER);
		send_request(i);
	} else {
		set_due(i, NEVER);
	}
}

void on_read_timer(int i)
{
	struct flow *f = &flows[i];

	set_read_due(i, f->read_due + f->read_interval);
	if (f->rfd >= 0)
		on_receive(i, f->read_bytes);
}

static unsigned receiver_events(const struct flow *f)
{
	return f->is_deaf || f->read_bytes ? 0 : EPOLLIN;
}

void on_accept(int i)
{
	struct flow *f = &flows[i];
	int fd = accept4(f->lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (is_server(f)) {
		f->sfd = fd;
		note_open(i);
		watch(fd, K_SEND, i, sender_events(f, 0), EPOLL_CTL_ADD);
		return;
	}
	set(fd, SOL_SOCKET, SO_RCVLOWAT, f->lowat, "lowat");
	f->rfd = fd;
	watch(fd, K_RECV, i, receiver_events(f), EPOLL_CTL_ADD);
}

static int receive_datagrams(int i)
{
	struct flow *f = &flows[i];
	uint32_t number;
	ssize_t n;

	while ((n = recv(f->rfd, buf, 65536, 0)) >= 0) {
		memcpy(&number, buf, sizeof(number));
		number = ntohl(number);
		memset(buf, 'x', (size_t)n);
		f->rx += n;
		f->datagrams_read++;
		if (n < (ssize_t)sizeof(number) || number >= f->datagrams_sent)
			continue;
		while (f->n_seen <= number) {
			f->seen = grow(f->seen, (int)f->n_seen, 1);
			f->seen[f->n_seen++] = 0;
		}
		if (f->seen[number]) {
			f->datagrams_again++;
			continue;
		}
		f->seen[number] = 1;
		if (number < f->highest)
			f->datagrams_late++;
		else
			f->highest = number;
		if (f->has_latency)
			record_message(i, number, &f->messages[number], now());
	}
	return 0;
}

/* The receiver reads at most `most` bytes. Returns whether a timer was set. */
int on_receive(int i, int64_t most)
{
	struct flow *f = &flows[i];
	ssize_t n;

	if (f->is_udp)
		return receive_datagrams(i);
	n = f->rfd < 0 ? 0 : recv(f->rfd, buf, (size_t)most, MSG_TRUNC);
	if (is_server(f) && !f->has_asked && (n >= 0 || errno == EAGAIN)) {
		/* The connection is established. */
		f->has_asked = 1;
		watch(f->rfd, K_RECV, i, receiver_events(f), EPOLL_CTL_MOD);
		send_request(i);
	}
	if (n <= 0)
		return 0;
	f->rx += n;
	f->rx_now += n;
	if (f->reply && send(f->rfd, buf, (size_t)f->reply, MSG_NOSIGNAL) < 0)
		die("reply of flow %d", i);
	if (f->first_message < f->n_messages)
		end_messages(i);
	if (f->rx_now < end_of_transfer(f))
		return 0;
	f->read_before = f->rx_now;
	return end_transfer(i);
}

void on_write(int i, int64_t bytes, int64_t at)
{
	if (!flows[i].is_over)
		want_more(i, bytes, at);
}

void on_hearing(int i, int hears)
{
	struct flow *f = &flows[i];

	f->is_deaf = !hears;
	if (f->rfd >= 0)
		watch(f->rfd, K_RECV, i, receiver_events(f), EPOLL_CTL_MOD);
}

/* The application writes nothing more. What the socket has accepted is still sent. */
void on_stop(int i)
{
	struct flow *f = &flows[i];

	f->is_over = 1;
	f->rate = 0;
	f->want = f->sent;
	set_due(i, NEVER);
	if (f->sfd >= 0 && !f->is_udp)
		watch_sender(i, 0);
}
