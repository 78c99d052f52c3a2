import { afterEach, expect, test, vi } from "vitest";
import { safeStorage } from "../src/panel/storage.js";

afterEach(() => {
  vi.restoreAllMocks();
  localStorage.clear();
});

test("keeps values in the browser's storage", () => {
  safeStorage("localStorage").set("a", "1");
  expect(localStorage.getItem("a")).toBe("1");
});

test("a storage that cannot even be reached is replaced by memory", () => {
  vi.spyOn(window, "localStorage", "get").mockImplementation(() => {
    throw new DOMException("denied", "SecurityError");
  });
  const storage = safeStorage("localStorage");
  storage.set("a", "1");
  expect(storage.get("a")).toBe("1");
  storage.remove("a");
  expect(storage.get("a")).toBeNull();
});

test("a full storage is replaced by memory", () => {
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  const storage = safeStorage("localStorage");
  storage.set("a", "1");
  expect(storage.get("a")).toBe("1");
});
