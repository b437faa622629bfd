import { existsSync, readFileSync } from 'node:fs';
import type { Change } from '../harness/planting.ts';

/** What is durable once it resolves, of the ports by which somebody changes something. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  log: ['append'],
  drafts: ['replace', 'remove'],
  secretStore: ['putSecret', 'removeSecret', 'insertDataKey', 'rewrapDataKey', 'removeDataKey'],
  auditSeals: ['keep'],
};

const HERE = JSON.stringify(import.meta.url);
/** Makes the product kill itself by the order in the file that KILL_ORDER names. */
export const KILLED_WRITES: readonly Change[] = [
  {
    file: 'apps/cli/src/process/foundation.ts',
    from: 'const backend = await openOwnBackend(settings, watches, closing, { clock, slice, holder: name, fatal });',
    to: `const { killedAtWrites } = await import(${HERE});
  const opened = await openOwnBackend(settings, watches, closing, { clock, slice, holder: name, fatal });
  const backend = killedAtWrites(opened, env['KILL_ORDER']);`,
  },
];

/** How many writes are done before the process is killed; of a round, which counts anew. */
export type KillOrder = { readonly round: number; readonly after: number };

/** Ports of a process that kills itself (SIGKILL) once it has done so many writes since the order was written to the file. */
export function killedAtWrites<Ports extends object>(ports: Ports, file: string | undefined): Ports {
  if (file === undefined) return ports;
  let round = -1;
  let left = 0;
  const order = (): KillOrder | null =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8') || 'null') as KillOrder | null) : null;
  const die = (): never => {
    process.kill(process.pid, 'SIGKILL');
    throw new Error('killed');
  };
  const counted =
    (work: (...given: unknown[]) => Promise<unknown>) =>
    async (...given: unknown[]): Promise<unknown> => {
      const now = order();
      if (now === null) return work(...given);
      if (now.round !== round) ({ round, after: left } = now);
      if (left <= 0) die();
      const done = await work(...given);
      left -= 1;
      // Some writes end after the answer to their cause, when the order may be gone.
      if (left <= 0 && order()?.round === round) die();
      return done;
    };
  const wrapped = Object.entries(WRITES).map(([port, methods]) => {
    const own = Reflect.get(ports, port) as Record<string, (...given: unknown[]) => Promise<unknown>>;
    const over = Object.fromEntries(
      methods.map((name) => [name, counted(async (...given: unknown[]) => own[name]?.(...given))]),
    );
    const proxy = new Proxy(own, {
      get: (original, name) => {
        if (typeof name === 'string' && Object.hasOwn(over, name)) return over[name];
        const value: unknown = Reflect.get(original, name, original);
        return typeof value === 'function' ? (value.bind(original) as unknown) : value;
      },
    });
    return [port, proxy] as const;
  });
  return { ...ports, ...Object.fromEntries(wrapped) };
}
