import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readFileSync } from "node:fs";
import { readLooks, readOptions } from "../src/options.js";
import { nearestReadable, textContrast } from "../src/dashboard/contrast.js";
import { textColorOn } from "../src/panel/accent.js";
import { mountWidget } from "../src/widget.js";

const OPTIONS = {
  key: "pk_shop",
  server: "https://lantern.test",
  position: "right",
  theme: "auto",
  locale: "en",
  zIndex: "",
  accent: "",
} as const;

function script(attributes: Record<string, string>): HTMLScriptElement {
  const element = document.createElement("script");
  element.setAttribute("src", "https://lantern.test/widget.js");
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const widgets = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("lantern-widget")];
const launcher = (): HTMLElement => widgets()[0]!.shadowRoot!.querySelector("button")!;

beforeEach(() => {
  document.body.replaceChildren();
  sessionStorage.clear();
});

afterEach(() => {
  window.Lantern?.destroy();
});

test("the options come from the script tag", () => {
  const given = { "data-key": " pk_a ", "data-position": "left", "data-theme": "dark", "data-z-index": "9" };
  expect(readOptions(script(given))).toMatchObject({
    key: "pk_a",
    server: "https://lantern.test",
    position: "left",
    theme: "dark",
    zIndex: "9",
  });
});

test("the tag's word goes before the server's, and only where it has one", () => {
  const config = { position: "left", theme: "dark", radius: 8, openOnExit: true, nudge: "Hi" };
  const looks = readLooks({ theme: "light", openOnExit: "false" }, config);
  expect(looks).toMatchObject({ position: "left", theme: "light", radius: "8" });
  expect(looks.triggers).toMatchObject({ onExit: false, nudge: "Hi", afterS: NaN });
});

test.each([{ radius: "1;x" }, { radius: "-3" }, { radius: "x" }])("%o is no radius", (tag) => {
  expect(readLooks(tag).radius).toBe("");
});

test("the text on each colour is the one that the server checks", () => {
  const file = "../../tests/vectors/accent.json";
  for (const vector of JSON.parse(readFileSync(file, "utf8"))) {
    const { accent, text, contrast, nearest } = vector;
    expect([accent, textColorOn(accent)]).toEqual([accent, text]);
    expect(textContrast(accent)).toBeCloseTo(contrast, 1);
    expect(nearestReadable(accent)).toBe(nearest);
  }
});

test("the launcher is not seen before its looks are known", async () => {
  let tell = (_: object): void => undefined;
  mountWidget(OPTIONS, new Promise((resolve) => (tell = resolve)));
  expect(launcher().hidden).toBe(true);
  tell({ position: "left", launcherLabel: "Ask us" });
  await vi.waitFor(() => expect(launcher().hidden).toBe(false));
  expect(widgets()[0]?.dataset["position"]).toBe("left");
  expect(launcher().getAttribute("aria-label")).toBe("Ask us: Open chat");
});

test("without a key there is no widget", () => {
  expect(readOptions(script({}))).toBeNull();
});

test("a z-index that is no number is refused", () => {
  expect(readOptions(script({ "data-key": "k", "data-z-index": "1;x" }))?.zIndex).toBe("");
});

test("the loader draws only the launcher, directly under body", () => {
  mountWidget(OPTIONS);
  expect(widgets()[0]?.parentElement).toBe(document.body);
  expect(launcher().getAttribute("aria-label")).toBe("Open chat");
  expect(launcher().getAttribute("aria-expanded")).toBe("false");
  expect(widgets()[0]?.shadowRoot?.querySelector(".panel")).toBeNull();
});

test("the widget outlives a replaced body", async () => {
  mountWidget(OPTIONS);
  for (let swap = 0; swap < 3; swap += 1) {
    document.documentElement.replaceChild(document.createElement("body"), document.body);
    await vi.waitFor(() => expect(widgets()).toHaveLength(1));
  }
  expect(widgets()[0]?.parentElement).toBe(document.body);
});

test("destroy leaves nothing, and the widget can be mounted again", async () => {
  mountWidget(OPTIONS).destroy();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(widgets()).toHaveLength(0);
  expect(window.Lantern).toBeUndefined();
  mountWidget(OPTIONS);
  expect(widgets()).toHaveLength(1);
});

test("a panel that cannot be loaded closes again and says so", async () => {
  const lantern = mountWidget(OPTIONS);
  const onError = vi.fn();
  lantern.on("error", onError);
  lantern.open();
  await vi.waitFor(() => expect(onError).toHaveBeenCalledOnce());
  expect(launcher().getAttribute("aria-expanded")).toBe("false");
  const tip = widgets()[0]?.shadowRoot?.querySelector("[role=alert]");
  expect(tip?.textContent).toBe("The chat could not be loaded.");
});

test("a listener that throws stops neither the chat nor the next listener", () => {
  const lantern = mountWidget(OPTIONS);
  const report = vi.fn();
  vi.stubGlobal("reportError", report);
  const next = vi.fn();
  lantern.on("close", () => {
    throw new Error("page's fault");
  });
  const end = lantern.on("close", next);
  lantern.open();
  lantern.close();
  end();
  lantern.open();
  lantern.close();
  expect(next).toHaveBeenCalledOnce();
  expect(report).toHaveBeenCalledTimes(2);
  vi.unstubAllGlobals();
});
