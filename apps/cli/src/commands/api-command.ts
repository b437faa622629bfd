import { setTimeout as pause } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { connect, type Client, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { paint, say, sayJson, showTimesIn, table } from '../output.ts';
import { runnable } from '../runnable.ts';
import { createFollower, type Following } from './following.ts';

/** A command with the options that all of them take. */
export function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'print JSON')
    .option('--url <url>', 'URL of the control role (default: CARILLON_URL, else the one in the data folder)')
    .option('--data-dir <dir>', 'data folder (default: CARILLON_DATA_DIR, else ./carillon-data)')
    .option(
      '--workspace <name>',
      'workspace (default: CARILLON_WORKSPACE); commands that change something need it if there are several',
    );
}

/** Options that commands cannot do without, in the order in which they were added. */
const NEEDED = new WeakMap<Command, Option[]>();

/** Adds an option that the command needs. Its usage line names all of these, and so does the error where any of them is missing. */
export function needs(one: Command, flags: string, description: string, read?: (text: string) => unknown): Command {
  const needed = NEEDED.get(one) ?? [];
  if (needed.length === 0) {
    NEEDED.set(one, needed);
    one.hook('preAction', (_parent, action) => {
      if (action === one) refuseMissing(one, needed);
    });
  }
  const option = new Option(flags, description);
  if (read) option.argParser(read);
  needed.push(option);
  one.addOption(option);
  const given = one.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return one.usage([...given, ...needed.map((each) => each.flags), '[options]'].join(' '));
}

function refuseMissing(one: Command, needed: readonly Option[]): void {
  const given: Readonly<Record<string, unknown>> = one.opts();
  const missing = needed.filter((option) => given[option.attributeName()] === undefined);
  if (missing.length === 0) return;
  const names = missing.map(({ flags }) => flags).join(' and ');
  throw new UsageError(`${one.name()} needs ${names}; usage: ${one.usage()}`);
}

/** Runs an action with a client, and prints its answer: as JSON, or by `show`. */
export async function answer<T>(
  options: CommonOptions,
  ask: (client: Client) => Promise<T>,
  show: (value: T) => string | void,
): Promise<T> {
  const client = connect(options);
  if (!options.json) showTimesIn(await client.zone());
  const value = await ask(client);
  if (options.json) {
    sayJson(value);
    return value;
  }
  const text = show(value);
  if (typeof text === 'string') say(runnable(text, options));
  return value;
}

export type Items<Item> = { readonly items: readonly Item[] };

/** A list that people read whole: what they made themselves. */
export async function readWhole<Item>(client: Client, path: string): Promise<Items<Item>> {
  const items: Item[] = [];
  for (let cursor: string | undefined; ;) {
    const page: Page<Item> = await client.get(path, { cursor });
    items.push(...page.items);
    if (page.next === null) return { items };
    cursor = page.next;
  }
}

/** The rows of a page under their head, and how to go on; `nothing` where there are none. */
export function pageText<Row>(
  page: Page<Row>,
  nothing: string,
  row: (one: Row) => readonly string[],
  head: readonly string[],
): string {
  const more = page.next === null ? '' : `\n${paint('dim', `more: --cursor ${page.next}`)}`;
  if (page.items.length > 0) return table(page.items.map(row), head) + more;
  return paint('dim', page.next === null ? nothing : `${nothing} among the newest`) + more;
}

const FOLLOW_INTERVAL_MS = 500;
/** Every twentieth check is thorough. */
const THOROUGH_EACH = 20;

/** Prints what there is, then what is new, oldest first, until the process is interrupted. */
export async function follow<Item>(
  read: (cursor?: string) => Promise<Page<Item>>,
  following: Following<Item>,
  print: (item: Item) => void,
): Promise<void> {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const look = createFollower(read, following);
  for (let looks = 1; !interrupted.signal.aborted; looks += 1) {
    for (const item of await look(looks % THOROUGH_EACH === 0)) print(item);
    await pause(FOLLOW_INTERVAL_MS, undefined, { signal: interrupted.signal }).catch(() => undefined);
  }
}
