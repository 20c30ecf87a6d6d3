#!/usr/bin/env node
const OLDEST = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `error  graph-serve needs Node ${OLDEST.join(".")} or newer, this is ${process.versions.node}\n` +
      "  fix  install a current Node from https://nodejs.org\n",
  );
  process.exitCode = 2;
} else {
  // Node 22.8 and newer keep the compiled code of all modules for the next start, unless NODE_DISABLE_COMPILE_CACHE is set.
  const { default: module } = await import("node:module");
  module.enableCompileCache?.();
  const { exitProcess, main, processIo } = await import("../dist/cli/main.js");
  await exitProcess(await main(process.argv.slice(2), processIo()));
}
