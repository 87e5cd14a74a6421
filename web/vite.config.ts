import { defineConfig } from "vite";

// Relative paths, so that the page works in any folder of a web server. The policy of the server
// allows no inline script: nothing may become a `data:` URL or an inline module.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
});
