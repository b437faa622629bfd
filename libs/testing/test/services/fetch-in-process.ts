/** Fetches a made-up entry: node fetch-in-process.ts CACHE COUNT-FILE [stall]. Says `building` when it has begun. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCached } from '../../src/services/cache/cache-entry.ts';
import { runCommand } from '../../src/services/process/run-command.ts';

const [cache = '', count = '', stall] = process.argv.slice(2);
const entry = {
  name: 'made-up-1',
  title: 'Made up',
  async build({ downloads, out, log }: { downloads: string; out: string; log: string }) {
    await appendFile(count, 'x');
    await writeFile(join(downloads, 'half'), 'downloaded so far');
    console.log('building');
    await runCommand({ command: 'sleep', args: [stall === undefined ? '0.3' : '600'], log });
    await writeFile(join(out, 'file'), 'whole');
  },
};
console.log(await ensureCached(entry, () => undefined, cache));
