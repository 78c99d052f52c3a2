export interface SafeStorage {
  get(name: string): string | null;
  set(name: string, value: string): void;
  remove(name: string): void;
}

/**
 * The browser's storage where it can be used, memory where it throws: private windows,
 * blocked site storage, sandboxed frames, a full quota.
 */
export function safeStorage(kind: "localStorage" | "sessionStorage"): SafeStorage {
  const memory = new Map<string, string>();
  const attempt = <T>(act: (storage: Storage) => T): T | null => {
    try {
      // Reading the property itself may throw, so it stands inside.
      return act(window[kind]);
    } catch {
      return null;
    }
  };
  return {
    get: (name) => memory.get(name) ?? attempt((storage) => storage.getItem(name)),
    set(name, value) {
      const isStored = attempt((storage) => {
        storage.setItem(name, value);
        return true;
      });
      if (isStored) memory.delete(name);
      else memory.set(name, value);
    },
    remove(name) {
      memory.delete(name);
      attempt((storage) => storage.removeItem(name));
    },
  };
}

/** What was typed and not sent, as the composer wants it. */
export function keepDraft(key: string) {
  const drafts = safeStorage("sessionStorage");
  const name = `lantern:${key}:draft`;
  return {
    draft: drafts.get(name) ?? "",
    onDraft: (text: string) => drafts.set(name, text),
  };
}
