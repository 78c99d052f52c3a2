import type { LanternClient, SessionEvent } from "@lantern/sdk";
import { el } from "../dom.js";
import type { Translate } from "../i18n/index.js";
import { textButton } from "../panel/button.js";
import type { Chat } from "../panel/chat.js";

/** Who answers the visitor, the agent or a person, and the button that changes it. */
export class Desk {
  readonly bar: HTMLElement;
  readonly #sessions: LanternClient["sessions"];
  readonly #sessionId: string;
  readonly #chat: Chat;
  readonly #t: Translate;
  readonly #name: string;
  readonly #says = el("span", { role: "status" });
  readonly #button: HTMLButtonElement;
  #operator: string;
  #isAsked: boolean;
  /** The conversation is this operator's: now they will write. */
  onTaken: () => void = () => undefined;
  #onChange: (placeholder: string) => void = () => undefined;

  constructor(
    section: HTMLElement,
    sessions: LanternClient["sessions"],
    chat: Chat,
    t: Translate,
  ) {
    const { sessionId = "", name = "", operator = "", needsHuman } = section.dataset;
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#chat = chat;
    this.#t = t;
    this.#name = name;
    this.#operator = operator;
    this.#isAsked = needsHuman === "1";
    this.#button = textButton("notice-action", "", () => void this.#turnOver());
    this.bar = el("p", { class: "desk" }, this.#says, this.#button);
    this.#show();
  }

  /** Told what the text field is to ask for, now and whenever that changes. */
  set onChange(tell: (placeholder: string) => void) {
    this.#onChange = tell;
    this.#show();
  }

  /** An answer of one's own where a person has the conversation, else a question. */
  async send(text: string): Promise<boolean> {
    if (this.#isForPerson) return this.#chat.reply(text, this.#name);
    return this.#chat.send(text);
  }

  /** Another operator, or another window, may have changed who answers. */
  heed(event: SessionEvent): void {
    if (event.kind !== "turn_started") return;
    this.#operator = event.operator ?? "";
    if (this.#operator !== "") this.#isAsked = false;
    this.#show();
  }

  /** A person has the conversation, or was asked for. */
  get #isForPerson(): boolean {
    return this.#operator !== "" || this.#isAsked;
  }

  async #turnOver(): Promise<void> {
    this.#button.disabled = true;
    try {
      const session =
        this.#operator === ""
          ? await this.#sessions.takeOver(this.#sessionId, this.#name)
          : await this.#sessions.giveBack(this.#sessionId);
      this.#operator = session.operator ?? "";
      this.#isAsked = false;
      if (this.#operator !== "") this.onTaken();
    } catch (error) {
      this.#chat.fail(error);
    }
    this.#button.disabled = false;
    this.#show();
  }

  #show(): void {
    const hasPerson = this.#operator !== "";
    const t = this.#t;
    const agentSays = t(this.#isAsked ? "personAsked" : "agentAnswers");
    this.#says.textContent = hasPerson
      ? t("personAnswers", { name: this.#operator })
      : agentSays;
    this.#button.textContent = t(hasPerson ? "giveBack" : "takeOver");
    this.bar.classList.toggle("of-person", this.#isForPerson);
    this.#onChange(this.#isForPerson ? t("replyAs", { name: this.#name }) : t("replyPlaceholder"));
  }
}
