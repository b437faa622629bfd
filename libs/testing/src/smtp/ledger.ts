import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import type { AcceptedMail, SmtpScript, SmtpSend } from './dialogue.ts';
import { parseMail } from './mail-parsing.ts';
import { type ScriptedSmtp, startScriptedSmtp } from './scripted-smtp.ts';

/** An accepted message. The server writes it to disk before it replies, so a kill after the reply does not lose it. */
export type LedgerEntry = {
  readonly at: string;
  readonly message_id: string | null;
  readonly to: readonly string[];
  /** The envelope sender, to which reports go; left out by a provider that knows none. */
  readonly sender?: string;
  readonly subject: string;
  /** Headers whose names begin with `x-` or `list-`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The connection was cut in place of an answer. */
  readonly dropped: boolean;
};

/** One send as seen by the server, from MAIL to its last reply or the disconnection of the client. */
export type LedgerSend = Omit<SmtpSend, 'raw'> & {
  /** Null: the message had not come whole. */
  readonly message_id: string | null;
};

export type LedgerOptions = {
  readonly file: string;
  readonly port?: number;
  /** Longest wait before the final answer, in milliseconds; the waits are spread evenly below it. */
  readonly latency?: number;
  /** Share of messages that are put off with 451 when they are complete. */
  readonly tempfail?: number;
  /** Share of messages that are accepted and never answered. */
  readonly drop?: number;
  /** Called when a send begins or is over, with the clients' ports of those that are open now. */
  readonly onOpen?: (ports: readonly number[]) => void;
  /** Seed of the results. Equal seeds give the same result for a message, independent of the order. */
  readonly seed?: string;
};

/** A number in [0, 1) out of what it is for: chance that can be repeated. */
function chance(...parts: readonly (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(parts)).digest().readUInt32BE() / 2 ** 32;
}

/**
 * Addresses that settle the fate of a message before chance is asked, by their first word: put off always, refused for
 * good, taken and not answered, unknown here, taken after a long while.
 */
const FATE = /^to:[^\n]*\b(never|refused|unanswered|gone|slow)-/im;
/** Longer than a third of the lease of a call (30 s): it is renewed meanwhile. */
const LONG_WHILE = 12_000;
const fateOf = (raw: string): string | undefined => FATE.exec(raw)?.[1];

const messageIdOf = (raw: string): string => /^message-id:\s*(\S+)/im.exec(raw)?.[1] ?? '';

/** A mail server that keeps an honest book of what it accepted while it is slow, refuses and breaks off by chance. */
export async function serveLedger(options: LedgerOptions): Promise<ScriptedSmtp> {
  const { latency = 0, tempfail = 0, drop = 0, seed = 'carillon' } = options;
  const file = await open(options.file, 'a');
  const sends = await open(sendsFile(options.file), 'a');
  const seen = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();

  const drops = (id: string, time: number): boolean => chance(seed, 'drop', id, time) < drop;
  const append = (mail: AcceptedMail): Promise<void> => {
    const id = messageIdOf(mail.raw);
    const dropped = fateOf(mail.raw) === 'unanswered' || drops(id, seen.get(id) ?? 1);
    const work = async (): Promise<void> => {
      const parsed = await parseMail(Buffer.from(mail.raw, 'latin1'));
      const entry: LedgerEntry = {
        at: new Date().toISOString(),
        message_id: parsed.messageId,
        to: mail.to,
        sender: mail.from,
        subject: parsed.subject,
        headers: Object.fromEntries(
          parsed.headers.filter(({ key }) => /^(x|list)-/.test(key)).map(({ key, value }) => [key, value]),
        ),
        dropped,
      };
      await file.appendFile(`${JSON.stringify(entry)}\n`);
      await file.sync();
    };
    writing = writing.then(work);
    return writing;
  };

  const underWay = new Set<number>();
  const tell = (): void => options.onOpen?.([...underWay]);
  const note = ({ raw, ...send }: SmtpSend): void => {
    underWay.delete(send.port);
    tell();
    const line: LedgerSend = { ...send, message_id: messageIdOf(raw) || null };
    writing = writing.then(() => sends.appendFile(`${JSON.stringify(line)}\n`));
  };

  const script: SmtpScript = ({ stage, raw }) => {
    if (stage !== 'dot') return undefined;
    const id = messageIdOf(raw);
    const time = (seen.get(id) ?? 0) + 1;
    seen.set(id, time);
    const after = Math.floor(chance(seed, 'latency', id, time) * latency);
    const fate = fateOf(raw);
    if (fate === 'refused') return { say: '550 5.7.1 not wanted', after };
    if (fate === 'gone') return { say: '550 5.1.1 nobody of that name', after };
    if (fate === 'slow') return { say: '250 2.0.0 Ok: queued at last', after: LONG_WHILE };
    if (fate === 'never' || chance(seed, 'tempfail', id, time) < tempfail) return { say: '451 4.3.0 not now', after };
    if (fate === 'unanswered') return { after, ending: 'drop' };
    return drops(id, time) ? { after, ending: 'drop' } : { say: `250 2.0.0 Ok: queued as ${time}-LEDGER`, after };
  };

  const server = await startScriptedSmtp({
    script,
    extensions: ['PIPELINING', '8BITMIME', 'SIZE 10000000'],
    onAccepted: append,
    onBegun: (port) => {
      underWay.add(port);
      tell();
    },
    onSent: note,
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  return {
    ...server,
    stop: async () => {
      await server.stop();
      await writing;
      await file.close();
      await sends.close();
    },
  };
}

const sendsFile = (file: string): string => `${file}.sends`;

async function readLines<Line>(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** Reads the book. A last line without an end was never answered, but it may be a message all the same: it is left out. */
export const readLedger = (file: string): Promise<readonly LedgerEntry[]> => readLines(file);

/** Reads the second book, beside the first: each send that is over. */
export const readSends = (file: string): Promise<readonly LedgerSend[]> => readLines(sendsFile(file));
