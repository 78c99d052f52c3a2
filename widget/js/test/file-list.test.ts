import type { FileView } from "@lantern/sdk";
import { beforeEach, expect, test, vi } from "vitest";
import { translator } from "../src/i18n/index.js";
import { createFileList } from "../src/panel/view/file-list.js";

const PICTURE: FileView = { name: "a.png", mediaType: "image/png", id: null, content: new Blob(["x"]) };
const PAGE: FileView = {
  name: "a.html",
  mediaType: "text/html",
  id: null,
  content: new Blob(["<script>"], { type: "text/html" }),
};
const loadFile = vi.fn(async ({ content }: FileView) => content ?? new Blob(["stored"]));
const onFileLost = vi.fn();
let list: ReturnType<typeof createFileList>;
const buttons = (): HTMLButtonElement[] => [...list.element.querySelectorAll("button")];

class Watching {
  static isInView = true;
  readonly #act: (entries: { isIntersecting: boolean }[]) => void;
  constructor(act: (entries: { isIntersecting: boolean }[]) => void) {
    this.#act = act;
  }
  observe(): void {
    if (Watching.isInView) queueMicrotask(() => this.#act([{ isIntersecting: true }]));
  }
  disconnect(): void {}
}

beforeEach(() => {
  vi.clearAllMocks();
  Watching.isInView = true;
  vi.stubGlobal("IntersectionObserver", Watching);
  vi.stubGlobal("createImageBitmap", () => Promise.reject(new Error("no picture")));
  list = createFileList({ t: translator("en"), loadFile, onFileLost });
});

test("each file is a button that says what it does", () => {
  list.update([PICTURE, PAGE]);
  const names = buttons().map((button) => button.getAttribute("aria-label"));
  expect(names).toEqual(["Download a.png", "Download a.html"]);
  expect(list.element.textContent).toBe("a.pnga.html");
});

test("what was sent from here stays on screen when it comes back with an id", async () => {
  list.update([PICTURE]);
  const [button] = buttons();
  list.update([{ ...PICTURE, id: "file_1" }]);
  expect(buttons()[0]).toBe(button);
  loadFile.mockRejectedValueOnce(new Error("gone"));
  button!.click();
  await vi.waitFor(() => expect(onFileLost).toHaveBeenCalled());
  expect(loadFile.mock.lastCall![0].id).toBe("file_1");
  expect(button!.ariaBusy).toBe("false");
});

test("what is no picture after all is shown by its name", async () => {
  list.update([PICTURE]);
  expect(list.element.querySelectorAll(".picture")).toHaveLength(1);
  await vi.waitFor(() => expect(list.element.querySelector(".picture")).toBeNull());
  expect(onFileLost).not.toHaveBeenCalled();
});

test("a file out of sight is not fetched", async () => {
  Watching.isInView = false;
  list.update([PICTURE]);
  await Promise.resolve();
  expect(loadFile).not.toHaveBeenCalled();
});

test("whatever it is, it is saved as mere bytes", async () => {
  const saved: Blob[] = [];
  vi.stubGlobal("URL", Object.assign(URL, {
    createObjectURL: (blob: Blob) => `blob:${saved.push(blob)}`,
    revokeObjectURL: () => undefined,
  }));
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockReturnValue(undefined);
  list.update([PAGE]);
  buttons()[0]!.click();
  await vi.waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]!.type).toBe("application/octet-stream");
});
