/**
 * Preloaded into the product (`NODE_OPTIONS=--import=…`, which reaches its threads too) where a test wants a bug in it:
 * exchanges text in the source of single files while they are loaded, so that the product itself has no seam for bugs.
 */
import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { Change } from './planting.ts';

const changes = JSON.parse(process.env['CRASH_CHANGES'] ?? '[]') as readonly Change[];

/** A change that fits nowhere, or in two places, would show nothing: the product then does not start. */
function apply(source: string, { file, from, to }: Change): string {
  const places = source.split(from).length - 1;
  if (places !== 1) throw new Error(`${file} has the text to be changed ${places} times: ${from}`);
  return source.replace(from, () => to);
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const fitting = changes.filter(({ file }) => url.endsWith(`/${file}`));
    if (fitting.length === 0) return loaded;
    const source = fitting.reduce(apply, Buffer.from(loaded.source as Uint8Array).toString());
    for (const { file } of fitting) writeSync(2, `planted in ${file}\n`);
    return { ...loaded, source };
  },
});
