import { Floating, TAG, WidgetElement } from "./floating.js";
import type { PageFacts, WidgetConfig } from "./host.js";
import { INLINE_TAG, InlineElement } from "./inline.js";
import { loaderLabels } from "./labels.js";
import type { Mount } from "./mount.js";
import { readLooks, type LoaderOptions } from "./options.js";
import { PageSide } from "./page.js";
import type { LanternApi } from "../widget.js";

/** How long the launcher waits for the server to say what it looks like. */
const PATIENCE_MS = 1500;

/** `config` is how the server has it; without one the widget looks as the tag says. */
export function mountWidget(
  given: Pick<LoaderOptions, "key" | "server" | "locale"> & Partial<LoaderOptions>,
  config?: Promise<WidgetConfig>,
): LanternApi {
  const options = { ...readLooks({}), hasLauncher: true, zIndex: "", ...given };
  if (!customElements.get(TAG)) customElements.define(TAG, WidgetElement);
  const page = new PageSide();
  const { userId, userHash = "" } = options.tag ?? {};
  if (userId !== undefined) page.identity = userId ? { userId, hash: userHash } : null;
  const floating = new Floating(options, loaderLabels(options.locale), page);
  const api = buildApi(options, page, floating);
  page.configure = (config) => {
    Object.assign(options, readLooks(options.tag, config));
    floating.render();
    for (const mount of mountsOf(floating)) {
      mount.dress();
      mount.whenLoaded((panel) => panel.configure(config));
    }
  };
  window.Lantern = api;
  InlineElement.options = options;
  InlineElement.page = page;
  if (!customElements.get(INLINE_TAG)) customElements.define(INLINE_TAG, InlineElement);
  for (const element of InlineElement.standing) element.start();
  const begin = (): void => floating.begin();
  if (config === undefined) begin();
  else {
    setTimeout(() => floating.show(), PATIENCE_MS);
    void config.then(page.configure).then(begin, begin);
  }
  return api;
}

function mountsOf(floating: Floating): Mount[] {
  return [floating.mount, ...[...InlineElement.standing].flatMap(({ mount }) => mount ?? [])];
}

function buildApi(options: LoaderOptions, page: PageSide, floating: Floating): LanternApi {
  const mounts = (): Mount[] => mountsOf(floating);
  const changed = (what: keyof PageFacts): void => {
    for (const mount of mounts()) mount.whenLoaded((panel) => panel.factsChanged(what));
  };
  /** Without a launcher it is the chat in the page that is meant. */
  const chosen = (): Mount => {
    const inline = options.hasLauncher ? undefined : mounts()[1];
    if (inline === undefined) floating.setOpen(true);
    return inline ?? floating.mount;
  };
  const api: LanternApi = {
    key: options.key,
    open: () => floating.setOpen(true),
    close: () => floating.setOpen(false),
    toggle: () => floating.toggle(),
    send: async (text) => (await chosen().load()).send(text),
    newSession: async () => {
      const mount = options.hasLauncher ? floating.mount : (mounts()[1] ?? floating.mount);
      (await mount.load()).newSession();
    },
    identify(identity) {
      page.identity = identity;
      changed("identity");
    },
    setContext(context) {
      page.context = { ...page.context, ...context };
      changed("context");
    },
    registerTool(tool) {
      page.tools.set(tool.name, tool);
      changed("tools");
      return () => {
        if (page.tools.get(tool.name) === tool) page.tools.delete(tool.name);
      };
    },
    on: (name, listener) => page.listen(name, listener),
    destroy() {
      floating.destroy();
      for (const element of [...InlineElement.standing]) element.stop();
      InlineElement.options = InlineElement.page = null;
      if (window.Lantern === api) delete window.Lantern;
    },
  };
  return api;
}
