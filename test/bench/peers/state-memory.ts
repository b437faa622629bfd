/**
 * What evaluates in an engine, in a process of its own. Without state its stream has a rule that looks at one event; with state it has
 * states of this many entities before the first event. Each message asks for events for so many seconds.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { openEmbeddedEngine } from '../state-engine.ts';

/** Events a second, in turn of all entities. */
const RATE = 200;
const EVERY_MS = 100;

const [stream, count] = process.argv.slice(2);
const entities = Number(count);
const engine = await openEmbeddedEngine();
if (stream === 'renewing') await engine.fill('renewing', entities);
let next = 0;

async function work(seconds: number): Promise<void> {
  const begun = performance.now();
  let done = 0;
  for (let passed = 0; passed < seconds * 1000; passed = performance.now() - begun) {
    const size = Math.floor((passed / 1000) * RATE) - done;
    if (size > 0) {
      await engine.append(
        stream === 'renewing' ? 'renewing' : 'stateless',
        Array.from({ length: size }, (_, index) => (next + index) % entities),
      );
      await engine.caughtUp();
    }
    next += Math.max(0, size);
    done += Math.max(0, size);
    await pause(EVERY_MS);
  }
  process.send?.({ done, seconds: (performance.now() - begun) / 1000, faults: engine.faults() });
}

process.on('message', (seconds: number) => void work(seconds));
process.on('disconnect', () => void engine.close().then(() => process.exit()));
process.send?.('ready');
