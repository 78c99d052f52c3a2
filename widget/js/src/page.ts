import type {
  LanternIdentity,
  LanternTool,
  PageFacts,
  WidgetConfig,
  WidgetEvents,
} from "./host.js";

type Listener = (detail: never) => void;

/** What the page has told the widget, and who on the page listens to it. */
export class PageSide implements PageFacts {
  identity: LanternIdentity | null | undefined;
  context: Readonly<Record<string, unknown>> = {};
  readonly tools = new Map<string, LanternTool>();
  configure: (config: WidgetConfig) => void = () => undefined;
  readonly #listeners = new Map<string, Set<Listener>>();

  listen(name: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<Name extends keyof WidgetEvents>(name: Name, detail: WidgetEvents[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as (detail: WidgetEvents[Name]) => void)(detail);
      } catch (error) {
        // A fault of the page's own code is the page's to see, not the chat's to die of.
        reportError(error);
      }
    }
  }
}
