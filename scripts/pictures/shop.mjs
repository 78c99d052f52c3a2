/** The shop that the pictures show: its page, its settings, and what its model says. */
import { createServer } from "node:http";

const PACE_MS = 20;

const RETURNS = `You can send anything back within **30 days**, as long as it is unworn:

1. Open *Your orders* and choose the item
2. Print the label, or show the QR code at the counter
3. Drop it off at any shop on [our map](https://fjord.example/map)

| Country | Takes | Costs |
|---|:---:|---:|
| Germany | 3 days | €0.00 |
| Austria | 5 days | €4.90 |

The refund is on your card about two days after the parcel is here.`;

const CODE = `That is one call, with the key from *Settings*:

\`\`\`python
import fjord

shop = fjord.connect(key="fk_…")
for order in shop.orders("open"):
    print(order.total)  # 129.0
\`\`\`

- other states are \`sent\` and \`returned\`
- an empty list means that **nothing** waits

> Times are in UTC, always.`;

const BOOTS = `Yes. The **Fjell** in your picture has a stiff sole and keeps water out up to the ankle: it is made for a path like that.

Order 4711 holds size **43**. With thick socks take 44; you can swap it free of charge until Friday.`;

const ARABIC = `طلبك رقم **4711** في الطريق إليك:

1. غادر المستودع يوم الاثنين
2. يصل يوم *الخميس* قبل الساعة 18:00

يمكنك تتبّعه في [صفحة الطلب](https://fjord.example/4711).`;

const ANSWERS = {
  "send it back": RETURNS,
  orders: CODE,
  boots: BOOTS,
  person: "Of course. Somebody of our team will join you here in a minute or two.",
  طلبي: ARABIC,
};

const CSS = `
  body{margin:0;font-family:Georgia,serif;color:#2b2a27;background:#f3efe8}
  header{display:flex;justify-content:space-between;padding:26px 48px;font-size:18px}
  nav{display:flex;gap:28px;font-size:16px}main{padding:34px 48px}
  h1{font-size:54px;line-height:1.1;margin:0 0 10px;letter-spacing:-1px}p{font-size:19px;margin:0}
  .cards{display:grid;grid-template-columns:repeat(3,1fr);gap:24px;margin-top:40px}
  .cards div{height:330px;border-radius:6px;background:linear-gradient(#e2d9ca,#d6ccba)}
  @media(prefers-color-scheme:dark){body{background:#141311;color:#e6e1d8}
    .cards div{background:linear-gradient(#2e2a26,#24211e)}}`;

const page = (language, lantern, key) => `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><title>Fjord &amp; Field</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><style>${CSS}</style></head><body>
<header><b>Fjord &amp; Field</b><nav><span>Outdoor</span><span>Home</span><span>Journal</span></nav></header>
<main><h1>Made for long walks</h1><p>Wool, wax and leather. Repaired for free, for ever.</p>
<div class="cards"><div></div><div></div><div></div></div></main>
<script src="${lantern}/widget.js" data-key="${key}" async></script></body></html>`;

/** What `manage.py provision` reads. */
export const settings = (origin) => `
[[provider]]
name = "fjord"
kind = "openai"
base_url = "${origin}/v1"
api_key = "none"
allow_private = true

[[agent]]
slug = "shop"
route = ["fjord/assistant"]
attachments = true

[[embed]]
key = "pk_fjord"
agent = "shop"
origins = ["${origin}"]
title = "Fjord & Field"
greeting = "**Hello!** Ask me anything about sizes, orders and returns."
suggestions = ["Which size fits me?", "How do I send it back?", "Where is my order?"]
agent_name = "Assistant"
attachments = true

[[embed]]
key = "pk_fjord_ar"
agent = "shop"
origins = ["${origin}"]
title = "متجر فيورد"
greeting = "**مرحبًا!** اسألني عن المقاسات والطلبات والإرجاع."
placeholder = "اكتب رسالة…"
suggestions = ["أين طلبي؟", "كيف أعيد منتجًا؟", "ما مواعيد العمل؟"]
agent_name = "المساعد"
`;

function answerTo(messages) {
  const { content } = messages.findLast(({ role }) => role === "user");
  const asked = typeof content === "string" ? content : content.map(({ text = "" }) => text).join(" ");
  const [, answer] = Object.entries(ANSWERS).find(([words]) => asked.includes(words)) ?? [];
  return answer ?? "I have looked it up: all is well with your order.";
}

async function complete(request, response) {
  let body = "";
  for await (const part of request) body += part;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const say = (choice) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  for (const word of answerTo(JSON.parse(body).messages).split(/(?<= )/)) {
    say({ delta: { content: word } });
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
  }
  say({ delta: {}, finish_reason: "stop" });
  response.end("data: [DONE]\n\n");
}

/** Serves the shop at `/` and `/ar`, and its model under `/v1`; gives its origin and its end. */
export async function openShop(lantern) {
  const server = createServer((request, response) => {
    if (request.url.startsWith("/v1/")) return void complete(request, response);
    const isArabic = request.url.startsWith("/ar");
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(isArabic ? page("ar", lantern, "pk_fjord_ar") : page("en", lantern, "pk_fjord"));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, close };
}
