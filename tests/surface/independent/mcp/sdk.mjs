// The official TypeScript SDK, first line: initialize, ping, list, calls that fit and do not.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url] = process.argv.slice(2);
const client = new Client({ name: "formgate-test", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
assert.equal(transport.sessionId, undefined);
assert.equal(client.getServerVersion().name, "formgate");
assert.deepEqual(client.getServerCapabilities(), { tools: {} });
await client.ping();

const { tools, nextCursor } = await client.listTools();
assert.equal(nextCursor, undefined);
const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
assert.ok(tools.length >= 3, `${tools.length} tools`);
const meeting = byName.start_meeting;
assert.equal(meeting.title, "Start a meeting");
assert.equal(meeting.inputSchema.type, "object");
assert.equal(meeting.annotations.destructiveHint, false);
const arrival = await (await fetch(new URL("/api/v2/meetings/start", url))).json();
assert.deepEqual(meeting.inputSchema, arrival.s);

const done = await client.callTool({ name: "start_meeting", arguments: { title: "Q3", displayName: "Ada" } });
assert.ok(!done.isError);
assert.deepEqual(done.structuredContent, { join: "https://meet.example/1" });
assert.deepEqual(JSON.parse(done.content[0].text), done.structuredContent);
const empty = await client.callTool({ name: "purge_cache" });
assert.deepEqual(empty.structuredContent, {});

const unfit = await client.callTool({ name: "start_meeting", arguments: { title: "Q3", admin: true } });
const taken = { project: "WEB", title: "Logout does not log out" };
const refused = await client.callTool({ name: "create_issue", arguments: taken });
assert.equal(unfit.isError, true);
assert.deepEqual(unfit, refused);
await assert.rejects(client.callTool({ name: "nobody", arguments: {} }), { code: -32602 });
await assert.rejects(client.listTools({ cursor: "x" }), { code: -32602 });
await assert.rejects(client.listPrompts(), { message: /./ });
await client.close();
console.log(`${transport.protocolVersion}, ${tools.length} tools`);
