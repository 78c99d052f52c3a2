// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { translator } from "../src/i18n/index.js";

const FOLDER = fileURLToPath(new URL("../src/i18n", import.meta.url));
const LANGUAGES = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));

type Words = Record<string, string>;
const wordsOf = (file: string): Words => JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
const english = wordsOf("en.json");
const isPlural = (name: string): boolean => name.includes(".");
const placeholders = (text: string | undefined): string[] => (text?.match(/\{\w+\}/g) ?? []).sort();

test("there are twelve languages", () => {
  expect(LANGUAGES.length).toBeGreaterThanOrEqual(12);
});

test.each(LANGUAGES)("%s says everything, with the same places to fill", (file) => {
  const words = wordsOf(file);
  const names = Object.keys(english).filter((name) => !isPlural(name));
  for (const name of names) {
    expect([name, placeholders(words[name])]).toEqual([name, placeholders(english[name])]);
  }
  expect(Object.keys(words).filter((name) => !isPlural(name)).sort()).toEqual(names.sort());
});

test.each(LANGUAGES)("%s has the plural forms that its language needs", (file) => {
  const rules = new Intl.PluralRules(file.replace(".json", ""));
  const words = wordsOf(file);
  for (const form of rules.resolvedOptions().pluralCategories) {
    expect(words[`unread.${form}`], form).toBeTruthy();
  }
});

test("counts follow the language's own rules", () => {
  const polish = translator("pl", wordsOf("pl.json"));
  const counts = [1, 3, 5, 22].map((count) => polish.count("unread", count));
  expect(counts).toEqual([
    "1 nowa odpowiedź",
    "3 nowe odpowiedzi",
    "5 nowych odpowiedzi",
    "22 nowe odpowiedzi",
  ]);
});

test("words that are missing are said in English", () => {
  const t = translator("fi", { send: "Lähetä" });
  expect([t("send"), t("stop"), t.count("unread", 1)]).toEqual(["Lähetä", "Stop", "1 new reply"]);
});

test("a locale that is none does no harm", () => {
  expect(translator("not a locale").count("unread", 2)).toBe("2 new replies");
});
