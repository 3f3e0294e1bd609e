"""The official Python SDK: in the first era, of its own choice, and pinned to a stateless revision."""

import asyncio
import json
import sys
import urllib.request

from mcp import Client, MCPError


async def rejects(call, code):
    try:
        await call
    except MCPError as error:
        assert error.error.code == code, error
    else:
        raise AssertionError(f"no error {code}")


async def main(url, mode):
    async with Client(url, mode=mode) as client:
        version = client.protocol_version
        assert version == ("2025-11-25" if mode == "legacy" else "2026-07-28"), version
        if mode == "legacy":
            await client.send_ping()
        tools = (await client.list_tools()).tools
        meeting = next(tool for tool in tools if tool.name == "start_meeting")
        with urllib.request.urlopen(url.replace("/mcp", "/api/v2/meetings/start")) as arrival:
            assert meeting.input_schema == json.load(arrival)["s"], meeting.input_schema

        done = await client.call_tool("start_meeting", {"title": "Q3", "displayName": "Ada"})
        assert not done.is_error, done
        assert done.structured_content == {"join": "https://meet.example/1"}, done
        assert json.loads(done.content[0].text) == done.structured_content
        empty = await client.call_tool("purge_cache")
        assert empty.structured_content == {}, empty

        unfit = await client.call_tool("start_meeting", {"title": "Q3", "admin": True})
        refused = await client.call_tool(
            "create_issue", {"project": "WEB", "title": "Logout does not log out"}
        )
        assert unfit.is_error and refused.is_error, (unfit, refused)
        assert unfit.content == refused.content, (unfit, refused)
        await rejects(client.call_tool("nobody", {}), -32602)
        print(f"{version}, {len(tools)} tools")


asyncio.run(main(*sys.argv[1:]))
