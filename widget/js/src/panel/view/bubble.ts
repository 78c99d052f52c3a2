import { activeTurn, isActive, type ConversationState, type TurnView } from "@lantern/sdk";
import { el, type View } from "../../dom.js";
import type { Translate } from "../../i18n/index.js";
import { whyNoReply } from "../explain.js";
import { MarkdownView } from "../markdown.js";
import { clockTime } from "../times.js";
import { createFileList, type FileListOptions } from "./file-list.js";
import { createNotice, type NoticeState } from "./notice.js";
import { createReplyFoot, type ReplyFootOptions } from "./reply-foot.js";
import { createToolList } from "./tools.js";

export interface TurnViewState {
  turn: TurnView;
  /** Only the last turn of the conversation offers another try. */
  isLast: boolean;
  /** The next turn answers the same message again. */
  isReplaced: boolean;
  /** When it was, if that is worth saying. */
  when: number | null;
  conversation: ConversationState;
}

export interface TurnViewOptions extends ReplyFootOptions, FileListOptions {
  userName: string;
  /** Known only once the server has answered. */
  agentName: () => string;
  onApprove: (turnId: string, callId: string, isAllowed: boolean) => void;
}

/** One turn: the user's message, the reply, and what became of it. */
export function createTurnView(options: TurnViewOptions): View<TurnViewState> {
  const { t } = options;
  const question = createQuestion(options);
  const reply = createReply(options);
  const notice = createNotice(options.onRetry);
  const when = el("time", { class: "when" });
  const parts = [when, question.element, reply.element, notice.element];
  const element = el("div", { class: "turn" }, ...parts);
  return {
    element,
    update(state) {
      when.hidden = state.when === null;
      if (state.when !== null) {
        when.dateTime = new Date(state.when).toISOString();
        when.textContent = clockTime(state.when, t.locale);
      }
      question.update(state.turn);
      reply.update(state);
      notice.update(state.isReplaced ? null : failureOf(state, t));
    },
  };
}

function createQuestion(options: TurnViewOptions): View<TurnView> {
  const label = options.userName;
  const text = el("div", { class: "bubble", part: "bubble", dir: "auto" });
  const fileList = createFileList(options);
  const author = el("span", { class: "author" }, label);
  const parts = [author, fileList.element, text];
  const element = el("article", { class: "question", "aria-label": label }, ...parts);
  return {
    element,
    update({ userText, files }) {
      element.hidden = userText === null;
      if (userText !== null && text.textContent !== userText) text.textContent = userText;
      text.hidden = userText === "";
      fileList.update(files);
    },
  };
}

function createReply(options: TurnViewOptions): View<TurnViewState> {
  const { t } = options;
  const name = options.agentName();
  const markdown = new MarkdownView({ copy: t("copy"), copied: t("copied") });
  markdown.element.dir = "auto";
  const ember = el("span", { class: "ember", "aria-hidden": "true" });
  let turnId: string | null = null;
  const tools = createToolList({
    t,
    onApprove: (callId, isAllowed) => {
      if (turnId !== null) options.onApprove(turnId, callId, isAllowed);
    },
  });
  const foot = createReplyFoot(options);
  const author = el("span", { class: "author" }, name);
  const element = el(
    "article",
    { class: "reply", part: "reply", "aria-label": name },
    author,
    tools.element,
    markdown.element,
    ember,
    foot.element,
  );
  return {
    element,
    update({ turn, isLast, isReplaced }) {
      const isWriting = isActive(turn);
      const speaker = turn.operator ?? name;
      element.setAttribute("aria-label", speaker);
      author.textContent = speaker;
      element.classList.toggle("of-person", turn.operator !== null && turn.text !== "");
      const hasReply = turn.text !== "" && turn.phase !== "failed";
      turnId = turn.turnId;
      markdown.update(hasReply ? turn.text : "", isWriting);
      const isWaiting = turn.stopReason === "handed_over" && isLast;
      const isEmpty = !hasReply && !isWriting && turn.phase !== "cancelled";
      element.hidden = isReplaced || (isEmpty && !isWaiting);
      element.classList.toggle("writing", isWriting);
      ember.hidden = !isWriting || turn.text !== "" || isAsking(turn);
      foot.update({ turn, isLast });
      tools.update(turn.toolCalls);
    },
  };
}

function isAsking(turn: TurnView): boolean {
  return turn.toolCalls.some(({ state }) => state === "asking");
}

function failureOf(state: TurnViewState, t: Translate): NoticeState | null {
  const { turn, isLast, conversation } = state;
  const isLostCause = turn.phase === "unanswered" && isOver(turn, conversation);
  if (turn.phase !== "failed" && !isLostCause) return null;
  return { text: whyNoReply(turn, t), actionLabel: isLast ? t("tryAgain") : null };
}

/** Turns run one after the other: what stands before the one that runs has had its time. */
function isOver(turn: TurnView, conversation: ConversationState): boolean {
  const active = activeTurn(conversation);
  if (active === null) return !conversation.isRunning;
  return conversation.turns.indexOf(turn) < conversation.turns.indexOf(active);
}
