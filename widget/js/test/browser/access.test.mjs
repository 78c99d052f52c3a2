import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { lastReply, launcher, openChat, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function faults(page, element = "lantern-widget") {
  await page.evaluate(AXE);
  return page.evaluate(
    async ([name, tags]) => {
      const options = { runOnly: tags };
      const { violations } = await window.axe.run({ include: [[name]] }, options);
      return violations.map(({ id, nodes }) => [id, nodes.map(({ target }) => target.join(" "))]);
    },
    [element, RULES],
  );
}

for (const scheme of ["light", "dark"]) {
  test(`no state of the widget breaks a rule of accessibility: ${scheme}`, async () => {
    const { page, server } = stage;
    server.paceMs = 1;
    server.config = { ...server.config, suggestions: ["Sizes?"], collectContext: true };
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.goto(`${server.origin}/`);
    assert.deepEqual(await faults(page), []);
    await openChat(page, `${server.origin}/`);
    await page.waitForTimeout(300);
    assert.deepEqual(await faults(page), []);
    for (const text of ["guide me", "code please", "fail now"]) {
      await say(page, text);
      await page.locator(".stop").waitFor();
      await page.locator(".stop").waitFor({ state: "hidden" });
    }
    await page.getByRole("button", { name: "Bad answer" }).last().click();
    await say(page, "buy it");
    await page.getByText('"eur": 40').waitFor();
    assert.deepEqual(await faults(page), []);
    await page.getByRole("button", { name: "Your chats" }).click();
    await page.locator(".chats button").waitFor();
    assert.deepEqual(await faults(page), []);
  });
}

test("a chat inside the page breaks no rule either", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/inline`);
  await page.locator("lantern-chat").getByText("Ask me anything").waitFor();
  assert.deepEqual(await faults(page, "lantern-chat"), []);
});

// A ring that is a shadow is not drawn where the system chooses the colours.
test("with colours of the system's choice the focus is seen", async () => {
  const { page, server } = stage;
  await page.emulateMedia({ forcedColors: "active" });
  await openChat(page, `${server.origin}/`);
  await say(page, "echo one");
  await lastReply(page);
  const outline = (selector) =>
    page.locator(selector).evaluate((node) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(node);
      return `${outlineStyle} ${outlineWidth}`;
    });
  assert.match(await outline(".composer"), /solid 2px/);
  await page.getByRole("button", { name: "Bad answer" }).click();
  assert.match(await outline("textarea.comment"), /solid 2px/);
  assert.doesNotMatch(await outline(".composer"), /solid 2px/);
});

test("nothing moves by itself for who asked for less motion", async () => {
  const { page, server } = stage;
  server.script = { deltas: ["one ", "two ", "three"], paceMs: 700 };
  const moving = () =>
    page.evaluate(() => {
      const { shadowRoot } = document.querySelector("lantern-widget");
      const nameOf = (each) => each.animationName ?? each.transitionProperty;
      return shadowRoot.getAnimations().map((each) => `${nameOf(each)} of ${each.effect.target.className}`);
    });
  for (const [reducedMotion, isStill] of [
    ["no-preference", false],
    ["reduce", true],
  ]) {
    const check = (names) => assert.equal(names.length === 0, isStill, `${reducedMotion}: ${names}`);
    await page.emulateMedia({ reducedMotion });
    await page.goto(`${server.origin}/`);
    await page.evaluate(() => window.Lantern.open());
    await page.getByText("Ask me anything").waitFor();
    await say(page, "tell");
    await page.locator(".writing").waitFor();
    check(await moving());
    await page.locator(".writing .markdown").last().getByText("one").waitFor();
    check(await moving());
    await lastReply(page);
  }
});

test("every control is large enough for a finger or has room around it", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "code please");
  await lastReply(page);
  const small = await page.evaluate(() =>
    [...document.querySelector("lantern-widget").shadowRoot.querySelectorAll("button, textarea")]
      .map((node) => ({ name: node.className, box: node.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 0 && (box.width < 24 || box.height < 24))
      .map(({ name }) => name),
  );
  assert.deepEqual(small, []);
});

const focused = (page) =>
  page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.className ?? "none");

for (const [what, before, name] of [
  ["another try", "fail now", "Try again"],
  ["another answer", "echo one", "Answer again"],
  ["a yes to a tool", "buy it", "Allow"],
  ["a suggestion", "", "echo tea"],
]) {
  test(`the button of ${what} hands the focus to the field when it leaves`, async () => {
    const { page, server } = stage;
    server.config = { ...server.config, suggestions: ["echo tea"] };
    await openChat(page, `${server.origin}/`);
    if (before !== "") await say(page, before);
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
    await lastReply(page);
    await page.waitForTimeout(100);
    assert.equal(await focused(page), "field");
  });
}

test("what leaves the screen takes nobody from the page into the chat", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "buy it");
  await page.getByRole("button", { name: "Allow" }).focus();
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
  });
  await page.waitForTimeout(100);
  await page.evaluate(() => {
    const root = document.querySelector("lantern-widget").shadowRoot;
    root.querySelector(".choices").remove();
  });
  await page.waitForTimeout(100);
  assert.equal(await focused(page), "none");
});

test("Tab goes through the panel in reading order, Escape goes back", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/`);
  await launcher(page).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Ask me anything").waitFor();
  await page.locator(".panel").focus();
  const seen = [];
  for (let step = 0; step < 5; step += 1) {
    await page.keyboard.press("Tab");
    seen.push(
      await page.evaluate(() => {
        const { activeElement } = document.querySelector("lantern-widget").shadowRoot;
        return activeElement?.getAttribute("aria-label");
      }),
    );
  }
  assert.deepEqual(seen, ["Your chats", "New chat", "Close", "Conversation", "Message"]);
  await page.getByRole("button", { name: "Your chats" }).press("Enter");
  await page.getByRole("button", { name: "Back" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await page.keyboard.press("Escape");
  await launcher(page).waitFor();
  assert.equal(await launcher(page).getAttribute("aria-expanded"), "false");
});
