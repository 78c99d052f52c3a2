/** What the chat may know of the page that it stands in. */
import assert from "node:assert/strict";
import { field, lastReply, openChat, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

/** As with a mouse: the focus leaves the chat, to which it went with the button. */
async function allowAndGoToPage(page) {
  await page.getByRole("button", { name: "Allow" }).click();
  const handle = await field(page).elementHandle();
  await page.waitForFunction((node) => node.matches(":focus"), handle);
  await page.locator("header").click();
}

test("the page is told of only after the visitor agrees", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, collectContext: true };
  await openChat(page, `${server.origin}/`);
  await page.evaluate(() => window.Lantern.setContext({ plan: "pro" }));
  await say(page, "echo one");
  await lastReply(page);
  const [session] = server.sessions.values();
  assert.deepEqual(session.metadata, { context: { plan: "pro" } });
  await page.getByRole("button", { name: "Allow" }).click();
  await say(page, "echo two");
  await lastReply(page);
  assert.deepEqual(session.metadata.page, { url: `${server.origin}/`, title: "Shop" });
});

test("the model sees the page and what is selected there, once the visitor agrees", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, pageTool: true };
  const offered = () => [...server.sessions.values()][0].clientTools.map(({ name }) => name);
  await openChat(page, `${server.origin}/?token=secret#part`);
  await page.getByText("and what you select on it").waitFor();
  await say(page, "echo before");
  await lastReply(page);
  assert.deepEqual(offered(), []);
  await allowAndGoToPage(page);
  await page.locator("h1").selectText();
  await say(page, "where am I?");
  const told = (await lastReply(page)).replace("The page said: ", "");
  const seen = { title: "Shop", url: `${server.origin}/`, selection: "Made for long walks" };
  assert.deepEqual(JSON.parse(told), seen);
  assert.deepEqual(offered(), ["current_page"]);
  const [session] = server.sessions.values();
  assert.deepEqual(session.metadata, {});
});

test("a page that may not be seen is not offered, nor asked about again", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, pageTool: true };
  await openChat(page, `${server.origin}/`);
  await page.getByRole("button", { name: "Decline" }).click();
  await say(page, "where am I?");
  assert.match(await lastReply(page), /This page does not have the tool/);
  const [session] = server.sessions.values();
  assert.deepEqual(session.clientTools, []);
  await page.reload();
  await page.locator(".turn").first().waitFor();
  assert.equal(await page.locator(".consent").isVisible(), false);
});

test("a selection is cut, and forgotten when the page lets go of it", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, pageTool: true };
  await openChat(page, `${server.origin}/`);
  await allowAndGoToPage(page);
  await page.locator("h1").evaluate((heading) => (heading.textContent = "x".repeat(9000)));
  await page.locator("h1").selectText();
  const selection = async () => {
    await say(page, "where am I?");
    return JSON.parse((await lastReply(page)).replace("The page said: ", "")).selection;
  };
  assert.equal((await selection()).length, 4000);
  await page.locator("header").click();
  await page.evaluate(async () => {
    document.getSelection().removeAllRanges();
    // The page is told of it in a task of its own, and must be before the chat has focus.
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  });
  assert.equal(await selection(), "");
});
