import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

// Compiles the tests for Node's own test runner.
export default defineConfig({
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    ssr: true,
    outDir: "tests/out",
    emptyOutDir: true,
    minify: false,
    rolldownOptions: {
      external: [/^node:/, "playwright-core"],
      input: readdirSync("tests").filter((name) => name.endsWith(".test.ts")).map((name) => `tests/${name}`),
      output: { entryFileNames: "[name].js" },
    },
  },
});
