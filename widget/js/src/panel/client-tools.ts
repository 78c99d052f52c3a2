import type { ClientTool, SessionEvent, ToolResult } from "@lantern/sdk";
import type { LanternTool } from "../host.js";
import { safeStorage } from "./storage.js";

interface Call {
  callId: string;
  name: string;
  arguments: unknown;
}

export interface ClientToolsOptions {
  tools: ReadonlyMap<string, LanternTool>;
  /** Tools that the widget brings; the page's own go before a namesake. */
  builtIn(): LanternTool[];
  /** Where this tab, and no other, remembers what it began. */
  memoryName: string;
  send(turnId: string, results: ToolResult[]): Promise<void>;
}

/** A model that asks for more than this many letters of page data has enough. */
const MAX_RESULT = 60_000;
const MAX_REMEMBERED = 50;

/** Calls that any panel of this page has begun: the same call is not run by two. */
const begun = new Set<string>();

/** Runs the page's own tools when the model asks, in the tab that sent the message. */
export class ClientTools {
  readonly #options: ClientToolsOptions;
  readonly #memory = safeStorage("sessionStorage");
  readonly #waiting = new Map<string, Call[]>();
  /** Asked by turns that are not this tab's, as far as it has been told. */
  readonly #early = new Map<string, Call[]>();

  constructor(options: ClientToolsOptions) {
    this.#options = options;
  }

  offered(): ClientTool[] {
    return [...this.#known().values()].map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    }));
  }

  #known(): Map<string, LanternTool> {
    const builtIn = this.#options.builtIn().map((tool) => [tool.name, tool] as const);
    return new Map([...builtIn, ...this.#options.tools]);
  }

  /** This tab sent the turn's message, so its page answers for the tools. */
  own(turnId: string): void {
    this.#remember("turns", turnId);
    // The stream may have been faster than the answer to the message.
    const calls = this.#early.get(turnId);
    this.#early.delete(turnId);
    if (calls !== undefined) void this.#answer(turnId, calls);
  }

  heed(event: SessionEvent): void {
    if (event.kind === "tool_call_requested") {
      const calls = this.#waiting.get(event.turnId) ?? [];
      this.#waiting.set(event.turnId, [...calls, event]);
    } else if (event.kind === "turn_awaiting_tools") {
      const calls = this.#waiting.get(event.turnId) ?? [];
      this.#waiting.delete(event.turnId);
      if (this.#recalled("turns").includes(event.turnId)) void this.#answer(event.turnId, calls);
      else this.#early.set(event.turnId, calls);
    } else if (event.kind === "session.status_idle") {
      this.#early.clear();
    }
  }

  async #answer(turnId: string, calls: readonly Call[]): Promise<void> {
    const fresh = calls.filter(({ callId }) => !begun.has(callId));
    if (fresh.length === 0) return;
    for (const { callId } of fresh) begun.add(callId);
    const results = await Promise.all(fresh.map((call) => this.#run(call)));
    await this.#options.send(turnId, results);
  }

  async #run({ callId, name, arguments: given }: Call): Promise<ToolResult> {
    const tool = this.#known().get(name);
    const fail = (content: string): ToolResult => ({ id: callId, content, isError: true });
    if (tool === undefined) return fail("This page does not have the tool.");
    // What the tool did before the page was left is not known; it is not done twice.
    if (this.#recalled("calls").includes(callId)) return fail("The page was left meanwhile.");
    this.#remember("calls", callId);
    try {
      const result = await tool.run((given ?? {}) as Record<string, unknown>);
      const content = typeof result === "string" ? result : (JSON.stringify(result) ?? "");
      return { id: callId, content: content.slice(0, MAX_RESULT) };
    } catch (error) {
      return fail(error instanceof Error ? error.message.slice(0, 500) : "The tool failed.");
    }
  }

  #recalled(what: "turns" | "calls"): string[] {
    return (this.#memory.get(`${this.#options.memoryName}:${what}`) ?? "").split(" ");
  }

  #remember(what: "turns" | "calls", id: string): void {
    const ids = [...this.#recalled(what), id].slice(-MAX_REMEMBERED);
    this.#memory.set(`${this.#options.memoryName}:${what}`, ids.join(" ").trim());
  }
}
