import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: {
      "@lantern/sdk": fileURLToPath(
        new URL("../../sdk/typescript/src/index.ts", import.meta.url),
      ),
    },
  },
  define: {
    PANEL_FILE: JSON.stringify("panel-test.js"),
    TRIGGERS_FILE: JSON.stringify("triggers-test.js"),
    LANGUAGE_FILES: "{}",
  },
  test: { environment: "jsdom", include: ["test/*.test.ts"], testTimeout: 5000 },
});
