"""A round of wrk: as much as the server takes, and what it cost the server."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from kinds import fields
from servers import ADDRESS, TICK, Formgate, Wrong

CONNECTIONS = 32
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60}


def script(folder, server, kind, addresses):
    """What wrk is to send, in its own language; the requests are drawn once, before the first is sent."""
    file = folder / f"{server.name}-{server.port}-{kind.name}-{len(addresses)}.lua"
    if not file.exists():
        lines = [f'wrk.method = "{"GET" if kind.body is None else "POST"}"']
        lines += [f"wrk.headers[{quoted(name)}] = {quoted(value)}" for name, value in fields(server, kind).items()]
        lines += [f"wrk.body = {quoted(kind.body)}"] if kind.body is not None else []
        if len(addresses) > 1:
            paths = ", ".join(quoted(address) for address in addresses)
            lines += [
                f"local paths, requests, at = {{{paths}}}, {{}}, 0",
                "init = function() for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path) end end",
                "request = function() at = at % #requests + 1; return requests[at] end",
            ]
        file.write_text("\n".join(lines))
    return file


def quoted(text):
    return '"' + "".join(f"\\{byte:03}" for byte in text.encode()) + '"'


class Core:
    """What a core did between two looks."""

    def __init__(self, number):
        self.number = number
        self.before = self.look()

    def look(self):
        line = next(
            line for line in Path("/proc/stat").read_text().splitlines() if line.startswith(f"cpu{self.number} ")
        )
        user, nice, system, _idle, _wait, _irq, _softirq, steal = (int(word) / TICK for word in line.split()[1:9])
        return user + nice + system + steal

    def busy(self):
        """Seconds, work of interrupts left out, what the hypervisor took counted."""
        return self.look() - self.before


def load(server, kind, folder, core, seconds, addresses=(ADDRESS,), connections=CONNECTIONS):
    """One round. Every answer is accounted for, or it is no round."""
    file = script(folder, server, kind, addresses)
    before = server.settled() if isinstance(server, Formgate) else None
    serving, times = Core(server.core), server.times()
    try:
        done = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "--timeout", "20s", "-s", str(file)]
            + [f"http://127.0.0.1:{server.port_of(kind.name)}{addresses[0]}"],
            capture_output=True,
            text=True,
            timeout=seconds + 60,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
    except subprocess.TimeoutExpired:
        raise Wrong(f"{server.name}, {kind.name}: wrk does not end") from None
    (user, system), busy, rss = server.times(), serving.busy(), server.rss()
    user, system = user - times[0], system - times[1]
    cpu = user + system
    text = done.stdout
    total = re.search(r"(\d+) requests in ([\d.]+)(ms|s|m)\b", text)
    if done.returncode or not total or not int(total[1]):
        raise Wrong(f"{server.name}, {kind.name}: wrk says\n{text}{done.stderr}")
    requests, took = int(total[1]), float(total[2]) * UNITS[total[3]]
    # wrk counts what is not 2xx or 3xx. A peer that refuses with such a status must refuse every request.
    refusals = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    if int(refusals[1] if refusals else 0) != (requests if server.statuses[kind.name] >= 400 else 0):
        raise Wrong(f"{server.name}, {kind.name}: wrk says\n{text}")
    if "Socket errors" in text:
        raise Wrong(f"{server.name}, {kind.name}: wrk says\n{text}")
    if before is not None:
        check_outcomes(kind, requests, connections, before, server.settled())
    percentiles = {share: float(time) * UNITS[unit] * 1e6 for share, time, unit in LATENCY.findall(text)}
    return {
        "kind": kind.name,
        "server": server.name,
        "requests": requests,
        "per_second": requests / took,
        "cpu_us": cpu * 1e6 / requests,
        # In the program itself; the rest is the system's, for what it asked.
        "user_us": user * 1e6 / requests,
        "busy": cpu / took,
        # What else ran on the serving core: on a quiet machine, nothing.
        "foreign": max(0.0, busy - cpu) / took,
        "p50_us": percentiles.get("50"),
        "p99_us": percentiles.get("99"),
        "rss_kib": rss,
    }


LATENCY = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s|m)", re.M)


def check_outcomes(kind, requests, connections, before, after):
    """Every request became what it should: none was refused that is fit, none acted on that is not.

    wrk leaves in the middle of its last requests; those come to no end, or to `abandoned`.
    """
    gained = {outcome: count - before.get(outcome, 0) for outcome, count in after.items()}
    gained = {outcome: count for outcome, count in gained.items() if count}
    cut = sum(gained.get(outcome, 0) for outcome in ("abandoned", "malformed"))
    right = gained.get(kind.outcome, 0)
    if right + cut != sum(gained.values()) or cut > connections or not requests <= right <= requests + connections:
        raise Wrong(f"formgate, {kind.name}: {requests} answers for wrk, counted as {gained}")


def count_calls(server, kind, folder, core):
    """System calls a request, of which kind. strace slows everything: nothing else is read off this."""
    out = folder / "calls"
    tracees = [word for pid in server.pids() for word in ("-p", str(pid))]
    tracer = subprocess.Popen(["strace", "-f", "-c", "-qq", "-o", str(out), *tracees])
    try:
        time.sleep(0.5)
        row = load(server, kind, folder, core, 1)
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()
    calls = [line.split() for line in out.read_text().splitlines()]
    calls = [(int(words[3]), words[-1]) for words in calls if len(words) > 4 and words[3].isdigit()]
    rates = {name: round(count / row["requests"], 3) for count, name in sorted(calls, reverse=True) if name != "total"}
    return {"kind": kind.name, "server": server.name, "calls": {name: rate for name, rate in rates.items() if rate >= 0.01}}
