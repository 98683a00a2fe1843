import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/eigentext/explorer/static",
    emptyOutDir: true,
    sourcemap: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    // Old enough for most, new enough for light-dark() to stay as it is written.
    target: ["chrome123", "firefox120", "safari17.5"],
    rollupOptions: {
      // Fixed names: the files are committed, and their history should read as theirs.
      output: { entryFileNames: "explorer.js", assetFileNames: "explorer.[ext]" },
    },
  },
});
