// Write static/.sources: a SHA-256 over all sources, so that a test can tell without Node whether
// the built page is stale. Equivalent to `sha256sum` of the sorted files, and its sum again.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const left = new Set(["node_modules", "package-lock.json", "__pycache__"]);
const sha256 = (data) => createHash("sha256").update(data).digest("hex");

function files(folder = "") {
  return readdirSync(root + folder, { withFileTypes: true }).flatMap((entry) => {
    if (left.has(entry.name) || entry.name.startsWith(".")) return [];
    const path = folder + entry.name;
    return entry.isDirectory() ? files(path + "/") : [path];
  });
}

const sums = files()
  .sort()
  .map((path) => `${sha256(readFileSync(root + path))}  ${path}\n`);
writeFileSync(root + "../src/eigentext/explorer/static/.sources", sha256(sums.join("")) + "\n");
