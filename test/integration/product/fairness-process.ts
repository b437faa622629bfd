/** A program of its own that keeps attacking until it is ended: what it needs of the processor is not the test's. */
import { connect, type Socket } from 'node:net';
import type { AttackOrders } from './fairness-attacks.ts';

const orders = JSON.parse(process.argv[2] ?? '{}') as AttackOrders;
const place = new URL(orders.gateway);
const known = orders.attacker !== 'stranger';
/** What came back, by status; `closed`: nothing did. */
const answers: Record<string, number> = {};
const count = (what: string): void => void (answers[what] = (answers[what] ?? 0) + 1);

const head = (path: string, headers: readonly string[], length: number): string =>
  [
    `POST ${path} HTTP/1.1`,
    `host: ${place.host}`,
    'content-type: application/json',
    ...headers,
    `content-length: ${length}`,
  ].join('\r\n') + '\r\n\r\n';
const bearer = (word: string): readonly string[] => [`authorization: Bearer ${word}`];
/** A key that has the right form, and is nobody's. */
const credential = bearer(known ? orders.key : orders.key.replace(/_[^_]{8}/, '_00000000'));

/** A connection that sends something once it stands, and is opened again some time after it ended; it ends itself after `life`. */
function keep(
  first: () => string,
  again: number,
  { onAnswer, life }: { readonly onAnswer?: (socket: Socket) => void; readonly life?: number } = {},
): void {
  const socket = connect({ port: Number(place.port), host: place.hostname, localAddress: '127.0.0.2' });
  let answered = false;
  socket.setEncoding('latin1').on('error', () => undefined);
  socket.on('connect', () => {
    socket.write(first(), 'latin1');
    if (life !== undefined) setTimeout(() => socket.destroy(), life);
  });
  socket.on('data', (text: string) => {
    for (const [, status = ''] of text.matchAll(/HTTP\/1\.1 (\d{3}) /g)) count(status);
    answered = true;
    onAnswer?.(socket);
  });
  socket.on('close', () => {
    if (!answered) count('closed');
    setTimeout(() => keep(first, again, { ...(onAnswer && { onAnswer }), ...(life !== undefined && { life }) }), again);
  });
}
const times = (number: number, act: (at: number) => void): void => {
  for (let at = 0; at < number; at += 1) act(at);
};
/** Sends a request so many times a second, each on a connection of its own. */
const pace = (perSecond: number, make: () => string): void =>
  void setInterval(() => {
    const socket = connect({ port: Number(place.port), host: place.hostname, localAddress: '127.0.0.2' });
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('connect', () => socket.write(make(), 'latin1'));
    socket.on('data', (text: string) => {
      count(/HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 'more');
      socket.destroy();
    });
  }, 1000 / perSecond);
const event = (path: string, body: object): string => {
  const text = JSON.stringify(body);
  return head(`/events/${path}`, credential, text.length) + text;
};

let made = 0;
const id = (): string => `${process.pid}-${(made += 1)}`;

switch (orders.attack) {
  case 'slow bodies':
    // A stranger's body is read only where a signature may prove it.
    times(520, () =>
      keep(
        () =>
          known
            ? `${head('/events/shop/dear', credential, 1000)}{`
            : `${head('/cohorts/shop/segment', [`x-signature: ${'0'.repeat(40)}`], 1000)}{`,
        1_000,
        { onAnswer: (socket) => void socket.destroy() },
      ),
    );
    break;
  case 'pipelining':
    times(3, () =>
      keep(
        () =>
          known
            ? event('shop/quiet', { order_id: id() }).repeat(300)
            : `GET /metrics HTTP/1.1\r\nhost: ${place.host}\r\n\r\n`.repeat(1_000),
        100,
        { life: 900 },
      ),
    );
    break;
  case 'idle connections':
    times(4_100, () => keep(() => (known ? event('shop/quiet', { order_id: id() }) : ''), 5_000));
    break;
  case 'dear expressions':
    pace(2, () => {
      const people = Array.from({ length: 500 }, (_, at) => ({ email: `p${at}@example.com` }));
      return event('shop/dear', { order_id: id(), people, text: 'a'.repeat(200_000) });
    });
    break;
  case 'dear templates':
    pace(2, () => {
      const items = Array.from({ length: 400 }, (_, at) => ({ n: at, text: '<&>'.repeat(30) }));
      return event('shop/long', { order_id: id(), email: 'p@example.com', items });
    });
    break;
  case 'huge batches':
    pace(2, () => {
      const body = JSON.stringify({
        cohort: 'all',
        action: 'add',
        user_ids: Array.from({ length: 10_000 }, (_, at) => `${'u'.repeat(200)}${at}`),
      });
      const shown = known ? bearer(orders.secret) : [`x-signature: ${'0'.repeat(40)}`];
      return head(known ? '/cohorts/shop/feed' : '/cohorts/shop/segment', shown, body.length) + body;
    });
    break;
  case 'forged tokens':
    pace(100, () => {
      const tokens = known ? orders.expired : orders.forged;
      return `${head('/events/shop/app', bearer(tokens[(made += 1) % tokens.length] ?? ''), 2)}{}`;
    });
    break;
}

process.on('message', () => process.send?.(answers));
process.on('disconnect', () => process.exit());
process.send?.('begun');
