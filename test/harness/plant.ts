/**
 * Preloaded into the product (`NODE_OPTIONS=--import=…`, which reaches its threads too) where a test wants a bug in it:
 * exchanges text in the source of single files while they are loaded, so that the product itself has no seam for bugs.
 */
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { planted, type Change } from './planting.ts';

const changes = JSON.parse(process.env['CRASH_CHANGES'] ?? '[]') as readonly Change[];

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const fitting = changes.filter(({ file }) => url.endsWith(`/${file}`));
    if (fitting.length === 0) return loaded;
    const source = fitting.reduce(planted, Buffer.from(loaded.source as Uint8Array).toString());
    for (const { file } of fitting) writeSync(2, `planted in ${file}\n`);
    return { ...loaded, source };
  },
});
