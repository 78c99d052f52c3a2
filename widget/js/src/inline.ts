import { Mount } from "./mount.js";
import type { LoaderOptions } from "./options.js";
import type { PageSide } from "./page.js";

export const INLINE_TAG = "lantern-chat";

/** `<lantern-chat>`: the panel in the page's own flow. */
export class InlineElement extends HTMLElement {
  /** The widget of this page; a page has one at a time. */
  static options: LoaderOptions | null = null;
  static page: PageSide | null = null;
  static readonly standing = new Set<InlineElement>();
  mount: Mount | null = null;

  connectedCallback(): void {
    InlineElement.standing.add(this);
    this.start();
  }

  disconnectedCallback(): void {
    // A page that moves the element takes it out and puts it in again.
    setTimeout(() => {
      if (this.isConnected) return;
      InlineElement.standing.delete(this);
      this.mount?.whenLoaded((panel) => panel.hide());
    });
  }

  start(): void {
    const { options, page } = InlineElement;
    if (options === null || page === null) return;
    this.mount ??= new Mount(this, options, {
      isInline: true,
      facts: page,
      emit: (name, detail) => page.emit(name, detail),
      close: () => undefined,
      configure: (config) => page.configure(config),
      setCloseLabel: () => undefined,
      setUnread: () => undefined,
    });
    void this.mount.load().then(
      (panel) => panel.show(),
      () => page.emit("error", { code: "load_failed", message: "" }),
    );
  }

  stop(): void {
    this.mount?.whenLoaded((panel) => panel.destroy());
    this.remove();
  }
}
