"""A Python service as Flask and FastAPI read JSON: `json.loads`. Prints its port."""

import http.server
import json

KNOWN = {"AB-1"}


class Orders(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if order["sku"] == "AB-text":  # `return "done"`, as Flask sends it
                self.answer(200, "text/html; charset=utf-8", "done")
            elif order["sku"] not in KNOWN:
                self.answer(422, "application/json", json.dumps({"detail": "no such sku"}))
            else:
                self.answer(200, "application/json", json.dumps({"cents": repr(order["cents"])}))
        except KeyError:
            self.answer(500, "text/html", "<h1>Internal Server Error</h1>")

    def answer(self, status, kind, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Orders)
print(server.server_address[1], flush=True)
server.serve_forever()
