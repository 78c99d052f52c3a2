/** Who has the focus when a chat opens, and who keeps it. */
import assert from "node:assert/strict";
import { field, launcher, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

// The preview in the dashboard took the words that were being typed into the form beside it.
test("a chat that opens by itself in a frame leaves the focus with the page around", async () => {
  const { page, server } = stage;
  const attributes = encodeURIComponent('data-open-after="0.1"');
  await page.setContent(
    `<input aria-label="Name"><iframe width="900" height="700" src="${server.origin}/?attributes=${attributes}"></iframe>`,
  );
  const name = page.getByRole("textbox", { name: "Name" });
  await name.focus();
  await page.frameLocator("iframe").getByText("Ask me anything").waitFor();
  await page.waitForTimeout(200);
  await page.keyboard.type("Anna");
  assert.equal(await name.inputValue(), "Anna");
});

test("a chat that opens by itself takes nobody out of the page's own form", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/?attributes=${encodeURIComponent('data-open-after="0.5"')}`);
  await page.locator("h1").evaluate((node) => node.after(document.createElement("input")));
  const name = page.locator("main input");
  await name.focus();
  await page.getByText("Ask me anything").waitFor();
  await page.waitForTimeout(200);
  await page.keyboard.type("Anna");
  assert.equal(await name.inputValue(), "Anna");
});

test("a page's own button opens the chat and hands it the focus", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/`);
  await launcher(page).waitFor();
  await page.locator("h1").evaluate((node) => {
    const button = Object.assign(document.createElement("button"), { textContent: "Ask" });
    button.onclick = () => window.Lantern.open();
    node.after(button);
  });
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await page.getByText("Ask me anything").waitFor();
  await page.keyboard.type("Anna");
  assert.equal(await field(page).inputValue(), "Anna");
});
