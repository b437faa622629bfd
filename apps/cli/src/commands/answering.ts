import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { connect, type Client, type CommonOptions, type Page } from '../client.ts';
import { paint, say, sayJson, table } from '../output.ts';
import { runnable } from '../runnable.ts';

/** A command with the options that all of them take. */
export function command(parent: Command, usage: string, description: string): Command {
  return parent
    .command(usage)
    .description(description)
    .option('--json', 'print JSON')
    .option('--url <url>', 'control role (default: CARILLON_URL, else that of the data folder)')
    .option('--data-dir <dir>', 'data folder (default: CARILLON_DATA_DIR, else ./carillon-data)')
    .option('--workspace <name>', 'only this workspace (CARILLON_WORKSPACE); to write, where there are several');
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
  if (typeof text === 'string') say(runnable(text, options));
  return value;
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

const FOLLOW_EVERY = 500;
/** Pages that one look goes back at most: beyond that somebody who reads along has lost track anyway. */
const MOST_PAGES = 40;
const REMEMBERED = 50_000;

/**
 * Prints what there is, then what is new, oldest first, until the process is interrupted. A look goes back page by page
 * until it meets only rows that were printed, so that a burst between two looks is not cut off.
 */
export async function follow<Item>(
  read: (cursor?: string) => Promise<Page<Item>>,
  keyOf: (item: Item) => string,
  print: (item: Item) => void,
): Promise<void> {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  const seen = new Set<string>();
  for (let first = true; !interrupted.signal.aborted; first = false) {
    const fresh: Item[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await read(cursor);
      const unseen = page.items.filter((item) => !seen.has(keyOf(item)));
      fresh.push(...unseen);
      if (first || unseen.length === 0 || page.next === null) break;
      cursor = page.next;
    }
    for (const item of fresh.toReversed()) {
      if (seen.has(keyOf(item))) continue;
      seen.add(keyOf(item));
      print(item);
    }
    for (const key of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(key);
    await pause(FOLLOW_EVERY, undefined, { signal: interrupted.signal }).catch(() => undefined);
  }
}
