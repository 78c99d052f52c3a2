/** Who may chat: users who are signed in, and browsers that do some work. */
import assert from "node:assert/strict";
import { field, lastReply, launcher, openChat, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

function tokenOf(sub) {
  const [header, claims] = [{ alg: "HS256" }, { sub, exp: 1 }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  return { token: `${header}.${claims}.signature` };
}

test("whoever has no name is asked to sign in, and let in then", async () => {
  const { page, server } = stage;
  server.needsIdentity = true;
  await page.goto(`${server.origin}/`);
  await launcher(page).click();
  const notice = page.locator(".notice-text").getByText("Please sign in to use this chat.");
  await notice.waitFor();
  assert.equal(await field(page).isVisible(), false);
  await page.evaluate((identity) => window.Lantern.identify(identity), tokenOf("alice"));
  await field(page).waitFor();
  assert.equal(await notice.isVisible(), false);
  await say(page, "echo signed in");
  assert.equal(await lastReply(page), "signed in");
  assert.deepEqual(server.bootstraps.at(-1).identity, tokenOf("alice"));
});

test("another user's token brings an empty chat", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await page.evaluate((identity) => window.Lantern.identify(identity), tokenOf("alice"));
  await say(page, "echo of alice");
  await lastReply(page);
  await page.evaluate((identity) => window.Lantern.identify(identity), tokenOf("bob"));
  await page.locator(".turn").waitFor({ state: "detached" });
  await say(page, "echo of bob");
  assert.equal(await lastReply(page), "of bob");
  assert.equal(server.sessions.size, 2);
});

// As the server asks it: 16 bits are 65,536 hashes on average.
test("the puzzle is solved unseen, and the page stays at hand", async () => {
  const { page, server } = stage;
  server.difficulty = 16;
  await page.goto(`${server.origin}/`);
  await page.evaluate(() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        window.longest = Math.max(window.longest, duration);
      }
    }).observe({ type: "longtask" });
  });
  assert.equal(server.challenges.length, 0);
  await launcher(page).click();
  await page.getByText(server.config.greeting).waitFor({ timeout: 60_000 });
  assert.equal(server.challenges.length, 1);
  // In one go it would be seconds.
  assert.ok((await page.evaluate(() => window.longest)) < 400);
  await say(page, "echo solved");
  assert.equal(await lastReply(page), "solved");
});
