/**
 * Weighs Lantern's widget beside three others, in one run: gzip size, requests, time until
 * the panel stands, and frames dropped while an answer of 5,000 tokens streams in.
 *
 *     node bench/widgets.mjs [FOLDER]
 *
 * FOLDER holds the peers (default bench/out/widgets); they are fetched if they are not
 * there. Everything runs on loopback: one server plays all four backends, at one pace.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { FakeServer } from "../widget/js/test/fake-server.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { chromium } = createRequire(join(root, "widget/js/package.json"))("playwright-core");
const folder = process.argv[2] ?? join(root, "bench/out/widgets");
const PEERS = { "deep-chat": "2.4.2", "flowise-embed": "3.1.6", "@n8n/chat": "1.37.0" };
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"];
const TOKENS = 5000;
const PACE_MS = 1;
const RUNS = Number(process.env.RUNS ?? 3);
const PATIENCE_MS = 240_000;
const FRAME_MS = 1000 / 60;
const END = "The end.";
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css" };

const words = Array.from({ length: TOKENS - 2 }, (_, at) =>
  at % 60 === 59 ? `**word${at}**.\n\n` : at % 150 === 10 ? `\n- \`word${at}\` ` : `word${at} `,
);
const ANSWER = [...words, "\n\n", END];

function fetchPeers() {
  mkdirSync(folder, { recursive: true });
  for (const [name, version] of Object.entries(PEERS)) {
    const place = join(folder, name.replace("/", "-"));
    if (existsSync(place)) continue;
    mkdirSync(place);
    const archive = execFileSync("npm", ["pack", `${name}@${version}`, "--silent"], { cwd: folder });
    execFileSync("tar", ["xzf", archive.toString().trim(), "-C", place, "--strip-components=1"], {
      cwd: folder,
    });
  }
}

const page = (body, head = "") =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>${head}</head>` +
  `<body><h1>Shop</h1>${body}</body></html>`;

/** How each is put on a page, opened and written into. */
const CONTESTANTS = {
  Lantern: {
    html: (_, lantern) => page(`<script src="${lantern}/widget.js" data-key="pk_shop" async></script>`),
    launcher: ".launcher",
    field: ".field",
  },
  "deep-chat": {
    html: () =>
      page(
        `<script type="module" src="/peers/deep-chat/dist/deepChat.bundle.js"></script>` +
          `<deep-chat connect='{"url":"/deep","stream":true}'></deep-chat>`,
      ),
    launcher: null,
    field: "#text-input",
  },
  "flowise-embed": {
    html: (origin) =>
      page(
        `<script type="module">import Chatbot from "/peers/flowise-embed/dist/web.js";` +
          `Chatbot.init({chatflowid:"flow",apiHost:"${origin}"});</script>`,
      ),
    launcher: 'button[part="button"]',
    field: "textarea",
  },
  "@n8n/chat": {
    html: () =>
      page(
        `<script type="module">import {createChat} from "/peers/@n8n-chat/dist/chat.bundle.es.js";` +
          `createChat({webhookUrl:"/n8n",enableStreaming:true});</script>`,
        `<link rel="stylesheet" href="/peers/@n8n-chat/dist/style.css">`,
      ),
    launcher: ".chat-window-toggle",
    field: "textarea",
  },
};

/** Runs in the page: opens the chat as soon as it can, and says when it stood. */
function watchOpening({ launcher, field }) {
  window.deep = (selector, within = document) => {
    const found = within.querySelector(selector);
    if (found) return found;
    for (const node of within.querySelectorAll("*")) {
      const below = node.shadowRoot && window.deep(selector, node.shadowRoot);
      if (below) return below;
    }
    return null;
  };
  window.deepText = (within = document.body) => {
    let text = within.textContent;
    for (const node of within.querySelectorAll("*")) {
      if (node.shadowRoot) text += window.deepText(node.shadowRoot);
    }
    return text;
  };
  let isOpened = launcher === null;
  const look = () => {
    const button = !isOpened && document.body && window.deep(launcher);
    if (button) {
      isOpened = true;
      button.click();
    }
    const box = document.body && isOpened && window.deep(field)?.getBoundingClientRect();
    if (box && box.width > 0) requestAnimationFrame(() => (window.stoodAt = performance.now()));
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

function watchFrames() {
  window.frames_ = [];
  let last = performance.now();
  const tick = (now) => {
    window.frames_.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Backends {
  isDone = false;

  async listen(lantern) {
    this.server = createServer((request, response) => void this.#answer(request, response, lantern));
    await new Promise((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
  }

  async #answer(request, response, lantern) {
    const path = decodeURIComponent(new URL(request.url, this.origin).pathname);
    const name = path.slice("/on/".length);
    if (CONTESTANTS[name]) {
      return response
        .setHeader("content-type", "text/html; charset=utf-8")
        .end(CONTESTANTS[name].html(this.origin, lantern));
    }
    if (path.startsWith("/peers/")) return this.#file(path.slice("/peers/".length), response);
    for await (const _ of request) continue;
    if (path === "/deep") return this.#stream(response, (text) => `data: ${JSON.stringify({ text })}\n\n`);
    if (path.startsWith("/api/v1/prediction")) {
      const say = (event, data) => `message:\ndata:${JSON.stringify({ event, data })}\n\n`;
      return this.#stream(response, (text) => say("token", text), say("start", ""), say("end", "[DONE]"));
    }
    if (path === "/n8n") {
      const line = (type, content) =>
        `${JSON.stringify({ type, content, metadata: { nodeId: "1", nodeName: "a", timestamp: 1 } })}\n`;
      return this.#stream(response, (text) => line("item", text), line("begin"), line("end"));
    }
    const body = path.includes("chatflows-streaming") ? { isStreaming: true } : {};
    return response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  }

  #file(path, response) {
    const file = join(folder, path);
    if (!existsSync(file) || path.includes("..")) return response.writeHead(404).end();
    response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
    return response.end(readFileSync(file));
  }

  async #stream(response, say, first = "", last = "") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first);
    for (const token of ANSWER) {
      response.write(say(token));
      await sleep(PACE_MS);
    }
    response.end(last);
    this.isDone = true;
  }
}

async function measure(browser, name, backends) {
  const { launcher, field } = CONTESTANTS[name];
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  // Nothing leaves this machine; what a widget asks of others is counted.
  let foreign = 0;
  await context.route(/^https?:\/\/(?!127\.0\.0\.1)/, (route) => {
    foreign += 1;
    return route.abort();
  });
  const tab = await context.newPage();
  const bodies = [];
  let requests = -1; // the page's own
  tab.on("request", (request) => (requests += request.url().includes("favicon") ? 0 : 1));
  tab.on("response", async (response) => {
    if (/\.(js|mjs|css)(\?|$)/.test(response.url())) bodies.push(response.body().catch(() => Buffer.alloc(0)));
  });
  await tab.addInitScript(watchOpening, { launcher, field });
  await tab.goto(`${backends.origin}/on/${encodeURIComponent(name)}`);
  await tab.waitForFunction(() => window.stoodAt > 0, null, { timeout: 20_000 });
  const stoodMs = await tab.evaluate(() => window.stoodAt);
  await tab.waitForTimeout(800);
  const sizes = (await Promise.all(bodies)).map((body) => gzipSync(body, { level: 9 }).length);
  const opened = { kb: sizes.reduce((sum, size) => sum + size, 0) / 1024, requests, stoodMs };
  backends.isDone = false;
  await tab.locator(field).first().click();
  await tab.keyboard.type("bench");
  await tab.evaluate(watchFrames);
  await tab.keyboard.press("Enter");
  const streamed = await followAnswer(tab, backends, name === "Lantern");
  await context.close();
  return { ...opened, ...streamed, foreign };
}

async function followAnswer(tab, backends, isLantern) {
  if (isLantern) await sleep(TOKENS * PACE_MS);
  for (let waited = 0; !isLantern && !backends.isDone && waited < PATIENCE_MS; waited += 100) await sleep(100);
  await tab.waitForFunction((end) => window.deepText().includes(end), END, {
    timeout: PATIENCE_MS,
    polling: 500,
  });
  const frames = await tab.evaluate(() => window.frames_);
  const dropped = frames.reduce((sum, ms) => sum + Math.max(0, Math.round(ms / FRAME_MS) - 1), 0);
  return { dropped, longestMs: Math.max(...frames) };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function main() {
  fetchPeers();
  const lantern = new FakeServer();
  await lantern.listen();
  lantern.script = { deltas: ANSWER, paceMs: PACE_MS, thinkMs: 0 };
  const backends = new Backends();
  await backends.listen(lantern.origin);
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const results = Object.fromEntries(Object.keys(CONTESTANTS).map((name) => [name, []]));
  for (let run = 0; run < RUNS; run += 1) {
    for (const name of Object.keys(CONTESTANTS)) {
      results[name].push(await measure(browser, name, backends));
      console.error(name, results[name].at(-1));
    }
  }
  await browser.close();
  backends.server.closeAllConnections();
  backends.server.close();
  await lantern.close();
  console.log("| widget | version | gzip, KB | requests | to third parties | panel stands after, ms | dropped frames | longest frame, ms |");
  console.log("|---|---|---:|---:|---:|---:|---:|---:|");
  for (const [name, runs] of Object.entries(results)) {
    const of = (key) => median(runs.map((each) => each[key]));
    const cells = [name, PEERS[name] ?? "this", of("kb").toFixed(1), of("requests"), of("foreign"), of("stoodMs").toFixed(0)];
    console.log(`| ${[...cells, of("dropped"), of("longestMs").toFixed(0)].join(" | ")} |`);
  }
}

await main();
