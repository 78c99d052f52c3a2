import { activeTurn, isActive, type ConversationState, type TurnView } from "@lantern/sdk";
import { el, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { whyNoReply } from "../explain.js";
import { copyButton } from "../copy.js";
import { MarkdownView } from "../markdown.js";
import { createNotice, type NoticeState } from "./notice.js";

export interface TurnViewState {
  turn: TurnView;
  /** Only the last turn of the conversation offers another try. */
  isLast: boolean;
  conversation: ConversationState;
}

export interface TurnViewOptions {
  t: Translate;
  userName: string;
  /** Known only once the server has answered. */
  agentName: () => string;
  onRetry: () => void;
}

/** One turn: the user's message, the reply, and what became of it. */
export function createTurnView(options: TurnViewOptions): View<TurnViewState> {
  const { t } = options;
  const question = createQuestion(options.userName);
  const reply = createReply(options);
  const notice = createNotice(options.onRetry);
  const element = el("div", { class: "turn" }, question.element, reply.element, notice.element);
  return {
    element,
    update(state) {
      question.update(state.turn.userText);
      reply.update(state.turn);
      notice.update(failureOf(state, t));
    },
  };
}

function createQuestion(label: string): View<string | null> {
  const text = el("div", { class: "bubble" });
  const author = el("span", { class: "author" }, label);
  const element = el("article", { class: "question", "aria-label": label }, author, text);
  return {
    element,
    update(userText) {
      element.hidden = userText === null;
      if (userText !== null && text.textContent !== userText) text.textContent = userText;
    },
  };
}

function createReply({ t, agentName }: TurnViewOptions): View<TurnView> {
  const name = agentName();
  const labels = { copy: t("copy"), copied: t("copied") };
  const markdown = new MarkdownView(labels);
  const ember = el("span", { class: "ember", "aria-hidden": "true" });
  const tools = el("ul", { class: "tools" });
  let shownText = "";
  const copy = copyButton(labels, () => shownText);
  const remark = el("span", { class: "remark" });
  const foot = el("div", { class: "reply-foot" }, ...(copy === null ? [] : [copy]), remark);
  const author = el("span", { class: "author" }, name);
  const element = el(
    "article",
    { class: "reply", "aria-label": name },
    author,
    tools,
    markdown.element,
    ember,
    foot,
  );
  return {
    element,
    update(turn) {
      const isWriting = isActive(turn);
      shownText = turn.text;
      markdown.update(turn.phase === "failed" ? "" : turn.text, isWriting);
      const hasReply = turn.text !== "" && turn.phase !== "failed";
      element.hidden = !hasReply && !isWriting && turn.phase !== "cancelled";
      element.classList.toggle("writing", isWriting);
      ember.hidden = !isWriting || turn.text !== "";
      remark.textContent = remarkOn(turn, t);
      foot.hidden = isWriting || (turn.text === "" && remark.textContent === "");
      if (copy !== null) copy.hidden = turn.text === "";
      showTools(tools, turn, t);
    },
  };
}

function remarkOn(turn: TurnView, t: Translate): string {
  if (turn.phase === "cancelled") return t("stopped");
  return turn.stopReason === "length" ? t("cutShort") : "";
}

const TOOL_SENTENCES = {
  running: "usingTool",
  completed: "usedTool",
  failed: "toolFailed",
} as const;

function showTools(list: HTMLElement, turn: TurnView, t: Translate): void {
  list.hidden = turn.toolCalls.length === 0;
  const items = turn.toolCalls.map(({ name, state }) =>
    el("li", { class: state }, t(TOOL_SENTENCES[state], { name })),
  );
  if (!list.hidden) list.replaceChildren(...items);
}

function failureOf(state: TurnViewState, t: Translate): NoticeState | null {
  const { turn, isLast, conversation } = state;
  const isLostCause =
    turn.phase === "unanswered" &&
    isLast &&
    !conversation.isRunning &&
    activeTurn(conversation) === null;
  if (turn.phase !== "failed" && !isLostCause) return null;
  return { text: whyNoReply(turn, t), actionLabel: isLast ? t("tryAgain") : null };
}
