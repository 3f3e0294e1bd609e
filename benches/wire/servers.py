"""The servers of a measurement: how each is configured, pinned and watched."""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

ADDRESS = "/api/v2/orders/place"
ANSWER = '{"order":"or_5d41402abc4b2a76","state":"confirmed"}'
TICK = os.sysconf("SC_CLK_TCK")


class Wrong(Exception):
    """Something is not what it should be: nothing that was measured counts."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process pinned to one core, with its children."""

    def __init__(self, name, port, words, core, log):
        self.name, self.port = name, port
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            )
        self.wait()

    def wait(self):
        until = time.monotonic() + 10
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.stop()
        raise Wrong(f"{self.name} did not start:\n{Path(self.log).read_text(errors='replace')}")

    def pids(self):
        """The process and its children; nginx works in one."""
        found = [self.process.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def cpu(self):
        """Seconds on a core so far, user and system, all threads."""
        ticks = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICK

    def rss(self):
        """KiB resident, all processes."""
        lines = [line for pid in self.pids() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def nginx(name, port, folder, core, http):
    """One worker, no log, connections that are never closed for their age."""
    folder.mkdir()
    (folder / "logs").mkdir()
    user = "user root;\n" if os.geteuid() == 0 else ""
    temporary = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"{user}worker_processes 1;\ndaemon off;\npid {folder}/pid;\nerror_log {folder}/error.log crit;\n"
        "events { worker_connections 4096; }\n"
        "http {\n"
        "    access_log off;\n"
        "    default_type application/json;\n"
        "    keepalive_requests 1000000000;\n"
        "    keepalive_timeout 600s;\n"
        "    keepalive_time 1d;\n"
        f"{temporary}{http}}}\n"
    )
    return Server(name, port, ["nginx", "-p", str(folder), "-c", str(config)], core, folder / "output")


def literal(text):
    """As nginx reads a string; it knows no way to write a dollar."""
    if "$" in text:
        raise Wrong("nginx cannot return a body with a dollar in it: change benches/wire/form.json")
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def upstream(folder, core):
    port = free_port()
    http = f"    server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 {literal(ANSWER)}; }} }}\n"
    return nginx("upstream", port, folder / "upstream", core, http)


def peer(folder, core, backend, form):
    """nginx doing the plain hop: a fixed body for GET, the backend for the rest. It looks into nothing."""
    port = free_port()
    http = (
        f"    upstream backend {{ server 127.0.0.1:{backend}; keepalive 64; keepalive_requests 1000000000; }}\n"
        f"    server {{\n"
        f"        listen 127.0.0.1:{port} backlog=4096;\n"
        f"        location / {{\n"
        f"            if ($request_method = GET) {{ return 200 {literal(form)}; }}\n"
        f"            proxy_pass http://backend/orders;\n"
        f"            proxy_http_version 1.1;\n"
        f'            proxy_set_header Connection "";\n'
        f"        }}\n"
        f"    }}\n"
    )
    return nginx("nginx", port, folder / "nginx", core, http)


class Formgate(Server):
    """One worker, no access log, no rates: the rest as it ships."""

    def __init__(self, binary, folder, core, backend, form):
        folder = folder / "formgate"
        folder.mkdir()
        port, self.admin = free_port(), free_port()
        (folder / "form.json").write_text(form)
        config = {
            "listen": [f"127.0.0.1:{port}"],
            "admin": f"127.0.0.1:{self.admin}",
            "threads": 1,
            "access_log": "off",
            "upstreams": {"backend": {"servers": [f"http://127.0.0.1:{backend}"]}},
            "defaults": {"max_body": "64KiB", "limits": "none"},
            "routes": [
                {
                    "address": ADDRESS,
                    "name": "place_order",
                    "type": "order",
                    "context": "Places an order with the warehouse.",
                    "form": "form.json",
                    "upstream": {"to": "backend", "path": "/orders"},
                }
            ],
        }
        # JSON is YAML.
        (folder / "gateway.yaml").write_text(json.dumps(config, indent=1))
        words = [str(binary), "serve", str(folder / "gateway.yaml")]
        super().__init__("formgate", port, words, core, folder / "output")

    def outcomes(self):
        """Requests so far, by what became of them."""
        _, _, page = ask(self.admin, "GET", "/metrics")
        counts = {}
        for line in page.decode().splitlines():
            if line.startswith("formgate_requests_total{"):
                outcome = line.partition('outcome="')[2].partition('"')[0]
                counts[outcome] = counts.get(outcome, 0) + int(float(line.rpartition(" ")[2]))
        return counts


def ask(port, method, path, body=None):
    """Status, media type and body of one request on a connection of its own."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    fields = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, path, body, fields)
    response = connection.getresponse()
    answer = (response.status, response.getheader("Content-Type"), response.read())
    connection.close()
    return answer
