/**
 * Types of what `/widget.js` adds to a page. Copy this file into your project, or refer to
 * it: `/// <reference path="widget.d.ts" />` and `import type { LanternApi } from "./widget"`.
 */

/** Who the visitor is, as your server has signed it. */
export type LanternIdentity =
  | {
      /** A JWT (HS256, with the embed's secret): `sub`, `exp`, and maybe `name`, `email`. */
      token: string;
    }
  | {
      userId: string;
      /** HMAC-SHA256 of `userId` with the embed's secret, in hex. */
      hash: string;
    };

export interface LanternTool {
  name: string;
  /** Tells the model what the tool does and when to use it. */
  description: string;
  /** JSON Schema of its arguments. */
  inputSchema: Record<string, unknown>;
  /** Runs in the page. What it gives goes to the model: text as it is, the rest as JSON. */
  run(args: Record<string, unknown>): unknown;
}

export interface LanternEvents {
  /** The panel has been loaded. */
  ready: undefined;
  open: undefined;
  close: undefined;
  /** A reply is complete. */
  message: { turnId: string; text: string };
  /** The visitor has sent a message. */
  sent: { text: string };
  error: { code: string; message: string };
}

export interface LanternApi {
  readonly key: string;
  open(): void;
  close(): void;
  toggle(): void;
  /** Opens the panel and sends a message; resolves to whether the server took it. */
  send(text: string): Promise<boolean>;
  /** Leaves the conversation for a new one; the old one stays in the visitor's list. */
  newSession(): Promise<void>;
  /** Tells who the visitor is; `null` when they log out. Nothing of another user stays on screen. */
  identify(identity: LanternIdentity | null): void;
  /** Facts about the page or the visitor, kept with the conversation. Later calls add to it. */
  setContext(context: Record<string, unknown>): void;
  /** Lets the model use a function of the page. Returns the function that takes it back. */
  registerTool(tool: LanternTool): () => void;
  /** Returns the function that ends the subscription. */
  on<Name extends keyof LanternEvents>(
    name: Name,
    listener: (detail: LanternEvents[Name]) => void,
  ): () => void;
  /** Takes the widget off the page. */
  destroy(): void;
}

declare global {
  interface Window {
    Lantern?: LanternApi;
    /** Set before the script: other words for the widget, by their names in `en.json`. */
    LanternStrings?: Record<string, string>;
  }
}
