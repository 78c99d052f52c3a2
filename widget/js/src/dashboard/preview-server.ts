import type { PreviewMessage } from "./preview-message.js";

const SESSION = { id: "sess_preview", status: "idle" };
const SAMPLE = [
  ["user", "Do you ship to Norway, and how long does it take?"],
  [
    "assistant",
    "Yes, we do. It takes **3 to 5 days**:\n\n- with tracking, 9 €\n- free from 80 €\n\n" +
      "More is on [our page on delivery](https://shop.example/delivery).",
  ],
  ["user", "And if it does not fit?"],
  ["assistant", "Send it back within 30 days; the label is in the parcel."],
] as const;

/** What a server would say; nothing of the preview leaves the page. */
export function answer(request: Request, { view, config }: PreviewMessage): Response {
  const { pathname } = new URL(request.url);
  const route = `${request.method} ${pathname.replace(SESSION.id, "id")}`;
  switch (route) {
    case "POST /v1/widget/bootstrap":
      return Response.json({
        visitorToken: "lv_preview",
        expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
        session: view === "conversation" ? SESSION : null,
        config,
      });
    case "GET /v1/sessions":
      return Response.json({ data: [], nextCursor: null });
    case "GET /v1/sessions/id":
      return Response.json(SESSION);
    case "GET /v1/sessions/id/messages":
      return Response.json({ data: SAMPLE.map(message), nextCursor: null });
    case "GET /v1/sessions/id/events":
      return new Response(new ReadableStream({ start: beat }), {
        headers: { "content-type": "text/event-stream" },
      });
    default:
      return Response.json(
        { error: { code: "bad_request", message: "This is a preview: nothing is sent." } },
        { status: 400 },
      );
  }
}

function message([role, content]: (typeof SAMPLE)[number], index: number) {
  const turnId = `tur_${Math.floor(index / 2)}`;
  return { id: `msg_${index}`, role, content, turnId, createdAt: new Date().toISOString() };
}

function beat(controller: ReadableStreamDefaultController<Uint8Array>): void {
  controller.enqueue(new TextEncoder().encode(": preview\n\n"));
}
