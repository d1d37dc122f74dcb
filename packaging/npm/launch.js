#!/usr/bin/env node
// Starts the program of this machine. Standard output belongs to the protocol.
"use strict";
const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "bmad-mcp.exe" : "bmad-mcp";
let program;
try {
  program = require.resolve(`@bmad-mcp/${platform}/bin/${file}`);
} catch {
  const known = Object.keys(require("./package.json").optionalDependencies).map((name) => name.slice("@bmad-mcp/".length));
  console.error(
    known.includes(platform)
      ? `bmad-mcp: @bmad-mcp/${platform} is missing: install again, without --omit=optional`
      : `bmad-mcp: there is no program for ${platform}, only for ${known.join(", ")}`,
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends these to the child too, where a second one would not wait for what is under way.
for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`bmad-mcp: ${program} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
