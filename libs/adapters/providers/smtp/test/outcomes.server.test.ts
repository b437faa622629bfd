import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { ProviderResult } from '@carillon/domain/deliveries';
import { type ScriptedSmtp, type ScriptStage, type ScriptStep, startScriptedSmtp } from '@carillon/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { context, message, NOW, senderFor } from './accounts.ts';

let server: ScriptedSmtp | undefined;
afterEach(() => server?.stop());

const MINUTES = 60_000;
/** So long a machine may stand still before the final dot: a reply that is late there proves something else. */
const BEFORE_THE_DOT = 5_000;
/** A server that takes the envelope in one piece (RFC 2920). */
const PIECE = ['PIPELINING', 'AUTH PLAIN'];
const LOGIN = { user: 'shop', password: { secret: 'smtp_password' } } as const;

/** Makes one attempt against a server with a scripted reply at one stage. */
async function attempt(
  at: ScriptStage,
  step: ScriptStep | string,
  options: { extensions?: readonly string[]; text?: string; timeouts?: { greeting?: number; socket?: number } } = {},
): Promise<{ result: ProviderResult; accepted: number }> {
  const started = await startScriptedSmtp({
    script: ({ stage }) => (stage === at ? step : undefined),
    extensions: options.extensions ?? ['AUTH PLAIN'],
  });
  server = started;
  const sender = senderFor(started, LOGIN, options.timeouts ? { timeouts: options.timeouts } : {});
  const result = await sender.send(message(options.text === undefined ? {} : { text: options.text }), context());
  await sender.close();
  await started.stop();
  return { result, accepted: started.accepted.length };
}

type Row = {
  readonly reply: string;
  readonly verdict: ProviderResult['verdict'];
  readonly suppress?: 'hard_bounce';
  readonly alert?: boolean;
  readonly wait?: number;
  readonly at?: readonly ScriptStage[];
};

const TO_MESSAGE: readonly ScriptStage[] = ['mail', 'rcpt', 'data', 'dot'];
const EVERYWHERE: readonly ScriptStage[] = ['greeting', 'auth', ...TO_MESSAGE];
const BEFORE: readonly ScriptStage[] = ['greeting', 'auth'];
const AFTER_RCPT: readonly ScriptStage[] = ['rcpt', 'data', 'dot'];

/** Replies of docs/internals/provider-outcomes.md, each with the stages at which a server may send it. */
const ROWS: readonly Row[] = [
  { reply: '421 4.3.2 going down', verdict: 'throttled' },
  { reply: '421 too many connections', verdict: 'throttled' },
  { reply: '450 4.7.1 greylisted', verdict: 'throttled', wait: 5 * MINUTES },
  { reply: '451 4.7.500 slow down', verdict: 'throttled', wait: 5 * MINUTES },
  { reply: '452 4.2.2 mailbox full', verdict: 'transient' },
  { reply: '452 4.3.1 disk full', verdict: 'transient' },
  { reply: '421 4.7.26 no DMARC', verdict: 'throttled', alert: true, wait: 15 * MINUTES },
  { reply: '450 4.7.32 not aligned', verdict: 'throttled', alert: true, wait: 15 * MINUTES },
  { reply: '451 4.3.0 try again', verdict: 'transient' },
  { reply: '450 try again', verdict: 'transient' },
  { reply: '550 5.1.1 no such user', verdict: 'refused_recipient', suppress: 'hard_bounce', at: AFTER_RCPT },
  { reply: '550 5.1.2 no such host', verdict: 'refused_recipient', suppress: 'hard_bounce', at: AFTER_RCPT },
  { reply: '550 5.1.6 has moved', verdict: 'refused_recipient', suppress: 'hard_bounce', at: AFTER_RCPT },
  { reply: '556 5.1.10 null MX', verdict: 'refused_recipient', suppress: 'hard_bounce', at: AFTER_RCPT },
  { reply: '550 5.2.1 disabled', verdict: 'refused_recipient', suppress: 'hard_bounce', at: AFTER_RCPT },
  {
    reply: '550 5.2.1 The user is receiving mail at a rate that prevents additional messages from being delivered.',
    verdict: 'refused_recipient',
    at: ['rcpt'],
  },
  {
    reply: '554 5.1.1 <a@example.net>: Recipient address rejected: undeliverable address',
    verdict: 'refused_recipient',
    suppress: 'hard_bounce',
    at: ['rcpt'],
  },
  { reply: '511 5.1.1 unknown address', verdict: 'refused_recipient', suppress: 'hard_bounce', at: ['rcpt'] },
  { reply: '551 5.1.6 not our user', verdict: 'refused_recipient', suppress: 'hard_bounce', at: ['rcpt'] },
  { reply: '553 5.1.2 bad host', verdict: 'refused_recipient', suppress: 'hard_bounce', at: ['rcpt'] },
  { reply: '550 User unknown', verdict: 'refused_recipient', suppress: 'hard_bounce', at: AFTER_RCPT },
  { reply: '550 5.1.1 blocked by policy', verdict: 'refused_recipient', at: ['rcpt'] },
  { reply: '550 User unknown', verdict: 'refused_content', at: ['mail'] },
  { reply: '550 5.1.1 who are you', verdict: 'refused_content', at: ['mail'] },
  { reply: '552 5.2.2 mailbox full', verdict: 'transient', at: AFTER_RCPT },
  { reply: '550 5.7.26 DMARC', verdict: 'refused_account', alert: true },
  { reply: '550 5.7.1 policy', verdict: 'refused_content', alert: true, at: TO_MESSAGE },
  { reply: '554 5.7.0 spam', verdict: 'refused_content', alert: true, at: TO_MESSAGE },
  { reply: '530 5.7.0 log in first', verdict: 'refused_account', alert: true },
  { reply: '534 5.7.9 too weak', verdict: 'refused_account', alert: true },
  { reply: '535 5.7.8 wrong password', verdict: 'refused_account', alert: true },
  { reply: '554 5.6.0 cannot read it', verdict: 'refused_content', at: TO_MESSAGE },
  { reply: '552 5.3.4 too big', verdict: 'refused_content', at: TO_MESSAGE },
  { reply: '550 no', verdict: 'refused_content', at: TO_MESSAGE },
  { reply: '554 no service here', verdict: 'refused_account', alert: true, at: BEFORE },
];

describe('an SMTP reply', () => {
  for (const row of ROWS) {
    for (const at of row.at ?? EVERYWHERE) {
      it(`${row.reply} at ${at} is ${row.verdict}`, async () => {
        const { result, accepted } = await attempt(at, row.reply);
        expect(result).toMatchObject({
          verdict: row.verdict,
          suppress: row.suppress ?? null,
          alert: row.alert ?? false,
          retryAt: row.wait === undefined ? null : NOW + row.wait,
          code: /^\d{3}( \d\.\d+\.\d+)?/.exec(row.reply)?.[0],
        });
        expect(accepted).toBe(0);
      });
    }
  }

  for (const at of TO_MESSAGE) {
    it(`has the same meaning for a pipelined envelope at ${at}`, async () => {
      const extensions = PIECE;
      const refused = await attempt(at, '550 5.7.1 policy', { extensions });
      expect(refused).toMatchObject({ result: { verdict: 'refused_content', code: '550 5.7.1' }, accepted: 0 });
      const busy = await attempt(at, { say: '421 4.3.2 going down', ending: 'drop' }, { extensions });
      expect(busy).toMatchObject({ result: { verdict: 'throttled', code: '421 4.3.2' }, accepted: 0 });
    });

    it(`a connection that breaks within that piece, at ${at}, ${at === 'dot' ? 'leaves doubt after the final dot alone' : 'proves that nothing was accepted'}`, async () => {
      const { result, accepted } = await attempt(at, { ending: 'drop' }, { extensions: PIECE });
      expect(result).toMatchObject({ verdict: at === 'dot' ? 'ambiguous' : 'transient', code: '', suppress: null });
      expect(accepted).toBe(at === 'dot' ? 1 : 0);
    });
  }

  for (const [at, reply, verdict] of [
    ['rcpt', '550 5.1.1 no such user', 'refused_recipient'],
    ['mail', '550 5.7.1 policy', 'refused_content'],
  ] as const) {
    it(`a refusal at ${at} counts where the server asks for the message nevertheless, and gets none`, async () => {
      const started = await startScriptedSmtp({
        script: ({ stage }) => (stage === at ? reply : stage === 'data' ? '354 go on' : undefined),
        extensions: PIECE,
      });
      server = started;
      const sender = senderFor(started, LOGIN, {});
      const result = await sender.send(message({}), context());
      await sender.close();
      expect(result).toMatchObject({ verdict, code: reply.slice(0, 9) });
      expect(started.accepted.filter(({ raw }) => raw.trim() !== '')).toEqual([]);
    });
  }

  it('and the envelope goes out before a word is said to it only where the server offers that', async () => {
    /** What had come from the client when the server was about to answer MAIL. */
    const commandsAtOnce = async (extensions: readonly string[]): Promise<readonly string[]> => {
      const heard: string[] = [];
      const relay = createServer((client) => {
        client.write('220 slow.test\r\n');
        client
          .on('error', () => undefined)
          .on('data', (chunk) => {
            const lines = chunk.toString().trim().split('\r\n');
            if (lines[0]?.startsWith('EHLO'))
              client.write(`250-slow.test\r\n${extensions.map((one) => `250-${one}\r\n`).join('')}250 AUTH PLAIN\r\n`);
            else if (lines[0]?.startsWith('AUTH')) client.write('235 2.7.0 welcome\r\n');
            else {
              heard.push(...lines.map((line) => line.slice(0, 4)));
              client.destroy();
            }
          });
      });
      await once(relay.listen(0, '127.0.0.1'), 'listening');
      const { port } = relay.address() as AddressInfo;
      const sender = senderFor({ host: '127.0.0.1', port }, LOGIN, {});
      await sender.send(message({}), context());
      await sender.close();
      relay.close();
      return heard;
    };
    expect(await commandsAtOnce(['PIPELINING'])).toEqual(['MAIL', 'RCPT', 'DATA']);
    expect(await commandsAtOnce(['8BITMIME'])).toEqual(['MAIL']);
  });

  it('may have several lines', async () => {
    const { result } = await attempt('rcpt', '550-5.1.1 The account that you tried\n550 5.1.1 does not exist.');
    expect(result).toMatchObject({ verdict: 'refused_recipient', code: '550 5.1.1', suppress: 'hard_bounce' });
    expect(result.detail).toBe('The server refused the recipient: The account that you tried does not exist.');
  });

  it('with a message id stores the id', async () => {
    const { result } = await attempt('dot', '250 2.0.0 Ok: queued as 4XbQ7h2');
    expect(result).toMatchObject({ verdict: 'accepted', code: '250 2.0.0', providerId: '4XbQ7h2' });
  });
});

describe('a broken connection', () => {
  for (const at of ['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data'] as const) {
    it(`at ${at} proves that nothing was accepted`, async () => {
      const { result, accepted } = await attempt(at, { ending: 'drop' });
      expect(result).toMatchObject({ verdict: 'transient', code: '', suppress: null });
      expect(result.detail).not.toBe('');
      expect(accepted).toBe(0);
    });
  }

  it('within the body proves that nothing was accepted', async () => {
    // More than the buffers of both ends hold, so that a part of it must still be here when the connection breaks.
    const text = 'A line of a long story.\n'.repeat(700_000);
    const { result, accepted } = await attempt('body', { ending: 'drop' }, { text });
    expect(result).toMatchObject({ verdict: 'transient', code: '' });
    expect(accepted).toBe(0);
  });

  it('after the final dot leaves a doubt, because the server may have the message', async () => {
    const { result, accepted } = await attempt('dot', { ending: 'drop' });
    expect(result).toMatchObject({ verdict: 'ambiguous', code: '' });
    expect(accepted).toBe(1);
  });

  it('within the reply to the final dot leaves a doubt', async () => {
    const { result } = await attempt('dot', { say: '250-2.0.0 well', ending: 'drop' });
    expect(result.verdict).toBe('ambiguous');
  });
});

describe('a truncated reply', () => {
  it('decides nothing, because half a code must not suppress an address', async () => {
    const { result } = await attempt('rcpt', { say: '550 5.1.1', torn: true, ending: 'drop' });
    expect(result).toMatchObject({ verdict: 'transient', code: '', suppress: null });
  });

  it('to the final dot leaves a doubt, even if it begins like a refusal', async () => {
    const { result } = await attempt('dot', { say: '554 5.7.1 cannot', torn: true, ending: 'drop' });
    expect(result).toMatchObject({ verdict: 'ambiguous', code: '' });
  });
});

describe('a slow server', () => {
  it('that does not greet is abandoned within the timeout', async () => {
    const before = performance.now();
    const { result } = await attempt('greeting', { ending: 'hang' }, { timeouts: { greeting: 150 } });
    expect(result).toMatchObject({ verdict: 'transient', detail: 'The server did not answer in time.' });
    expect(performance.now() - before).toBeLessThan(60_000);
  });

  for (const at of ['ehlo', 'auth', 'mail', 'rcpt', 'data'] as const) {
    it(`at ${at} is abandoned, and nothing was accepted`, async () => {
      const { result } = await attempt(at, { ending: 'hang' }, { timeouts: { socket: 150 } });
      expect(result).toMatchObject({ verdict: 'transient', detail: 'The server did not answer in time.' });
    });
  }

  it('at the final dot leaves a doubt', async () => {
    const { result, accepted } = await attempt('dot', { ending: 'hang' }, { timeouts: { socket: BEFORE_THE_DOT } });
    expect(result.verdict).toBe('ambiguous');
    expect(accepted).toBe(1);
  });

  it('that replies in time is waited for', async () => {
    const { result } = await attempt('dot', { say: '250 2.0.0 at last', after: 200 });
    expect(result.verdict).toBe('accepted');
  });
});

describe('a server that does not speak SMTP', () => {
  for (const at of ['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data'] as const) {
    for (const garbage of ['HTTP/1.1 400 Bad Request', '5', '\u0000\u0001\u0002', '550x no']) {
      it(`with ${JSON.stringify(garbage)} at ${at} ends the attempt without acceptance`, async () => {
        const { result, accepted } = await attempt(at, { say: garbage, ending: 'drop' });
        expect(['transient', 'refused_account']).toContain(result.verdict);
        expect(result).toMatchObject({ code: '', suppress: null });
        expect(accepted).toBe(0);
      });
    }
  }

  for (const garbage of ['hello', '2', '250x', '354 once more', '\u0000']) {
    it(`with ${JSON.stringify(garbage)} to the final dot leaves a doubt`, async () => {
      const { result } = await attempt('dot', { say: garbage, ending: 'drop' });
      expect(result.verdict).toBe('ambiguous');
    });
  }

  it('that replies 250 instead of requesting the message does not get it', async () => {
    const { result, accepted } = await attempt('data', '250 2.0.0 fine');
    expect(result).toMatchObject({ verdict: 'transient', code: '' });
    expect(accepted).toBe(0);
  });

  it('that accepts before it has the message leaves a doubt', async () => {
    const text = 'A line of a long story.\n'.repeat(700_000);
    const { result } = await attempt('body', '250 2.0.0 yes yes', { text });
    expect(result.verdict).toBe('ambiguous');
  });

  it('that refuses before it has the message is believed, and never gets the end of it', async () => {
    const text = 'A line of a long story.\n'.repeat(700_000);
    const { result, accepted } = await attempt('body', '451 4.3.0 enough', { text });
    expect(result).toMatchObject({ verdict: 'transient', code: '451 4.3.0' });
    expect(accepted).toBe(0);
  });
});
