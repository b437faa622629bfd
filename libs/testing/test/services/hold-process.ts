/** Starts a process (or, with `ferretdb`, a whole service), says its pids, and then waits for ever. */
import { startGuarded } from '../../src/services/process/guarded-process.ts';
import { startFerretDb } from '../../src/services/mongodb/ferretdb.ts';

const [what = '', log = ''] = process.argv.slice(2);
if (what === 'ferretdb') {
  const { parts, dataDir } = await startFerretDb();
  console.log(JSON.stringify({ pids: [parts.postgres.pid, parts.ferretDb.pid], dataDir }));
} else {
  console.log(JSON.stringify({ pids: [startGuarded({ command: 'sleep', args: ['600'], log }).pid], dataDir: '' }));
}
if (what !== 'leave') setInterval(() => undefined, 1000);
