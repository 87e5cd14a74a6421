"""The README's five lines, and the picture."""

import bbrlab as bl

r = bl.run("examples.dumbbell", {"bottleneck.buffer": "4bdp"})
print(r)
axes = r.plot.timeline(["throughput", "rtt", "queue"])
axes[0].figure.savefig("dumbbell.png")
