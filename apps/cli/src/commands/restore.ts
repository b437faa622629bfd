import { resolve } from 'node:path';
import type { Restored, Span } from '@carillon/adapter-embedded';
import { formatInstant } from '@carillon/kernel';
import type { Command } from 'commander';
import { dataFolder, type CommonOptions } from '../client.ts';
import { environment } from '../config.ts';
import { UsageError } from '../failure.ts';
import { clean, say, sayJson } from '../output.ts';
import { quoted } from '../quoted.ts';

type RestoreFlags = CommonOptions & {
  readonly newer?: string;
  readonly cancelUnsent?: boolean;
  /** A file, or false for `--no-erasures`. */
  readonly erasures?: string | false;
};

/** `carillon restore`: unpacks a backup, and says what a start over it will do before anything does it. */
export function restoreCommand(program: Command): void {
  program
    .command('restore <file>')
    .description('unpack a backup into a new or empty data folder, and show what it will send; needs no server')
    .option('--json', 'print JSON')
    .option('--data-dir <dir>', 'data folder (default: CARILLON_DATA_DIR, else ./carillon-data)')
    .option(
      '--newer <dir>',
      'stopped data folder that the backup replaces: messages sent from there are not sent again',
    )
    .option('--cancel-unsent', 'cancel messages that the backup had not sent; you can resend them')
    .option('--erasures <file>', 'people to erase from it: the file of carillon erasures export')
    .option('--no-erasures', 'nobody was erased since the backup')
    .action(async (file: string, flags: RestoreFlags) => {
      const folder = dataFolder(flags);
      if (flags.erasures === undefined) {
        throw new UsageError(
          'pass --erasures FILE, written by carillon erasures export, or --no-erasures if nobody was erased since the backup',
        );
      }
      const { applyErasuresToFolder, readErasureList } = await import('../process/apply-erasures.ts');
      const list = flags.erasures === false ? null : readErasureList(resolve(flags.erasures));
      let erased = 0;
      const { restoreBackup } = await import('@carillon/adapter-embedded');
      const { createIds, systemClock } = await import('@carillon/adapter-system');
      const { COLLECTIONS } = await import('@carillon/stores');
      const { READERS } = await import('../process/log-positions.ts');
      const restored = await restoreBackup(resolve(file), folder, {
        collections: COLLECTIONS,
        // Ids of outcomes come from the delivery alone; the keys of the backup are not needed for them.
        moment: { now: systemClock.now(), derive: createIds(new Uint8Array()).derive },
        readers: READERS.filter(([group]) => group !== 'control'),
        ...(flags.newer !== undefined && { newer: resolve(flags.newer) }),
        ...(flags.cancelUnsent && { cancelUnsent: true }),
        ...(list && {
          async beforeReady(unpacked) {
            erased = await applyErasuresToFolder(unpacked, list, environment);
          },
        }),
      });
      if (flags.json) sayJson({ file: resolve(file), data: folder, erasures: erased, ...asJson(restored) });
      else {
        if (list) say(`${many(erased, 'erasure was', 'erasures were')} applied to what the backup holds.`);
        say(words(restored, file, folder, flags).join('\n'));
      }
    });
}

const asJson = ({ newestAt, carriedOver, ...restored }: Restored) => ({
  newest_at: newestAt === null ? null : formatInstant(newestAt),
  ...restored,
  carried_over: carriedOver && {
    deliveries: carriedOver.deliveries,
    left_waiting: carriedOver.leftWaiting,
    suppressed: carriedOver.suppressed,
    consents: carriedOver.consents,
    drafts: carriedOver.drafts,
    lost: carriedOver.lost,
  },
});

const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;
const places = (spans: readonly Span[]): string =>
  spans.map(({ topic, partition, from, to }) => `${topic}/${partition} from ${from} up to ${to - 1}`).join(', ');
const size = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0);

/** Effect of a topic's unread records after a restore. */
const DONE_AGAIN: Readonly<Record<string, string>> = {
  'carillon.events': 'evaluated by the rules',
  'carillon.triggers': 'accepted for partner lookups',
  'carillon.lookups': 'made into messages',
  'carillon.cohorts': 'checked against cohort members',
  'carillon.intents': 'added to the ledger',
  'carillon.receipts': 'applied to what was sent',
  'carillon.consents': 'checked against opt-outs',
};

function words(restored: Restored, file: string, folder: string, flags: RestoreFlags): string[] {
  const { newestAt, unread, questions, waits, waiting, sending, doubts, carriedOver, cancelled } = restored;
  const newest = newestAt === null ? 'it has no records' : `its newest record is of ${formatInstant(newestAt)}`;
  const lines = [`${clean(folder)} is as it was when ${clean(file)} was made; ${newest}.`];

  const again = Object.entries(DONE_AGAIN).flatMap(([topic, what]) => {
    const spans = unread.filter((span) => span.topic === topic);
    return spans.length === 0 ? [] : [`${many(size(spans), 'record', 'records')} ${what}: ${places(spans)}`];
  });
  if (questions > 0) again.push(`${many(questions, 'question', 'questions')} to partners asked`);
  if (waits > 0) again.push(`${many(waits, 'entity that waits is', 'entities that wait are')} decided when due`);
  if (waiting > 0) again.push(`${many(waiting, 'delivery that waits is', 'deliveries that wait are')} sent when due`);
  if (sending > 0) again.push(`${many(sending, 'delivery', 'deliveries')} under way then: in doubt`);
  if (again.length === 0 && doubts === 0) lines.push('It had nothing left to do.');
  else if (again.length === 0) lines.push('It had nothing left to do by itself.');
  else lines.push('When it starts, it does what was still to be done then:', ...again.map((line) => `  ${line}`));

  if (doubts > 0) {
    const list = `npx carillon deliveries --state IN_DOUBT --data-dir ${quoted(folder)}`;
    lines.push(
      `${many(doubts, 'delivery is', 'deliveries are')} in doubt, for a person to decide. When it runs: ${list}`,
    );
  }

  if (cancelled !== null) {
    const told = 'New messages of these events and waits are cancelled.';
    lines.push(`${many(cancelled, 'delivery that waited is', 'deliveries that waited are')} CANCELLED. ${told}`);
    lines.push(`  To send one after all: npx carillon deliveries resend ID --data-dir ${quoted(clean(folder))}`);
    if (unread.some(({ topic }) => topic === 'carillon.cohorts')) {
      lines.push('  Cohort records notify nobody: they only change members.');
    }
  }
  if (carriedOver) {
    const { deliveries, leftWaiting, suppressed, consents, drafts, lost } = carriedOver;
    const from = clean(flags.newer ?? '');
    lines.push(`${many(deliveries, 'delivery was', 'deliveries were')} carried over from ${from}: not sent again.`);
    if (suppressed > 0) lines.push(`${many(suppressed, 'address', 'addresses')} suppressed there: here too.`);
    if (consents > 0) lines.push(`${many(consents, 'person', 'people')} opted out or in there: here too.`);
    if (drafts > 0) lines.push(`${many(drafts, 'draft was', 'drafts were')} carried over: npx carillon drafts`);
    if (lost.length > 0) {
      lines.push(`${many(size(lost), 'record', 'records')} received after the backup are lost: ${places(lost)}`);
    }
    if (leftWaiting > 0) {
      lines.push(
        `${many(leftWaiting, 'delivery of them', 'deliveries of them')} were waiting, unsent: they are sent if the events are sent again.`,
      );
    }
  } else {
    lines.push(
      'Records acknowledged after the backup are lost. The restored folder does not know what was sent since:',
    );
    if (cancelled === null) {
      lines.push('  messages listed above may be sent twice, and so may messages of events that clients send again.');
      lines.push('  To prevent that, restore into another folder with --newer DIR, the folder that this one');
      lines.push('  replaces, or with --cancel-unsent if there is none.');
    } else {
      lines.push('  events that clients send again notify people again.');
    }
  }
  lines.push(`Start with: npx carillon up --data-dir ${quoted(clean(folder))}`);
  return lines;
}
