import { readFileSync, renameSync, writeSync } from 'node:fs';
import { CarillonError, messageOf, type Duration } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import { FAILPOINT_PLACES } from './places.ts';

/**
 * Places where a test makes a process fail: `FAILPOINTS=intents.append.after:3:kill` ends it when intents were appended
 * for the third time. `FAILPOINTS=@/tmp/orders` takes the orders from a file, which may change while the process runs: it
 * counts from the last change on, and of all processes that follow the file the first that fails takes it away (it is
 * `orders.taken` then). Where it fails it says so on standard error. The product knows nothing of it: planted-failpoints.ts.
 */
export type Failpoints = {
  /** Counts that this place was reached, and fails there if it was told to. */
  hit(name: string): Promise<void>;
};

/** `kill`: SIGKILL. `stop`: SIGSTOP, until somebody continues it. `throw`: the port rejects. `delay`: it takes longer. */
export const FAILPOINT_ACTIONS = ['kill', 'stop', 'throw', 'delay'] as const;
type Action = (typeof FAILPOINT_ACTIONS)[number];
type Order = { readonly name: string; readonly nth: number; readonly action: Action };

const DELAY: Duration = 3_000;
const PATTERN = /^([a-z-]+\.[a-z-]+)\.(before|after):([1-9]\d{0,5}):([a-z]+)$/;

/** Null where the variable is not set. Throws `wrong_usage` for an order that could not be carried out. */
export function readFailpoints(text: string | undefined): Failpoints | null {
  if (!text) return null;
  const read = text.startsWith('@') ? followFile(text.slice(1)) : fixed(text);
  return {
    async hit(name) {
      const { orders, counts, take } = read();
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      for (const order of orders) {
        if (order.name === name && order.nth === count && take()) await carryOut(order);
      }
    },
  };
}

type Armed = {
  readonly orders: readonly Order[];
  readonly counts: Map<string, number>;
  /** False: another process was the first. */
  readonly take: () => boolean;
};

const arm = (text: string, take = (): boolean => true): Armed => ({
  orders: text.split(',').filter(Boolean).map(readOrder),
  counts: new Map(),
  take,
});

function fixed(text: string): () => Armed {
  const armed = arm(text);
  return () => armed;
}

/** What the file says now. A file that is not there yet says nothing. */
function followFile(file: string): () => Armed {
  let seen = '';
  let armed = arm('');
  return () => {
    const text = readIfThere(file);
    if (text === seen) return armed;
    seen = text;
    armed = armOrTell(text, () => wasTaken(file));
    return armed;
  };
}

/** Renames the file, and answers whether it did: one of several that try succeeds. */
function wasTaken(file: string): boolean {
  try {
    renameSync(file, `${file}.taken`);
    return true;
  } catch {
    return false;
  }
}

/** Orders that came while the process runs and cannot be read are no orders: it goes on, and says so once. */
function armOrTell(text: string, take: () => boolean): Armed {
  try {
    return arm(text, take);
  } catch (error) {
    writeSync(2, `${messageOf(error)}\n`);
    return arm('');
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

/** What a process says on standard error before it does what it was told. */
export const failpointLine = (name: string, action: string): string => `failpoint ${name}: ${action}`;

function readOrder(text: string): Order {
  const [, place, side, nth, word] = PATTERN.exec(text.trim()) ?? [];
  const action = FAILPOINT_ACTIONS.find((one) => one === word);
  if (place !== undefined && FAILPOINT_PLACES.has(place) && action !== undefined) {
    return { name: `${place}.${side}`, nth: Number(nth), action };
  }
  throw new CarillonError(
    'wrong_usage',
    `FAILPOINTS: expected name:nth:action such as intents.append.after:1:kill, found ${JSON.stringify(text)}. ` +
      `Names end in .before or .after and begin with one of ${[...FAILPOINT_PLACES].join(', ')}; actions: ${FAILPOINT_ACTIONS.join(', ')}`,
  );
}

async function carryOut({ name, action }: Order): Promise<void> {
  writeSync(2, `${failpointLine(name, action)}\n`);
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      // The signal ends the process; nothing that comes after may run before it does.
      return new Promise(() => undefined);
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      return undefined;
    case 'delay':
      return pause(DELAY);
    case 'throw':
      throw new CarillonError('store_unavailable', `failpoint ${name}`);
  }
}
