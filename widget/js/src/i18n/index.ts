import en from "./en.json";

type Words = typeof en;
/** Plural forms stand as `name.one`, `name.other` and what else a language needs. */
export type Catalog = Record<Exclude<keyof Words, `${string}.${string}`>, string>;
type PluralName = keyof Words extends infer Key
  ? Key extends `${infer Name}.other`
    ? Name
    : never
  : never;

export interface Translate {
  (key: keyof Catalog, values?: Readonly<Record<string, string>>): string;
  count(name: PluralName, count: number): string;
  readonly locale: string;
  readonly direction: "ltr" | "rtl";
}

const RIGHT_TO_LEFT = /^(ar|dv|fa|he|ku|ps|sd|ug|ur|yi)\b/i;

/** Words that are missing in `words` are said in English. */
export function translator(
  locale: string,
  words: Readonly<Record<string, string>> = {},
): Translate {
  const catalog: Readonly<Record<string, string>> = { ...en, ...words };
  const rules = pluralRules(locale);
  const fill = (text: string, values: Readonly<Record<string, string>>): string =>
    text.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
  const translate = (key: string, values: Readonly<Record<string, string>> = {}): string =>
    fill(catalog[key] ?? key, values);
  return Object.assign(translate, {
    count(name: string, count: number): string {
      const form = `${name}.${rules.select(count)}`;
      const values = { count: count.toLocaleString(rules.resolvedOptions().locale) };
      return translate(Object.hasOwn(catalog, form) ? form : `${name}.other`, values);
    },
    locale: rules.resolvedOptions().locale,
    direction: RIGHT_TO_LEFT.test(locale) ? ("rtl" as const) : ("ltr" as const),
  });
}

function pluralRules(locale: string): Intl.PluralRules {
  try {
    return new Intl.PluralRules(locale);
  } catch {
    return new Intl.PluralRules("en");
  }
}

/** The words of a language, loaded from beside the panel; none for English or unknown ones. */
export async function loadWords(locale: string): Promise<Record<string, string>> {
  const tag = locale.toLowerCase();
  const name = [tag, tag.split("-")[0]!].find((each) => Object.hasOwn(LANGUAGE_FILES, each));
  const own = window.LanternStrings ?? {};
  if (name === undefined) return own;
  try {
    const address = new URL(LANGUAGE_FILES[name]!, import.meta.url).href;
    const { default: words } = (await import(/* @vite-ignore */ address)) as {
      default: Record<string, string>;
    };
    return { ...words, ...own };
  } catch {
    // A chat in English is better than none.
    return own;
  }
}
