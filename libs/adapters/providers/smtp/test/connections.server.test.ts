import { once } from 'node:events';
import { type ScriptedSmtp, type ScriptedSmtpOptions, startScriptedSmtp, untilFound } from '@carillon/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { context, message, senderFor } from './accounts.ts';

/** So long a machine may stand still before the final dot, which has to be heard within the same time. */
const BEFORE_THE_DOT = 5_000;

type Sender = ReturnType<typeof senderFor>;
const started: { server: ScriptedSmtp; sender: Sender }[] = [];
afterEach(async () => {
  await Promise.all(
    started.splice(0).map(async ({ server, sender }) => {
      await server.stop();
      await sender.close();
    }),
  );
});

async function pair(
  options: ScriptedSmtpOptions = {},
  account: Parameters<typeof senderFor>[1] = {},
  deps: Parameters<typeof senderFor>[2] = {},
): Promise<{ server: ScriptedSmtp; sender: Sender }> {
  const server = await startScriptedSmtp(options);
  const both = { server, sender: senderFor(server, account, deps) };
  started.push(both);
  return both;
}

/** Resolves when the server has heard a command at this stage. */
function hearing(stage: string): { script: NonNullable<ScriptedSmtpOptions['script']>; heard: Promise<unknown> } {
  const events = new EventTarget();
  return {
    script: (moment) => {
      if (moment.stage !== stage) return undefined;
      events.dispatchEvent(new Event('heard'));
      return { ending: 'hang' };
    },
    heard: once(events, 'heard'),
  };
}

const send = (sender: Sender, signal?: AbortSignal): ReturnType<Sender['send']> =>
  sender.send(message(), context(signal));
const closed = (server: ScriptedSmtp): Promise<true> =>
  untilFound('no connection is open', () => (server.open() === 0 ? true : undefined));

describe('Connections', () => {
  it('are reused for later messages', async () => {
    const { server, sender } = await pair();
    for (let count = 0; count < 4; count += 1) expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    expect(server.connections()).toBe(1);
    expect(server.accepted).toHaveLength(4);
  });

  it('never exceed the limit of the account, and all messages are sent', async () => {
    const { server, sender } = await pair({}, { connections: 3 });
    const results = await Promise.all(Array.from({ length: 30 }, () => send(sender)));
    expect(new Set(results.map((each) => each.verdict))).toEqual(new Set(['accepted']));
    expect(server.most()).toBe(3);
    expect(server.accepted).toHaveLength(30);
  });

  it('are replaced after a maximum number of messages', async () => {
    const { server, sender } = await pair({}, { connections: 1 }, { messages: 2 });
    for (let count = 0; count < 5; count += 1) expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    expect(server.connections()).toBe(3);
  });

  it('are closed after an idle time', async () => {
    const { server, sender } = await pair({}, {}, { idle: 50 });
    await send(sender);
    await closed(server);
    expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    expect(server.connections()).toBe(2);
  });

  it('are not reused after a refusal', async () => {
    const { server, sender } = await pair({
      script: ({ stage, message: nth }) => (stage === 'rcpt' && nth === 1 ? '550 5.1.1 unknown' : undefined),
    });
    expect(await send(sender)).toMatchObject({ verdict: 'refused_recipient' });
    expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    expect(server.connections()).toBe(2);
  });

  for (const at of ['mail', 'rcpt', 'data'] as const) {
    it(`that the server closed by age, noticed at ${at}, are replaced, because nothing of the message was sent`, async () => {
      const { server, sender } = await pair({
        script: ({ stage, message: nth }) => (stage === at && nth === 2 ? { ending: 'drop' } : undefined),
      });
      await send(sender);
      expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
      expect(server.connections()).toBe(2);
      expect(server.accepted).toHaveLength(2);
    });
  }

  it('are replaced if their end with 421 crosses the next message', async () => {
    const { server, sender } = await pair({
      script: ({ stage, connection, message: nth }) =>
        stage === 'mail' && connection === 1 && nth === 2 ? { say: '421 4.4.2 idle', ending: 'drop' } : undefined,
    });
    await send(sender);
    expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    expect(server.connections()).toBe(2);
    expect(server.accepted).toHaveLength(2);
  });

  it('are replaced once if the server says 421 to the new one as well', async () => {
    const { server, sender } = await pair({
      script: ({ stage, message: nth }) =>
        stage === 'mail' && nth > 1 ? { say: '421 4.3.2 going down', ending: 'drop' } : undefined,
    });
    await send(sender);
    expect(await send(sender)).toMatchObject({ verdict: 'throttled', code: '421 4.3.2' });
    expect(server.connections()).toBe(2);
  });

  it('that are new and break are not retried', async () => {
    const { server, sender } = await pair({
      script: ({ stage }) => (stage === 'mail' ? { ending: 'drop' } : undefined),
    });
    expect(await send(sender)).toMatchObject({ verdict: 'transient' });
    expect(server.connections()).toBe(1);
  });

  it('that are reused and break after the final dot leave a doubt, and the message is not sent again', async () => {
    const { server, sender } = await pair({
      script: ({ stage, message: nth }) => (stage === 'dot' && nth === 2 ? { ending: 'drop' } : undefined),
    });
    await send(sender);
    expect(await send(sender)).toMatchObject({ verdict: 'ambiguous' });
    expect(server.connections()).toBe(1);
    expect(server.accepted).toHaveLength(2);
  });

  it('that the server ends with 421 while idle are dropped', async () => {
    const { server, sender } = await pair({
      script: ({ stage, connection }) =>
        stage === 'dot' && connection === 1 ? { say: '250 2.0.0 ok\n421 4.4.2 idle', ending: 'drop' } : undefined,
    });
    expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    await closed(server);
    expect(await send(sender)).toMatchObject({ verdict: 'accepted' });
    expect(server.connections()).toBe(2);
  });

  it('with surplus replies of the server never take an old reply for a new one', async () => {
    for (const extra of ['\n250 more', '\n250 more\n250 and more', '\n250 more\n250 and more\n250 still']) {
      const { server, sender } = await pair(
        {
          script: ({ stage, message: nth }) => {
            if (stage === 'dot' && nth === 1) return `250 2.0.0 ok${extra}`;
            return stage === 'dot' ? '554 5.6.0 no' : undefined;
          },
        },
        { connections: 1 },
      );
      const results = await Promise.all([send(sender), send(sender)]);
      expect(results.map((each) => each.verdict)).toContain('accepted');
      expect(results.filter((each) => each.verdict === 'accepted')).toHaveLength(server.accepted.length);
    }
  });

  it('are ended with QUIT when the sender is closed', async () => {
    const { server, sender } = await pair();
    await send(sender);
    await sender.close();
    await closed(server);
    expect(server.accepted).toHaveLength(1);
  });
});

describe('Stopping', () => {
  for (const at of ['greeting', 'ehlo', 'mail', 'rcpt', 'data'] as const) {
    it(`while the server is silent at ${at} ends the attempt as stopped`, async () => {
      const { script, heard } = hearing(at);
      const { server, sender } = await pair({ script });
      const stop = new AbortController();
      const call = send(sender, stop.signal);
      await heard;
      stop.abort();
      expect(await call).toMatchObject({ verdict: 'transient', code: 'stopped' });
      expect(server.accepted).toHaveLength(0);
    });
  }

  it('after the body was requested is too late: the attempt continues to its end', async () => {
    const stop = new AbortController();
    const { server, sender } = await pair({
      script: ({ stage }) => {
        if (stage === 'dot') stop.abort();
        return undefined;
      },
    });
    expect(await send(sender, stop.signal)).toMatchObject({ verdict: 'accepted' });
    expect(server.accepted).toHaveLength(1);
  });

  it('while waiting for a free connection leaves the queue', async () => {
    const { script, heard } = hearing('dot');
    const { sender } = await pair({ script }, { connections: 1 }, { timeouts: { socket: BEFORE_THE_DOT } });
    const first = send(sender);
    await heard;
    const stop = new AbortController();
    const second = send(sender, stop.signal);
    stop.abort();
    expect(await second).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(await first).toMatchObject({ verdict: 'ambiguous' });
  });
});

describe('An attempt', () => {
  it('ends within its timeout, even if the server keeps sending', async () => {
    const { sender } = await pair(
      { script: ({ stage }) => (stage === 'mail' ? { say: '250-still\n250-thinking', ending: 'hang' } : undefined) },
      {},
      { timeouts: { attempt: 3000 } },
    );
    expect(await send(sender)).toMatchObject({
      verdict: 'transient',
      detail: 'The attempt took too long and was abandoned.',
    });
  });

  it('that finds no free connection within its timeout was definitely not made', async () => {
    const { script, heard } = hearing('dot');
    const { sender } = await pair({ script }, { connections: 1 }, { timeouts: { attempt: BEFORE_THE_DOT } });
    const first = send(sender);
    await heard;
    const second = await send(sender);
    expect(['transient', 'ambiguous']).toContain(second.verdict);
    expect(await first).toMatchObject({ verdict: 'ambiguous' });
  });

  it('to an unreachable server was definitely not made, and says so', async () => {
    const { server, sender } = await pair();
    await server.stop();
    expect(await send(sender)).toMatchObject({
      verdict: 'transient',
      code: '',
      detail: 'Nothing listens at that address and port, or a firewall refuses it.',
    });
  });

  it('to a host name that does not exist was definitely not made, and alerts the operator', async () => {
    const sender = senderFor({ host: 'mail.invalid', port: 25 });
    expect(await send(sender)).toMatchObject({ verdict: 'transient', code: '' });
    await sender.close();
  });

  it('with a message larger than the server’s SIZE is refused before it is sent', async () => {
    const { server, sender } = await pair({ extensions: ['SIZE 2000'] });
    const result = await sender.send(message({ text: 'x '.repeat(2000) }), context());
    expect(result).toMatchObject({ verdict: 'refused_content', suppress: null });
    expect(server.heard.map((each) => each.stage)).not.toContain('mail');
  });
});
