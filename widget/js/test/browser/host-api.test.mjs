/** What a page may call and hear: each name of `widget.d.ts` does what it says there. */
import assert from "node:assert/strict";
import { field, launcher, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

function tagged(attributes) {
  return `${stage.server.origin}/?attributes=${encodeURIComponent(attributes)}`;
}

/** The page with its widget, and every event that it tells, as `[name, detail]`. */
async function listening(page, address) {
  await page.goto(address);
  await launcher(page).waitFor();
  await page.evaluate(() => {
    window.heard = [];
    for (const name of ["ready", "open", "close", "sent", "message", "error"]) {
      window.Lantern.on(name, (detail) => window.heard.push([name, detail]));
    }
  });
  return () => page.evaluate(() => window.heard);
}

test("open, close and toggle move the panel, and each is told", async () => {
  const { page, server } = stage;
  const heard = await listening(page, `${server.origin}/`);
  const panel = page.locator(".panel");
  await page.evaluate(() => window.Lantern.open());
  await panel.waitFor();
  await page.evaluate(() => window.Lantern.close());
  await panel.waitFor({ state: "hidden" });
  await page.evaluate(() => window.Lantern.toggle());
  await panel.waitFor();
  await page.evaluate(() => window.Lantern.toggle());
  await panel.waitFor({ state: "hidden" });
  const names = (await heard()).map(([name]) => name);
  assert.deepEqual(names.filter((name) => name !== "ready"), ["open", "close", "open", "close"]);
  assert.equal(names.filter((name) => name === "ready").length, 1);
  assert.equal(await page.evaluate(() => window.Lantern.key), "pk_shop");
});

test("send opens the chat, and tells of the message and of its reply", async () => {
  const { page, server } = stage;
  const heard = await listening(page, `${server.origin}/`);
  assert.equal(await page.evaluate(() => window.Lantern.send("echo from the page")), true);
  await page.locator(".bubble").getByText("echo from the page").waitFor();
  await page.locator(".reply:not(.writing) .markdown").getByText("from the page").waitFor();
  const events = (await heard()).filter(([name]) => name === "sent" || name === "message");
  const [sent, message] = events.map(([name, detail]) => [name, detail.text.trim()]);
  assert.deepEqual(sent, ["sent", "echo from the page"]);
  assert.deepEqual(message, ["message", "from the page"]);
  assert.equal(events.length, 2);
});

test("a message that is not taken resolves to false, and the error is told", async () => {
  const { page, server } = stage;
  const heard = await listening(page, `${server.origin}/`);
  server.failing.set("/v1/widget/bootstrap", 500);
  assert.equal(await page.evaluate(() => window.Lantern.send("hello")), false);
  const [error] = (await heard()).filter(([name]) => name === "error");
  assert.equal(typeof error[1].code, "string");
  assert.match(error[1].message, /\.$/);
});

test("a new session leaves the conversation, and the older one stays in the list", async () => {
  const { page, server } = stage;
  await listening(page, `${server.origin}/`);
  await page.evaluate(() => window.Lantern.send("echo one"));
  await page.locator(".reply:not(.writing)").waitFor();
  await page.evaluate(() => window.Lantern.newSession());
  await page.locator(".turn").waitFor({ state: "detached" });
  await page.evaluate(() => window.Lantern.send("echo two"));
  await page.locator(".reply:not(.writing)").waitFor();
  assert.equal(server.sessions.size, 2);
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.locator(".chats button").filter({ hasText: "echo one" }).waitFor();
});

test("a subscription and a tool can be taken back", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/`);
  await launcher(page).waitFor();
  const counts = await page.evaluate(async () => {
    let count = 0;
    const end = window.Lantern.on("open", () => (count += 1));
    const opened = () => new Promise((done) => setTimeout(done, 300));
    window.Lantern.open();
    await opened();
    const first = count;
    window.Lantern.close();
    end();
    window.Lantern.open();
    await opened();
    return [first, count];
  });
  assert.deepEqual(counts, [1, 1]);
  const offered = async () => {
    const posting = page.waitForRequest((request) => /messages$/.test(request.url()) && request.method() === "POST");
    await page.evaluate(() => window.Lantern.send("echo x"));
    const { clientTools } = (await posting).postDataJSON();
    return clientTools?.map(({ name }) => name) ?? [];
  };
  await page.evaluate(() => {
    const tool = { name: "cart", description: "", inputSchema: { type: "object" }, run: () => "" };
    window.end = window.Lantern.registerTool(tool);
  });
  assert.deepEqual(await offered(), ["cart"]);
  await page.evaluate(() => window.end());
  assert.deepEqual(await offered(), []);
});

test("destroy takes everything off the page", async () => {
  const { page, server } = stage;
  await listening(page, `${server.origin}/`);
  await page.evaluate(() => window.Lantern.open());
  await field(page).waitFor();
  await page.evaluate(() => window.Lantern.destroy());
  assert.equal(await page.locator("lantern-widget").count(), 0);
  assert.equal(await page.evaluate(() => typeof window.Lantern), "undefined");
  assert.deepEqual(stage.problems, []);
});

test("on a path the chat comes forward, also where the page navigates by script", async () => {
  const { page } = stage;
  await page.goto(tagged('data-open-on-path="/pricing*" data-nudge="Which plan?"'));
  await launcher(page).waitFor();
  await page.waitForTimeout(300);
  assert.equal(await page.getByText("Which plan?").count(), 0);
  await page.evaluate(() => history.pushState(null, "", "/pricing/teams"));
  await page.getByText("Which plan?").waitFor();
});

test("on leaving by the top of the window the chat comes forward, and not within the page", async () => {
  const { page } = stage;
  await page.goto(tagged('data-open-on-exit data-nudge="Before you go…"'));
  await launcher(page).waitFor();
  await page.waitForTimeout(300);
  const leave = (clientY, isWithin) =>
    page.evaluate(
      ([y, within]) => {
        const relatedTarget = within ? document.body : null;
        const init = { bubbles: true, clientY: y, relatedTarget };
        document.documentElement.dispatchEvent(new MouseEvent("mouseout", init));
      },
      [clientY, isWithin],
    );
  await leave(-1, true);
  await leave(400, false);
  await page.waitForTimeout(200);
  assert.equal(await page.getByText("Before you go…").count(), 0);
  await leave(-1, false);
  await page.getByText("Before you go…").waitFor();
});
