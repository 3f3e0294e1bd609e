// A Node service as Express reads JSON: at most 100 KiB, objects and arrays only, `JSON.parse`. Prints its port.
const http = require("node:http");

const LIMIT = 100 * 1024;

function answer(response, status, value) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify(value));
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on("data", chunk => chunks.push(chunk));
  request.on("end", () => {
    const text = Buffer.concat(chunks).toString();
    if (text.length > LIMIT) return answer(response, 413, { error: "request entity too large" });
    if (!/^\s*[{[]/.test(text)) return answer(response, 400, { error: "strict" });
    try {
      const order = {};
      const read = JSON.parse(text);
      for (const name of Object.keys(read)) order[name] = read[name]; // what merges of objects come down to
      answer(response, 200, { cents: String(order.cents), admin: order.admin === true });
    } catch {
      answer(response, 400, { error: "bad JSON" });
    }
  });
});

server.listen(0, "127.0.0.1", () => console.log(server.address().port));
