import { CHANNEL_NAMES, plainAddress, type ChannelName } from '@carillon/domain/channels';
import { nameOfTarget, type Consents, type ConsentEntry, type Decision } from '@carillon/domain/consent';
import { csvLine, formatInstant, parseInstant, type Duration, type Instant } from '@carillon/kernel';
import { personText, TARGETS } from '../../consent-filters.ts';
import type { TargetNames } from '../../consent-words.ts';

export const COLUMNS = ['workspace', 'person', 'target', 'name', 'channel', 'opted_out', 'way', 'by', 'at'] as const;
/** Columns that an import reads in addition to those of an export. */
export const READ = [...COLUMNS, 'address'] as const;

/** Returns the rows of a document with the names of authors instead of their ids. */
export const withNamedAuthors = async (
  document: Consents,
  nameOf: (by: string) => Promise<string>,
): Promise<Consents> => ({
  ...document,
  words: await Promise.all(
    document.words.map(async (word) => (word.by === undefined ? word : { ...word, by: await nameOf(word.by) })),
  ),
});

/**
 * Returns the CSV lines of a document. A removed notification is written as its id, which `import` accepts. Choices
 * under several names of one category become one line: an opt-out under any name applies, so it is written even if a
 * later opt-in exists under another name.
 */
export function exportedLines({ workspace, person, words }: Consents, names: TargetNames): string {
  const named = words.map((word) => ({ ...word, name: names.nameOf(word.target) ?? nameOfTarget(word.target) }));
  const places = Map.groupBy(named, ({ target, name, channel }) => JSON.stringify([target.kind, name, channel]));
  return [...places.values()]
    .flatMap((same) => same.toSorted(whatCountsFirst).slice(0, 1))
    .map(({ target, name, channel, optedOut, way, by = '', at }) =>
      csvLine([workspace, person, target.kind, name, channel ?? '', String(optedOut), way, by, formatInstant(at)]),
    )
    .join('');
}

const whatCountsFirst = (a: ConsentEntry, b: ConsentEntry): number =>
  Number(b.optedOut) - Number(a.optedOut) || b.at - a.at;

/** Allowing a category also allows it under its former names, because opt-outs under these hold messages back too. */
export const underEveryName = (said: Decision, names: TargetNames): readonly Decision[] =>
  said.optedOut ? [said] : names.everyName(said.target).map((target) => ({ ...said, target }));

/** Returns true if the first row of a file has a column `address` and no column `person`. */
export function isByAddress(text: string): boolean {
  const [header = ''] = text.trimStart().split(/[\r\n]/, 1);
  return /\baddress\b/i.test(header) && !/\bperson\b/i.test(header);
}

/** Maximum clock difference: a choice may come from a clock ahead of ours. */
const CLOCKS_APART: Duration = 3_600_000;

type Column = (typeof READ)[number];
type Given = {
  readonly workspace: string;
  readonly channel: ChannelName | null;
  readonly target: Decision['target'];
  readonly by: string;
  readonly now: Instant;
  readonly names: TargetNames;
};

/** Returns the person and choice of a row, or what is wrong with the row. */
export function readRow(
  cell: (name: Column) => string,
  { workspace, names, now, by, ...otherwise }: Given,
): { readonly person: string; readonly decisions: readonly Decision[] } | string {
  const where = cell('workspace');
  if (where !== '' && where !== workspace) return `workspace: it is of another workspace, ${where}`;
  const address = cell('address');
  if (address !== '' && plainAddress(address) === null) {
    return 'address: it is no email address, and no phone number in international form, such as +49 30 123456';
  }
  const person = address === '' ? cell('person') : address;
  if (!personText.safeParse(person).success) return 'person: it is empty';
  const kind = cell('target').toLowerCase();
  const known = TARGETS.find((word) => word === kind);
  if (kind !== '' && known === undefined) return `target: takes ${TARGETS.join(', ')}`;
  const target = known === undefined ? otherwise.target : names.target(known, cell('name'));
  if ('fault' in target) return `name: ${target.fault}`;
  const word = cell('channel').toLowerCase();
  const channel = word === '' ? otherwise.channel : CHANNEL_NAMES.find((name) => name === word);
  if (channel === undefined) return `channel: takes ${CHANNEL_NAMES.join(', ')}, or nothing for all`;
  const out = cell('opted_out').toLowerCase();
  if (!['', 'true', 'false'].includes(out)) return 'opted_out: takes true or false';
  const time = cell('at');
  const at = time === '' ? undefined : parseInstant(time);
  if (time !== '' && at === undefined) return 'at: takes an RFC 3339 time, such as 2026-01-31T09:00:00Z';
  if (at !== undefined && at > now + CLOCKS_APART) return 'at: it is in the future';
  const said = { target, channel, optedOut: out !== 'false', way: 'import', by } as const;
  return { person, decisions: underEveryName(at === undefined ? said : { ...said, at }, names) };
}
