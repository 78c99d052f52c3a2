import type { SessionEvent, ToolResult } from "@lantern/sdk";
import { expect, it } from "vitest";
import { ClientTools } from "../src/panel/client-tools.js";

const TOOL = {
  name: "page",
  description: "The page",
  inputSchema: { type: "object" },
  run: () => "here",
};

let number = 0;

function made() {
  const sent: [string, ToolResult[]][] = [];
  const tools = new ClientTools({
    tools: new Map([["page", TOOL]]),
    builtIn: () => [],
    memoryName: `memory-${++number}`,
    send: async (turnId, results) => void sent.push([turnId, results]),
  });
  const callId = `call-${number}`;
  const asks = (turnId: string): void => {
    const ids = { sessionId: "s", turnId };
    tools.heed({
      kind: "tool_call_requested",
      ...ids,
      round: 1,
      callId,
      name: "page",
      arguments: {},
    } as SessionEvent);
    tools.heed({ kind: "turn_awaiting_tools", ...ids, waitS: 600 } as SessionEvent);
  };
  return { tools, asks, sent, answered: ["t", [{ id: callId, content: "here" }]] };
}

const settled = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

it("answers what its own turn asks", async () => {
  const { tools, asks, sent, answered } = made();
  tools.own("t");
  asks("t");
  await settled();
  expect(sent).toEqual([answered]);
});

it("answers what was asked before the message's own answer came", async () => {
  const { tools, asks, sent, answered } = made();
  asks("t");
  await settled();
  expect(sent).toEqual([]);
  tools.own("t");
  tools.own("t");
  await settled();
  expect(sent).toEqual([answered]);
});

it("leaves what another tab's turn asks to that tab", async () => {
  const { tools, asks, sent } = made();
  tools.own("mine");
  asks("t");
  tools.heed({ kind: "session.status_idle", sessionId: "s" } as SessionEvent);
  tools.own("t");
  await settled();
  expect(sent).toEqual([]);
});
