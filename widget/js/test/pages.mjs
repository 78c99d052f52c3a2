/** HTML pages, one per behaviour, that browser tests and developers open. */

const SHOP = `
  <header><b>Fjord &amp; Field</b><nav>Outdoor&ensp; Home&ensp; Journal</nav></header>
  <main><h1>Made for long walks</h1><p>Wool, wax and leather. Repaired for free, for ever.</p>
  <div class="cards"><div></div><div></div><div></div></div></main>`;

const SHOP_CSS = `
  body{margin:0;font-family:Georgia,serif;color:#2b2a27;background:#f3efe8}
  header{display:flex;justify-content:space-between;padding:24px 48px;font-size:18px}
  main{padding:40px 48px}h1{font-size:52px;margin:0 0 8px;letter-spacing:-1px}p{font-size:19px}
  .cards{display:grid;grid-template-columns:repeat(3,1fr);gap:24px;margin-top:36px}
  .cards div{height:300px;border-radius:6px;background:#ddd4c5}
  @media(prefers-color-scheme:dark){body{background:#141311;color:#e6e1d8}.cards div{background:#2a2723}}`;

const ADMIN_CSS = `
  :root{--primary:#79aec8;--body-fg:#333;--body-bg:#fff;--body-quiet-color:#666;--hairline-color:#e8e8e8;
  --border-color:#ccc;--darkened-bg:#f8f8f8;--link-fg:#417893;--button-bg:#417690;--button-fg:#fff;
  --button-hover-bg:#205067;--error-fg:#ba2121;--message-error-bg:#ffefef;--header:#417690}
  @media(prefers-color-scheme:dark){:root{--primary:#264b5d;--body-fg:#eee;--body-bg:#121212;
  --body-quiet-color:#d0d0d0;--hairline-color:#272727;--border-color:#353535;--darkened-bg:#212121;
  --link-fg:#81d4fa;--button-bg:#264b5d;--error-fg:#e35f5f;--message-error-bg:#570808;--header:#264b5d}}
  body{margin:0;font-family:"Segoe UI",system-ui,Roboto,"Helvetica Neue",Arial,sans-serif;font-size:.875rem;
  color:var(--body-fg);background:var(--body-bg)}
  .top{padding:12px 40px;background:var(--header);color:#ffc;font-size:1.4rem}.in{padding:20px 40px}
  h1{font-weight:300;font-size:1.25rem;margin:0 0 20px}`;

const POLLUTION = `<script>
  Object.prototype.polluted = "yes";
  Object.prototype.accent = "#ff0000";
  Array.prototype.extra = () => undefined;
</script>`;

const STRICT_CSP = (origin) =>
  `default-src 'none'; script-src ${origin}; connect-src ${origin}; style-src 'self'; ` +
  "img-src 'self'; require-trusted-types-for 'script'";

function widgetTag(origin, attributes = "") {
  return `<script src="${origin}/widget.js" data-key="pk_shop" ${attributes} async></script>`;
}

function page(title, css, body) {
  const style = css ? `<style>${css}</style>` : "";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1">${style}</head><body>${body}</body></html>`;
}

export function pageFor(url, origin) {
  const tag = widgetTag(origin, url.searchParams.get("attributes") ?? "");
  switch (url.pathname) {
    case "/":
      return { html: page("Shop", SHOP_CSS, SHOP + tag) };
    case "/inline":
      return {
        html: page(
          "Inline",
          `${SHOP_CSS}lantern-chat{display:block;--lantern-width:500px;--lantern-height:420px}`,
          `<h1>Ask us</h1><lantern-chat></lantern-chat>${tag}`,
        ),
      };
    case "/two":
      return {
        html: page("Two", "", `<h1>Two</h1>${tag}${tag.replace("pk_shop", "pk_other")}`).replaceAll(" async", ""),
      };
    case "/no-connect":
      return {
        html: page("No connection", "", `<h1>Strict</h1>${tag}`),
        headers: { "content-security-policy": `default-src 'none'; script-src ${origin}` },
      };
    case "/csp":
      return {
        html: page("Strict", "", `<h1>Strict policy</h1>${tag}`),
        headers: { "content-security-policy": STRICT_CSP(origin) },
      };
    case "/hostile":
      return {
        html: page(
          "Hostile",
          `${SHOP_CSS}*{all:unset!important}html{font-size:62.5%}`,
          SHOP + POLLUTION + tag,
        ),
      };
    case "/twice":
      return { html: page("Twice", SHOP_CSS, SHOP + tag + tag) };
    case "/head":
      return { html: page("Head", SHOP_CSS, SHOP).replace("</head>", `${tag.replace(" async", "")}</head>`) };
    case "/admin":
      return { html: adminPage(url.searchParams.get("session") ?? "") };
    default:
      return null;
  }
}

function adminPage(sessionId) {
  return page(
    "Conversation",
    ADMIN_CSS,
    `<link rel="stylesheet" href="/static/dashboard/chat.css">
    <div class="top">Lantern administration</div><div class="in"><h1>Returns to Graz</h1>
    <section id="lantern-conversation" data-session-id="${sessionId}" data-api="/v1" data-csrf="csrf"></section></div>
    <script src="/static/dashboard/chat.js" defer></script>`,
  );
}
