import { existsSync } from "node:fs";
import { after, afterEach, before, beforeEach } from "node:test";
import { chromium } from "playwright-core";
import { FakeServer } from "../fake-server.mjs";

const EXECUTABLE = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Gives each test a fresh server, profile and page: `stage.server`, `stage.page`. */
export function useBrowser() {
  const stage = { server: null, page: null, context: null, problems: [] };
  let browser;
  before(async () => {
    if (!existsSync(EXECUTABLE)) throw new Error(`No browser at ${EXECUTABLE}`);
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
  });
  after(() => browser?.close());
  beforeEach(async () => {
    stage.server = new FakeServer();
    await stage.server.listen();
    stage.problems = [];
    stage.context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
    stage.page = await stage.context.newPage();
    stage.page.setDefaultTimeout(8000);
    stage.page.on("pageerror", (error) => stage.problems.push(String(error)));
  });
  afterEach(async () => {
    await stage.context.close();
    await stage.server.close();
  });
  return stage;
}

export const launcher = (page) => page.getByRole("button", { name: "Open chat" });
export const field = (page) => page.getByRole("textbox", { name: "Message" });
export const replies = (page) => page.getByRole("article", { name: "Ember" });

export async function openChat(page, address) {
  await page.goto(address);
  await launcher(page).click();
  await page.getByText("Ask me anything").waitFor();
}

export async function say(page, text) {
  await field(page).fill(text);
  await page.getByRole("button", { name: "Send" }).click();
  // The turn is on screen with the next frame; until then the last one is the one before.
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
  });
}

/** Waits until the turn is over and gives the last reply's text. */
export async function lastReply(page) {
  await page.locator(".turn").last().locator(".reply:not(.writing)").waitFor();
  return replies(page).last().locator(".markdown").innerText();
}
