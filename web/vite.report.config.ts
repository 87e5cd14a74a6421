import { defineConfig } from "vite";

// The script of reports: one file, which `bbrlab report` puts into each page.
export default defineConfig({
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist-report",
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: "src/report/main.tsx",
      output: { format: "iife", entryFileNames: "report.js", assetFileNames: "report.[ext]" },
    },
  },
});
