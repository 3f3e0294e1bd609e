"""What many routes cost: a request, a start, a reload, memory."""

import json
import statistics
import time

from load import load
from servers import Wrong, ask

RELOADS = 3
# Seconds; whole turns of its watch.
LOOK = 3


def facts(server):
    """Start, reload and memory, on all cores. A reload: one route has changed; everything is read, one arrival is made anew."""
    rss, taken = server.rss(), []
    for number in range(20):
        server.config["routes"][-1]["context"] = f"Places an order with warehouse {number}."
        server.write()
        began = time.monotonic()
        answer = ask(server.admin, "POST", "/-/reload", patience=server.patience)
        took = time.monotonic() - began
        result = json.loads(answer.body).get("result") if answer.status == 200 else answer.body.decode(errors="replace")
        # Its own watch may have been first: then it had nothing to do, and says nothing.
        if result == "published":
            taken.append(took)
        elif result != "unchanged":
            raise Wrong(f"formgate with {len(server.addresses)} routes, reload: {result}")
        if len(taken) == RELOADS or sum(taken) > 20:
            break
    return {
        "routes": len(server.addresses),
        "started_in_s": round(server.started_in, 3),
        "reloaded_in_s": round(statistics.median(taken), 3) if taken else None,
        "rss_kib": rss,
        # Share of a core that it takes while nobody asks: it looks after its files.
        "resting": round(at_rest(server), 4),
    }


def at_rest(server):
    """Once it has come to rest: its watch may still be taking in what was reloaded."""
    before = None
    for _ in range(20):
        began, cpu = time.monotonic(), server.cpu()
        time.sleep(LOOK)
        share = (server.cpu() - cpu) / (time.monotonic() - began)
        if before is not None and abs(share - before) < max(0.01, share / 5):
            return min(share, before)
        before = share
    raise Wrong(f"formgate with {len(server.addresses)} routes does not come to rest")


def compare(one, many, resting, kinds, folder, core, options, record):
    """The same requests to one route, and to each of the many in turn. What a server takes at rest is no request's."""
    for number in range(options.route_rounds + options.warm):
        for kind in kinds:
            pair = [one, many] if number % 2 else [many, one]
            for server in pair:
                # wrk does the same work for both: a list as long, of one address.
                addresses = server.addresses if server is many else one.addresses * len(many.addresses)
                row = load(server, kind, folder, core, options.seconds, addresses)
                row["net_us"] = row["cpu_us"] - resting[server] * 1e6 / row["per_second"]
                if number >= options.warm:
                    record("routes-load", {"round": number - options.warm, "routes": len(server.addresses)} | row)
