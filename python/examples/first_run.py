"""The README's example: a sweep, its table and a plot."""

import bbrlab as bl

rs = bl.sweep("examples.bbr3-vs-cubic", {"bottleneck.buffer": ["0.5bdp", "2bdp", "8bdp"]}, seeds=10)
print(rs)
rs.plot.share("bottleneck.buffer").figure.savefig("share.png")
