import assert from "node:assert/strict";
import { field, lastReply, launcher, openChat, replies, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();
const LETTERS = "a b c d e f g h i j k l m n o p q r s t u v w x y z";

test("a reply appears word by word", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "slow please");
  const seen = new Set();
  while ((await page.locator(".reply:not(.writing)").count()) === 0) {
    seen.add(await replies(page).last().locator(".markdown").innerText());
    await page.waitForTimeout(60);
  }
  assert.ok(seen.size >= 4, `saw ${seen.size} stages`);
  assert.equal(await lastReply(page), "One two three four five six seven eight.");
});

test("a reload in mid-word loses and repeats nothing", async () => {
  const { page, server } = stage;
  server.paceMs = 90;
  await openChat(page, `${server.origin}/`);
  await say(page, `echo ${LETTERS}`);
  for (let reload = 0; reload < 2; reload += 1) {
    await page.waitForTimeout(700);
    await page.reload();
    await replies(page).first().waitFor();
  }
  assert.equal(await lastReply(page), LETTERS);
  assert.equal(await page.locator(".turn").count(), 1);
  assert.equal(await page.locator(".question .bubble").innerText(), `echo ${LETTERS}`);
});

test("two tabs show the same conversation", async () => {
  const { page, server, context } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo one");
  await lastReply(page);
  const other = await context.newPage();
  await other.goto(`${server.origin}/`);
  await launcher(other).click();
  await other.locator(".turn").waitFor();
  await say(other, "echo two");
  await page.locator(".turn").nth(1).waitFor();
  assert.equal(await lastReply(page), "two");
  assert.deepEqual(await page.locator(".question .bubble").allInnerTexts(), ["echo one", "echo two"]);
});

test("stop keeps what was written", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "slow please");
  await page.getByText("One two").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();
  assert.match(await lastReply(page), /^One two/);
});

test("an error withdraws the partial text and another try answers", async () => {
  const { page, server } = stage;
  server.paceMs = 120;
  await openChat(page, `${server.origin}/`);
  await say(page, "error please");
  await page.getByText("You can send").waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  assert.equal(await page.getByText("You can send").count(), 0);
  server.paceMs = 5;
  await page.getByRole("button", { name: "Try again" }).click();
  assert.match(await lastReply(page), /30 days/);
});

test("a refused message stays in the composer", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "refuse 402 budget_exceeded");
  await page.locator(".panel > .notice").getByText("reached its limit").waitFor();
  assert.equal(await field(page).inputValue(), "refuse 402 budget_exceeded");
  assert.equal(await page.locator(".turn").count(), 0);
});

test("a draft outlives a reload", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await field(page).fill("half a thought");
  await page.reload();
  await field(page).waitFor();
  assert.equal(await field(page).inputValue(), "half a thought");
});

test("a lost network is survived and shown", async () => {
  const { page, server } = stage;
  server.paceMs = 80;
  await openChat(page, `${server.origin}/`);
  await say(page, `echo ${LETTERS}`);
  await page.getByText("a b c").first().waitFor();
  server.failing.set([...server.sessions.keys()].map((id) => `/v1/sessions/${id}/events`)[0], 503);
  server.dropStreams();
  await page.getByText("Reconnecting…").waitFor();
  server.failing.clear();
  assert.equal(await lastReply(page), LETTERS);
  await page.getByText("Online").waitFor();
});

test("an unknown token and session are replaced once", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/`);
  await page.evaluate(() => {
    const stale = { visitorToken: "lv_old", expiresAt: "2999-01-01T00:00:00Z", sessionId: "sess_old" };
    localStorage.setItem("lantern:pk_shop", JSON.stringify(stale));
  });
  await openChat(page, `${server.origin}/`);
  await say(page, "echo new");
  assert.equal(await lastReply(page), "new");
  // Once with the old token, which is refused, and once without it.
  assert.equal(server.requests.filter((line) => line === "POST /v1/widget/bootstrap").length, 2);
  assert.equal(server.sessions.size, 1);
});

test("corrupt storage starts anew", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/`);
  await page.evaluate(() => localStorage.setItem("lantern:pk_shop", "{nonsense"));
  await openChat(page, `${server.origin}/`);
  await say(page, "echo fine");
  assert.equal(await lastReply(page), "fine");
});

test("the dashboard shows and continues a conversation", async () => {
  const { page, server, context } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo from the visitor");
  await lastReply(page);
  const admin = await context.newPage();
  await admin.goto(`${server.origin}/admin?session=${[...server.sessions.keys()][0]}`);
  await admin.getByText("echo from the visitor").waitFor();
  await admin.getByRole("textbox", { name: "Reply" }).fill("echo from the desk");
  await admin.getByRole("button", { name: "Send" }).click();
  await admin.locator(".reply .markdown").getByText("from the desk").waitFor();
  await page.locator(".question .bubble").getByText("echo from the desk").waitFor();
  assert.equal(await lastReply(page), "from the desk");
});
