import { existsSync } from "node:fs";
import { after, before, test as nodeTest } from "node:test";
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

const HANGING_MS = 10_000;
const STANDSTILL_MS = 5000;
const TEST_MS = 180_000;

/** Settles as `work` does, or fails after `ms`. */
function within(ms, what, work) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what} took more than ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A browser process that can be ended even when it no longer answers. */
class Chromium {
  async launch() {
    if (!existsSync(EXECUTABLE)) throw new Error(`No browser at ${EXECUTABLE}`);
    this.process = await chromium.launchServer({ executablePath: EXECUTABLE, args: FLAGS });
    this.browser = await chromium.connect(this.process.wsEndpoint());
  }

  async end() {
    await within(HANGING_MS, "ending the browser", this.process?.kill()).catch(() => {});
  }

  async replace() {
    await this.end();
    await this.launch();
  }

  /** Whether a blank page gets a frame: a browser that hangs gives none. */
  async answers() {
    const look = async () => {
      const page = await this.browser.newPage();
      await page.evaluate(() => new Promise(requestAnimationFrame));
      await page.close();
    };
    return within(HANGING_MS, "a frame", look()).then(() => true, () => false);
  }
}

/** Notices that this process was not run for a while, as on a machine that is suspended. */
class Pulse {
  #longest = 0;
  #last = Date.now();
  #timer = setInterval(() => this.#beat(), 250);

  /** The longest time, in ms, without a beat. */
  stop() {
    clearInterval(this.#timer);
    this.#beat();
    return this.#longest;
  }

  #beat() {
    const now = Date.now();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }
}

/**
 * Gives each test a fresh server, profile and page: `stage.server`, `stage.page`.
 *
 * A failed test runs once more if and only if the browser hangs, and then in a new one, or
 * the machine stood still meanwhile: then it says nothing about the widget.
 */
export function useBrowser() {
  const stage = { server: null, page: null, context: null, problems: [] };
  const machine = new Chromium();
  before(() => machine.launch());
  after(() => machine.end());

  async function begin() {
    stage.context = null;
    stage.server = new FakeServer();
    await stage.server.listen();
    stage.problems = [];
    stage.context = await machine.browser.newContext({ viewport: { width: 1100, height: 800 } });
    stage.page = await stage.context.newPage();
    stage.page.setDefaultTimeout(8000);
    stage.page.on("pageerror", (error) => stage.problems.push(String(error)));
  }

  async function end() {
    // Where there is not even a context, the browser gave none.
    const close = async () => stage.context.close();
    await within(HANGING_MS, "closing a page", close()).catch(() => machine.replace());
    await stage.server.close();
  }

  async function attempt(run) {
    const pulse = new Pulse();
    try {
      await within(HANGING_MS, "a new page", begin());
      await within(TEST_MS, "the test", run());
      return {};
    } catch (error) {
      const gap = pulse.stop();
      if (gap > STANDSTILL_MS) return { error, excuse: `the machine stood still for ${gap} ms` };
      return { error, excuse: !(await machine.answers()) && "the browser hangs" };
    } finally {
      pulse.stop();
      await end();
    }
  }

  function test(name, run) {
    nodeTest(name, async (context) => {
      let { error, excuse } = await attempt(run);
      if (excuse) {
        context.diagnostic(`once more, as ${excuse}: ${error.message}`);
        ({ error } = await attempt(run));
      }
      if (error) throw error;
    });
  }

  return { stage, test };
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
