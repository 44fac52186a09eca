"""Time training or inference of a network, as the field's papers do.

    python time_a_network.py [NETWORK] [BATCH] [training|inference]   # default: small4 8 training

The first iterations are left out and reported apart; the mean of many has its interval, and a step
is split into its parts. Networks, batch sizes and engines side by side: ``facebench bench step``.
"""

import sys

from facebench import nn, timing


def main(network=None, batch="8", mode="training"):
    options = timing.StepOptions(
        network=network or "small4", batch=int(batch), mode=mode, classes=1000, threads=1
    )
    # 0 is the network's own input size.
    side = 0 if network else 64
    bench = timing.StepBench(options, nn.NetworkOptions(height=side, width=side))
    times = bench.run(30)
    s = timing.summarize_times(times["iteration"], skip=10)
    low, high = (1e3 * t for t in s["mean_interval"])
    print(
        f"{options.network}, {mode}, batch {batch}: {1e3 * s['mean']:.2f} ms [{low:.2f}, "
        f"{high:.2f}], median {1e3 * s['median']:.2f}, p95 {1e3 * s['p95']:.2f}; the first "
        f"{1e3 * s['first']:.2f}"
    )
    print(f"{options.batch / s['mean']:.1f} images/s")
    for phase, seconds in times["phases"].items():
        if len(seconds):
            print(f"  {phase}: {1e3 * timing.summarize_times(seconds, skip=10)['mean']:.2f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
