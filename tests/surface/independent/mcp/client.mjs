// The official TypeScript client, second line: in the first era, of its own choice, and pinned to a stateless revision.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, mode] = process.argv.slice(2);
const pinned = /^\d/.test(mode) ? { pin: mode } : mode;
const client = new Client({ name: "formgate-test", version: "1" }, { versionNegotiation: { mode: pinned } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const version = client.getNegotiatedProtocolVersion();
assert.equal(version, mode === "legacy" ? "2025-11-25" : "2026-07-28");
if (mode === "legacy") {
    await client.ping();
}

const { tools } = await client.listTools();
const meeting = tools.find((tool) => tool.name === "start_meeting");
const arrival = await (await fetch(new URL("/api/v2/meetings/start", url))).json();
assert.deepEqual(meeting.inputSchema, arrival.s);

const done = await client.callTool({ name: "start_meeting", arguments: { title: "Q3", displayName: "Ada" } });
assert.ok(!done.isError);
assert.deepEqual(done.structuredContent, { join: "https://meet.example/1" });
const empty = await client.callTool({ name: "purge_cache" });
assert.deepEqual(empty.structuredContent, {});

const unfit = await client.callTool({ name: "start_meeting", arguments: { title: "Q3", admin: true } });
const taken = { project: "WEB", title: "Logout does not log out" };
const refused = await client.callTool({ name: "create_issue", arguments: taken });
assert.equal(unfit.isError, true);
assert.deepEqual(unfit, refused);
await assert.rejects(client.callTool({ name: "nobody", arguments: {} }), { code: -32602 });
await client.close();
console.log(`${version}, ${tools.length} tools`);
