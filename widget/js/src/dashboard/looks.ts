/** The embed's form in the dashboard: what is written shows at once in the preview. */
import { el } from "../dom.js";
import type { WidgetConfig } from "../host.js";
import { textColorOn } from "../panel/accent.js";
import { nearestReadable, textContrast, READABLE } from "./contrast.js";
import { READY, type PreviewView } from "./preview-message.js";

type Input = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

/** What stands above and below the stage, in pixels, and is to be seen with it. */
const BESIDE_STAGE = 260;
const MIN_HEIGHT = 420;
const STANDARD_ACCENT = "#a9480c";

class LooksEditor {
  readonly #side: HTMLElement;
  readonly #form: HTMLFormElement;
  readonly #frame: HTMLIFrameElement;
  readonly #stage: HTMLElement;
  #view: PreviewView = "greeting";

  constructor(side: HTMLElement, form: HTMLFormElement) {
    this.#side = side;
    this.#form = form;
    this.#stage = side.querySelector<HTMLElement>(".looks-stage")!;
    this.#frame = side.querySelector("iframe")!;
    this.#offerColour();
    this.#listen();
    this.#fit();
    this.#showSnippet();
  }

  #listen(): void {
    const change = (): void => {
      this.#tell();
      this.#showSnippet();
    };
    this.#form.addEventListener("input", change);
    this.#form.addEventListener("change", change);
    window.addEventListener("message", ({ origin, data }: MessageEvent<unknown>) => {
      if (origin === location.origin && data === READY) this.#tell();
    });
    window.addEventListener("resize", () => this.#fit());
    new ResizeObserver(() => this.#fit()).observe(this.#stage);
    this.#onSwitch("view", (value) => {
      this.#view = value as PreviewView;
      this.#tell();
    });
    this.#onSwitch("device", (value) => {
      this.#stage.dataset["device"] = value;
      this.#fit();
    });
    const copy = this.#side.querySelector<HTMLButtonElement>(".looks-copy")!;
    copy.addEventListener("click", () => void this.#copy(copy));
    // The frame may have been ready before this was.
    this.#tell();
  }

  #onSwitch(name: string, act: (value: string) => void): void {
    const group = this.#side.querySelector(`[data-switch="${name}"]`)!;
    group.addEventListener("click", ({ target }) => {
      const value = target instanceof HTMLElement ? target.dataset["value"] : undefined;
      if (value === undefined) return;
      for (const button of group.querySelectorAll("button")) {
        button.setAttribute("aria-pressed", String(button === target));
      }
      act(value);
    });
  }

  /** The whole page is seen, however narrow the column. */
  #fit(): void {
    const { width, height } = getComputedStyle(this.#frame);
    const room = this.#stage.clientWidth;
    const tallest = Math.max(MIN_HEIGHT, window.innerHeight - BESIDE_STAGE);
    const scale = Math.min(1, room / parseFloat(width), tallest / parseFloat(height));
    this.#frame.style.transform = `scale(${scale})`;
    this.#stage.style.height = `${parseFloat(height) * scale}px`;
  }

  #input(name: string): Input | null {
    const found = this.#form.elements.namedItem(name);
    return found instanceof HTMLElement ? (found as Input) : null;
  }

  #text(name: string): string {
    return this.#input(name)?.value.trim() ?? "";
  }

  #isChecked(name: string): boolean {
    const box = this.#input(name);
    return box instanceof HTMLInputElement && box.checked;
  }

  #config(): WidgetConfig {
    const radius = this.#text("radius");
    return {
      title: this.#text("title"),
      greeting: this.#text("greeting"),
      placeholder: this.#text("placeholder"),
      agentName: this.#text("agent_name"),
      suggestions: this.#text("suggestions").split("\n").map((line) => line.trim()).filter(Boolean),
      accent: longForm(this.#text("accent")),
      theme: this.#text("theme"),
      position: this.#text("position"),
      radius: radius === "" ? null : Number(radius),
      launcherLabel: this.#text("launcher_label"),
      attachments: this.#isChecked("attachments"),
      collectContext: this.#isChecked("collect_context"),
      pageTool: this.#isChecked("page_tool"),
      nudge: this.#text("nudge"),
    };
  }

  #tell(): void {
    const message = { view: this.#view, config: this.#config() };
    this.#frame.contentWindow?.postMessage(message, location.origin);
  }

  #showSnippet(): void {
    const code = this.#side.querySelector<HTMLElement>(".looks-snippet code")!;
    const key = this.#text("key") || "pk_…";
    const tag = el("script", { src: `${code.dataset["server"]}/widget.js`, "data-key": key, async: true });
    code.textContent = tag.outerHTML.replace(' async=""', " async");
  }

  async #copy(button: HTMLButtonElement): Promise<void> {
    const code = this.#side.querySelector<HTMLElement>(".looks-snippet code")!;
    try {
      await navigator.clipboard.writeText(code.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      // Without HTTPS there is no clipboard: it is selected, to be copied by hand.
      getSelection()?.selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  }

  /** A picker beside the text, and whether text on the colour can be read. */
  #offerColour(): void {
    const field = this.#input("accent");
    if (field === null) return;
    const picker = el("input", { type: "color", "aria-label": "Choose the accent" });
    const sample = el("span", { class: "looks-sample" });
    const warning = el("p", { class: "looks-warning", role: "status" });
    const row = el("div", { class: "looks-colour" });
    field.replaceWith(row);
    row.append(picker, field, sample, warning);
    const set = (colour: string): void => {
      field.value = colour;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    };
    const show = (): void => {
      const given = longForm(field.value.trim());
      const colour = textColorOn(given) === null ? STANDARD_ACCENT : given.toLowerCase();
      picker.value = colour;
      sample.style.background = colour;
      sample.style.color = textColorOn(colour)!;
      sample.textContent = `Text ${textContrast(colour).toFixed(2)} : 1`;
      warning.replaceChildren(...warn(colour, set));
    };
    picker.addEventListener("input", () => set(picker.value));
    field.addEventListener("input", show);
    show();
  }
}

function warn(colour: string, use: (colour: string) => void): (Node | string)[] {
  if (textContrast(colour) >= READABLE) return [];
  const nearest = nearestReadable(colour);
  const button = el("button", { type: "button", class: "looks-use" }, `Use ${nearest}`);
  button.addEventListener("click", () => use(nearest));
  return [`Text on it is hard to read: ${READABLE} : 1 is needed. `, button];
}

function longForm(colour: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(colour);
  return short === null ? colour : `#${short.slice(1).map((digit) => digit + digit).join("")}`;
}

const side = document.getElementById("lantern-looks");
const form = side?.closest("form");
if (side && form) new LooksEditor(side, form);
