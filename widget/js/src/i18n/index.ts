import en from "./en.json";

export type Catalog = Record<keyof typeof en, string>;
export type Translate = (
  key: keyof Catalog,
  values?: Readonly<Record<string, string>>,
) => string;

/** To add a language: a file beside `en.json` with the same keys, and a line here. */
const CATALOGS: Readonly<Record<string, Partial<Catalog>>> = { en };

export function translator(locale: string): Translate {
  const catalog = catalogFor(locale);
  return (key, values = {}) =>
    (catalog[key] ?? en[key]).replace(
      /\{(\w+)\}/g,
      (placeholder, name: string) => values[name] ?? placeholder,
    );
}

function catalogFor(locale: string): Partial<Catalog> {
  const tag = locale.toLowerCase();
  const language = tag.split("-")[0] ?? "en";
  for (const candidate of [tag, language]) {
    if (Object.hasOwn(CATALOGS, candidate)) return CATALOGS[candidate]!;
  }
  return en;
}
