/**
 * Takes the pictures of docs/images anew, at twice the size, from a server that runs.
 *
 *     make run                                         in another terminal
 *     PASSWORD=… node scripts/pictures/take.mjs [http://127.0.0.1:8000] [NAME…]
 *
 * PASSWORD is the dashboard's, which `make run` prints. A provider, an agent and two embeds
 * of a shop are written into its database and stay there.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openShop, settings } from "./shop.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { chromium } = createRequire(join(root, "widget/js/package.json"))("playwright-core");
const [lantern = "http://127.0.0.1:8000", ...wanted] = process.argv.slice(2);
const folder = process.env.FOLDER ?? join(root, "docs/images");
const REST_MS = 600;

function provision(origin) {
  const place = mkdtempSync(join(tmpdir(), "pictures-"));
  const file = join(place, "shop.toml");
  writeFileSync(file, settings(origin));
  execFileSync(join(root, ".venv/bin/python"), ["manage.py", "provision", file], { cwd: root });
  rmSync(place, { recursive: true });
}

const settled = (page) => page.locator(".turn").last().locator(".reply:not(.writing)").waitFor();

async function ask(page, text) {
  await page.locator(".field").fill(text);
  await page.locator(".send").click();
  await page.locator(".bubble").getByText(text).last().waitFor();
  await settled(page);
}

async function openChat(page, address) {
  await page.goto(address);
  await page.locator(".launcher").click();
  await page.locator(".welcome").waitFor();
}

async function keep(page, name, options = {}) {
  await page.mouse.move(2, 2);
  await page.waitForTimeout(REST_MS);
  await page.screenshot({ path: join(folder, `${name}.png`), ...options });
}

/** Two drawings, so that no photograph has to be kept in the repository. */
async function drawings(page) {
  return page.evaluate(async () => {
    const draw = async (name, paint) => {
      const canvas = new OffscreenCanvas(800, 600);
      paint(canvas.getContext("2d"));
      const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
      return { name, bytes: [...bytes] };
    };
    const fillerOf = (context) => (style, path) => {
      context.fillStyle = style;
      context.fill(new Path2D(path));
    };
    const hills = (context) => {
      const fill = fillerOf(context);
      fill("#cfdde4", "M0 0H800V600H0Z");
      fill("#f4c268", "M590 170a70 50 0 1 0 140 0a70 50 0 1 0 -140 0Z");
      fill("#7f9468", "M0 360C160 220 300 240 420 300S680 230 800 250V600H0Z");
      fill("#566f50", "M0 430C200 350 260 380 420 420S700 300 800 330V600H0Z");
      context.strokeStyle = "#e9dcc0";
      context.lineWidth = 16;
      context.stroke(new Path2D("M250 600C320 520 430 520 420 450S560 400 620 375"));
    };
    const boot = (context) => {
      const fill = fillerOf(context);
      fill("#efe8dc", "M0 0H800V600H0Z");
      fill("#8a5a33", "M270 110H470V300C560 330 640 350 650 450H250Z");
      fill("#a66f43", "M270 110H470V150H270Z");
      fill("#3b332c", "M240 450H660V500H240Z");
      context.strokeStyle = "#f4e3c4";
      context.lineWidth = 9;
      for (const y of [190, 230, 270, 310]) context.stroke(new Path2D(`M400 ${y}L480 ${y + 14}`));
    };
    return [await draw("trail.png", hills), await draw("my boots.png", boot)];
  });
}

async function attach(page) {
  const pictures = (await drawings(page)).map(({ name, bytes }) => ({
    name,
    mimeType: "image/png",
    buffer: Buffer.from(bytes),
  }));
  const note = { name: "order-4711.txt", mimeType: "text/plain", buffer: Buffer.from("Fjell, 43") };
  await page.locator("input[type=file]").setInputFiles([...pictures, note]);
  await page.locator(".composer .file").nth(2).waitFor();
}

async function logIn(page) {
  await page.goto(`${lantern}/admin/`);
  await page.locator("#id_username").fill("admin");
  await page.locator("#id_password").fill(process.env.PASSWORD ?? "");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("link", { name: "Conversations" }).first().waitFor();
}

async function openConversation(page, title) {
  await page.goto(`${lantern}/admin/`);
  await page.getByRole("link", { name: "Conversations" }).first().click();
  await page.getByRole("link", { name: title, exact: true }).first().click();
  await page.getByRole("textbox", { name: "Reply" }).waitFor();
  await settled(page);
}

const PHONE = { viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true };

/** Each makes its picture, given a way to open a page in a browser profile of its own. */
const PICTURES = {
  async widget(visit, shop) {
    const page = await visit({ viewport: { width: 1100, height: 820 } });
    await openChat(page, shop);
    await ask(page, "How do I send it back?");
    await keep(page, "widget");
  },
  async "widget-dark"(visit, shop) {
    const page = await visit({ viewport: { width: 480, height: 800 }, colorScheme: "dark" });
    await openChat(page, shop);
    await ask(page, "How do I list my orders?");
    await keep(page, "widget-dark", { clip: { x: 40, y: 0, width: 440, height: 724 } });
  },
  async "widget-arabic"(visit, shop) {
    const page = await visit(PHONE);
    await openChat(page, `${shop}/ar`);
    await ask(page, "أين طلبي؟");
    await keep(page, "widget-arabic");
  },
  async attachments(visit, shop) {
    const page = await visit({ viewport: { width: 480, height: 800 } });
    await openChat(page, shop);
    await attach(page);
    await ask(page, "Can I take these boots up there?");
    await keep(page, "attachments", { clip: { x: 40, y: 0, width: 440, height: 724 } });
  },
  async dashboard(visit, shop) {
    const visitor = await visit({});
    await openChat(visitor, shop);
    await ask(visitor, "How do I send it back?");
    const desk = await visit({ viewport: { width: 1280, height: 860 } });
    await logIn(desk);
    await openConversation(desk, "How do I send it back?");
    await keep(desk, "dashboard");
  },
  async takeover(visit, shop) {
    const visitor = await visit({});
    await openChat(visitor, shop);
    await ask(visitor, "I would rather talk to a person");
    const desk = await visit({ viewport: { width: 1100, height: 800 } });
    await logIn(desk);
    await openConversation(desk, "I would rather talk to a person");
    await desk.getByRole("button", { name: "Take over" }).click();
    await desk.getByText("the agent is silent").waitFor();
    await ask(visitor, "Are you there?");
    await desk.getByText("Are you there?").waitFor();
    await desk.getByRole("textbox", { name: "Reply" }).fill("Yes, **I am**. What is it about?");
    await desk.getByRole("button", { name: "Send" }).click();
    await visitor.locator(".of-person").last().waitFor();
    await keep(desk, "takeover");
  },
  async "embed-editor"(visit) {
    const page = await visit({ viewport: { width: 1360, height: 860 } });
    await logIn(page);
    await page.getByRole("link", { name: "Embeds" }).first().click();
    await page.getByRole("link", { name: "pk_fjord", exact: true }).click();
    await page.frameLocator("iframe").locator(".prompt").first().waitFor();
    await page.locator("[name=accent]").fill("#e63946");
    await page.locator("[name=radius]").fill("10");
    await page.locator("[name=title]").evaluate((field) => {
      const row = field.closest(".form-row");
      scrollTo(0, row.getBoundingClientRect().top + scrollY - 12);
    });
    await keep(page, "embed-editor");
  },
};

async function main() {
  const shop = await openShop(lantern);
  provision(shop.origin);
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  for (const name of wanted.length > 0 ? wanted : Object.keys(PICTURES)) {
    const contexts = [];
    const visit = async (options) => {
      const context = await browser.newContext({ deviceScaleFactor: 2, ...options });
      contexts.push(context);
      return context.newPage();
    };
    await PICTURES[name](visit, shop.origin);
    for (const context of contexts) await context.close();
    console.log(`${name}.png`);
  }
  await browser.close();
  shop.close();
}

await main();
