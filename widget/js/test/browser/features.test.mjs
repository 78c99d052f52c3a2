import assert from "node:assert/strict";
import { field, lastReply, launcher, openChat, replies, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

test("a reply can be had again, and the older one gives way", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo one");
  await lastReply(page);
  await page.getByRole("button", { name: "Answer again" }).click();
  await page.locator(".turn").nth(1).waitFor();
  await lastReply(page);
  assert.equal(await replies(page).locator("visible=true").count(), 1);
  await page.reload();
  await page.locator(".turn").first().waitFor();
  assert.equal(await page.locator(".question .bubble").count(), 2);
});

// The end of the reply was under the notice, and nothing had scrolled.
test("what takes of the thread's height leaves its end in view", async () => {
  const { page, server, context } = stage;
  server.script = { deltas: ["word ".repeat(400)] };
  await openChat(page, `${server.origin}/`);
  await say(page, "tell");
  await lastReply(page);
  const below = () =>
    page.locator(".thread").evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight);
  assert.ok((await below()) < 2);
  await context.setOffline(true);
  await page.locator(".panel > .notice:not([hidden])").waitFor();
  await page.waitForTimeout(100);
  assert.ok((await below()) < 2, `${await below()} px`);
  await context.setOffline(false);
  await page.locator(".thread").evaluate((node) => node.scrollTo(0, 0));
  await page.locator(".latest.shown").waitFor();
  await field(page).fill("one\ntwo\nthree\nfour");
  await page.waitForTimeout(100);
  assert.equal(await page.locator(".thread").evaluate((node) => node.scrollTop), 0);
});

test("thumbs and a comment reach the server", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo one");
  await lastReply(page);
  await page.getByRole("button", { name: "Bad answer" }).click();
  await page.getByRole("textbox", { name: "What could be better?" }).fill("Shorter");
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByText("Thank you.").waitFor();
  const given = server.asked.map(({ what, rating, comment }) => [what, rating, comment]);
  assert.deepEqual(given, [["feedback", "down", undefined], ["feedback", "down", "Shorter"]]);
});

test("code is copied as it stands, without the fence that came half by half", async () => {
  const { page, server, context } = stage;
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  server.script = { deltas: [..."SHA:\n\n```text\nabc123\n```"], paceMs: 1 };
  await openChat(page, `${server.origin}/`);
  await say(page, "go");
  await lastReply(page);
  await page.locator(".code").getByRole("button", { name: "Copy" }).click();
  await page.locator(".code").getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "abc123");
});

test("past chats are listed, opened, saved and deleted", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo first");
  await lastReply(page);
  await page.getByRole("button", { name: "New chat" }).click();
  await say(page, "echo second");
  await lastReply(page);
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.locator(".chats button").filter({ hasText: "echo first" }).click();
  await page.locator(".bubble").getByText("echo first").waitFor();
  await page.getByRole("button", { name: "Your chats" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download this chat" }).click();
  assert.match((await saving).suggestedFilename(), /^chat-\d{4}-\d\d-\d\d\.txt$/);
  const stream = await (await saving).createReadStream();
  let text = "";
  for await (const part of stream) text += part;
  assert.equal(text, "You:\necho first\n\nEmber:\nfirst\n");
  await page.getByRole("button", { name: "Delete this chat" }).click();
  await page.getByRole("button", { name: "Delete for good" }).click();
  await page.locator(".turn").waitFor({ state: "detached" });
  assert.equal(server.sessions.size, 1);
});

test("all chats are deleted once the visitor is sure, and a stranger begins anew", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo first");
  await lastReply(page);
  await page.getByRole("button", { name: "New chat" }).click();
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.getByRole("button", { name: "Delete this chat" }).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Delete all my chats" }).click();
  assert.equal(server.sessions.size, 1);
  await page.getByRole("button", { name: "Delete all of them for good" }).click();
  await page.locator(".history").waitFor({ state: "hidden" });
  assert.equal(server.sessions.size, 0);
  await say(page, "echo again");
  assert.equal(await lastReply(page), "again");
  assert.equal(server.bootstraps.at(-1).visitor, undefined);
  await page.getByRole("button", { name: "Your chats" }).click();
  assert.equal(await page.locator(".chats button").count(), 1);
});

test("a chat is sent by e-mail where the server can", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, emailTranscript: true };
  await openChat(page, `${server.origin}/`);
  await say(page, "echo first");
  await lastReply(page);
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.getByRole("button", { name: "E-mail this chat" }).click();
  const address = page.getByRole("textbox", { name: "E-mail address" });
  await address.fill("alice");
  await address.press("Enter"); // the browser itself will not send that
  await address.fill("alice@shop.test");
  await address.press("Enter");
  await page.getByText("Please check the address.").waitFor();
  await address.fill("alice@shop.example");
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByText("The chat was sent to alice@shop.example.").waitFor();
  assert.deepEqual(server.asked, [{ what: "transcript", email: "alice@shop.example" }]);
});

test("e-mail is not offered where the server sends none", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo first");
  await lastReply(page);
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.getByRole("button", { name: "Download this chat" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "E-mail this chat" }).count(), 0);
});

test("chats that could not be deleted are still there", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo first");
  await lastReply(page);
  server.failing.set("/v1/widget/visitor", 500);
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.getByRole("button", { name: "Delete all my chats" }).click();
  await page.getByRole("button", { name: "Delete all of them for good" }).click();
  await page.locator(".notice-text").getByText("Something went wrong").waitFor();
  assert.equal(await lastReply(page), "first");
});

test("a suggestion is sent, and then all give way", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, suggestions: ["echo tea", "echo milk"] };
  await openChat(page, `${server.origin}/`);
  await page.getByRole("button", { name: "echo tea" }).click();
  assert.equal(await lastReply(page), "tea");
  assert.equal(await page.locator(".prompts").isVisible(), false);
});

test("suggestions and the question for the page may stand on the script tag", async () => {
  const { page, server } = stage;
  const attributes = encodeURIComponent('data-suggestions="Sizes?|Returns?" data-ask-context');
  await openChat(page, `${server.origin}/?attributes=${attributes}`);
  assert.deepEqual(await page.locator(".prompt").allInnerTexts(), ["Sizes?", "Returns?"]);
  await page.getByText("May this chat see").waitFor();
});

test("a reply that comes while closed is counted on the launcher", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo a b c d e f g h i j k l");
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.locator(".badge").getByText("1").waitFor();
  assert.equal(await launcher(page).getAttribute("aria-description"), "1 new reply");
  await launcher(page).click();
  assert.equal(await page.locator(".badge").innerText(), "");
});

for (const [answer, allow] of [["Allow", true], ["Decline", false]]) {
  test(`a call that needs a yes waits for it: ${answer}`, async () => {
    const { page, server } = stage;
    await openChat(page, `${server.origin}/`);
    await say(page, "buy it");
    await page.getByText('"eur": 40').waitFor();
    await page.getByRole("button", { name: answer }).click();
    assert.equal(await lastReply(page), "It is on its way.");
    assert.deepEqual(server.asked[0].approvals.map((each) => each.allow), [allow]);
  });
}

test("the model uses a function of the page, once, in the tab that asked", async () => {
  const { page, server, context } = stage;
  const register = () => {
    window.runs = 0;
    window.Lantern.registerTool({
      name: "cart",
      description: "What is in the cart",
      inputSchema: { type: "object" },
      run: ({ of }) => ({ of, items: (window.runs += 1) }),
    });
  };
  await openChat(page, `${server.origin}/`);
  await page.evaluate(register);
  await say(page, "echo first");
  await lastReply(page);
  const other = await context.newPage();
  await openChat(other, `${server.origin}/`);
  await other.evaluate(register);
  await say(page, "page please");
  assert.equal(await lastReply(page), 'The page said: {"of":"me","items":1}');
  assert.equal(await other.evaluate(() => window.runs), 0);
  assert.equal([...server.sessions.values()][0].clientTools[0].name, "cart");
});

test("another user sees nothing of the first", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await page.evaluate(() => window.Lantern.identify({ userId: "alice", hash: "a1" }));
  await say(page, "echo of alice");
  await lastReply(page);
  await field(page).fill("a draft of alice");
  await page.evaluate(() => window.Lantern.identify({ userId: "bob", hash: "b2" }));
  await page.locator(".turn").waitFor({ state: "detached" });
  assert.equal(await field(page).inputValue(), "");
  await say(page, "echo of bob");
  assert.equal(await lastReply(page), "of bob");
  assert.equal(server.sessions.size, 2);
  const last = server.bootstraps.at(-1);
  assert.deepEqual([last.identity, last.visitor], [{ userId: "bob", hash: "b2" }, undefined]);
});

test("who logs in keeps the conversation that was begun before", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo before");
  await lastReply(page);
  await page.evaluate(() => window.Lantern.identify({ userId: "alice", hash: "a1" }));
  await page.waitForTimeout(200);
  assert.equal(await page.locator(".turn").count(), 1);
  const last = server.bootstraps.at(-1);
  assert.equal(last.identity.userId, "alice");
  assert.match(last.visitor, /^lv_/);
});

test("a conversation that does not go with the visitor leaves the screen", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "echo before");
  await lastReply(page);
  server.sessions.clear();
  await page.evaluate(() => window.Lantern.identify({ userId: "alice", hash: "a1" }));
  await page.locator(".turn").waitFor({ state: "detached" });
  await say(page, "echo after");
  assert.equal(await lastReply(page), "after");
  assert.equal(await page.locator(".turn").count(), 1);
});

test("a chat in the page stands where it was put, beside the floating one", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/inline`);
  const inline = page.locator("lantern-chat");
  await inline.getByText("Ask me anything").waitFor();
  await inline.getByRole("textbox", { name: "Message" }).fill("echo inside");
  await inline.getByRole("button", { name: "Send" }).click();
  await inline.locator(".reply:not(.writing) .markdown").getByText("inside").waitFor();
  const box = await inline.boundingBox();
  assert.deepEqual([box.width, box.height], [500, 420]);
  assert.equal(await inline.getByRole("button", { name: "Close" }).count(), 0);
  assert.equal(await launcher(page).count(), 1);
});

test("a trigger speaks once in a visit", async () => {
  const { page, server } = stage;
  const attributes = encodeURIComponent('data-open-after="0.1" data-nudge="Need a hand?"');
  await page.goto(`${server.origin}/?attributes=${attributes}`);
  await page.getByText("Need a hand?").click();
  await page.getByText("Ask me anything").waitFor();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.reload();
  await page.waitForTimeout(400);
  assert.equal(await page.getByText("Need a hand?").count(), 0);
});

test("a language brings its words, its direction and its plurals", async () => {
  const { page, server } = stage;
  const attributes = encodeURIComponent('data-locale="ar" data-suggestions="Which size?"');
  await page.goto(`${server.origin}/?attributes=${attributes}`);
  await page.getByRole("button", { name: "فتح المحادثة" }).click();
  await page.getByText("Ask me anything").waitFor();
  // Its question mark stood before it.
  const direction = (node) => getComputedStyle(node).direction;
  assert.equal(await page.getByRole("button", { name: "Which size?" }).evaluate(direction), "ltr");
  assert.equal(await page.locator(".panel").getAttribute("dir"), "rtl");
  await page.getByRole("textbox", { name: "رسالة" }).fill("echo a b c d e f");
  await page.getByRole("button", { name: "إرسال", exact: true }).click();
  await page.getByRole("button", { name: "إغلاق", exact: true }).click();
  await page.locator(".badge").getByText("1").waitFor();
  const button = page.getByRole("button", { name: "فتح المحادثة" });
  assert.equal(await button.getAttribute("aria-description"), "رد جديد واحد");
});

test("a page brings words of its own", async () => {
  const { page, server } = stage;
  await page.addInitScript(() => (window.LanternStrings = { placeholder: "Ahoy", online: "Here" }));
  server.config = { ...server.config, placeholder: "" };
  await openChat(page, `${server.origin}/`);
  assert.equal(await field(page).getAttribute("placeholder"), "Ahoy");
  await page.locator(".status").getByText("Here").waitFor();
});

test("a prototype that the page has polluted changes nothing", async () => {
  const { page, server } = stage;
  await page.addInitScript(() => {
    Object.prototype.polluted = "yes";
    Object.prototype.identity = { userId: "eve", hash: "x" };
    Array.prototype.extra = () => undefined;
  });
  await openChat(page, `${server.origin}/`);
  await say(page, "guide me");
  assert.match(await lastReply(page), /30 days/);
  assert.deepEqual(Object.keys(server.bootstraps[0]), ["key"]);
  assert.deepEqual(stage.problems, []);
});
