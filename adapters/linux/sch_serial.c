// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * serial: an exact serialiser with one child queue discipline. Linked into the kernel that `bbrlab
 * kernel build` builds.
 *
 * The child is asked for a packet (its dequeue(), not peek()) when the link becomes free, or when
 * a packet arrives at an idle link. The packet leaves length * 8 / rate later. Until then it
 * counts in serial's own queue length, not in the child's. While the child has packets, the next
 * service starts at the computed end of the last one and not at the timer, which is up to one
 * clock step later: there is no drift.
 *
 * Why not tbf: a packet that meets an idle link leaves at once on saved tokens, and tbf peeks,
 * which is not what a device does.
 *
 * What arrives looks afterwards as if it came off a wire: owner, time stamp and the hash of the
 * sending socket are removed. On one machine with several name spaces they would travel along, and
 * fq_codel, fq and cake would hash by the sender's socket instead of by addresses and ports.
 *
 * tc does not know serial, so its rate comes through the file
 * /sys/module/sch_serial/parameters/cfg, which takes MAJOR:BITS_PER_SECOND. MAJOR is hexadecimal,
 * as in tc's handles. It must be written before the qdisc is added, and may be written again: a
 * new rate is valid from the next packet on. With the rate 0, there is no serialisation, for a
 * child that shapes.
 *
 *   echo 1:50000000 > /sys/module/sch_serial/parameters/cfg
 *   tc qdisc add dev bn root handle 1: serial
 *   tc qdisc add dev bn parent 1:1 handle 10: codel
 */
#include <linux/module.h>
#include <linux/skbuff.h>
#include <net/pkt_sched.h>

#define MAX_RATES 1024

static struct rate {
	u16 major;
	u64 bps;
} rates[MAX_RATES];
static int n_rates;

static struct rate *find_rate(u32 major)
{
	int i;

	for (i = 0; i < n_rates; i++)
		if (rates[i].major == major)
			return &rates[i];
	return NULL;
}

static int cfg_set(const char *text, const struct kernel_param *kp)
{
	unsigned long long bps;
	unsigned int major;
	struct rate *rate;

	if (sscanf(text, "%x:%llu", &major, &bps) != 2 || major > 0xffff)
		return -EINVAL;
	rate = find_rate(major);
	if (!rate) {
		if (n_rates == MAX_RATES)
			return -ENOSPC;
		rate = &rates[n_rates++];
		rate->major = major;
	}
	rate->bps = bps;
	return 0;
}

static const struct kernel_param_ops cfg_ops = { .set = cfg_set };
module_param_cb(cfg, &cfg_ops, NULL, 0200);

struct serial {
	struct Qdisc *child;
	struct qdisc_watchdog watchdog;
	struct rate *rate;
	struct sk_buff *in_service;
	u64 end;                /* of the service of the last packet that began one */
	u64 handed;             /* when the last packet was handed out */
};

static int serial_enqueue(struct sk_buff *skb, struct Qdisc *sch, struct sk_buff **to_free)
{
	struct serial *q = qdisc_priv(sch);
	unsigned int len = qdisc_pkt_len(skb);
	int ret;

	skb_orphan(skb);
	skb_clear_hash(skb);
	skb->tstamp = 0;
	skb->tstamp_type = 0;
	ret = qdisc_enqueue(skb, q->child, to_free);
	if (ret != NET_XMIT_SUCCESS) {
		if (net_xmit_drop_count(ret))
			qdisc_qstats_drop(sch);
		return ret;
	}
	sch->qstats.backlog += len;
	sch->q.qlen++;
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *hand_out(struct Qdisc *sch, struct sk_buff *skb)
{
	qdisc_qstats_backlog_dec(sch, skb);
	sch->q.qlen--;
	qdisc_bstats_update(sch, skb);
	return skb;
}

static struct sk_buff *serial_dequeue(struct Qdisc *sch)
{
	struct serial *q = qdisc_priv(sch);
	u64 now = ktime_get_ns();
	struct sk_buff *skb;

	if (!q->rate->bps) {
		skb = q->child->ops->dequeue(q->child);
		return skb ? hand_out(sch, skb) : NULL;
	}
	skb = q->in_service;
	if (skb && now >= q->end) {
		q->in_service = NULL;
		q->handed = now;
		return hand_out(sch, skb);
	}
	if (!skb) {
		u64 begin = q->handed == now ? q->end : now;

		skb = q->child->ops->dequeue(q->child);
		if (!skb)
			return NULL;
		q->end = begin + div64_u64((u64)qdisc_pkt_len(skb) * 8 * NSEC_PER_SEC, q->rate->bps);
		q->in_service = skb;
	}
	qdisc_watchdog_schedule_ns(&q->watchdog, q->end);
	return NULL;
}

static void serial_reset(struct Qdisc *sch)
{
	struct serial *q = qdisc_priv(sch);

	if (q->in_service)
		rtnl_kfree_skbs(q->in_service, q->in_service);
	q->in_service = NULL;
	if (q->child)
		qdisc_reset(q->child);
	qdisc_watchdog_cancel(&q->watchdog);
}

static int serial_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct serial *q = qdisc_priv(sch);

	qdisc_watchdog_init(&q->watchdog, sch);
	q->child = &noop_qdisc;
	q->rate = find_rate(sch->handle >> 16);
	if (!q->rate) {
		NL_SET_ERR_MSG(extack, "write MAJOR:BITS_PER_SECOND to sch_serial's parameter cfg first");
		return -EINVAL;
	}
	q->child = fifo_create_dflt(sch, &pfifo_qdisc_ops, 1000, extack);
	if (IS_ERR(q->child)) {
		int err = PTR_ERR(q->child);

		q->child = &noop_qdisc;
		return err;
	}
	qdisc_hash_add(q->child, true);
	return 0;
}

static void serial_destroy(struct Qdisc *sch)
{
	struct serial *q = qdisc_priv(sch);

	qdisc_watchdog_cancel(&q->watchdog);
	kfree_skb(q->in_service);
	qdisc_put(q->child);
}

static int serial_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	return skb->len;
}

static int serial_graft(struct Qdisc *sch, unsigned long arg, struct Qdisc *new,
			struct Qdisc **old, struct netlink_ext_ack *extack)
{
	struct serial *q = qdisc_priv(sch);

	*old = qdisc_replace(sch, new ?: &noop_qdisc, &q->child);
	return 0;
}

static struct Qdisc *serial_leaf(struct Qdisc *sch, unsigned long arg)
{
	struct serial *q = qdisc_priv(sch);

	return q->child;
}

static unsigned long serial_find(struct Qdisc *sch, u32 classid)
{
	return 1;
}

static void serial_walk(struct Qdisc *sch, struct qdisc_walker *walker)
{
	if (!walker->stop)
		tc_qdisc_stats_dump(sch, 1, walker);
}

static int serial_dump_class(struct Qdisc *sch, unsigned long cl, struct sk_buff *skb, struct tcmsg *tcm)
{
	struct serial *q = qdisc_priv(sch);

	tcm->tcm_handle |= TC_H_MIN(1);
	tcm->tcm_info = q->child->handle;
	return 0;
}

static const struct Qdisc_class_ops serial_class_ops = {
	.graft = serial_graft,
	.leaf = serial_leaf,
	.find = serial_find,
	.walk = serial_walk,
	.dump = serial_dump_class,
};

static struct Qdisc_ops serial_qdisc_ops __read_mostly = {
	.cl_ops = &serial_class_ops,
	.id = "serial",
	.priv_size = sizeof(struct serial),
	.enqueue = serial_enqueue,
	.dequeue = serial_dequeue,
	.peek = qdisc_peek_dequeued,
	.init = serial_init,
	.reset = serial_reset,
	.destroy = serial_destroy,
	.dump = serial_dump,
	.owner = THIS_MODULE,
};

static int __init serial_module_init(void)
{
	return register_qdisc(&serial_qdisc_ops);
}
device_initcall(serial_module_init);
