/** Black or white, whichever reads better on the colour; `null` if it is no hex colour. */
export function textColorOn(accent: string): string | null {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(accent);
  if (match === null) return null;
  const [red, green, blue] = match.slice(1).map((hex) => linear(parseInt(hex, 16) / 255));
  const luminance = 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  const onWhite = 1.05 / (luminance + 0.05);
  const onBlack = (luminance + 0.05) / 0.05;
  return onWhite >= 4.5 || onWhite > onBlack ? "#ffffff" : "#1a1613";
}

/** sRGB to linear light, as WCAG 2.2 defines relative luminance. */
function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

export function applyAccent(element: HTMLElement, accent: string | null | undefined): void {
  const onAccent = accent ? textColorOn(accent) : null;
  if (!accent || onAccent === null) return;
  element.style.setProperty("--lantern-accent", accent);
  element.style.setProperty("--lantern-on-accent", onAccent);
}
