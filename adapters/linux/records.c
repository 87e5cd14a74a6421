/* Records: CSV files in the scenario's folder, which is the host's, seen through hostfs. */
#include "lab.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A write to hostfs costs some microseconds of the host, so writes are large. */
#define BUFFER (1 << 20)

FILE *transfers_csv, *messages_csv;
static FILE *flows_csv, *queue_csv, *qdiscs_csv;

/* struct tcp_info of Linux 6.12; older kernels and headers lack its end. */
struct tcpinfo {
	uint8_t state, ca_state, retransmits, probes, backoff, options;
	uint8_t scales, app_limited; /* bit fields; the lowest bit of app_limited is that flag */
	uint32_t rto, ato, snd_mss, rcv_mss;
	uint32_t unacked, sacked, lost, retrans, fackets;
	uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
	uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
	uint32_t rcv_rtt, rcv_space, total_retrans;
	uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
	uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
	uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
	uint32_t delivered, delivered_ce;
	uint64_t bytes_sent, bytes_retrans;
	uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
	uint16_t total_rto, total_rto_recoveries;
	uint32_t total_rto_time;
};

/* TCP_CC_INFO of BBR; from bw_hi on only of versions 2 and 3. */
struct bbrinfo {
	uint32_t bw_low, bw_high, min_rtt, pacing_gain, cwnd_gain;
	uint32_t bw_hi_low, bw_hi_high, bw_lo_low, bw_lo_high;
	uint8_t mode, phase, unused, version;
	uint32_t inflight_lo, inflight_hi, extra_acked;
};

static uint64_t joined(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

FILE *create(const char *suffix)
{
	char path[500];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%s", out, suffix);
	file = fopen(path, "w");
	if (!file)
		die("create %s", path);
	setvbuf(file, malloc(BUFFER), _IOFBF, BUFFER);
	return file;
}

void finish(FILE *file)
{
	int has_failed;

	if (!file)
		return;
	/* An error of an earlier write is known only until the file is closed. */
	has_failed = ferror(file);
	if (fclose(file) || has_failed)
		die("write the records");
}

void open_records(void)
{
	flows_csv = create("flows.csv");
	fputs("t,flow,cwnd,ssthresh,srtt_us,min_rtt_us,pacing_Bps,delivery_Bps,unacked,lost,"
	      "retrans_total,delivered,rx_bytes,ca_state,"
	      "bbr_bw_Bps,bbr_min_rtt_us,bbr_pacing_gain_x256,bbr_cwnd_gain_x256",
	      flows_csv);
	if (has_bbr_columns)
		fputs(",bbr_phase,bbr_bw_hi_Bps,bbr_bw_lo_Bps,bbr_inflight_lo,bbr_inflight_hi,"
		      "bbr_extra_acked",
		      flows_csv);
	if (extra)
		fputs(",snd_wnd,notsent,delivered_ce,reordering,dsack_dups", flows_csv);
	if (extra > 1)
		fputs(",sacked,retrans,data_segs,bytes_sent,bytes_acked,rttvar_us,busy_us,"
		      "rwnd_limited_us,sndbuf_limited_us,app_limited,rto_total",
		      flows_csv);
	fputc('\n', flows_csv);
	queue_csv = create("queue.csv");
	fprintf(queue_csv, "t,qlen,drops,tx_bytes%s%s\n",
		n_queues > 1 ? ",rev_qlen,rev_drops,rev_tx_bytes" : "", extra ? ",marks" : "");
	if (n_queues && extra > 1) {
		qdiscs_csv = create("qdiscs.csv");
		fputs("t,queue,qlen,backlog,packets,bytes,drops,overlimits,marks\n", qdiscs_csv);
	}
	for (int i = 0; i < n_flows; i++) {
		enum mode mode = flows[i].mode;

		if ((mode == TRAIN || mode == BYTES || mode == REQUESTS) && !transfers_csv) {
			transfers_csv = create("transfers.csv");
			fputs("flow,n,bytes,start_s,fct_s,retrans,data_segs,cwnd_end,srtt_us,"
			      "min_rtt_us,ca_state\n",
			      transfers_csv);
		}
		if (flows[i].has_latency && !messages_csv) {
			messages_csv = create("messages.csv");
			fputs("flow,n,bytes,written_s,read_s\n", messages_csv);
		}
	}
}

static void flush(FILE *file)
{
	/* An error is known when the file is closed. */
	if (file && !fflush(file))
		sync_file_range(fileno(file), 0, 0,
				SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
}

/* Writes all rows so far to the host's files, where they survive the end of the guest. */
void flush_records(void)
{
	flush(flows_csv);
	flush(queue_csv);
	flush(qdiscs_csv);
	flush(transfers_csv);
	flush(messages_csv);
}

void close_records(void)
{
	finish(flows_csv);
	finish(queue_csv);
	finish(qdiscs_csv);
	finish(transfers_csv);
	finish(messages_csv);
}

/* ---- series ---- */

static int get_info(int fd, struct tcpinfo *info)
{
	socklen_t length = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return fd < 0 ? -1 : getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &length);
}

/*
 * Once a flow's connection is established, all retransmissions so far are of its SYN or SYN-ACK.
 * Must be called before the connection sends data.
 */
void note_open(int i)
{
	struct flow *f = &flows[i];
	struct tcpinfo info;

	if (get_info(f->sfd, &info) || info.state != TCP_ESTABLISHED)
		return;
	f->is_open = 1;
	f->syn_retrans = info.total_retrans;
}

/* The kernel's record of a flow's sender, but with the retransmissions of data alone. */
static int get_flow_info(const struct flow *f, struct tcpinfo *info)
{
	int result = get_info(f->is_udp ? -1 : f->sfd, info);

	info->total_retrans = f->is_open ? info->total_retrans - f->syn_retrans : 0;
	return result;
}

/* A number, or nothing if it means "none" in the kernel. */
static void put_or_none(FILE *file, unsigned value)
{
	if (value >= 0x7fffffff)
		fputc(',', file);
	else
		fprintf(file, "%u,", value);
}

static void sample_bbr(int i)
{
	const struct flow *f = &flows[i];
	struct bbrinfo bbr;
	socklen_t length = sizeof(bbr);
	uint64_t bw_lo;

	if (strncmp(f->cc, "bbr", 3)) {
		fputs(has_bbr_columns ? ",,,,,,,,," : ",,,", flows_csv);
		return;
	}
	memset(&bbr, 0, sizeof(bbr));
	getsockopt(f->sfd, IPPROTO_TCP, TCP_CC_INFO, &bbr, &length);
	fprintf(flows_csv, "%llu,", (unsigned long long)joined(bbr.bw_low, bbr.bw_high));
	put_or_none(flows_csv, bbr.min_rtt);
	fprintf(flows_csv, "%u,%u", bbr.pacing_gain, bbr.cwnd_gain);
	if (!has_bbr_columns)
		return;
	if (bbr.version < 2) {
		fputs(",,,,,,", flows_csv);
		return;
	}
	fprintf(flows_csv, ",%u,%llu,", bbr.phase,
		(unsigned long long)joined(bbr.bw_hi_low, bbr.bw_hi_high));
	bw_lo = joined(bbr.bw_lo_low, bbr.bw_lo_high);
	if (bw_lo != UINT64_MAX)
		fprintf(flows_csv, "%llu", (unsigned long long)bw_lo);
	fputc(',', flows_csv);
	put_or_none(flows_csv, bbr.inflight_lo);
	put_or_none(flows_csv, bbr.inflight_hi);
	fprintf(flows_csv, "%u", bbr.extra_acked);
}

static void put_time(FILE *file, int64_t at)
{
	if (at % 1000000)
		fprintf(file, "%.6f,", (double)at / 1e9);
	else
		fprintf(file, "%.3f,", (double)at / 1e9);
}

static void sample_flow(int64_t at, int i)
{
	const struct flow *f = &flows[i];
	struct tcpinfo info;

	if (!f->has_started || f->is_udp || !f->is_sampled || get_flow_info(f, &info))
		return;
	put_time(flows_csv, at);
	fprintf(flows_csv, "%d,%u,", i, info.snd_cwnd);
	put_or_none(flows_csv, info.snd_ssthresh);
	fprintf(flows_csv, "%u,", info.rtt);
	put_or_none(flows_csv, info.min_rtt);
	if (info.pacing_rate != UINT64_MAX)
		fprintf(flows_csv, "%llu", (unsigned long long)info.pacing_rate);
	fprintf(flows_csv, ",%llu,%u,%u,%u,%u,%lld,%u,", (unsigned long long)info.delivery_rate,
		info.unacked, info.lost, info.total_retrans, info.delivered, (long long)f->rx,
		info.ca_state);
	sample_bbr(i);
	if (extra)
		fprintf(flows_csv, ",%u,%u,%u,%u,%u", info.snd_wnd, info.notsent_bytes,
			info.delivered_ce, info.reordering, info.dsack_dups);
	if (extra > 1)
		fprintf(flows_csv, ",%u,%u,%u,%llu,%llu,%u,%llu,%llu,%llu,%u,%u", info.sacked,
			info.retrans, info.data_segs_out, (unsigned long long)info.bytes_sent,
			(unsigned long long)info.bytes_acked, info.rttvar,
			(unsigned long long)info.busy_time, (unsigned long long)info.rwnd_limited,
			(unsigned long long)info.sndbuf_limited, info.app_limited & 1u,
			info.total_rto);
	fputc('\n', flows_csv);
}

void sample(int64_t at)
{
	static const struct qdisc_stats none;

	read_queues();
	put_time(queue_csv, at);
	for (int k = 0; k < 2 && (k < n_queues || !k); k++) {
		const struct qdisc_stats *stats = n_queues ? &queues[k].stats : &none;

		fprintf(queue_csv, "%s%u,%u,%llu", k ? "," : "", stats->qlen, stats->drops,
			stats->bytes);
	}
	if (extra)
		fprintf(queue_csv, ",%llu", n_queues ? queues[0].stats.marks : 0);
	fputc('\n', queue_csv);
	for (int k = 0; k < n_queues && qdiscs_csv; k++) {
		const struct qdisc_stats *stats = &queues[k].stats;

		put_time(qdiscs_csv, at);
		fprintf(qdiscs_csv, "%d,%u,%llu,%llu,%llu,%u,%u,%llu\n", k, stats->qlen,
			stats->backlog, stats->packets, stats->bytes, stats->drops,
			stats->overlimits, stats->marks);
	}
	for (int i = 0; i < n_flows; i++)
		sample_flow(at, i);
}

/* ---- transfers and messages ---- */

/*
 * Writes the row of a flow's transfer, with the values of its socket. Nothing else may write a part
 * of a row: rows of other flows come before and after it.
 */
void record_transfer(int i)
{
	struct flow *f = &flows[i];
	struct tcpinfo info;

	get_flow_info(f, &info);
	fprintf(transfers_csv, "%d,%lld,%lld,%.6f,", i, (long long)f->transfers,
		(long long)f->transfer_bytes, (double)f->transfer_begin / 1e9);
	if (f->transfer_end >= 0) {
		fprintf(transfers_csv, "%.6f", (double)(f->transfer_end - f->transfer_begin) / 1e9);
		f->transfers++;
	}
	fprintf(transfers_csv, ",%u,%u,%u,%u,%u,%u\n", info.total_retrans, info.data_segs_out,
		info.snd_cwnd, info.rtt, info.min_rtt, info.ca_state);
	f->transfer_bytes = 0;
}

/* Keeps the record of a socket that is about to be closed. */
void keep_socket(int i)
{
	struct tcpinfo *info = malloc(sizeof(*info));

	if (!info)
		die("memory");
	get_flow_info(&flows[i], info);
	flows[i].last = info;
}

void record_message(int i, int64_t number, const struct message *message, int64_t read)
{
	fprintf(messages_csv, "%d,%lld,%lld,%.9f,%.9f\n", i, (long long)number,
		(long long)message->bytes, (double)message->written / 1e9, (double)read / 1e9);
}

/* ---- the end ---- */

static void put_moment(FILE *file, int64_t at)
{
	if (at >= 0 && at != NEVER)
		fprintf(file, ",%.9f", (double)at / 1e9);
	else
		fputc(',', file);
}

static void put_final(FILE *file, int i)
{
	const struct flow *f = &flows[i];
	struct qdisc_stats path = { 0 };
	struct tcpinfo info;
	char cc[NAME] = "";
	socklen_t length = sizeof(cc) - 1;

	get_flow_info(f, &info);
	if (f->last)
		info = *(struct tcpinfo *)f->last;
	if (f->sfd >= 0 && !f->is_udp)
		getsockopt(f->sfd, IPPROTO_TCP, TCP_CONGESTION, cc, &length);
	if (*f->path_dev)
		read_queue_of(f->path_ns, f->path_dev, &path);
	fprintf(file, "%d,%s,%u,%lld,%u,%u,%u,%llu,%llu,%llu,%u,%u,%u,%u", i, cc, info.snd_mss,
		(long long)f->rx, info.total_retrans, info.data_segs_out, info.min_rtt,
		(unsigned long long)info.rwnd_limited, (unsigned long long)info.sndbuf_limited,
		(unsigned long long)info.busy_time, info.dsack_dups, info.delivered_ce,
		info.reord_seen, path.drops);
	fprintf(file, ",%llu,%llu,%llu,%u,%u,%u,%u,%u",
		(unsigned long long)info.bytes_acked, (unsigned long long)info.bytes_sent,
		(unsigned long long)info.bytes_retrans, info.lost, info.unacked, info.delivered,
		info.notsent_bytes, info.total_rto);
	put_moment(file, f->has_started ? f->start : -1);
	put_moment(file, f->stop);
	put_moment(file, f->done);
	fprintf(file, ",%lld,%lld,%lld,%lld,%lld,%lld\n", (long long)f->transfers,
		(long long)f->sent, (long long)f->datagrams_sent, (long long)f->datagrams_read,
		(long long)f->datagrams_late, (long long)f->datagrams_again);
}

void record_end(void)
{
	FILE *file = create("final.csv");

	fputs("flow,cc,mss,rx_bytes,retrans,data_segs,min_rtt_us,rwnd_limited_us,"
	      "sndbuf_limited_us,busy_us,dsack_dups,delivered_ce,reord_seen,path_drops,"
	      "bytes_acked,bytes_sent,bytes_retrans,lost,unacked,delivered,notsent,rto_total,"
	      "start_s,stop_s,done_s,transfers,app_bytes,datagrams_sent,datagrams_read,"
	      "datagrams_late,datagrams_again\n",
	      file);
	for (int i = 0; i < n_flows; i++) {
		/* The end came, or the application stopped, in the transfer or the gap after it. */
		if (flows[i].transfer_bytes)
			record_transfer(i);
		put_final(file, i);
	}
	read_queues();
	for (int k = 0; k < n_queues; k++) {
		const struct qdisc_stats *stats = &queues[k].stats;

		fprintf(file, "queue%d,,,%llu,%u,%llu,,,,,,%llu,,,,,,,,,,,,,,,,,,,\n", k,
			stats->bytes, stats->drops, stats->packets, stats->marks);
	}
	finish(file);
}
