// A registry of npm with the tarballs of a folder, for .ci/package: prints its port.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const crypto = require("node:crypto");
const { execFileSync } = require("node:child_process");

const folder = process.argv[2];
const known = {};
for (const file of fs.readdirSync(folder)) {
  const tarball = path.join(folder, file);
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" }));
  known[manifest.name] = { file, manifest, integrity: "sha512-" + crypto.createHash("sha512").update(fs.readFileSync(tarball)).digest("base64") };
}

const server = http.createServer((request, response) => {
  const name = decodeURIComponent(request.url.slice(1));
  if (name.startsWith("files/")) {
    fs.createReadStream(path.join(folder, path.basename(name))).pipe(response);
    return;
  }
  if (!known[name]) {
    response.writeHead(404).end("{}");
    return;
  }
  const { file, manifest, integrity } = known[name];
  const dist = { tarball: `http://127.0.0.1:${server.address().port}/files/${file}`, integrity };
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ name, "dist-tags": { latest: manifest.version }, versions: { [manifest.version]: { ...manifest, dist } } }));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
