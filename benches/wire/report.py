"""What the rounds say: medians, ratios within rounds, and issue 5's goals. Rows in, text out; nothing is measured here."""

import statistics

from kinds import KINDS

REFERENCE = {kind.name: kind.reference for kind in KINDS}
# In the order they are shown.
SERVERS = ["nginx", "formgate", "nginx-file", "haproxy", "fastify", "prism"]
NAMES = {
    "get": "GET of the form",
    "not-modified": "GET, not modified (304)",
    "post-300": "POST, 300 B",
    "post-4k": "POST, 4 KB",
    "post-64k": "POST, 64 KB",
    "refused-300": "refused POST, 300 B",
}
VALIDATING = {"fastify": 0.3, "prism": 0.05}


class Rows:
    """Everything that was recorded, by what it is."""

    def __init__(self, rows):
        self.rows = rows

    def of(self, what, **wanted):
        return [
            row for row in self.rows if row["what"] == what and all(row.get(key) == value for key, value in wanted.items())
        ]

    def middle(self, key, what, **wanted):
        """The median of a figure, or None where there is none."""
        values = [row[key] for row in self.of(what, **wanted) if row.get(key) is not None]
        return statistics.median(values) if values else None

    def ratios(self, what, key, mine, theirs):
        """By round, mine of theirs, where a round has both."""
        reference = {row["round"]: row[key] for row in self.of(what, **theirs)}
        return [row[key] / reference[row["round"]] for row in self.of(what, **mine) if reference.get(row["round"])]

    def of_nginx(self, kind, server):
        """CPU per request, by round."""
        return self.ratios(
            "load", "cpu_us", {"kind": kind, "server": server}, {"kind": REFERENCE[kind], "server": "nginx"}
        )

    def kinds(self):
        return [kind for kind in NAMES if self.of("load", kind=kind, server="formgate")]

    def servers(self, kind):
        return [server for server in SERVERS if self.of("load", kind=kind, server=server)]


def middle(values):
    return statistics.median(values) if values else None


def figure(value, form):
    """A figure in its column; a dash where there is none."""
    return format("–", ">" + form.partition(".")[0]) if value is None else format(value, form)


def table(rows):
    """What the rounds of wrk say."""
    print(f"{'':12} {'server':10} {'requests/s':>11} {'CPU µs/request':>15} {'of nginx':>9} {'core busy':>10} {'RSS MiB':>8}")
    for kind in rows.kinds():
        for server in rows.servers(kind):
            one = lambda key: rows.middle(key, "load", kind=kind, server=server)  # noqa: B023, E731
            print(
                f"{kind:12} {server:10} {one('per_second'):11.0f} {one('cpu_us'):15.2f}"
                f" {figure(middle(rows.of_nginx(kind, server)), '9.2f')} {one('busy'):10.0%} {one('rss_kib') / 1024:8.1f}"
            )
    print("refused-300 is held against nginx's GET: a server that only answers.")
    for peer in VALIDATING:
        for kind in rows.kinds():
            if ratios := rows.ratios("load", "cpu_us", {"kind": kind, "server": "formgate"}, {"kind": kind, "server": peer}):
                if kind != "get":
                    print(f"{kind:12} formgate of {peer}: {middle(ratios):.3f}")
    foreign = [row["foreign"] for row in rows.of("load")]
    if foreign:
        print(f"others on the serving core: {middle(foreign):.1%} of the time (median of rounds), {max(foreign):.1%} at most")


def more(rows):
    """What was measured beside the rounds of wrk."""
    for row in rows.of("syscalls"):
        calls = "  ".join(f"{name} {rate:.2f}" for name, rate in row["calls"].items())
        print(f"{row['kind']:12} {row['server']:9} {sum(row['calls'].values()):5.2f} calls a request: {calls}")
    if rows.of("latency"):
        print(f"\n{'at half load':12} {'server':10} {'requests/s':>11} {'p50 µs':>8} {'p99 µs':>8} {'p99.9 µs':>9} {'core busy':>10}")
    for kind in NAMES:
        for server in SERVERS:
            if rows.of("latency", kind=kind, server=server):
                one = lambda key: rows.middle(key, "latency", kind=kind, server=server)  # noqa: B023, E731
                print(
                    f"{kind:12} {server:10} {one('rate'):11.0f} {one('p50_us'):8.0f} {one('p99_us'):8.0f}"
                    f" {one('p999_us'):9.0f} {one('busy'):10.0%}"
                )
    if rows.of("idle"):
        print()
    for row in rows.of("idle"):
        print(
            f"{row['server']:9} {row['connections']} idle connections: {row['bytes_per_connection']} bytes each"
            f" (RSS {row['rss_before_kib'] / 1024:.1f} to {row['rss_after_kib'] / 1024:.1f} MiB)"
        )
    if rows.of("routes"):
        print()
    for row in rows.of("routes"):
        print(
            f"{row['routes']:6} routes: start {row['started_in_s']:.2f} s,"
            f" reload {figure(row['reloaded_in_s'], '.2f')} s, {row['resting']:.1%} of a core at rest,"
            f" RSS {row['rss_kib'] / 1024:.1f} MiB; CPU µs/request "
            + ", ".join(
                f"{kind} {cost:.2f}"
                for kind in NAMES
                if (cost := rows.middle("net_us", "routes-load", kind=kind, routes=row["routes"]))
            )
        )


def goals(rows):
    """Issue 5's table, row by row: work, goal, measured, met. None where it was not measured."""

    def share(work, most, ratios, digits=2):
        measured = middle(ratios)
        if measured is None:
            return work, f"≤ {most}", None, None
        return work, f"≤ {most}", f"{measured:.{digits}f}", measured <= most

    yield share("GET of a form", 1.0, rows.of_nginx("get", "formgate"))
    yield share("GET, 304", 1.0, rows.of_nginx("not-modified", "formgate"))
    yield share("enforced POST, 300 B", 1.0, rows.of_nginx("post-300", "formgate"))
    yield share("enforced POST, 4 KB", 1.0, rows.of_nginx("post-4k", "formgate"))
    for peer, most in VALIDATING.items():
        for kind, size in (("post-300", "300 B"), ("post-4k", "4 KB")):
            ratios = rows.ratios("load", "cpu_us", {"kind": kind, "server": "formgate"}, {"kind": kind, "server": peer})
            yield share(f"enforced POST, {size}, of {peer}", most, ratios, 3)
    yield share("enforced POST, 64 KB", 1.1, rows.of_nginx("post-64k", "formgate"))
    yield refused(rows)
    for kind in ("get", "post-300", "post-4k"):
        mine, theirs = ({"kind": kind, "server": server} for server in ("formgate", "nginx"))
        work = f"p99 at half the saturating load, {kind}"
        times = [rows.middle("p99_us", "latency", **which) for which in (mine, theirs)]
        ratios = rows.ratios("latency", "p99_us", mine, theirs)
        if not ratios:
            yield work, "≤ nginx", None, None
        elif short := [row for row in rows.of("latency", kind=kind) if row["rate"] < 0.95 * row["asked_rate"]]:
            yield work, "≤ nginx", f"the rate was not reached in {len(short)} rounds", None
        else:
            yield work, "≤ nginx", f"{times[0]:.0f} µs, nginx {times[1]:.0f} µs: {middle(ratios):.2f}", middle(ratios) <= 1
    yield idle(rows)
    yield from many_routes(rows)


def refused(rows):
    """In a round: 0.8 of what nginx's GET cost, and 2 µs."""
    work, goal = "refused POST, 300 B", "≤ 0.8 of nginx's GET + 2 µs"
    reference = {row["round"]: row["cpu_us"] * 0.8 + 2 for row in rows.of("load", kind="get", server="nginx")}
    mine = [row for row in rows.of("load", kind="refused-300", server="formgate") if row["round"] in reference]
    if not mine:
        return work, goal, None, None
    ratio = middle([row["cpu_us"] / reference[row["round"]] for row in mine])
    cost = middle([row["cpu_us"] for row in mine])
    return work, goal, f"{cost:.2f} µs of {middle(list(reference.values())):.2f} µs: {ratio:.2f}", ratio <= 1


def idle(rows):
    each, nginx = (rows.middle("bytes_per_connection", "idle", server=server) for server in ("formgate", "nginx"))
    count = rows.middle("connections", "idle", server="formgate") or 10_000
    work = f"memory per idle connection, {count:.0f} open, after a POST on each"
    if each is None:
        return work, "≤ 12 KB", None, None
    return work, "≤ 12 KB", f"{each / 1024:.1f} KB, nginx {figure(nginx and nginx / 1024, '.1f')} KB", each <= 12 * 1024


def many_routes(rows):
    facts = sorted(rows.of("routes"), key=lambda row: row["routes"])
    if len(facts) < 2:
        for work, goal in (("CPU per request, 1 to 10 000 routes", "flat (≤ 1.05)"), ("start and reload of 10 000 routes", "< 2 s")):
            yield work, goal, None, None
        return
    one, many = facts[0], facts[-1]
    for kind in ("get", "post-300"):
        ratios = rows.ratios(
            "routes-load", "net_us", {"kind": kind, "routes": many["routes"]}, {"kind": kind, "routes": one["routes"]}
        )
        measured = middle(ratios)
        yield (
            f"CPU of {kind} with {many['routes']} routes, of 1 route",
            "flat (≤ 1.05)",
            None if measured is None else f"{measured:.2f}",
            None if measured is None else measured <= 1.05,
        )
    for word, key in (("start", "started_in_s"), ("reload", "reloaded_in_s")):
        took = many[key]
        yield f"{word} with {many['routes']} routes", "< 2 s", None if took is None else f"{took:.2f} s", took and took < 2
    each = (many["rss_kib"] - one["rss_kib"]) / (many["routes"] - one["routes"])
    yield f"memory per route at the start, {many['routes']} different forms", "stated", f"{each:.1f} KB", True


def verdict(rows):
    """The goals as lines; those that were not measured say so."""
    lines = list(goals(rows))
    width = max(len(work) for work, *_ in lines)
    for work, goal, measured, met in lines:
        word = {None: "not measured", True: "met", False: "NOT MET"}[met]
        print(f"{work:{width}}  {goal:28}  {word:12}  {measured or ''}")
    print("The core's own goals (GB/s, of serde_json, of Ajv, allocations, a bare hop) are `cargo bench --bench core`'s.")
