"""How long requests take at half of what the server can take, at a constant rate: pace.rs."""

import json
import os
import subprocess
from pathlib import Path

from kinds import fields
from load import CONNECTIONS, Core
from servers import ADDRESS, Formgate, Wrong

HERE = Path(__file__).resolve().parent


def build(folder):
    """The generator; the standard library is all it needs."""
    program = folder / "pace"
    source = HERE / "pace.rs"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["rustc", "-O", "--edition", "2024", "-o", str(program), str(source)], cwd=HERE, check=True)
    return program


def request(server, kind):
    """Byte for byte."""
    lines = [f"{'GET' if kind.body is None else 'POST'} {ADDRESS} HTTP/1.1", f"Host: 127.0.0.1:{server.port}"]
    lines += [f"{name}: {value}" for name, value in fields(server, kind).items()]
    lines += [f"Content-Length: {len(kind.body)}"] if kind.body is not None else []
    return ("\r\n".join(lines) + "\r\n\r\n" + (kind.body or "")).encode()


def pace(program, server, kind, folder, core, rate, seconds):
    """One round at a rate. Every answer had the right status, or the generator says so and it is no round."""
    file = folder / f"{server.name}-{kind.name}.request"
    file.write_bytes(request(server, kind))
    before = server.settled() if isinstance(server, Formgate) else None
    serving, cpu = Core(server.core), server.cpu()
    words = [program, server.port_of(kind.name), f"{rate:.1f}", seconds, CONNECTIONS, server.statuses[kind.name], file]
    try:
        done = subprocess.run(
            [str(word) for word in words],
            capture_output=True,
            text=True,
            timeout=seconds + 60,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )
    except subprocess.TimeoutExpired:
        raise Wrong(f"{server.name}, {kind.name}: the generator does not end") from None
    if done.returncode:
        raise Wrong(f"{server.name}, {kind.name} at {rate:.0f}/s: {done.stderr.strip()}")
    busy, cpu = serving.busy(), server.cpu() - cpu
    row = json.loads(done.stdout)
    if before is not None:
        after = server.settled()
        gained = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
        if set(gained) != {kind.outcome} or gained[kind.outcome] < row["answers"]:
            raise Wrong(f"formgate, {kind.name}: {row['answers']} answers for the generator, counted as {gained}")
    return {
        "kind": kind.name,
        "server": server.name,
        "asked_rate": round(rate),
        # One second more than is counted.
        "busy": cpu / (seconds + 1),
        "foreign": max(0.0, busy - cpu) / (seconds + 1),
    } | row
