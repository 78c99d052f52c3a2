const LIGHT_TEXT = "#ffffff";
const DARK_TEXT = "#1a1613";
/** Colours darker than this have light text: up to here it reads better than the dark. */
const LIGHT_TEXT_BELOW = 0.19764;

/** The text that reads better on the colour; `null` if it is no hex colour. */
export function textColorOn(accent: string): string | null {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) return null;
  return luminance(accent) < LIGHT_TEXT_BELOW ? LIGHT_TEXT : DARK_TEXT;
}

/** As WCAG 2.2 defines it, of a colour such as `#0b6e4f`. */
export function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const channel = parseInt(color.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Without a colour, those of the page's own style, or the widget's, are back. */
export function applyAccent(style: CSSStyleDeclaration, accent: string): void {
  const onAccent = textColorOn(accent);
  style.setProperty("--lantern-accent", onAccent && accent);
  style.setProperty("--lantern-on-accent", onAccent);
}
