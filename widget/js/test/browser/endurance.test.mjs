import assert from "node:assert/strict";
import { lastReply, openChat, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

/** 20,000 tokens: running text, then one paragraph without an end, a list, code. */
function longAnswer() {
  const words = (count, every, mark) =>
    Array.from({ length: count }, (_, at) => (at % every === every - 1 ? mark : `word${at} `));
  return [
    ...words(6000, 60, "**bold**.\n\n"),
    ...words(6000, 9, "`code` "),
    "\n\n",
    ...words(3000, 15, "\n- item "),
    "\n\n```js\n",
    ...words(4990, 10, "\nconst a = 1; "),
    "\n```\n\n",
    "The end.",
  ];
}

/** Processor time of the page's tasks, in ms: other work on the machine does not count. */
function taskTimes(trace) {
  const { traceEvents } = JSON.parse(trace);
  const tasks = traceEvents.filter(({ name, tdur }) => name.endsWith("RunTask") && tdur > 0);
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}:${tid}`),
  );
  return tasks.filter(({ pid, tid }) => mains.has(`${pid}:${tid}`)).map(({ tdur }) => tdur / 1000);
}

test("20,000 tokens stream without a long frame, and without much memory", async () => {
  const { page, server, context } = stage;
  server.script = { deltas: longAnswer(), paceMs: 0 };
  await openChat(page, `${server.origin}/`);
  await page.evaluate(() => {
    window.frameCount = 0;
    const count = () => requestAnimationFrame(count, (window.frameCount += 1));
    count();
  });
  const browser = context.browser();
  await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
  await say(page, "a long answer");
  // Looked at seldom and cheaply: a search through the page per frame is a long task, too.
  await page.waitForFunction(
    () => {
      const { shadowRoot } = document.querySelector("lantern-widget");
      return shadowRoot.querySelector(".turn .markdown")?.lastElementChild?.textContent === "The end.";
    },
    null,
    { timeout: 90_000, polling: 500 },
  );
  const times = taskTimes((await browser.stopTracing()).toString()).sort((a, b) => b - a);
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const frames = await page.evaluate(() => window.frameCount);
  const longest = times.slice(0, 5).map(Math.round);
  console.log(`# ${frames} frames, ${times.length} tasks, longest: ${longest} ms; heap: ${Math.round(usedSize / 1024)} KiB`);
  assert.ok(frames > 100 && times.length > frames, `${frames} frames, ${times.length} tasks`);
  assert.ok(times[0] <= 50, `longest tasks: ${longest} ms`);
  assert.ok(usedSize < 25 * 1024 * 1024, `${usedSize} bytes of heap`);
});

test("a long paragraph is copied as it was written", async () => {
  const { page, server } = stage;
  const text = Array.from({ length: 2000 }, (_, at) => `word${at}`).join(" ");
  server.script = { deltas: [text], paceMs: 0 };
  await openChat(page, `${server.origin}/`);
  await say(page, "go");
  assert.equal(await lastReply(page), text);
  assert.ok((await page.locator(".markdown .run").count()) > 2);
});

test("a page that has slept for a minute has the whole answer without a reload", async () => {
  const { page, server } = stage;
  await page.clock.install();
  server.paceMs = 20;
  const letters = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
  await openChat(page, `${server.origin}/`);
  await say(page, `echo ${letters}`);
  await page.locator(".markdown").getByText("a b").waitFor();
  // The phone's radio sleeps: the stream stands, and nothing comes through it any more.
  server.muteStreams();
  await page.clock.fastForward(60_000);
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await page.clock.runFor(5000);
  assert.equal(await lastReply(page), letters);
  assert.equal(await page.locator(".turn").count(), 1);
});
