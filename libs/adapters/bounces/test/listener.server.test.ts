import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { BounceListener, BounceListenerOptions, MailReading } from '@carillon/ports';
import { statusReport } from '@carillon/testing';
import { createBounceMail, MAX_BOUNCE_BYTES } from '../src/index.ts';

const started: BounceListener[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(started.splice(0).map((listener) => listener.close()));
});

async function start(options: Partial<BounceListenerOptions> = {}) {
  const taken: MailReading[] = [];
  const refusals: string[] = [];
  const listener = await createBounceMail().listen({
    host: '127.0.0.1',
    port: 0,
    protocol: 'smtp',
    isToken: (localPart) => /^tok-\d$/i.test(localPart),
    take: (reading) => {
      taken.push(reading);
      return Promise.resolve();
    },
    refused: (reason) => refusals.push(reason),
    ...options,
  });
  started.push(listener);
  return { listener, taken, refusals };
}

const REPORT = statusReport('ann@example.org', '5.1.1', '550 5.1.1 no such user').join('\r\n');

/** A client that says one line at a time and hears one reply to it. */
async function dial({ port }: BounceListener) {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let heard = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (heard += piece));
  socket.on('error', () => undefined);
  async function reply(): Promise<string> {
    while (!/^\d{3} .*\r\n/m.test(heard)) {
      if (socket.closed) return 'closed';
      await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    }
    const all = heard;
    heard = '';
    return all.trim().split('\r\n').at(-1) ?? '';
  }
  await reply();
  return {
    socket,
    reply,
    say: (line: string) => {
      socket.write(`${line}\r\n`);
      return reply();
    },
  };
}

describe.each(['smtp', 'lmtp'] as const)('the SMTP listener for bounces over %s', (protocol) => {
  const greet = protocol === 'smtp' ? 'EHLO relay.test' : 'LHLO relay.test';

  it('accepts mail to its own token addresses only after storing it', async () => {
    const { listener, taken } = await start({ protocol });
    const client = await dial(listener);
    await client.say(greet);
    expect(await client.say('MAIL FROM:<>')).toMatch(/^250/);
    expect(await client.say('RCPT TO:<TOK-1@bounces.test>')).toMatch(/^250/);
    expect(await client.say('DATA')).toMatch(/^354/);
    expect(await client.say(`${REPORT}\r\n.`)).toMatch(/^250/);
    const [reading, ...others] = taken;
    expect(others).toEqual([]);
    expect(reading).toMatchObject({ kind: 'report', report: { token: 'TOK-1', verdict: 'bounced', code: '5.1.1' } });
  });

  it('accepts mail that is no bounce report, and tells its caller so', async () => {
    const { listener, taken } = await start({ protocol });
    const client = await dial(listener);
    await client.say(greet);
    await client.say('MAIL FROM:<ann@example.com>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    await client.say('DATA');
    expect(await client.say('Subject: I am away\r\n\r\n..until Monday\r\n.')).toMatch(/^250/);
    expect(taken).toEqual([{ kind: 'none' }]);
  });

  it('refuses every other address without revealing which addresses exist', async () => {
    const { listener, refusals } = await start({ protocol });
    const client = await dial(listener);
    await client.say(greet);
    await client.say('MAIL FROM:<a@example.com>');
    for (const address of ['postmaster@bounces.test', 'b@example.com', 'tok-1x@bounces.test']) {
      expect(await client.say(`RCPT TO:<${address}>`)).toBe('550 5.1.1 Nobody takes mail here');
    }
    expect(refusals).toEqual(['recipient', 'recipient', 'recipient']);
    expect(await client.say('VRFY tok-1@bounces.test')).toMatch(/^5\d\d/);
    expect(await client.say('AUTH PLAIN AGEAYg==')).toMatch(/^5\d\d/);
  });

  it('accepts one recipient per mail', async () => {
    const { listener } = await start({ protocol });
    const client = await dial(listener);
    await client.say(greet);
    await client.say('MAIL FROM:<>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    expect(await client.say('RCPT TO:<tok-2@bounces.test>')).toMatch(/^452/);
  });

  it('asks the client to retry if the mail cannot be stored', async () => {
    const { listener, refusals } = await start({ protocol, take: () => Promise.reject(new Error('no log')) });
    const client = await dial(listener);
    await client.say(greet);
    await client.say('MAIL FROM:<>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    await client.say('DATA');
    expect(await client.say('x\r\n.')).toMatch(/^451/);
    expect(refusals).toEqual(['unavailable']);
  });

  it('refuses an oversized mail before its body if the client announces the size, or else after it', async () => {
    const { listener, taken } = await start({ protocol });
    const client = await dial(listener);
    await client.say(greet);
    expect(await client.say(`MAIL FROM:<> SIZE=${MAX_BOUNCE_BYTES + 1}`)).toMatch(/^552/);
    await client.say('MAIL FROM:<>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    await client.say('DATA');
    const line = `${'x'.repeat(998)}\r\n`;
    expect(await client.say(`${line.repeat(400)}.`)).toMatch(/^552/);
    expect(taken).toEqual([]);
  });
});

describe('the SMTP listener for bounces', () => {
  it('stores nothing of a mail of 50 MB, and accepts the next mail', async () => {
    const { listener, taken, refusals } = await start();
    const client = await dial(listener);
    await client.say('EHLO relay.test');
    await client.say('MAIL FROM:<>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    await client.say('DATA');
    const megabyte = `${'x'.repeat(998)}\r\n`.repeat(1000);
    for (let each = 0; each < 50; each += 1) {
      if (!client.socket.write(megabyte)) await once(client.socket, 'drain');
    }
    expect(await client.say('.')).toMatch(/^552/);
    expect([taken, refusals]).toEqual([[], ['too_large']]);
    await client.say('MAIL FROM:<>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    await client.say('DATA');
    expect(await client.say(`${REPORT}\r\n.`)).toMatch(/^250/);
  });

  it('closes the connection of a mail that never ends, however slowly its bytes arrive', async () => {
    const listener = await createBounceMail({ connectionLife: 500 }).listen({
      host: '127.0.0.1',
      port: 0,
      protocol: 'smtp',
      isToken: () => true,
      take: () => Promise.reject(new Error('there is no whole mail')),
    });
    started.push(listener);
    const client = await dial(listener);
    let drips = true;
    client.socket.once('close', () => (drips = false));
    for (const line of ['EHLO relay.test', 'MAIL FROM:<>', 'RCPT TO:<tok-1@bounces.test>', 'DATA']) {
      client.socket.write(`${line}\r\n`);
    }
    while (drips) {
      client.socket.write('x');
      await new Promise((done) => setImmediate(done));
    }
    expect(client.socket.closed).toBe(true);
  });

  it('serves at most twenty connections at a time', async () => {
    const { listener } = await start();
    const clients = [];
    for (let each = 0; each < 20; each += 1) clients.push(await dial(listener));
    expect(await clients[19]?.say('EHLO relay.test')).toMatch(/^250/);
    const one = connect(listener.port, '127.0.0.1');
    sockets.push(one);
    const [greeting] = (await once(one.setEncoding('utf8'), 'data')) as [string];
    expect(greeting).toMatch(/^421/);
  });

  it('closes open connections when it is closed, and survives a client that breaks off', async () => {
    const { listener, taken } = await start();
    const client = await dial(listener);
    await client.say('EHLO relay.test');
    await client.say('MAIL FROM:<>');
    await client.say('RCPT TO:<tok-1@bounces.test>');
    await client.say('DATA');
    client.socket.write('half a mail');
    client.socket.destroy();
    const other = await dial(listener);
    expect(await other.say('EHLO relay.test')).toMatch(/^250/);
    expect(taken).toEqual([]);
  });

  it('rejects with the reason if its port is in use', async () => {
    const { listener } = await start();
    await expect(start({ port: listener.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
