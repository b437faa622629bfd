import { createSocket } from 'node:dgram';

export type NameServer = {
  /** `address:port`. */
  readonly address: string;
  /** Queries such as `A name` or `AAAA name`, in order of arrival. A repeat of a slow query is listed once. */
  readonly questions: string[];
  close(): Promise<void>;
};

/** IPv4 addresses of a name, or `silence`: it is never answered. A name that is not here does not exist. */
export type Zone = Readonly<Record<string, readonly string[] | 'silence'>>;

/** A name server on loopback that knows a handful of names. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const questions: string[] = [];
  const heard = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionIn(query);
    const sent = `${query.readUInt16BE(0)} from ${port}: ${type} ${name}`;
    if (!heard.has(sent)) questions.push(`${type === 1 ? 'A' : 'AAAA'} ${name}`);
    heard.add(sent);
    const known = zone[name];
    if (known === 'silence') return;
    const found = type === 1 ? (known ?? []) : [];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(known ? 0x8180 : 0x8183, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    // The name as it stands in the question, type A, class IN, for no time at all, four bytes.
    const records = found.map((one) =>
      Buffer.of(0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...one.split('.').map(Number)),
    );
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionIn(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}
