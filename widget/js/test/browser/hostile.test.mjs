import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { PAYLOADS } from "../payloads.mjs";
import { field, openChat, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();
const TEXT = PAYLOADS.join("\n\n");
const BATCH = 60;

/** The views of widget and dashboard, without a server, as `cuts` in the page. */
async function viewsAlone() {
  const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));
  const { outputFiles } = await esbuild.build({
    entryPoints: [pathOf("every-cut.ts")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "cuts",
    define: { LANGUAGE_FILES: "{}" },
    alias: { "@lantern/sdk": pathOf("../../../../sdk/typescript/src/index.ts") },
  });
  return outputFiles[0].text;
}

/** What ran, and what asked for another host, from now on. */
async function watch(page, server) {
  const seen = { foreign: [], dialogs: [] };
  page.on("request", (request) => {
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(server.origin)) {
      seen.foreign.push(request.url());
    }
  });
  page.on("dialog", (dialog) => {
    seen.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return seen;
}

async function check(page, seen) {
  assert.deepEqual(seen, { foreign: [], dialogs: [] });
  assert.equal(await page.evaluate(() => window.pwned), undefined);
}

test("more than 300 payloads as the model's text, cut everywhere, do nothing", async () => {
  const { page, server, context } = stage;
  server.paceMs = 0;
  const seen = await watch(page, server);
  await openChat(page, `${server.origin}/`);
  for (let at = 0; at < PAYLOADS.length; at += BATCH) {
    server.script = { deltas: [...PAYLOADS.slice(at, at + BATCH).join("\n\n")], paceMs: 0 };
    await field(page).fill(`batch ${at}`);
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".bubble").getByText(`batch ${at}`, { exact: true }).waitFor();
    await page.locator(".stop").waitFor({ state: "hidden", timeout: 40_000 });
    await check(page, seen);
  }
  assert.equal(await page.locator(".panel").isVisible(), true);
  const admin = await context.newPage();
  const seenThere = await watch(admin, server);
  await admin.goto(`${server.origin}/admin?session=${[...server.sessions.keys()][0]}`);
  await admin.locator(".turn").nth(5).waitFor();
  await check(admin, seenThere);
  assert.deepEqual(stage.problems, []);
});

const SHADOW = "document.body.appendChild(document.createElement('div')).attachShadow({mode: 'open'})";
for (const [place, where] of [
  ["the widget, being written", `${SHADOW}, true`],
  ["the dashboard, from the transcript", "document.body, false"],
]) {
  test(`cut at every place, as model's, tool's and user's text and file name: ${place}`, async () => {
    const { page, server } = stage;
    await page.goto(`${server.origin}/`);
    const seen = await watch(page, server);
    await page.addScriptTag({ content: await viewsAlone() });
    for (let at = 0; at < PAYLOADS.length; at += BATCH) {
      const batch = JSON.stringify(PAYLOADS.slice(at, at + BATCH));
      const count = await page.evaluate(`cuts.showEveryCut(${batch}, ${where})`);
      assert.ok(count > BATCH);
      // What was asked for in that task would be under way now.
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      await check(page, seen);
    }
    assert.deepEqual(stage.problems, []);
  });
}

test("as the visitor's text and as a tool's, in widget and dashboard, they are text", async () => {
  const { page, server, context } = stage;
  const seen = await watch(page, server);
  server.script = {
    deltas: ["done"],
    asks: { event: "tool_approval_requested", name: TEXT, arguments: { text: TEXT } },
  };
  await openChat(page, `${server.origin}/`);
  await field(page).fill(TEXT);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Allow" }).waitFor();
  await check(page, seen);
  const admin = await context.newPage();
  const seenThere = await watch(admin, server);
  await admin.goto(`${server.origin}/admin?session=${[...server.sessions.keys()][0]}`);
  await admin.getByRole("button", { name: "Allow" }).waitFor();
  await check(admin, seenThere);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.locator(".reply:not(.writing) .markdown").getByText("done").waitFor();
  await check(page, seen);
  assert.deepEqual(stage.problems, []);
});
