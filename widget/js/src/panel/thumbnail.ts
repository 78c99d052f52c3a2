import { el } from "../dom.js";

/** Twice the largest place that a picture has on screen. */
const MAX_PX = 320;

/**
 * The picture in small; rejects if the bytes are none. Drawn, and not an `<img>` with a
 * blob: address: for that the page's policy would have to say `img-src blob:`.
 */
export async function thumbnailOf(content: Blob): Promise<HTMLCanvasElement> {
  const picture = await createImageBitmap(content);
  const scale = Math.min(1, MAX_PX / Math.min(picture.width, picture.height));
  const canvas = el("canvas", { "aria-hidden": "true" });
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return canvas;
}

/** Acts once the element is about to be seen. */
export function whenSeen(element: Element, act: () => void): void {
  if (!("IntersectionObserver" in globalThis)) return;
  const watch = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watch.disconnect();
    act();
  });
  watch.observe(element);
}
