/** Touch screens, keyboards that cover half of one, and layers of the page around. */
import assert from "node:assert/strict";
import { field, launcher, openChat, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();
const box = (locator) => locator.boundingBox();

/** A page of its own, on a screen that is touched. */
async function touched(viewport) {
  const browser = stage.context.browser();
  const context = await browser.newContext({ viewport, hasTouch: true, isMobile: true });
  return context.newPage();
}

for (const [device, viewport] of [
  ["phone", { width: 360, height: 640 }],
  ["tablet", { width: 820, height: 1000 }],
]) {
  test(`on a ${device} nothing zooms, and fingers find the buttons`, async () => {
    const page = await touched(viewport);
    await openChat(page, `${stage.server.origin}/`);
    assert.equal(await field(page).evaluate((node) => getComputedStyle(node).fontSize), "16px");
    for (const name of ["Your chats", "New chat", "Close", "Send"]) {
      const button = page.getByRole("button", { name, exact: true });
      const size = await button.evaluate((node) => [node.offsetWidth, node.offsetHeight]);
      assert.ok(Math.min(...size) >= 44, `${name}: ${size}`);
    }
    const zoom = page.locator("meta[name=viewport]");
    assert.deepEqual(await zoom.evaluateAll((nodes) => nodes.map(({ content }) => content)), [
      "width=device-width,initial-scale=1",
    ]);
    await page.context().close();
  });
}

test("over a keyboard the panel keeps to what is left, and Send stays in view", async () => {
  const page = await touched({ width: 390, height: 760 });
  // The driver has no keyboard on screen: this is what one does to the page.
  await page.addInitScript(() => {
    const viewport = Object.assign(new EventTarget(), { height: innerHeight, offsetTop: 0 });
    Object.defineProperty(window, "visualViewport", { value: viewport });
  });
  await openChat(page, `${stage.server.origin}/`);
  const resize = (height, offsetTop) =>
    page.evaluate((change) => {
      Object.assign(window.visualViewport, change).dispatchEvent(new Event("resize"));
    }, { height, offsetTop });
  await resize(400, 30);
  await page.waitForTimeout(300);
  const { y, height } = await box(page.locator(".panel"));
  assert.deepEqual([y, height], [30, 400]);
  const send = await box(page.getByRole("button", { name: "Send" }));
  assert.ok(send.y + send.height <= 430, `${send.y}`);
  await resize(760, 0);
  assert.equal((await box(page.locator(".panel"))).height, 760);
  await page.context().close();
});

test("on a low screen the panel has its whole height, and the launcher gives way", async () => {
  const { page, server } = stage;
  await page.setViewportSize({ width: 640, height: 400 });
  await openChat(page, `${server.origin}/`);
  await page.waitForTimeout(400);
  const { y, height, width } = await box(page.locator(".panel"));
  assert.deepEqual([y, height, width], [12, 376, 404]);
  assert.equal(await page.locator(".launcher").isVisible(), false);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await launcher(page).waitFor();
});

test("a transformed container moves nothing, and the layer is the page's to choose", async () => {
  const { page, server } = stage;
  const attributes = encodeURIComponent('data-z-index="7"');
  await page.route("**/moved", async (route) => {
    const whole = await (await fetch(`${server.origin}/?attributes=${attributes}`)).text();
    const body = whole.replace("<script", "<div style='transform:translate(90px)'><script");
    await route.fulfill({ body, contentType: "text/html" });
  });
  await page.goto(`${server.origin}/moved`);
  const { x, width } = await box(launcher(page));
  assert.equal(x + width, 1080);
  const widget = page.locator("body > lantern-widget");
  assert.equal(await widget.evaluate((node) => getComputedStyle(node).zIndex), "7");
});
