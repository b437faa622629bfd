import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ConfigurationRecord } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { EntityMemory } from '@carillon/domain/rules';
import { parseJson, stringifyJson, type Json } from '@carillon/kernel';
import type { LookupClaim, Suppression } from '@carillon/ports';
import { MOVED_LINES, type MovedName } from '@carillon/stores';
import { CommandError, UsageError } from '../failure.ts';
import type { Keys } from '../process/deployment-keys.ts';

/** First line: what the rest was written with. */
export type MoveHeader = {
  readonly format: 'carillon move';
  readonly version: 1;
  readonly made_at: string;
  /** The log that the deliveries' positions are of. */
  readonly log_id: string;
  /** Fingerprints: slot ids, digests of API keys and sealed secrets mean nothing under other keys. */
  readonly keys: ReturnType<Keys['fingerprints']>;
  /** Id of the first configuration record; null where there is none. */
  readonly first_configuration: string | null;
  readonly deliveries: number;
};

/** Lines that their store does not move itself. */
type OwnLines = {
  readonly suppression: Suppression;
  /** A STOP or START message that was carried out. */
  readonly message: LookupClaim;
  readonly delivery: Delivery;
  /** Memory of all rules of a stream about an entity. */
  readonly state: EntityMemory;
  readonly configuration: ConfigurationRecord;
};
type OneOf<Lines> = { readonly [Name in keyof Lines]: Pick<Lines, Name> }[keyof Lines];

/** The lines after the header, with one thing each. */
export type MoveLine = OneOf<OwnLines> | OneOf<Readonly<Record<MovedName, Json>>>;
export type MoveKind = keyof OwnLines | MovedName;
export type MoveCounts = Readonly<Record<MoveKind, number>>;

/** Last line: a file without it was cut off on its way. */
type MoveEnd = { readonly end: MoveCounts };

/** Hears how many deliveries are through. */
export type Progress = (done: number, all: number) => void;

const OWN_KINDS = ['suppression', 'message', 'delivery', 'state', 'configuration'] as const;
export const NOTHING_YET = Object.fromEntries(
  [...MOVED_LINES.map(({ name }) => name), ...OWN_KINDS].map((kind) => [kind, 0]),
) as MoveCounts;
export const kindOf = (line: MoveLine): MoveKind => Object.keys(line)[0] as MoveKind;
export const countedWith = (counts: MoveCounts, line: MoveLine): MoveCounts => {
  const kind = kindOf(line);
  return { ...counts, [kind]: counts[kind] + 1 };
};

const textOf = (line: MoveHeader | MoveLine | MoveEnd): string => `${stringifyJson(line)}\n`;

/**
 * Writes a file that only its owner can read. The file gets its name once it is complete. Memory is bounded by one
 * line.
 */
export async function writeMoveFile(
  file: string,
  header: MoveHeader,
  lines: AsyncIterable<MoveLine>,
): Promise<MoveCounts> {
  if (existsSync(file)) throw new UsageError(`${file} exists already: choose a new name`);
  let counts = NOTHING_YET;
  async function* texts(): AsyncGenerator<string> {
    yield textOf(header);
    for await (const line of lines) {
      counts = countedWith(counts, line);
      yield textOf(line);
    }
    yield textOf({ end: counts });
  }
  const part = `${file}.part`;
  try {
    await pipeline(Readable.from(texts()), createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  return counts;
}

/** Longer than the last line can be. */
const TAIL = 4096;

/** Reads the first and the last line. Refuses other files, and incomplete ones. */
export async function openMoveFile(file: string): Promise<{ readonly header: MoveHeader; readonly end: MoveCounts }> {
  const size = await stat(file).then(
    (found) => found.size,
    () => {
      throw new UsageError(`there is no file ${file}`);
    },
  );
  const handle = await open(file);
  try {
    const length = Math.min(TAIL, size);
    const tail = (await handle.read(Buffer.alloc(length), 0, length, size - length)).buffer.toString('utf8');
    const last = tail.endsWith('\n') ? tail.trimEnd().split('\n').at(-1) : undefined;
    for await (const first of handle.readLines({ autoClose: false })) {
      const header = readLine(first) as MoveHeader | undefined;
      if (header?.format !== 'carillon move') break;
      if (header.version !== 1)
        throw new CommandError(`${file} was written by a newer Carillon: import it with that version`);
      const end = last === undefined ? undefined : (readLine(last) as MoveEnd | undefined)?.end;
      if (!end)
        throw new CommandError(`${file} is incomplete: its last line is missing. Copy it again, or export again`);
      return { header, end };
    }
  } finally {
    await handle.close();
  }
  throw new UsageError(`${file} was not written by \`carillon move export\``);
}

function readLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export type SizedLine = { readonly line: MoveLine; readonly size: number };

/** The lines between the first and the last, one at a time, with the length of their text. */
export async function* readMoveLines(file: string): AsyncGenerator<SizedLine> {
  let number = 0;
  const input = createReadStream(file, 'utf8');
  for await (const text of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (number === 1) continue;
    const line = readLine(text) as MoveLine | MoveEnd | undefined;
    if (line === undefined) throw new CommandError(`${file}:${number} is damaged: copy the file again`);
    if ('end' in line) return;
    yield { line, size: text.length };
  }
}
