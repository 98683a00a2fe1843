// Writes static/.sources, a SHA-256 of all sources. With it, a test finds out without Node whether
// the built page is older than its sources. It is the SHA-256 of what `sha256sum` prints for the
// sorted files.
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
