"""Memory of idle connections: private memory of formgate before and after N of them, each after one GET of /a.

    python3 tests/tls/idle.py PID PORT N plain|tls|12
"""
import socket
import ssl
import sys
import time

pid, port, count, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
if kind == "12":
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def private():
    """KiB that belong to the process alone."""
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        return int(rollup.read().split("Private_Dirty:")[1].split()[0])


def opened():
    connection = socket.create_connection(("127.0.0.1", port))
    if kind != "plain":
        connection = context.wrap_socket(connection, server_hostname="site.test")
    connection.sendall(b"GET /a HTTP/1.1\r\nHost: site.test\r\n\r\n")
    connection.recv(65536)
    return connection


for connection in [opened() for _ in range(50)]:
    connection.close()
time.sleep(1.5)
before = private()
connections = [opened() for _ in range(count)]
time.sleep(1.5)
print(f"{kind}: {count} connections, {(private() - before) / len(connections):.2f} KiB each")
