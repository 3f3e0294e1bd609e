"""The servers of a measurement: how each is configured, pinned and watched."""

import http.client
import json
import os
import socket
import subprocess
import time
from collections import namedtuple
from pathlib import Path

ADDRESS = "/api/v2/orders/place"
ANSWER = '{"order":"or_5d41402abc4b2a76","state":"confirmed"}'
TICK = os.sysconf("SC_CLK_TCK")
# More connections than any measurement opens; nginx takes memory for all of them at its start.
MOST_CONNECTIONS = 16384

Answer = namedtuple("Answer", "status media_type body tag")


class Wrong(Exception):
    """Something is not what it should be: nothing that was measured counts."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process with its children, on one core or on all."""

    # What it answers to each kind; it is not measured with the others.
    statuses = {}
    # Seconds that its start may take.
    patience = 60

    def __init__(self, name, port, words, core, log, environment=None, pinned=True):
        self.name, self.port, self.log, self.core = name, port, log, core
        self.tags = {}
        began = time.monotonic()
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=os.environ | (environment or {}),
                preexec_fn=lambda: os.sched_setaffinity(0, {core}) if pinned else None,
            )
        self.wait()
        self.started_in = time.monotonic() - began

    def wait(self):
        until = time.monotonic() + self.patience
        while time.monotonic() < until:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.005)
        self.stop()
        raise Wrong(f"{self.name} did not start in {self.patience} s:\n{Path(self.log).read_text(errors='replace')}")

    def port_of(self, _kind):
        return self.port

    def tag(self, kind):
        """The entity tag it gives its form."""
        if kind not in self.tags:
            self.tags[kind] = ask(self.port_of(kind), "GET", ADDRESS).tag
        if not self.tags[kind]:
            raise Wrong(f"{self.name} gives its form no entity tag")
        return self.tags[kind]

    def pids(self):
        """The process and its children; nginx works in one."""
        found = [self.process.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def pin(self):
        """From now on it has its one core."""
        for pid in self.pids():
            for task in Path(f"/proc/{pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {self.core})

    def times(self):
        """Seconds on a core so far, in the program and in the system for it, all threads."""
        user = system = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            user, system = user + int(fields[11]), system + int(fields[12])
        return user / TICK, system / TICK

    def cpu(self):
        """Seconds on a core so far, both together."""
        return sum(self.times())

    def rss(self):
        """KiB resident, all processes."""
        lines = [line for pid in self.pids() for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Nginx(Server):
    """One worker, no log, connections that are never closed for their age."""

    def __init__(self, name, port, folder, core, http):
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
            f"events {{ worker_connections {MOST_CONNECTIONS}; }}\n"
            "http {\n"
            "    access_log off;\n"
            "    default_type application/json;\n"
            "    keepalive_requests 1000000000;\n"
            "    keepalive_timeout 600s;\n"
            "    keepalive_time 1d;\n"
            f"{temporary}{http}}}\n"
        )
        super().__init__(name, port, ["nginx", "-p", str(folder), "-c", str(config)], core, folder / "output")


def literal(text):
    """As nginx reads a string; it knows no way to write a dollar."""
    if "$" in text:
        raise Wrong("nginx cannot return a body with a dollar in it: change benches/wire/form.json")
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def upstream(folder, core):
    """Answers everything with the same bytes; reads a body before it does, and keeps none on disk."""
    port = free_port()
    http = (
        "    client_body_buffer_size 128k;\n"
        f"    server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 {literal(ANSWER)}; }} }}\n"
    )
    return Nginx("upstream", port, folder / "upstream", core, http)


class Plain(Nginx):
    """nginx doing the plain hop: a fixed body for GET, the backend for the rest. It looks into nothing."""

    name = "nginx"
    statuses = {"get": 200, "not-modified": 304, "post-300": 200, "post-4k": 200, "post-64k": 200}
    buffer = "    client_body_buffer_size 128k;\n"  # none goes to the disk

    def __init__(self, folder, core, backend, form):
        port, self.files = free_port(), free_port()
        folder.mkdir(exist_ok=True)
        (folder / "form.json").write_text(form)
        http = (
            f"    upstream backend {{ server 127.0.0.1:{backend}; keepalive 64; keepalive_requests 1000000000; }}\n"
            f"{self.buffer}"
            f"    server {{\n"
            f"        listen 127.0.0.1:{port} backlog=4096;\n"
            f"        location / {{\n"
            f"            if ($request_method = GET) {{ return 200 {literal(form)}; }}\n"
            f"            proxy_pass http://backend/orders;\n"
            f"            proxy_http_version 1.1;\n"
            f'            proxy_set_header Connection "";\n'
            f"        }}\n"
            f"    }}\n"
            # Tags are what nginx gives files. `return 304` behind an `if` costs the same.
            f"    server {{\n"
            f"        listen 127.0.0.1:{self.files} backlog=4096;\n"
            f"        open_file_cache max=16 inactive=1h;\n"
            f"        open_file_cache_valid 1h;\n"
            f"        location = {ADDRESS} {{ alias {folder}/form.json; }}\n"
            f"    }}\n"
        )
        super().__init__(self.name, port, folder / self.name, core, http)

    def port_of(self, kind):
        return self.files if kind == "not-modified" else self.port


class AsItComes(Plain):
    """The same without the one line that nobody has unless he put it there: what is over 16 KB goes through a file."""

    name = "nginx-file"
    statuses = {"post-64k": 200}
    buffer = ""


class Formgate(Server):
    """One worker, no access log, no rates: the rest as it ships."""

    statuses = Plain.statuses | {"refused-300": 204}

    def __init__(self, binary, folder, core, backend, form, routes=1, pinned=True):
        folder.mkdir(exist_ok=True)
        folder = folder / (f"formgate-{routes}" if routes > 1 else "formgate")
        folder.mkdir()
        port, self.admin = free_port(), free_port()
        self.addresses = [ADDRESS, *(f"{ADDRESS}-{number}" for number in range(1, routes))]
        self.file = folder / "gateway.yaml"
        self.config = {
            "listen": [f"127.0.0.1:{port}"],
            "admin": f"127.0.0.1:{self.admin}",
            "threads": 1,
            "access_log": "off",
            "max_connections": MOST_CONNECTIONS,
            "upstreams": {"backend": {"servers": [f"http://127.0.0.1:{backend}"]}},
            "defaults": {"max_body": "128KiB", "limits": "none"},
            "routes": [],
        }
        form = json.loads(form)
        for number, address in enumerate(self.addresses):
            file = f"form-{number}.json" if number else "form.json"
            # No two are alike: nothing can be shared between them.
            text = form if number == 0 else form | {"description": f"{form['description']} Counter {number}."}
            (folder / file).write_text(json.dumps(text))
            self.config["routes"].append(
                {
                    "address": address,
                    "name": f"place_order_{number}",
                    "type": "order",
                    "context": "Places an order with the warehouse.",
                    "form": file,
                    "upstream": {"to": "backend", "path": "/orders"},
                }
            )
        self.write()
        self.patience += routes / 100
        super().__init__("formgate", port, [str(binary), "serve", str(self.file)], core, folder / "output", pinned=pinned)

    def write(self):
        """The configuration as it now is, in one move. JSON is YAML."""
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.config, indent=1))
        new.rename(self.file)

    def outcomes(self):
        """Requests so far, by what became of them, and the bytes of those that are not at their end."""
        counts, held = {}, 0
        for line in ask(self.admin, "GET", "/metrics").body.decode().splitlines():
            if line.startswith("formgate_requests_total{") and not line.endswith(" 0"):
                outcome = line.partition('outcome="')[2].partition('"')[0]
                counts[outcome] = counts.get(outcome, 0) + int(float(line.rpartition(" ")[2]))
            elif line.startswith("formgate_inflight_body_bytes "):
                held = float(line.rpartition(" ")[2])
        return counts, held

    def settled(self):
        """The counters once they stand still: it counts after it has answered, and clients leave requests behind."""
        counts, _ = self.outcomes()
        for _ in range(100):
            time.sleep(0.05)
            before, (counts, held) = counts, self.outcomes()
            if counts == before and not held:
                return counts
        raise Wrong("formgate goes on counting although nobody asks")


def ask(port, method, path, body=None, fields=None, patience=60):
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    try:
        connection.request(method, path, body, fields or {})
        response = connection.getresponse()
        read = response.read()
    except (OSError, http.client.HTTPException) as failure:
        raise Wrong(f"{method} {path} on port {port}: {failure!r}") from failure
    finally:
        connection.close()
    return Answer(response.status, response.getheader("Content-Type"), read, response.getheader("ETag"))
