#!/usr/bin/env node
// Plain JavaScript that any Node parses: the program itself is TypeScript, which Node 24 runs as it stands.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);

/** The Node that npm installed beside the program, if this platform has one. */
function installedNode() {
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    return undefined;
  }
}

if (major > 24 || (major === 24 && minor >= 21)) {
  const { main: run } = await import('../src/main.ts');
  await run(process.argv);
} else {
  const node = installedNode();
  if (!node) {
    console.error(`Carillon needs Node 24.21 or newer; this is ${process.version}. Install it, then run this again.`);
    process.exit(1);
  }
  const done = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.exit(done.status ?? 1);
}
