/** As `widget/accent.py` has it. */
import { luminance, textColorOn } from "../panel/accent.js";

export const READABLE = 4.5;

/** How well the widget's text on a colour such as `#0b6e4f` can be read, from 1 to 21. */
export function textContrast(colour: string): number {
  const pair = [luminance(colour), luminance(textColorOn(colour)!)].sort((a, b) => a - b);
  return (pair[1]! + 0.05) / (pair[0]! + 0.05);
}

/** The colour itself, or the one nearest to it on which text can be read. */
export function nearestReadable(colour: string): string {
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  for (let step = 0; step < 256; step += 1) {
    for (const end of [0, 255]) {
      const moved = channels.map((each) => Math.round(each + ((end - each) * step) / 255));
      const found = `#${moved.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
      if (textContrast(found) >= READABLE) return found;
    }
  }
  return colour;
}
