import { Floating, TAG, WidgetElement } from "./floating.js";
import type { PageFacts, WidgetOptions } from "./host.js";
import { INLINE_TAG, InlineElement } from "./inline.js";
import { loaderLabels } from "./labels.js";
import type { Mount } from "./mount.js";
import type { LoaderOptions } from "./options.js";
import { PageSide } from "./page.js";
import type { LanternApi } from "../widget.js";

const NO_TRIGGERS = { afterS: null, onPath: "", onExit: false, nudge: "" };

export function mountWidget(
  given: WidgetOptions & Partial<LoaderOptions>,
): LanternApi {
  const options = { hasLauncher: true, triggers: NO_TRIGGERS, ...given };
  if (!customElements.get(TAG)) customElements.define(TAG, WidgetElement);
  const page = new PageSide();
  const floating = new Floating(options, loaderLabels(options.locale), page);
  const api = buildApi(options, page, floating);
  window.Lantern = api;
  InlineElement.options = options;
  InlineElement.page = page;
  if (!customElements.get(INLINE_TAG)) customElements.define(INLINE_TAG, InlineElement);
  for (const element of InlineElement.standing) element.start();
  return api;
}

function buildApi(options: LoaderOptions, page: PageSide, floating: Floating): LanternApi {
  const mounts = (): Mount[] => [
    floating.mount,
    ...[...InlineElement.standing].flatMap(({ mount }) => mount ?? []),
  ];
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
