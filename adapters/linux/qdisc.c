/* Statistics of queue disciplines, and a route's feature, over netlink. */
#include "lab.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct queue *queues;
int n_queues;

/* One socket per namespace that has queues. */
static struct host {
	char ns[NAME];
	int fd;
} *hosts;
static int n_hosts;

static int open_netlink(const char *ns)
{
	int fd;

	enter(ns);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0)
		die("netlink");
	return fd;
}

static int device(const char *ns, const char *dev)
{
	int ifindex = (int)if_nametoindex(dev);

	if (!ifindex)
		die("device %s in %s", dev, ns);
	return ifindex;
}

/* Marks in the nested statistics of cake: the sum over its tins. */
static unsigned long long marks_of_cake(struct rtattr *all)
{
	unsigned long long marks = 0;
	int length = RTA_PAYLOAD(all);

	for (struct rtattr *a = RTA_DATA(all); RTA_OK(a, length); a = RTA_NEXT(a, length)) {
		int tins_length = RTA_PAYLOAD(a);

		if ((a->rta_type & NLA_TYPE_MASK) != TCA_CAKE_STATS_TIN_STATS)
			continue;
		for (struct rtattr *tin = RTA_DATA(a); RTA_OK(tin, tins_length);
		     tin = RTA_NEXT(tin, tins_length)) {
			int tin_length = RTA_PAYLOAD(tin);

			for (struct rtattr *x = RTA_DATA(tin); RTA_OK(x, tin_length);
			     x = RTA_NEXT(x, tin_length))
				if (x->rta_type == TCA_CAKE_TIN_STATS_ECN_MARKED_PACKETS)
					marks += *(uint32_t *)RTA_DATA(x);
		}
	}
	return marks;
}

static unsigned long long marks_of(const char *kind, struct rtattr *app)
{
	void *data = RTA_DATA(app);

	if (!strcmp(kind, "codel")) {
		struct tc_codel_xstats *x = data;
		return x->ce_mark + x->ecn_mark;
	}
	if (!strcmp(kind, "fq_codel")) {
		struct tc_fq_codel_xstats *x = data;
		return x->type ? 0 : x->qdisc_stats.ecn_mark + x->qdisc_stats.ce_mark;
	}
	if (!strcmp(kind, "pie"))
		return ((struct tc_pie_xstats *)data)->ecn_mark;
	if (!strcmp(kind, "fq_pie"))
		return ((struct tc_fq_pie_xstats *)data)->ecn_mark;
	if (!strcmp(kind, "red"))
		return ((struct tc_red_xstats *)data)->marked;
	if (!strcmp(kind, "fq"))
		return ((struct tc_fq_qd_stats *)data)->ce_mark;
	return strcmp(kind, "cake") ? 0 : marks_of_cake(app);
}

/* The root's counters, and the marks of the root and of the disciplines inside it. */
static void read_message(struct nlmsghdr *header, const struct tcmsg *tc, struct qdisc_stats *stats)
{
	int length = (int)header->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*tc));
	int is_root = tc->tcm_parent == TC_H_ROOT;
	struct rtattr *a = (void *)((char *)tc + NLMSG_ALIGN(sizeof(*tc)));
	const char *kind = "";

	for (; RTA_OK(a, length); a = RTA_NEXT(a, length)) {
		int inner = RTA_PAYLOAD(a);

		if (a->rta_type == TCA_KIND)
			kind = RTA_DATA(a);
		if (a->rta_type != TCA_STATS2)
			continue;
		for (struct rtattr *s = RTA_DATA(a); RTA_OK(s, inner); s = RTA_NEXT(s, inner)) {
			if (is_root && s->rta_type == TCA_STATS_QUEUE) {
				struct gnet_stats_queue *queue = RTA_DATA(s);

				stats->qlen = queue->qlen;
				stats->backlog = queue->backlog;
				stats->drops = queue->drops;
				stats->overlimits = queue->overlimits;
			} else if (is_root && s->rta_type == TCA_STATS_BASIC) {
				struct gnet_stats_basic basic;

				memcpy(&basic, RTA_DATA(s), 12);
				stats->bytes = basic.bytes;
				stats->packets = basic.packets;
			} else if (s->rta_type == TCA_STATS_APP) {
				stats->marks += marks_of(kind, s);
			}
		}
	}
}

/* Asks a namespace for all of its disciplines, and hands each to the queues of its device. */
static void read_host(int fd, int ifindex, struct queue *list, int n, int host)
{
	static char answer[32768] __attribute__((aligned(8)));
	struct {
		struct nlmsghdr header;
		struct tcmsg tc;
	} request = { .header = { sizeof(request), RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 1, 0 },
		      .tc = { .tcm_family = AF_UNSPEC, .tcm_ifindex = ifindex } };

	for (int k = 0; k < n; k++)
		if (list[k].host == host)
			memset(&list[k].stats, 0, sizeof(list[k].stats));
	if (send(fd, &request, sizeof(request), 0) < 0)
		die("netlink");
	for (;;) {
		ssize_t size = recv(fd, answer, sizeof(answer), 0);

		if (size <= 0)
			die("netlink");
		for (struct nlmsghdr *h = (void *)answer; NLMSG_OK(h, size); h = NLMSG_NEXT(h, size)) {
			struct tcmsg *tc = NLMSG_DATA(h);

			if (h->nlmsg_type == NLMSG_DONE)
				return;
			if (h->nlmsg_type != RTM_NEWQDISC)
				continue;
			for (int k = 0; k < n; k++)
				if (list[k].host == host && list[k].ifindex == tc->tcm_ifindex)
					read_message(h, tc, &list[k].stats);
		}
	}
}

void open_queues(void)
{
	for (int k = 0; k < n_queues; k++) {
		struct queue *queue = &queues[k];
		int host = 0;

		while (host < n_hosts && strcmp(hosts[host].ns, queue->ns))
			host++;
		if (host == n_hosts) {
			hosts = grow(hosts, n_hosts, sizeof(*hosts));
			memcpy(hosts[n_hosts].ns, queue->ns, NAME);
			hosts[n_hosts++].fd = open_netlink(queue->ns);
		} else {
			enter(queue->ns);
		}
		queue->host = host;
		queue->ifindex = device(queue->ns, queue->dev);
	}
}

void read_queues(void)
{
	for (int host = 0; host < n_hosts; host++)
		read_host(hosts[host].fd, 0, queues, n_queues, host);
}

void read_queue_of(const char *ns, const char *dev, struct qdisc_stats *stats)
{
	int fd = open_netlink(ns);
	struct queue queue = { .ifindex = device(ns, dev) };

	read_host(fd, queue.ifindex, &queue, 1, 0);
	*stats = queue.stats;
	close(fd);
}

/* `ip route replace default via GATEWAY features ecn_low`: a feature that the BBRv3 patch adds. */
void set_ecn_low(const char *ns, const char *gateway)
{
	struct {
		struct nlmsghdr header;
		struct rtmsg route;
		struct rtattr gateway_attr;
		uint32_t gateway;
		struct rtattr metrics, features_attr;
		uint32_t features;
	} request = { .header = { sizeof(request), RTM_NEWROUTE,
				  NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, 1, 0 },
		      .route = { .rtm_family = AF_INET,
				 .rtm_table = RT_TABLE_MAIN,
				 .rtm_protocol = RTPROT_BOOT,
				 .rtm_scope = RT_SCOPE_UNIVERSE,
				 .rtm_type = RTN_UNICAST },
		      .gateway_attr = { 8, RTA_GATEWAY },
		      .gateway = inet_addr(gateway),
		      .metrics = { 12, RTA_METRICS },
		      .features_attr = { 8, RTAX_FEATURES },
		      .features = 1 << 5 };
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char rest[200];
	} answer;
	int fd = open_netlink(ns);

	if (send(fd, &request, sizeof(request), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)sizeof(answer.header) + 4)
		die("ecnlow %s", ns);
	errno = -answer.error.error;
	if (errno)
		die("ecnlow %s %s", ns, gateway);
	close(fd);
}
