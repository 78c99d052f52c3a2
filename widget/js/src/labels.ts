/**
 * The loader's own few words; the panel's come with it. "Could not be loaded" is said in
 * English everywhere: eleven sentences that hardly anybody reads would be a tenth of the
 * loader.
 */
const LABELS: Readonly<Record<string, string>> = {
  en: "Open chat",
  ar: "فتح المحادثة",
  de: "Chat öffnen",
  es: "Abrir chat",
  fr: "Ouvrir le chat",
  it: "Apri la chat",
  ja: "チャットを開く",
  nl: "Chat openen",
  pl: "Otwórz czat",
  pt: "Abrir chat",
  tr: "Sohbeti aç",
  zh: "打开聊天",
};

export interface LoaderLabels {
  openChat: string;
  loadFailed: string;
}

export function loaderLabels(locale: string): LoaderLabels {
  const language = locale.toLowerCase().split("-")[0]!;
  const openChat = Object.hasOwn(LABELS, language) ? LABELS[language]! : LABELS["en"]!;
  const loadFailed = "The chat could not be loaded.";
  return { openChat, loadFailed, ...window.LanternStrings };
}
