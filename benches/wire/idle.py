"""What a connection costs that waits for its next request: memory of the process, not of the kernel."""

import resource
import select
import socket
import time

from servers import ADDRESS, Wrong, ask


def allow_files(count):
    """So many open files for this process and for those it starts. Returns how many there are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
            return count
        except (ValueError, OSError):
            pass
    most = count if hard == resource.RLIM_INFINITY else min(count, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return max(soft, most)


def request(body, path=ADDRESS):
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def answer(connection):
    """Reads one answer to its end."""
    text = b""
    while True:
        more = connection.recv(65536)
        if not more:
            raise Wrong("the server hung up instead of answering")
        text += more
        head, found, body = text.partition(b"\r\n\r\n")
        if not found:
            continue
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if int(fields[b"content-length"]) == len(body):
            return int(head.split(b" ", 2)[1])


def idle(server, kind, count):
    """Opens so many connections, a POST on each, and sees what the process has grown by. A fresh server."""
    words = request(kind.body)
    # What the first requests make it allocate once is not the connections'.
    for _ in range(200):
        ask(server.port, "POST", ADDRESS, kind.body, {"Content-Type": "application/json"})
    time.sleep(0.5)
    before = server.rss()
    connections = []
    waiting = select.poll()
    began = time.monotonic()
    try:
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", server.port), 20)
            connections.append(connection)
            connection.sendall(words)
            if (status := answer(connection)) != server.statuses[kind.name]:
                raise Wrong(f"{server.name}: connection {len(connections)} was answered {status}")
        opened = time.monotonic() - began
        time.sleep(2)
        after = server.rss()
        for connection in connections:
            waiting.register(connection, select.POLLIN | select.POLLHUP)
        if gone := waiting.poll(0):
            raise Wrong(f"{server.name} closed {len(gone)} of {count} connections that were to stay open")
    except OSError as failure:
        raise Wrong(f"{server.name}: connection {len(connections) + 1} of {count}: {failure}") from failure
    finally:
        for connection in connections:
            connection.close()
    return {
        "server": server.name,
        "connections": count,
        "opened_in_s": round(opened, 2),
        "rss_before_kib": before,
        "rss_after_kib": after,
        "bytes_per_connection": round((after - before) * 1024 / count),
    }
