"""The kinds of requests, and what each must become."""

import json
from collections import namedtuple

from servers import ADDRESS, ANSWER, Formgate, Wrong, ask

# name, the body sent (none: a GET), the outcome formgate must count, the kind nginx is measured with
Kind = namedtuple("Kind", "name body outcome reference")


def order(length, last=()):
    """A body of exactly so many bytes; the form admits it if it admits the last line."""
    lines = []

    def text(note=""):
        value = {"customer": "cus_9f8A7b6C5d4E3f2G", "currency": "EUR", "express": True, "note": note}
        return json.dumps(value | {"lines": [*lines, *last]}, separators=(",", ":"))

    # Brackets and commas are counted with the first text; a line more is its own text and a comma.
    size = len(text())
    while True:
        at = len(lines)
        line = {"sku": f"SKU-{at:04}-K", "quantity": at % 999 + 1, "price": 19.95 + at, "gift": at % 3 == 0}
        size += len(json.dumps(line, separators=(",", ":"))) + (1 if lines or last else 0)
        if size > length:
            # The rest goes where text is free.
            return text("n" * (length - len(text())))
        lines.append(line)


KINDS = [
    Kind("get", None, "arrived", "get"),
    # With the entity tag that the server gave.
    Kind("not-modified", None, "not_modified", "not-modified"),
    Kind("post-300", order(300), "accepted", "post-300"),
    Kind("post-4k", order(4096), "accepted", "post-4k"),
    Kind("post-64k", order(65536), "accepted", "post-64k"),
    # Wrong in its last member: everything before it has been read and held against the form.
    Kind("refused-300", order(300, last=[{"sku": 1}]), "refused", "get"),
]


def named(names):
    """The kinds of a comma-separated list; all without one."""
    wanted = names.split(",") if names else [kind.name for kind in KINDS]
    if strangers := set(wanted) - {kind.name for kind in KINDS}:
        raise SystemExit(f"no such kind: {', '.join(sorted(strangers))}; there are {', '.join(kind.name for kind in KINDS)}")
    return [kind for kind in KINDS if kind.name in wanted]


def fields(server, kind):
    """The head's lines of a kind, beside what every client sends."""
    if kind.name == "not-modified":
        return {"If-None-Match": server.tag(kind.name)}
    return {"Content-Type": "application/json"} if kind.body is not None else {}


def check_answer(server, kind, form):
    """The answers themselves, once before they are counted by the thousand."""
    answer = ask(
        server.port_of(kind.name), "GET" if kind.body is None else "POST", ADDRESS, kind.body, fields(server, kind)
    )
    status = server.statuses[kind.name]
    if answer.status != status:
        raise Wrong(f"{server.name}, {kind.name}: expected {status}, got {answer}")
    if kind.name == "refused-300":
        # How it says no is each server's own; formgate says nothing.
        right = not isinstance(server, Formgate) or (answer.media_type, answer.body) == (None, b"")
    elif kind.name == "not-modified":
        right = answer.body == b""
    else:
        body = form if kind.body is None else ANSWER
        right = (answer.media_type or "").startswith("application/json") and answer.body == body.encode()
    if not right:
        raise Wrong(f"{server.name}, {kind.name}: not the answer it should be: {answer}")
