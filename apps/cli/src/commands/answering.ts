import type { Command } from 'commander';
import { connect, type Client, type CommonOptions } from '../client.ts';
import { say, sayJson } from '../output.ts';

/** A command with the options that all of them take. */
export function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'print JSON')
    .option('--url <url>', 'control role (default: CARILLON_URL, else that of the data folder)')
    .option('--data-dir <dir>', 'data folder (default: CARILLON_DATA_DIR, else ./carillon-data)')
    .option('--workspace <name>', 'workspace, where there are several');
}

/** Runs an action with a client, and prints its answer: as JSON, or by `show`. */
export async function answer<T>(
  options: CommonOptions,
  ask: (client: Client) => Promise<T>,
  show: (value: T) => string | void,
): Promise<T> {
  const value = await ask(connect(options));
  if (options.json) {
    sayJson(value);
    return value;
  }
  const text = show(value);
  if (typeof text === 'string') say(text);
  return value;
}

/** Until the process is interrupted: asks, prints what is new, waits. */
export async function follow<Item>(
  read: () => Promise<readonly Item[]>,
  keyOf: (item: Item) => string,
  print: (item: Item) => void,
): Promise<void> {
  const seen = new Map<string, true>();
  for (;;) {
    const items = (await read()).toReversed();
    for (const item of items) {
      const key = keyOf(item);
      if (seen.has(key)) continue;
      seen.set(key, true);
      print(item);
    }
    for (const key of [...seen.keys()].slice(0, Math.max(0, seen.size - 20_000))) seen.delete(key);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
