import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/eigentext/explorer/static",
    emptyOutDir: true,
    sourcemap: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    // These versions know light-dark(), so that the build need not rewrite it.
    target: ["chrome123", "firefox120", "safari17.5"],
    rollupOptions: {
      // The files are committed. Fixed names keep the history of each file in one place.
      output: { entryFileNames: "explorer.js", assetFileNames: "explorer.[ext]" },
    },
  },
});
