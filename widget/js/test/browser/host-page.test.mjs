import assert from "node:assert/strict";
import { field, lastReply, launcher, openChat, say, useBrowser } from "./chromium.mjs";

const { stage, test } = useBrowser();

test("a strict policy with Trusted Types is not violated, and the panel is styled", async () => {
  const { page, server } = stage;
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`);
    });
  });
  await openChat(page, `${server.origin}/csp`);
  await say(page, "guide me");
  await lastReply(page);
  await say(page, "code please");
  await lastReply(page);
  const violations = await page.evaluate(() => window.violations);
  assert.deepEqual(violations.filter((line) => !line.includes("favicon")), []);
  const style = await page.locator(".panel").evaluate((panel) => {
    const { position, borderTopLeftRadius, backgroundColor } = getComputedStyle(panel);
    return { position, borderTopLeftRadius, backgroundColor };
  });
  assert.deepEqual(style, {
    position: "fixed",
    borderTopLeftRadius: "22px",
    backgroundColor: "rgb(255, 254, 252)",
  });
});

// Safari before 16.4 has no constructed sheets.
test("without constructed sheets the panel is styled, too", async () => {
  const { page, server } = stage;
  await page.addInitScript(() => delete CSSStyleSheet.prototype.replaceSync);
  await openChat(page, `${server.origin}/`);
  const looks = await page.locator(".panel").evaluate((panel) => {
    const { position, borderTopLeftRadius } = getComputedStyle(panel);
    return [position, borderTopLeftRadius];
  });
  assert.deepEqual(looks, ["fixed", "22px"]);
});

test("a page of another origin chats without a cookie", async () => {
  const { page, server, context } = stage;
  await openChat(page, `${server.origin.replace("127.0.0.1", "localhost")}/`);
  await say(page, "echo across");
  assert.equal(await lastReply(page), "across");
  assert.deepEqual(await context.cookies(), []);
});

test("a page that resets everything changes nothing inside", async () => {
  const { page, server } = stage;
  const looks = [];
  for (const path of ["/", "/hostile"]) {
    await openChat(page, `${server.origin}${path}`);
    // The pointer leaves the launcher, and both come to rest.
    await page.mouse.move(5, 5);
    await page.waitForTimeout(400);
    looks.push(
      await page.evaluate(() => {
        const root = document.querySelector("lantern-widget").shadowRoot;
        return [...root.querySelectorAll(".panel, .header, .title, .field, .send, .launcher")].map((node) => {
          const { x, y, width, height } = node.getBoundingClientRect();
          const { fontSize, color, fontFamily } = getComputedStyle(node);
          return { x, y, width, height, fontSize, color, fontFamily };
        });
      }),
    );
    await page.getByRole("button", { name: "Close", exact: true }).click();
  }
  assert.deepEqual(looks[1], looks[0]);
});

/** Runs in a page: how many pixels of two pictures differ visibly. */
async function differingPixels(pictures) {
  const [one, other] = await Promise.all(
    pictures.map(async (base64) => {
      const image = new Image();
      image.src = `data:image/png;base64,${base64}`;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    }),
  );
  let count = Math.abs(one.length - other.length);
  for (let at = 0; at < one.length; at += 4) {
    const difference = Math.max(...[0, 1, 2].map((of) => Math.abs(one[at + of] - other[at + of])));
    // Two renderings of one edge may round differently.
    if (difference > 4) count += 1;
  }
  return count;
}

test("a page that resets everything changes no pixel inside", async () => {
  const { page, server } = stage;
  const pictures = [];
  for (const path of ["/", "/hostile"]) {
    await openChat(page, `${server.origin}${path}`);
    if (path === "/") await say(page, "guide me");
    await lastReply(page);
    await page.getByRole("textbox", { name: "Message" }).focus();
    await page.mouse.move(5, 5);
    await page.waitForTimeout(500);
    const box = await page.locator(".panel").boundingBox();
    // Within the round corners, where the page shines through.
    const clip = { x: box.x + 24, y: box.y + 2, width: box.width - 48, height: box.height - 4 };
    pictures.push((await page.screenshot({ clip, animations: "disabled" })).toString("base64"));
    await page.getByRole("button", { name: "Close", exact: true }).click();
  }
  const blank = await stage.context.newPage();
  assert.equal(await blank.evaluate(differingPixels, pictures), 0);
});

test("the script twice gives one widget", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/twice`);
  assert.equal(await page.locator("lantern-widget").count(), 1);
  assert.deepEqual(stage.problems, []);
});

test("a script in the head waits for the body", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/head`);
  assert.equal(await page.locator("body > lantern-widget").count(), 1);
});

test("a replaced body keeps widget, stream, draft and conversation", async () => {
  const { page, server } = stage;
  server.paceMs = 60;
  await openChat(page, `${server.origin}/`);
  const letters = "a b c d e f g h i j k l m n o p q r s t u v w x y z";
  await say(page, `echo ${letters}`);
  await field(page).fill("draft");
  for (let swap = 0; swap < 3; swap += 1) {
    await page.waitForTimeout(200);
    await page.evaluate(() => {
      const body = document.createElement("body");
      body.append("Next page");
      document.documentElement.replaceChild(body, document.body);
    });
  }
  assert.equal(await lastReply(page), letters);
  assert.equal(await page.locator("lantern-widget").count(), 1);
  assert.equal(server.streamCount(), 1);
  assert.equal(await field(page).inputValue(), "draft");
});

test("a sandboxed frame without storage still chats", async () => {
  const { page, server } = stage;
  await page.setContent(
    `<iframe sandbox="allow-scripts" width="900" height="700" src="${server.origin}/"></iframe>`,
  );
  const frame = page.frameLocator("iframe");
  await frame.getByRole("button", { name: "Open chat" }).click();
  await frame.getByRole("textbox", { name: "Message" }).fill("echo boxed");
  await frame.getByRole("button", { name: "Send" }).click();
  await frame.locator(".reply:not(.writing) .markdown").getByText("boxed").waitFor();
  assert.deepEqual(stage.problems, []);
});

test("model text runs no script and fetches nothing", async () => {
  const { page, server } = stage;
  const foreign = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(server.origin)) foreign.push(request.url());
  });
  server.paceMs = 1;
  await openChat(page, `${server.origin}/`);
  await say(page, "hostile please");
  const reply = await lastReply(page);
  assert.match(reply, /<img src=x onerror=/);
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(foreign, []);
  assert.equal(await page.locator(".panel").isVisible(), true);
});

test("a server that cannot be reached gives a sentence and a way to try again", async () => {
  const { page, server } = stage;
  server.failing.set("/v1/widget/bootstrap", 500);
  await page.goto(`${server.origin}/`);
  await launcher(page).click();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.getByText("Offline").waitFor();
  server.failing.clear();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Ask me anything").waitFor();
});

test("a site that may not use the chat is offered none", async () => {
  const { page, server } = stage;
  server.failing.set("/v1/widget/bootstrap", 403);
  await page.goto(`${server.origin}/`);
  const warned = page.waitForEvent("console", (message) => message.type() === "warning");
  await launcher(page).click();
  // Nobody told the site's owner more than the visitor.
  assert.match((await warned).text(), /^Lantern: .+ \(pk_shop, http:.+\)$/);
  await page.locator(".notice-text").getByText("This chat is not available").waitFor();
  assert.equal(await page.locator(".status").innerText(), "Not available");
  assert.equal(await field(page).count(), 0);
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
  assert.equal(await page.getByRole("button", { name: "New chat" }).count(), 0);
  // It stood at the lower edge of an empty panel.
  const [notice, panel] = await Promise.all(
    [".panel > .notice", ".panel"].map((name) => page.locator(name).boundingBox()),
  );
  const middle = (notice.y + notice.height / 2 - panel.y) / panel.height;
  assert.ok(middle > 0.4 && middle < 0.65, `${middle}`);
});

test("a failed turn shows its canned reply once, and another try", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await say(page, "fail now");
  await page.getByRole("button", { name: "Try again" }).waitFor();
  assert.match(await page.locator(".turn .notice").innerText(), /^Give me a second, please\./);
  assert.equal(await page.locator(".panel").getByText("Give me a second").count(), 1);
});

test("keyboard only: in, send, out again", async () => {
  const { page, server } = stage;
  await page.goto(`${server.origin}/`);
  await launcher(page).focus();
  await page.keyboard.press("Enter");
  await page.getByText("Ask me anything").waitFor();
  await page.keyboard.type("echo typed");
  await page.keyboard.press("Enter");
  assert.equal(await lastReply(page), "typed");
  const active = () =>
    page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.className ?? "");
  assert.equal(await active(), "field");
  await page.keyboard.press("Escape");
  assert.match(await active(), /launcher/);
});

test("a screen reader hears of the reply twice: begun, and whole", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await page.evaluate(() => {
    window.heard = [];
    const root = document.querySelector("lantern-widget").shadowRoot;
    for (const region of root.querySelectorAll("[role=status], [role=alert], [aria-live]")) {
      new MutationObserver(() => {
        if (region.textContent) window.heard.push(region.textContent);
      }).observe(region, { childList: true, characterData: true, subtree: true });
    }
  });
  await say(page, "echo one two three four five six");
  await lastReply(page);
  await page.waitForTimeout(100);
  assert.deepEqual(await page.evaluate(() => window.heard), [
    "Ember is replying",
    "Ember replied: one two three four five six",
  ]);
});

test("of a failed turn a screen reader hears at once, and focus stays in the field", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  const alerts = await page.evaluateHandle(() => {
    const heard = [];
    const region = document.querySelector("lantern-widget").shadowRoot.querySelector(".sr-only[role=alert]");
    const listen = () => region.textContent && heard.push(region.textContent);
    new MutationObserver(listen).observe(region, { childList: true });
    return heard;
  });
  await field(page).fill("fail now");
  await field(page).press("Enter");
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.waitForTimeout(100);
  assert.deepEqual(await alerts.jsonValue(), ["Give me a second, please."]);
  assert.equal(await field(page).evaluate((node) => node.matches(":focus")), true);
});

test("where the page forbids the connection a sentence says so, and no try follows", async () => {
  const { page, server } = stage;
  await page.addInitScript(() => {
    window.violations = 0;
    document.addEventListener("securitypolicyviolation", () => (window.violations += 1));
  });
  await page.goto(`${server.origin}/no-connect`);
  await launcher(page).click();
  await page.locator(".notice-text").getByText("could not be reached").waitFor();
  const before = await page.evaluate(() => window.violations);
  await page.waitForTimeout(1500);
  assert.equal(await page.evaluate(() => window.violations), before);
  assert.ok(before <= 4, `${before} tries`);
});

test("destroyed and begun for another user, it shows nothing of the first", async () => {
  const { page, server } = stage;
  await openChat(page, `${server.origin}/`);
  await page.evaluate(() => window.Lantern.identify({ userId: "alice", hash: "a" }));
  await say(page, "echo of alice");
  await lastReply(page);
  await page.evaluate(() => window.Lantern.destroy());
  assert.equal(await page.locator("lantern-widget").count(), 0);
  await page.evaluate((src) => {
    const script = Object.assign(document.createElement("script"), { src });
    script.dataset.key = "pk_shop";
    script.onload = () => window.Lantern.identify({ userId: "bob", hash: "b" });
    document.head.append(script);
  }, `${server.origin}/widget.js`);
  await page.getByText("Ask me anything").waitFor();
  await page.waitForTimeout(300);
  assert.equal(await page.locator(".turn").count(), 0);
});

test("the first of two widgets wins, with a warning", async () => {
  const { page, server } = stage;
  const warnings = [];
  page.on("console", (line) => line.type() === "warning" && warnings.push(line.text()));
  await page.goto(`${server.origin}/two`);
  await launcher(page).waitFor();
  assert.equal(await page.locator("lantern-widget").count(), 1);
  assert.match(warnings.join(), /second widget on this page was not started/);
});

test("on a phone the panel fills the screen and the field does not zoom", async () => {
  const { page, server } = stage;
  await page.setViewportSize({ width: 390, height: 760 });
  await openChat(page, `${server.origin}/`);
  await page.waitForTimeout(400);
  const box = await page.locator(".panel").evaluate((panel) => {
    const { x, y, width, height } = panel.getBoundingClientRect();
    return { x, y, width, height };
  });
  assert.deepEqual(box, { x: 0, y: 0, width: 390, height: 760 });
  assert.equal(await field(page).evaluate((node) => getComputedStyle(node).fontSize), "16px");
});
