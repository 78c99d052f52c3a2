const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** "3 hours ago"; empty if it is no time. */
export function ago(time: string, locale: string): string {
  const seconds = (Date.parse(time) - Date.now()) / 1000;
  if (Number.isNaN(seconds)) return "";
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return format.format(0, "minute");
}

/** The time of day, and the day if it is another one. */
export function clockTime(at: number, locale: string): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ dateStyle: "medium" } as const);
  return new Intl.DateTimeFormat(locale, { ...day, timeStyle: "short" }).format(at);
}
