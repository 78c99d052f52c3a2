"""A page that knows nothing but what is written of the socket: no SDK, no widget."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser

from tests.e2e.conftest import Serve
from tests.fakes.browser import HostSite, Visit, html
from tests.fakes.fake_upstream import FakeUpstream, Reply
from tests.fakes.live_server import KEY
from tests.fakes.openai_events import DONE, call, calls, finish, text

SCRIPT = """
<pre id="log"></pre>
<script>
const encoded = btoa("KEY")
  .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const socket = new WebSocket("URL", ["lantern.v1", `lantern.auth.${encoded}`]);
const frames = [];
const say = (message) => socket.send(JSON.stringify(message));
const temperatures = { Berlin: 21, Rome: 30 };
let pending = [];
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  frames.push(message);
  switch (message.type) {
    case "hello":
      say({
        type: "session.start",
        requestId: "start-1",
        provider: "primary",
        prompt: "What is the weather in Berlin and in Rome?",
        tools: [{
          name: "weather",
          description: "Get weather for a city",
          inputSchema: {
            type: "object",
            properties: { city: { type: "string" } },
            required: ["city"],
          },
        }],
        toolChoice: { type: "auto" },
      });
      break;
    case "tool.call":
      pending.push(message.call);
      break;
    case "session.state":
      if (message.state === "awaiting_tools") {
        const results = pending.map((call) => ({
          id: call.id,
          content: JSON.stringify({ temperature: temperatures[call.arguments.city] }),
        }));
        pending = [];
        say({ type: "session.tool_results", sessionId: message.sessionId, results });
      }
      break;
    case "turn.completed":
      document.getElementById("log").textContent = message.text;
      break;
  }
};
</script>
"""


@pytest.mark.browser
@pytest.mark.live
@pytest.mark.timeout(60)
async def test_page_without_an_sdk_completes_a_tool_conversation(
    serve: Serve, upstream: FakeUpstream, site: HostSite, browser: Browser
) -> None:
    berlin = call('{"city":"Berlin"}', index=0, id="a", name="weather")
    rome = call('{"city":"Rome"}', index=1, id="b", name="weather")
    upstream.enqueue(Reply([calls(berlin, rome), finish("tool_calls"), DONE]))
    upstream.enqueue(Reply([text("21 and 30 degrees"), finish(), DONE]))
    server = serve(upstream.base_url)
    url = f"{server.url.replace('http', 'ws', 1)}/v1/socket"
    site.pages["/"] = html(SCRIPT.replace("URL", url).replace("KEY", KEY))
    visit = await Visit.begin(browser)
    await visit.page.goto(f"{site.origin}/")
    log = visit.page.locator("#log")
    async with asyncio.timeout(20):
        while await log.inner_text() != "21 and 30 degrees":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    results = [m for m in upstream.requests[1].json["messages"] if m["role"] == "tool"]
    assert [(each["tool_call_id"], each["content"]) for each in results] == [
        ("a", '{"temperature":21}'),
        ("b", '{"temperature":30}'),
    ]
    kinds = [frame["type"] for frame in await visit.page.evaluate("frames")]
    assert kinds[:3] == ["hello", "session.started", "session.state"]
    assert kinds.count("tool.call") == 2
    assert visit.faults == []
