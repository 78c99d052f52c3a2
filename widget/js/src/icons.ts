/** Outlines on a 24 by 24 grid, drawn with a stroke unless the style says fill. */
export const CHAT =
  "M12 3.75c4.97 0 9 3.47 9 7.75s-4.03 7.75-9 7.75c-1.06 0-2.08-.16-3.02-.45L4.5 20.5l.96-3.6C3.93 15.5 3 13.6 3 11.5c0-4.28 4.03-7.75 9-7.75ZM12 7.5c.3 1.7 2.4 2.5 2.4 4.7a2.4 2.4 0 0 1-4.8 0c0-1 .5-1.6 1-2.1.1.6.4.9.8 1.1-.1-1.3-.2-2.5.6-3.7Z";
export const FLAME =
  "M12.4 3c.5 3.4 4.85 5 4.85 9.9a5.25 5.25 0 0 1-10.5 0c0-2.1 1-3.5 2.1-4.6.2 1.3.8 2 1.7 2.4C10.3 8 10.6 5.4 12.4 3Z";
export const CLOSE = "M6.5 6.5l11 11m0-11l-11 11";
export const CHEVRON = "M6 9.5l6 6 6-6";
export const SEND = "M12 19V5.5m-6 6l6-6 6 6";
export const STOP = "M8.5 7h7A1.5 1.5 0 0 1 17 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 7 15.5v-7A1.5 1.5 0 0 1 8.5 7Z";
export const NEW_CHAT =
  "M12 5H7.5A2.5 2.5 0 0 0 5 7.5v9A2.5 2.5 0 0 0 7.5 19h9a2.5 2.5 0 0 0 2.5-2.5V12M18.1 4.3a1.8 1.8 0 0 1 2.6 2.6L13 14.6l-3.3.7.7-3.3 7.7-7.7Z";
export const COPY =
  "M9.5 8.5h8a1.5 1.5 0 0 1 1.5 1.5v8.5a1.5 1.5 0 0 1-1.5 1.5h-8A1.5 1.5 0 0 1 8 18.5V10a1.5 1.5 0 0 1 1.5-1.5ZM5.5 15.5A1.5 1.5 0 0 1 5 14.3V6A1.5 1.5 0 0 1 6.5 4.5h8";
export const CHECK = "M5.5 12.5l4.2 4.2 8.8-9.2";
export const WARNING = "M12 4.5 21 19.5H3L12 4.5Zm0 5.5v4.5m0 2.3v.01";
export const HISTORY = "M4.5 12a7.5 7.5 0 1 0 2.2-5.3L4.5 9m0-4.5V9H9m3-1v4.3l3 1.8";
export const BACK = "M14.5 6l-6 6 6 6";
export const DOWNLOAD = "M12 4.5v10m-4-4l4 4 4-4M5 19.5h14";
export const TRASH = "M5 7h14M9.5 7V4.5h5V7M7 7l.8 12.5h8.4L17 7M10.2 10.5v5.5m3.6-5.5v5.5";
export const AGAIN = "M19.5 12a7.5 7.5 0 1 1-2.2-5.3L19.5 9m0-4.5V9H15";
export const THUMB_UP =
  "M7.5 10.5 11 3.8c1.4 0 2.3 1 2.3 2.3l-.5 3.4h5a1.8 1.8 0 0 1 1.8 2.1l-1.1 6.6a1.8 1.8 0 0 1-1.8 1.5H7.5m0-9.2v9.2m0-9.2H4.4v9.2h3.1";
export const THUMB_DOWN =
  "M16.5 13.5 13 20.2c-1.4 0-2.3-1-2.3-2.3l.5-3.4h-5a1.8 1.8 0 0 1-1.8-2.1l1.1-6.6a1.8 1.8 0 0 1 1.8-1.5h9.2m0 9.2V4.3m0 9.2h3.1V4.3h-3.1";
