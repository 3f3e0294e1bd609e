"""The real gateway with a backend behind it, for clients that others wrote."""

import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The token of the shipped example.
TOKEN = "fg_act_of_the_demo_make_your_own_with_formgate_token"


def binary():
    """FORMGATE_BIN, else the newest of target/release and target/debug."""
    if "FORMGATE_BIN" in os.environ:
        return os.environ["FORMGATE_BIN"]
    built = [path for path in (ROOT / "target/release/formgate", ROOT / "target/debug/formgate") if path.exists()]
    if not built:
        sys.exit("independent: no formgate is built; `cargo build` first, or set FORMGATE_BIN")
    return max(built, key=lambda path: path.stat().st_mtime)


class Backend:
    """Takes every act, and keeps the last body."""

    def __init__(self):
        backend = self
        self.count, self.last = 0, None

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):
                backend.last = self.rfile.read(int(self.headers["Content-Length"]))
                backend.count += 1
                self.wfile.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n" b'{"ok":true}'
                )

            do_PUT = do_PATCH = do_DELETE = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def config_of(forms, backend):
    """A configuration with one route a form, at /NAME, as JSON (which is YAML). Nothing is linted."""
    lints = json.loads(subprocess.run([binary(), "check", "--schema"], capture_output=True, text=True, check=True).stdout)
    lints = lints["properties"]["lints"]["properties"]
    return json.dumps({
        "listen": ["127.0.0.1:0"],
        "upstreams": {"backend": {"servers": [f"http://127.0.0.1:{backend}"]}},
        "defaults": {"limits": "none", "max_body": "1MiB"},
        "lints": dict.fromkeys(lints, "allow"),
        "routes": [
            {"address": f"/{name}", "name": name, "form": form, "upstream": {"to": "backend", "path": "/"}}
            for name, form in forms.items()
        ],
    })


def here(path, backend):
    """The configuration at a path on free ports, before the backend, without rates."""
    text = path.read_text()
    for pattern, replacement in [
        (r'listen: \["127.0.0.1:8080"\]', 'listen: ["127.0.0.1:0"]'),
        (r'admin: "127.0.0.1:9901"', 'admin: "127.0.0.1:0"'),
        (r"servers: \[[^\]]*\]", f'servers: ["http://127.0.0.1:{backend}"]'),
        (r"(?m)^  limits:.*\n(    (get|post|refused): .*\n)*", "  limits: none\n"),
        (r"(?m)^    limits: \{.*\}.*\n", ""),
        (r"(?m)^    idempotency: required.*\n", "    idempotency: optional\n"),
    ]:
        text = re.sub(pattern, replacement, text)
    path.write_text(text)
    return path


def shipped_config(folder, backend):
    """The shipped example beside its forms, on free ports and without rates."""
    shutil.copytree(ROOT / "config", folder)
    return here(folder / "gateway.yaml", backend)


def adopted_config(document, folder, backend):
    """What `init` makes of an OpenAPI document, on free ports and without rates."""
    words = [binary(), "init", "--openapi", str(document), "--out", str(folder)]
    made = subprocess.run(words, capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"independent: init --openapi {document}: {made.stderr}")
    return here(folder / "gateway.yaml", backend)


class Gate:
    """The gateway on a configuration."""

    def __init__(self, config):
        command = [binary(), "serve", str(config)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if found := re.search(r"listening on http://(\S+)", line):
                self.netloc = found.group(1)
                break
        else:
            sys.exit("independent: formgate did not start:\n" + "".join(said))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.connection = http.client.HTTPConnection(self.netloc, timeout=30)

    def ask(self, method, target, body=None):
        """Status and bytes of the answer."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            self.connection.request(method, urllib.parse.quote(target, safe="/"), body, headers)
            answer = self.connection.getresponse()
        except (http.client.HTTPException, OSError):
            self.connection.close()  # ended after a large refusal
            self.connection.request(method, urllib.parse.quote(target, safe="/"), body, headers)
            answer = self.connection.getresponse()
        return answer.status, answer.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
