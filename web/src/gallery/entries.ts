// The gallery: small scenarios, each of which shows one effect. A test checks that each sentence about
// the charts holds for ten seeds.

export interface Entry {
  id: string;
  title: string;
  /** A sentence about what the charts show. */
  look: string;
  /** A question for the user, with the change of the scenario that answers it. */
  question: string;
  text: string;
  /** The scenario of the second set-up, if the effect is visible only in a comparison. */
  beside?: string;
  zoom?: [number, number];
}

const one = (title: string, duration: string, bottleneck: string, flows: string[]): string =>
  `title = "${title}"\nduration = "${duration}"\n\n[bottleneck]\n${bottleneck}\n${flows.map((flow) => `\n[[flows]]\n${flow}\n`).join("")}`;

export const ENTRIES: Entry[] = [
  {
    id: "bufferbloat",
    title: "Bufferbloat",
    look: "CUBIC fills the buffer, so the round-trip time is seven times its base in the mean. BBR, in B, delivers nearly as much with a short queue.",
    question: "Set the buffer of A to 1bdp: how much goodput does the short queue cost?",
    text: one("Bufferbloat: CUBIC and a deep buffer", "30s", 'rate = "10Mbit/s"\ndelay = "10ms"\nbuffer = "8bdp"', ['cc = "cubic"\nrtt = "40ms"']),
    beside: one("The same path with BBRv1", "30s", 'rate = "10Mbit/s"\ndelay = "10ms"\nbuffer = "8bdp"', ['cc = "bbr1"\nrtt = "40ms"']),
  },
  {
    id: "bbr-states",
    title: "The four states of BBR",
    look: "STARTUP doubles the rate each round, DRAIN empties the queue that it made, PROBE_BW cycles its gain, and PROBE_RTT comes every ten seconds.",
    question: "Zoom to the first half second: in which round does STARTUP see that the pipe is full?",
    text: one("One BBRv1 flow: STARTUP, DRAIN, PROBE_BW, PROBE_RTT", "25s", 'rate = "50Mbit/s"\ndelay = "10ms"\nbuffer = "4bdp"', ['cc = "bbr1"\nrtt = "40ms"']),
  },
  {
    id: "probe-rtt",
    title: "PROBE_RTT",
    look: "At 10 s the window of flow 0 is four packets for 200 ms. The queue runs empty, the flow measures the path without it, and its throughput has a gap.",
    question: "Choose bbr3: how often does it probe, and how deep is the gap now?",
    text: one("PROBE_RTT: four packets for 200 ms", "25s", 'rate = "50Mbit/s"\ndelay = "10ms"\nbuffer = "4bdp"', ['cc = "bbr1"\nrtt = "40ms"', 'cc = "bbr1"\nrtt = "40ms"\nstart = "1s"']),
    zoom: [8, 14],
  },
  {
    id: "rtt-unfairness",
    title: "RTT unfairness",
    look: "Two BBRv1 flows, 20 and 100 ms, with a deep buffer: the flow with the longer RTT keeps more in flight and gets most of the link.",
    question: "Choose cubic for both flows: which RTT wins now?",
    text: one("RTT unfairness: 20 ms against 100 ms", "40s", 'rate = "50Mbit/s"\ndelay = "5ms"\nbuffer = "8bdp"', ['cc = "bbr1"\nrtt = "20ms"', 'cc = "bbr1"\nrtt = "100ms"']),
  },
  {
    id: "shallow-buffer",
    title: "Shallow buffers",
    look: "With a buffer of a tenth of a BDP, two BBRv1 flows keep the link full and lose 8 to 10 % of their packets: their model of the path has no loss.",
    question: "Choose bbr3 for both flows: what happens to the drops, and to the goodput?",
    text: one("Two BBRv1 flows in a buffer of 0.1 BDP", "30s", 'rate = "50Mbit/s"\ndelay = "10ms"\nbuffer = "0.1bdp"', ['cc = "bbr1"\nrtt = "30ms"', 'cc = "bbr1"\nrtt = "30ms"\nstart = "2s"']),
  },
  {
    id: "bbr-vs-cubic",
    title: "BBR against CUBIC",
    look: "In a buffer of a quarter of a BDP, BBRv1 takes more than 90 % of the link. It fills the buffer again and again and ignores the losses; CUBIC cuts its window by 30 % each time it loses packets.",
    question: "Move the buffer from 0.25 to 8 BDP: where do the two flows change places?",
    text: one("BBRv1 against CUBIC in a buffer of 0.25 BDP", "40s", 'rate = "25Mbit/s"\ndelay = "10ms"\nbuffer = "0.25bdp"', ['cc = "bbr1"\nrtt = "40ms"', 'cc = "cubic"\nrtt = "40ms"']),
  },
  {
    id: "taking-turns",
    title: "PROBE_RTT in turns and together",
    look: "At 10 s flow 0 alone pauses, in PROBE_RTT. When a pause shows the other flow a lower RTT, its ten seconds begin anew with it. So at the end both flows pause together, and the queue runs empty.",
    question: "Change the seed: for how long do the flows pause in turns? The bands of the states show it.",
    text: one("Two BBRv1 flows that start five seconds apart", "60s", 'rate = "50Mbit/s"\ndelay = "5ms"\nbuffer = "2bdp"', ['cc = "bbr1"\nrtt = "30ms"', 'cc = "bbr1"\nrtt = "30ms"\nstart = "5s"']),
  },
  {
    id: "policer",
    title: "A policer",
    look: "The link has 40 Mbit/s, but after the first burst a policer passes 5 Mbit/s and drops the rest. There is no queue to warn the sender.",
    question: "Choose cubic, then bbr3: who loses least, and at what goodput?",
    text: one("A policer of 5 Mbit/s on a link of 40 Mbit/s", "30s", 'rate = "40Mbit/s"\ndelay = "10ms"\nbuffer = "1bdp"\npolice = { rate = "5Mbit/s", burst = "500KB" }', ['cc = "bbr1"\nrtt = "40ms"']),
  },
  {
    id: "random-loss",
    title: "Random loss",
    look: "One packet in a hundred is lost on the way. CUBIC takes each loss for congestion; BBR, in B, keeps its rate.",
    question: "How much loss can BBR bear? Move the slider up until its rate falls as well.",
    text: one("CUBIC with 1 % random loss", "20s", 'rate = "50Mbit/s"\ndelay = "10ms"\nbuffer = "1bdp"\nloss = 0.01', ['cc = "cubic"\nrtt = "40ms"']),
    beside: one("BBRv1 with 1 % random loss", "20s", 'rate = "50Mbit/s"\ndelay = "10ms"\nbuffer = "1bdp"\nloss = 0.01', ['cc = "bbr1"\nrtt = "40ms"']),
  },
  {
    id: "ack-aggregation",
    title: "ACK aggregation",
    look: "ACKs wait for a slot of 12 ms and come back in bursts, as over Wi-Fi. BBR adds to its window, which is two BDP otherwise, what the ACKs hold back.",
    question: "Open the packet view: how many ACKs come at once? Then choose bbr2.",
    text: one("ACKs that wait for slots of 12 ms", "20s", 'rate = "50Mbit/s"\ndelay = "10ms"\nbuffer = "2bdp"\nreverse_slot = "12ms"', ['cc = "bbr1"\nrtt = "40ms"']),
  },
  {
    id: "fq-codel",
    title: "FQ-CoDel",
    look: "Each flow has its own queue. The flow of a call, 2 Mbit/s, no longer waits behind CUBIC’s packets: compare the two RTTs.",
    question: "Set the queue to droptail: what is the RTT of flow 1 now?",
    text: one("FQ-CoDel keeps a small flow out of CUBIC's queue", "20s", 'rate = "20Mbit/s"\ndelay = "10ms"\nbuffer = "8bdp"\nqueue = "fq_codel"', ['cc = "cubic"\nrtt = "40ms"', 'cc = "cubic"\nrtt = "40ms"\nstart = "2s"\nrate = "2Mbit/s"']),
  },
  {
    id: "l4s",
    title: "L4S",
    look: "TCP Prague answers each mark of DualPI2, and its packets wait 0.3 ms. CUBIC, in the other queue, waits 14 ms and still has about a third of the link.",
    question: "Set the queue to fq_codel or droptail: who wins without the coupling?",
    text: one("TCP Prague beside CUBIC under DualPI2", "20s", 'rate = "40Mbit/s"\ndelay = "5ms"\nbuffer = "200ms"\nqueue = "dualpi2"', ['cc = "prague"\nrtt = "20ms"', 'cc = "cubic"\nrtt = "20ms"']),
  },
  {
    id: "changing-path",
    title: "A path that changes",
    look: "At 10 s the link falls to a quarter. BBR’s bandwidth is the largest of ten rounds, so it stays too high for one to two seconds; by then the queue has been nearly full.",
    question: "Choose cubic: which one is faster to find the rate when it comes back at 20 s?",
    text: one("A rate that falls from 40 to 10 Mbit/s and returns", "30s", 'rate = [["0s", "40Mbit/s"], ["10s", "10Mbit/s"], ["20s", "40Mbit/s"]]\ndelay = "10ms"\nbuffer = "2bdp"', ['cc = "bbr1"\nrtt = "40ms"']),
  },
];
