// fastify + ajv doing what formgate does with a body: hold it against the form, then forward the same bytes.
// node fastify.mjs PORT UPSTREAM FORM

import { readFileSync } from "node:fs";
import fastify from "fastify";
import { Pool } from "undici";

const [port, upstream, file] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
const address = "/api/v2/orders/place";

const app = fastify({
  bodyLimit: 128 * 1024,
  keepAliveTimeout: 600_000,
  // Judge what was sent: fastify's defaults would mend it (types coerced, unknown members dropped).
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false, useDefaults: false } },
});
// fastify's own reading of JSON; the text is kept beside it, so that nothing is written anew for the upstream.
const parse = app.getDefaultJsonParser("error", "error");
app.decorateRequest("sent", "");
app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
  request.sent = body;
  parse(request, body, done);
});

const backend = new Pool(upstream, { connections: 64, pipelining: 1 });
const headers = { "content-type": "application/json" };

app.get(address, (_, reply) => reply.type("application/json").send(text));
app.post(address, { schema: { body: JSON.parse(text) } }, async (request, reply) => {
  const answer = await backend.request({ method: "POST", path: "/orders", headers, body: request.sent });
  return reply.code(answer.statusCode).type("application/json").send(await answer.body.text());
});

await app.listen({ host: "127.0.0.1", port: Number(port), backlog: 4096 });
