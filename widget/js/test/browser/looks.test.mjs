import assert from "node:assert/strict";
import { lastReply, launcher, openChat, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

const LOOKS = {
  accent: "#0b6e4f",
  theme: "dark",
  position: "left",
  radius: 8,
  launcherLabel: "Ask us",
  suggestions: ["Sizes?"],
  collectContext: true,
};

function tagged(attributes) {
  return `${stage.server.origin}/?attributes=${encodeURIComponent(attributes)}`;
}

function style(locator, name) {
  return locator.evaluate((node, property) => getComputedStyle(node)[property], name);
}

test("the launcher looks as the server says before anybody opens it", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, ...LOOKS };
  await page.goto(`${server.origin}/`);
  const button = page.getByRole("button", { name: "Ask us: Open chat" });
  await button.waitFor();
  assert.equal(await button.innerText(), "Ask us");
  assert.equal(await style(button, "backgroundColor"), "rgb(11, 110, 79)");
  assert.equal(await style(button, "color"), "rgb(255, 255, 255)");
  assert.equal(await style(button, "borderRadius"), "10.24px");
  assert.ok((await button.boundingBox()).x < 100);
  const asked = server.requests.filter((line) => line.includes("/v1/widget/"));
  assert.deepEqual(asked, ["GET /v1/widget/config?key=pk_shop"]);
});

test("the panel looks as the server says", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, ...LOOKS };
  await openChat(page, `${server.origin}/`);
  const panel = page.locator(".panel");
  await page.getByRole("button", { name: "Sizes?" }).waitFor();
  await page.getByRole("button", { name: "Allow" }).waitFor();
  assert.equal(await style(panel, "borderRadius"), "8px");
  assert.equal(await style(panel, "colorScheme"), "dark");
  await page.getByRole("button", { name: "Close chat" }).waitFor();
});

/** The contrast of two colours that CSS knows, as WCAG 2.2 defines it. */
function contrast(one, other) {
  const luminance = (color) => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((channel) => {
      const part = channel / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

// A yellow ring on white has 1.5.
test("whatever the accent, the ring of the focus and a chosen thumb are seen", async () => {
  const { page, server } = stage;
  // Each time a visitor who has never been here.
  await page.addInitScript(() => [localStorage, sessionStorage].forEach((each) => each.clear()));
  for (const [theme, accent] of [
    ["light", "#ffcc00"],
    ["light", "#00ff88"],
    ["light", "#ffffff"],
    ["light", "#a9480c"],
    ["dark", "#000000"],
    ["dark", "#0b1f4f"],
  ]) {
    server.config = { ...server.config, accent, theme };
    await openChat(page, `${server.origin}/`);
    await say(page, "echo one");
    await lastReply(page);
    const thumb = page.getByRole("button", { name: "Bad answer" });
    await thumb.click();
    const field = await style(page.locator("textarea.comment").last(), "boxShadow");
    const ring = /^\w+\([^)]+\)/.exec(field)[0];
    const paper = await style(page.locator(".panel"), "backgroundColor");
    for (const color of [await style(thumb, "color"), ring]) {
      const found = await page.evaluate(`(${contrast})("${color}", "${paper}")`);
      assert.ok(found >= 3, `${theme} ${accent}: ${color} on ${paper} has ${found}`);
    }
  }
});

test("what the script tag says goes before what the server says", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, ...LOOKS, openAfter: 0.1, nudge: "Never seen" };
  const tag =
    'data-accent="#ffb648" data-theme="light" data-position="right" data-radius="30"' +
    ' data-launcher-label="" data-suggestions="Returns?" data-ask-context="false"' +
    ' data-nudge="Of the tag"';
  await page.goto(tagged(tag));
  await page.getByText("Of the tag").click();
  await page.getByRole("button", { name: "Returns?" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Sizes?" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Allow" }).isVisible(), false);
  const panel = page.locator(".panel");
  assert.equal(await style(panel, "borderRadius"), "30px");
  assert.equal(await style(panel, "colorScheme"), "light");
  assert.ok((await panel.boundingBox()).x > 500);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  assert.equal(await style(launcher(page), "color"), "rgb(26, 22, 19)");
});

test("the server may have the chat come forward", async () => {
  const { page, server } = stage;
  server.config = { ...server.config, openAfter: 0.1 };
  await page.goto(`${server.origin}/`);
  await page.getByText("Ask me anything").waitFor();
});

test("a page without triggers does not load them", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  assert.deepEqual(server.requests.filter((line) => line.includes("triggers-")), []);
});

test("the launcher does not wait for ever, and no refusal takes it away", async () => {
  const { page, server } = stage;
  server.isConfigStalled = true;
  await page.goto(`${server.origin}/`);
  await launcher(page).waitFor({ timeout: 4000 });
  server.isConfigStalled = false;
  for (const status of [403, 404, 500]) {
    server.failing.set("/v1/widget/config", status);
    await page.goto(`${server.origin}/`);
    await launcher(page).waitFor();
  }
  assert.deepEqual(stage.problems, []);
});

test("the user that a page names in its tag is told to the server", async () => {
  const { page, server } = stage;
  await openChat(page, tagged('data-user-id="42" data-user-hash="abc"'));
  assert.deepEqual(server.bootstraps.at(-1).identity, { userId: "42", hash: "abc" });
});

// A page that is made by a server says at its next load that nobody is logged in any more.
test("an empty user in the tag forgets who was there before", async () => {
  const { page, server } = stage;
  await openChat(page, tagged('data-user-id="42" data-user-hash="abc"'));
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await openChat(page, tagged('data-user-id=""'));
  assert.deepEqual(server.bootstraps.at(-1), { key: "pk_shop" });
});

test("long words are cut where they end, at 320 pixels, too", async () => {
  const { page, server } = stage;
  const name = "A shop with a name that nobody would ever put on a sign above its door";
  server.config = { ...server.config, title: name };
  await page.setViewportSize({ width: 320, height: 568 });
  await openChat(page, `${server.origin}/`);
  await say(page, `echo ${name}`);
  await lastReply(page);
  await page.getByRole("button", { name: "Your chats" }).click();
  await page.locator(".chats time").waitFor();
  const ends = await page.locator(".panel").evaluate((panel) => {
    const parts = panel.querySelectorAll(".header button, .send, .chats time, .chats button");
    return [panel.scrollWidth, ...[...parts].map((part) => part.getBoundingClientRect().right)];
  });
  assert.ok(Math.max(...ends) <= 320, `${ends}`);
});

test("in print a chat in the page is whole, the floating one is not there", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/inline`);
  await page.evaluate(() => document.body.append("The end of the page"));
  const inline = page.locator("lantern-chat");
  for (const text of ["guide me", "code please"]) {
    await inline.getByRole("textbox", { name: "Message" }).fill(text);
    await inline.getByRole("button", { name: "Send" }).click();
    await inline.locator(".bubble").getByText(text).waitFor();
    await inline.locator(".stop").waitFor({ state: "hidden" });
  }
  await page.emulateMedia({ media: "print" });
  const [thread, turns, host] = await inline.evaluate((node) =>
    [".thread", ".turns"]
      .map((name) => node.shadowRoot.querySelector(name))
      .concat(node)
      .map((part) => part.getBoundingClientRect().bottom),
  );
  assert.ok(turns <= thread && thread <= host, `${turns} ${thread} ${host}`);
  assert.equal(await inline.getByRole("button").count(), 0);
  assert.equal(await page.locator("lantern-widget .launcher").isVisible(), false);
});

test("an empty field has its placeholder where the panel's lines begin", async () => {
  const { page } = stage;
  await page.goto(tagged('data-locale="ar"'));
  await page.getByRole("button", { name: "فتح المحادثة" }).click();
  const text = page.getByRole("textbox", { name: "رسالة" });
  await text.waitFor();
  assert.equal(await style(text, "direction"), "rtl");
  await text.fill("hello");
  assert.equal(await style(text, "direction"), "ltr");
});
