import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createSmtpSenderFactory } from '@carillon/adapter-providers/smtp';
import { createLoopbackGuard } from '../partner/loopback-http.ts';
import type { ProviderResult } from '@carillon/domain/deliveries';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LedgerOptions, startLedgerSmtp } from './index.ts';
import { untilFound } from './deadline.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Sends numbered messages through a ledger server in a process of its own. */
async function run(
  count: number,
  options: Omit<LedgerOptions, 'file'>,
  name = 'r',
): Promise<{ verdicts: Map<string, ProviderResult['verdict']>; entries: { id: string; dropped: boolean }[] }> {
  const file = join(folder, `${JSON.stringify(options).replaceAll(/\W+/g, '-')}-${Math.random()}.jsonl`);
  const ledger = await startLedgerSmtp({ file, ...options });
  const sender = createSmtpSenderFactory({ clock: { now: Date.now }, guard: createLoopbackGuard() }).create(
    { kind: 'smtp', host: ledger.host, port: ledger.port, tls: 'none', from: 'shop@example.com' },
    {},
    'shop',
  );
  const signal = new AbortController().signal;
  const verdicts = new Map<string, ProviderResult['verdict']>();
  try {
    await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const messageId = `<m${index}@example.com>`;
        const result = await sender.send(
          {
            channel: 'email',
            to: `${name}${index}@example.org`,
            from: { name: '', address: 'shop@example.com' },
            subject: `Grüße ${index}`,
            html: null,
            text: 'hello',
            messageId,
          },
          {
            workspace: 'shop',
            deliveryId: `dlv_${index}`,
            attemptToken: `t${index}`,
            receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
            reportTo: null,
            traceparent: null,
            notAfter: Number.MAX_SAFE_INTEGER,
            signal,
          },
        );
        verdicts.set(messageId, result.verdict);
      }),
    );
  } finally {
    await sender.close();
    await ledger.stop();
  }
  const entries = (await ledger.entries()).map((each) => ({ id: each.message_id ?? '', dropped: each.dropped }));
  return { verdicts, entries: entries.toSorted((a, b) => a.id.localeCompare(b.id)) };
}

/** Says all of it at once and goes without a word as soon as the server has said this, or is gone itself. */
function converse(port: number, all: string, until: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(all));
    let heard = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
      if (heard.includes(until)) socket.destroy();
    });
    socket.on('error', () => undefined).once('close', () => resolve());
  });
}

describe('the ledger server', () => {
  it('records every message it acknowledged, once', async () => {
    const { verdicts, entries } = await run(20, { latency: 20 });
    expect([...verdicts.values()].every((each) => each === 'accepted')).toBe(true);
    expect(entries.map((each) => each.id)).toEqual([...verdicts.keys()].toSorted((a, b) => a.localeCompare(b)));
  });

  it('records accepted messages without a response, but no deferred ones', async () => {
    const { verdicts, entries } = await run(60, { tempfail: 0.3, drop: 0.3, seed: 'storm' });
    const dropped = new Map(entries.map((each) => [each.id, each.dropped]));
    expect(new Set(verdicts.values())).toEqual(new Set(['accepted', 'transient', 'ambiguous']));
    for (const [id, verdict] of verdicts) {
      expect([id, dropped.get(id)]).toEqual([id, { accepted: false, ambiguous: true }[verdict as 'accepted']]);
    }
  });

  it.each([
    ['refused-', 'refused_content', []],
    ['gone-', 'refused_recipient', []],
    ['never-', 'transient', []],
    ['unanswered-', 'ambiguous', [true]],
    ['customer-', 'accepted', [false]],
  ] as const)('gives the address %s its fate regardless of chance', async (name, verdict, drops) => {
    const { verdicts, entries } = await run(1, {}, name);
    expect([...verdicts.values()]).toEqual([verdict]);
    expect(entries.map(({ dropped }) => dropped)).toEqual(drops);
  });

  it('records the end of each send: answered, dropped, or broken off by the client', async () => {
    const file = join(folder, 'sends.jsonl');
    const ledger = await startLedgerSmtp({ file, latency: 0 });
    try {
      const hello = 'EHLO me\r\nMAIL FROM:<shop@example.com>\r\nRCPT TO:<ada@example.org>\r\nDATA\r\n';
      const body = (to: string, id: string) =>
        `To: <${to}@example.org>\r\nMessage-ID: <${id}@example.com>\r\n\r\nhello\r\n.\r\n`;
      await converse(ledger.port, hello + body('ada', 'm1'), 'queued as');
      await converse(ledger.port, hello + body('unanswered-1', 'm2'), 'what it never says');
      await converse(ledger.port, hello, '354');
      // A mere connection is no send.
      await converse(ledger.port, 'EHLO me\r\n', '250');
      const sends = await untilFound('three sends', async () => {
        const all = await ledger.sends();
        return all.length >= 3 ? all : undefined;
      });
      expect(sends.map(({ message_id, ending }) => [message_id, ending])).toEqual(
        expect.arrayContaining([
          ['<m1@example.com>', 'answered'],
          ['<m2@example.com>', 'dropped'],
          [null, 'broken'],
        ]),
      );
      expect(sends).toHaveLength(3);
      for (const { from, until } of sends) expect(until).toBeGreaterThanOrEqual(from);
    } finally {
      await ledger.stop();
    }
  });

  it('reports which connections have a running send', async () => {
    const ledger = await startLedgerSmtp({ file: join(folder, 'under-way.jsonl') });
    const socket = connect(ledger.port, '127.0.0.1');
    try {
      socket.on('error', () => undefined).resume();
      socket.write('EHLO test\r\nMAIL FROM:<a@example.com>\r\n');
      await untilFound('a send under way', () => (ledger.underWay().length > 0 ? true : undefined));
      expect(ledger.underWay()).toEqual([socket.localPort]);
      socket.write('RSET\r\n');
      await untilFound('none under way', () => (ledger.underWay().length === 0 ? true : undefined));
      const booked = async () => (await ledger.sends())[0];
      expect((await untilFound('its line in the book', booked)).port).toBe(socket.localPort);
    } finally {
      socket.destroy();
      await ledger.stop();
    }
  });

  it('gives the same messages the same fates for the same seed', async () => {
    const chances = { tempfail: 0.3, drop: 0.3, seed: 'storm' };
    const [first, second] = [await run(30, chances), await run(30, chances)];
    expect(second.entries).toEqual(first.entries);
    expect((await run(30, { ...chances, seed: 'calm' })).entries).not.toEqual(first.entries);
  });
});
