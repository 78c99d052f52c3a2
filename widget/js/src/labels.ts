/**
 * The loader's own few words; the panel's come with it. "Could not be loaded" is said in
 * English everywhere: eleven sentences that hardly anybody reads would be a tenth of the
 * loader.
 */
const LABELS: Readonly<Record<string, string>> = {
  en: "Open chat|Close chat",
  ar: "فتح المحادثة|إغلاق المحادثة",
  de: "Chat öffnen|Chat schließen",
  es: "Abrir chat|Cerrar chat",
  fr: "Ouvrir le chat|Fermer le chat",
  it: "Apri la chat|Chiudi la chat",
  ja: "チャットを開く|チャットを閉じる",
  nl: "Chat openen|Chat sluiten",
  pl: "Otwórz czat|Zamknij czat",
  pt: "Abrir chat|Fechar chat",
  tr: "Sohbeti aç|Sohbeti kapat",
  zh: "打开聊天|关闭聊天",
};

export interface LoaderLabels {
  openChat: string;
  closeChat: string;
  loadFailed: string;
}

export function loaderLabels(locale: string): LoaderLabels {
  const language = locale.toLowerCase().split("-")[0]!;
  const labels = Object.hasOwn(LABELS, language) ? LABELS[language]! : LABELS["en"]!;
  const [openChat, closeChat] = labels.split("|") as [string, string];
  const loadFailed = "The chat could not be loaded.";
  return { openChat, closeChat, loadFailed, ...window.LanternStrings };
}
