"""The OpenAPI document, read by an independent validator, exercised by an independent tester, and called through a
client that an independent generator made of it."""

import http.server
import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from openapi_spec_validator import OpenAPIV31SpecValidator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
BIN = pathlib.Path(sys.executable).parent
GATE = os.environ.get("FORMGATE_BIN", ROOT / "target/release/formgate")
TOKEN = "fg_act_of_the_demo_make_your_own_with_formgate_token"
EXAMPLES = os.environ.get("EXAMPLES", "50")


def expect(what, holds, seen=""):
    if not holds:
        sys.exit(f"independent: expected {what}, and saw:\n{seen}")
    print(f"independent: {what}", flush=True)


class Backend(http.server.BaseHTTPRequestHandler):
    """Takes every act, and keeps its body."""

    protocol_version = "HTTP/1.1"
    seen = []

    def do_POST(self):
        Backend.seen.append(self.rfile.read(int(self.headers["Content-Length"])))
        body = b'{"ok":true}'
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST

    def log_message(self, *_):
        pass


def configure(folder, backend, change):
    """The shipped example, without rates: what is asked here is not how often."""
    shutil.copytree(ROOT / "config", folder)
    path = folder / "gateway.yaml"
    text = path.read_text()
    replaced = [
        (r'listen: \["127.0.0.1:8080"\]', 'listen: ["127.0.0.1:0"]'),
        (r'admin: "127.0.0.1:9901"', 'admin: "127.0.0.1:0"'),
        (r"127\.0\.0\.1:18081", f"127.0.0.1:{backend}"),
        (r"(?m)^  limits:.*\n(    (get|post|refused): .*\n)+", "  limits: none\n"),
        (r"(?m)^    limits: \{.*\}.*\n", ""),
    ] + change
    for pattern, replacement in replaced:
        text, count = re.subn(pattern, replacement, text)
        if not count:
            sys.exit(f"independent: the example has no {pattern!r}:\n{text}")
    path.write_text(text)
    return path


class Gate:
    """The gateway on a configuration."""

    def __init__(self, config):
        # Its access lines are not read here.
        command = [GATE, "serve", config]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"listening on (http://\S+)", line)
            if found:
                self.url = found.group(1)
                break
        else:
            sys.exit("independent: formgate did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)


def fetch(url):
    with urllib.request.urlopen(f"{url}/openapi.json", timeout=10) as answer:
        return json.load(answer)


def validate(document):
    faults = [str(fault) for fault in OpenAPIV31SpecValidator(document).iter_errors()]
    expect(f"a document of OpenAPI 3.1 with {len(document['paths'])} operations", not faults, faults)


def exercise(url):
    began, before = time.monotonic(), len(Backend.seen)
    command = [
        BIN / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run", f"{url}/openapi.json",
        "--url", url, "--header", f"Authorization: Bearer {TOKEN}", "--max-examples", EXAMPLES,
    ]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=600)
    counted = re.search(r"(\d+) generated", done.stdout)
    expect(
        f"schemathesis finds nothing ({counted and counted.group(1)} requests, {len(Backend.seen) - before} acts,"
        f" {time.monotonic() - began:.0f} s)",
        done.returncode == 0 and counted and int(counted.group(1)) > 300 and len(Backend.seen) > before,
        done.stdout + done.stderr,
    )


def call(url, document, folder):
    """Every body that the cases accept, through classes and functions made from the document."""
    source = folder / "openapi.json"
    source.write_text(json.dumps(document))
    command = [BIN / "openapi-python-client", "generate", "--path", source, "--meta", "none", "--output-path", folder / "made"]
    path = f"{BIN}:{os.environ['PATH']}"
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": path})
    skipped = [line for line in done.stdout.splitlines() if "WARNING parsing" in line or "ERROR" in line]
    expect("a client is generated from it, with nothing left out", done.returncode == 0 and not skipped, done.stdout + done.stderr)
    sys.path.insert(0, str(folder))
    client = importlib.import_module("made").AuthenticatedClient(base_url=url, token=TOKEN)
    calls = 0
    for form, operation, path in [
        ("meetings-start", "start_meeting", "/api/v2/meetings/start"),
        ("payment-refund", "refund_payment", "/api/v2/payments/refund"),
        ("issue-create", "create_issue", "/api/v2/issues/create"),
        ("registrations-request", "request_registration", "/api/v2/registrations/request"),
        ("review-request", "request_review", "/api/v2/review/request"),
        ("cache-purge", "purge_cache", "/api/v2/cache/purge"),
    ]:
        body_class = getattr(
            importlib.import_module("made.models"), "".join(word.title() for word in operation.split("_")) + "Body"
        )
        function = importlib.import_module(f"made.api.default.{operation}")
        schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        for case in sorted((ROOT / "tests/cases/forms" / form / "accept").iterdir()):
            value = json.loads(case.read_bytes())
            if any(schema["properties"].get(name) is None for name in value):
                continue  # the shipped form may be narrower than the case's
            answer = function.sync_detailed(client=client, body=body_class.from_dict(value))
            # Python writes 1e2 as 100.0, which is no integer to a backend of `numbers: safe_integers`.
            if operation == "refund_payment" and re.search(r"\d\.0\b", json.dumps(value)):
                expect("100.0 refused where it is no integer", answer.status_code == 204, answer)
                continue
            if answer.status_code != 200 or json.loads(Backend.seen[-1]) != value:
                sys.exit(f"independent: {case} through the client: {answer}, {Backend.seen[-1:]}")
            calls += 1
    expect(f"the client acts, and the backend is sent what it was given ({calls} calls)", calls > 20)
    meeting = importlib.import_module("made.models").StartMeetingBody(title="", display_name="Ada")
    refused = importlib.import_module("made.api.default.start_meeting").sync_detailed(client=client, body=meeting)
    expect("the client understands a refusal", refused.status_code == 204 and refused.parsed is None, refused)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shipped = configure(folder / "shipped", server.server_port, [])
        with Gate(shipped) as gate:
            document = fetch(gate.url)
            validate(document)
            exercise(gate.url)
            call(gate.url, document, folder)
        # Alternatives at the root and references written out: the tools as operations of their own.
        every = configure(folder / "every", server.server_port, [(r"actions: longtail", "actions: direct"), (r"(?m)^  tools: .*\n", "")])
        with Gate(every) as gate:
            validate(fetch(gate.url))
            exercise(gate.url)


main()
