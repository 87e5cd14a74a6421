/*
 * Captures: every packet of a device, with the kernel's time stamps.
 *
 * The kernel fills a ring, which is read only after the end, so a capture changes nothing. The ring
 * is mapped at the end only: a fork() with a mapped ring upsets the guest.
 */
#include "lab.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

#define FRAME 256
#define N_FRAMES 131072

struct capture *captures;
int n_captures;

static void open_capture(struct capture *capture)
{
	struct tpacket_req ring = { .tp_block_size = 1 << 16,
				    .tp_block_nr = (N_FRAMES * FRAME) >> 16,
				    .tp_frame_size = FRAME,
				    .tp_frame_nr = N_FRAMES };
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int version = TPACKET_V2, one = 1, fd;

	enter(capture->ns);
	a.sll_ifindex = (int)if_nametoindex(capture->dev);
	fd = capture->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) ||
	    bind(fd, (void *)&a, sizeof(a)))
		die("capture %s %s", capture->ns, capture->dev);
}

void open_captures(void)
{
	for (int k = 0; k < n_captures; k++)
		open_capture(&captures[k]);
}

static void save_capture(FILE *file, int k, int64_t offset)
{
	struct tpacket_stats stats;
	socklen_t length = sizeof(stats);
	char *ring;

	if (!getsockopt(captures[k].fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length) &&
	    stats.tp_drops)
		die("capture %s %s: the ring is full, %u packets are missing", captures[k].ns,
		    captures[k].dev, stats.tp_drops);
	ring = mmap(0, (size_t)N_FRAMES * FRAME, PROT_READ | PROT_WRITE, MAP_SHARED,
		    captures[k].fd, 0);
	if (ring == MAP_FAILED)
		die("capture");
	for (int j = 0; j < N_FRAMES; j++) {
		struct tpacket2_hdr *h = (void *)(ring + (size_t)j * FRAME);
		struct sockaddr_ll *from = (void *)((char *)h + TPACKET_ALIGN(sizeof(*h)));
		struct {
			int64_t at;
			uint32_t point, is_outgoing, length, captured;
		} record = { h->tp_sec * SEC + h->tp_nsec - offset, (uint32_t)k,
			     from->sll_pkttype == PACKET_OUTGOING, h->tp_len, h->tp_snaplen };

		if (!(h->tp_status & TP_STATUS_USER))
			break;
		fwrite(&record, sizeof(record), 1, file);
		fwrite((char *)h + h->tp_mac, 1, record.captured, file);
	}
	munmap(ring, (size_t)N_FRAMES * FRAME);
}

void save_captures(void)
{
	FILE *file = create("cap.bin");
	struct timespec real;
	int64_t before = now(), after;

	/* Time stamps are of CLOCK_REALTIME; each reading of a clock takes the same time. */
	clock_gettime(CLOCK_REALTIME, &real);
	after = now();
	for (int k = 0; k < n_captures; k++)
		save_capture(file, k, real.tv_sec * SEC + real.tv_nsec - (before + after) / 2);
	finish(file);
}
