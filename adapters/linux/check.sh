# Two hosts and a router between them. The router has the serialiser with a child towards d0, and netem towards s0.
set -e
cat /proc/sys/net/ipv4/tcp_available_congestion_control > controls
ip -batch - <<E
netns add s0
netns add r1
netns add d0
E
ip -n s0 link add e0 address 02:00:00:00:00:01 type veth peer name l0 \
    address 02:00:00:00:00:02 netns r1
ip -n r1 link add bn address 02:00:00:00:00:03 type veth peer name e0 \
    address 02:00:00:00:00:04 netns d0
ip -n s0 -batch - <<E
addr add 10.1.0.1/24 dev e0
link set e0 up
neigh add 10.1.0.2 lladdr 02:00:00:00:00:02 dev e0 nud permanent
route add default via 10.1.0.2
E
ip -n r1 -batch - <<E
addr add 10.1.0.2/24 dev l0
addr add 10.2.0.2/24 dev bn
link set l0 up
link set bn up
neigh add 10.1.0.1 lladdr 02:00:00:00:00:01 dev l0 nud permanent
neigh add 10.2.0.1 lladdr 02:00:00:00:00:04 dev bn nud permanent
E
ip -n d0 -batch - <<E
addr add 10.2.0.1/24 dev e0
link set e0 up
neigh add 10.2.0.2 lladdr 02:00:00:00:00:03 dev e0 nud permanent
route add default via 10.2.0.2
E
ip netns exec s0 ethtool -K e0 tso off gro off > /dev/null
echo 1:5000000 > /sys/module/sch_serial/parameters/cfg
tc -n r1 qdisc add dev bn root handle 1: serial
tc -n r1 qdisc add dev bn parent 1:1 handle 10: fq_codel limit 100
tc -n r1 qdisc add dev l0 root netem delay 20ms loss 1% limit 1000
