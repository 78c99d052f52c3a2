import type { TurnView } from "@lantern/sdk";
import { el, icon, type View } from "../../dom.js";
import { CHEVRON } from "../../icons.js";
import type { ChatState } from "../store.js";
import { createTurnView, type TurnViewOptions, type TurnViewState } from "./bubble.js";

export interface ThreadOptions extends TurnViewOptions {
  /** Stands above the first message. */
  welcome: HTMLElement | null;
}

export interface ThreadView extends View<ChatState> {
  scrollToEnd(): void;
}

/** Closer to the end than this, the reader follows what is being written. */
const FOLLOW_PX = 48;

export function createThread(options: ThreadOptions): ThreadView {
  const { t } = options;
  const turns = el("div", { class: "turns" });
  const loading = el(
    "div",
    { class: "loading", "aria-hidden": "true" },
    ...["a", "b", "c"].map((name) => el("span", { class: name })),
  );
  const scroller = el(
    "div",
    {
      class: "thread",
      part: "thread",
      role: "region",
      "aria-label": t("conversation"),
      tabindex: "0",
    },
    ...(options.welcome === null ? [] : [options.welcome]),
    loading,
    turns,
  );
  const latest = el("button", { type: "button", class: "latest", "aria-label": t("latest") });
  latest.append(icon(CHEVRON));
  const element = el("div", { class: "thread-frame" }, scroller, latest);
  const follower = followEnd(scroller, latest);
  const list = new TurnList(turns, options);
  return {
    element,
    update(state) {
      loading.hidden = !state.isLoading;
      if (list.update(state)) follower.stayAtEnd();
    },
    scrollToEnd: follower.scrollToEnd,
  };
}

interface Follower {
  stayAtEnd(): void;
  scrollToEnd(): void;
}

/** Keeps the end in view while the reader is there, and leaves them alone when not. */
function followEnd(scroller: HTMLElement, latest: HTMLElement): Follower {
  let isFollowing = true;
  const toEnd = (): void => {
    scroller.scrollTop = scroller.scrollHeight;
  };
  const scrollToEnd = (): void => {
    isFollowing = true;
    latest.classList.remove("shown");
    toEnd();
  };
  scroller.addEventListener("scroll", () => {
    const below = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    isFollowing = below < FOLLOW_PX;
    latest.classList.toggle("shown", !isFollowing);
  });
  latest.addEventListener("click", scrollToEnd);
  const stayAtEnd = (): void => {
    if (isFollowing) toEnd();
  };
  // A notice, a question or a longer message takes of its height, and says no scroll.
  if (typeof ResizeObserver !== "undefined") new ResizeObserver(stayAtEnd).observe(scroller);
  return { stayAtEnd, scrollToEnd };
}

/** Between two turns that lie further apart than this, the time is said. */
const PAUSE_MS = 3_600_000;

interface Standing {
  view: View<TurnViewState>;
  since: number;
}

class TurnList {
  readonly #parent: HTMLElement;
  readonly #options: ThreadOptions;
  readonly #standing = new Map<string, Standing>();
  readonly #shown = new Map<string, Omit<TurnViewState, "conversation">>();
  #isRunning = false;

  constructor(parent: HTMLElement, options: ThreadOptions) {
    this.#parent = parent;
    this.#options = options;
  }

  /** Whether anything on screen changed. */
  update({ conversation }: ChatState): boolean {
    const { turns, isRunning } = conversation;
    const hasTurned = isRunning !== this.#isRunning;
    this.#isRunning = isRunning;
    let hasChanged = this.#removeGone(turns);
    let last: number | null = null;
    turns.forEach((turn, index) => {
      const isLast = index === turns.length - 1;
      const { view, since } = this.#standAt(index, turn.key);
      const at = turn.at === null ? since : Date.parse(turn.at);
      const pause = last === null ? since - at : at - last;
      const when = pause > PAUSE_MS ? at : null;
      last = at;
      const before = this.#shown.get(turn.key);
      const isReplaced = turns[index + 1]?.isAgain === true;
      const isSame =
        before?.turn === turn &&
        before.isLast === isLast &&
        before.isReplaced === isReplaced &&
        before.when === when;
      if (isSame && !(hasTurned && turn.phase === "unanswered")) return;
      this.#shown.set(turn.key, { turn, isLast, isReplaced, when });
      view.update({ turn, isLast, isReplaced, when, conversation });
      hasChanged = true;
    });
    return hasChanged;
  }

  #standAt(index: number, key: string): Standing {
    let standing = this.#standing.get(key);
    if (standing === undefined) {
      standing = { view: createTurnView(this.#options), since: Date.now() };
      this.#standing.set(key, standing);
    }
    const { element } = standing.view;
    const there = this.#parent.children[index] ?? null;
    if (there !== element) this.#parent.insertBefore(element, there);
    return standing;
  }

  #removeGone(turns: readonly TurnView[]): boolean {
    const keys = new Set(turns.map(({ key }) => key));
    const gone = [...this.#standing.keys()].filter((key) => !keys.has(key));
    for (const key of gone) {
      this.#standing.get(key)?.view.element.remove();
      this.#standing.delete(key);
      this.#shown.delete(key);
    }
    return gone.length > 0;
  }
}
