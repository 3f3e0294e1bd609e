"""Peers beside nginx: fastify + ajv and Prism, which validate with the same form, and haproxy, which does the plain hop."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from servers import ADDRESS, Server, free_port

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "peers"
POSTS = {"post-300": 200, "post-4k": 200, "post-64k": 200}


def install(folder):
    """The npm packages that peers/package-lock.json pins, once. Returns what is wrong, if anything is."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "node and npm are needed"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if int(version.lstrip("v").partition(".")[0] or 0) < 20:
        return f"node 20 or later is needed, this is {version}"
    lock = (PACKAGES / "package-lock.json").read_bytes()
    done = folder / "installed-lock.json"
    if done.exists() and done.read_bytes() == lock:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PACKAGES / name, folder / name)
    words = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return "npm ci did not end in ten minutes"
    if ran.returncode:
        return f"npm ci failed: {ran.stderr.strip()[-500:]}"
    done.write_bytes(lock)
    return None


def versions():
    """What the lock pins."""
    packages = json.loads((PACKAGES / "package-lock.json").read_text())["packages"]
    return {name: packages[f"node_modules/{name}"]["version"] for name in ("fastify", "ajv", "@stoplight/prism-cli")}


class Fastify(Server):
    """fastify's own validation of a body with ajv, then undici to the upstream: peers/fastify.mjs."""

    statuses = {"get": 200} | POSTS | {"refused-300": 400}

    def __init__(self, packages, folder, core, backend, form):
        folder = folder / "fastify"
        folder.mkdir()
        (folder / "form.json").write_text(form)
        # Where the script stands is where node looks for packages.
        script = Path(shutil.copy(PACKAGES / "fastify.mjs", packages / "fastify.mjs"))
        port = free_port()
        words = ["node", str(script), str(port), f"http://127.0.0.1:{backend}", str(folder / "form.json")]
        super().__init__("fastify", port, words, core, folder / "output", {"NODE_ENV": "production"})


class Prism(Server):
    """Prism as a validating proxy: the form is the request body of an OpenAPI document; violations are errors."""

    statuses = POSTS | {"refused-300": 422}

    def __init__(self, packages, folder, core, backend, form):
        folder = folder / "prism"
        folder.mkdir()
        document = folder / "openapi.json"
        body = {"required": True, "content": {"application/json": {"schema": json.loads(form)}}}
        answers = {"200": {"description": "done", "content": {"application/json": {"schema": {"type": "object"}}}}}
        document.write_text(
            json.dumps(
                {
                    "openapi": "3.1.0",
                    "info": {"title": "orders", "version": "1"},
                    "paths": {ADDRESS: {"post": {"requestBody": body, "responses": answers}}},
                }
            )
        )
        port = free_port()
        program = (packages / "node_modules/.bin/prism").resolve()
        words = ["node", str(program), "proxy", str(document), f"http://127.0.0.1:{backend}", "--errors"]
        words += ["--port", str(port), "--multiprocess", "false", "--verboseLevel", "silent", "--cors", "false"]
        super().__init__("prism", port, words, core, folder / "output", {"NODE_ENV": "production"})


class Haproxy(Server):
    """The plain hop; one thread, connections to the backend shared."""

    statuses = {"get": 200} | POSTS

    def __init__(self, folder, core, backend, form):
        folder = folder / "haproxy"
        folder.mkdir()
        (folder / "form.json").write_text(form)
        port = free_port()
        config = folder / "haproxy.cfg"
        user = "    user root\n" if os.geteuid() == 0 else ""
        config.write_text(
            f"global\n    nbthread 1\n    maxconn 4000\n{user}"
            "defaults\n    mode http\n    http-reuse always\n    timeout connect 5s\n"
            "    timeout client 600s\n    timeout server 600s\n    timeout http-keep-alive 600s\n"
            f"frontend clients\n    bind 127.0.0.1:{port} backlog 4096\n"
            f"    http-request return status 200 content-type application/json file {folder}/form.json if METH_GET\n"
            "    default_backend backend\n"
            f"backend backend\n    http-request set-path /orders\n    server only 127.0.0.1:{backend}\n"
        )
        super().__init__("haproxy", port, ["haproxy", "-db", "-f", str(config)], core, folder / "output")


def peers(packages, folder, core, backend, form, arrival):
    """How each peer is started, by name."""
    return {
        "haproxy": lambda: Haproxy(folder, core, backend, arrival),
        "fastify": lambda: Fastify(packages, folder, core, backend, form),
        "prism": lambda: Prism(packages, folder, core, backend, form),
    }
