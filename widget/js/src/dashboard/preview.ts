/** The widget itself on a page of nobody's, with a server that is made up. */
import { InlineElement } from "../inline.js";
import { readLooks } from "../options.js";
import { mountWidget } from "../widget.js";
import { isPreviewMessage, KEY, READY, type PreviewMessage } from "./preview-message.js";
import { answer } from "./preview-server.js";

let current: PreviewMessage = { view: "greeting", config: {} };

window.fetch = (input, init) => Promise.resolve(answer(new Request(input, init), current));

function mount(): void {
  window.Lantern?.destroy();
  for (const storage of [localStorage, sessionStorage]) {
    for (const name of Object.keys(storage)) {
      if (name.startsWith(`lantern:${KEY}`)) storage.removeItem(name);
    }
  }
  const { config, view } = current;
  const options = { key: KEY, server: location.origin, locale: "en", ...readLooks({}, config) };
  // What comes forward is shown at once, and only where the launcher is looked at.
  const isNudged = view === "launcher" && Boolean(config.nudge);
  const triggers = { afterS: isNudged ? 0 : NaN, onPath: "", onExit: false, nudge: config.nudge ?? "" };
  const lantern = mountWidget({ ...options, triggers });
  if (view !== "launcher") lantern.open();
}

window.addEventListener("message", ({ origin, data }: MessageEvent<unknown>) => {
  if (origin !== location.origin || !isPreviewMessage(data)) return;
  const before = current;
  current = data;
  const isOther = before.view !== data.view || window.Lantern === undefined;
  if (isOther || (data.view === "launcher" && before.config.nudge !== data.config.nudge)) mount();
  else InlineElement.page?.configure(data.config);
});

window.parent.postMessage(READY, location.origin);
