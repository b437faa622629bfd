/** Cuts a stream into the frames of Kafka's protocol: four bytes of length, then so many bytes. */
export function createFrames(): (chunk: Buffer) => readonly Buffer[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: Buffer[] = [];
    while (rest.length >= 4) {
      const size = 4 + rest.readInt32BE(0);
      if (rest.length < size) break;
      frames.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    return frames;
  };
}

export type RequestHead = { readonly apiKey: number; readonly correlationId: number };

export const requestHead = (frame: Buffer): RequestHead => ({
  apiKey: frame.readInt16BE(4),
  correlationId: frame.readInt32BE(8),
});
export const correlationOf = (answer: Buffer): number => answer.readInt32BE(4);

/** An address as brokers write it into their answers: length of the name, name, port. */
const written = (address: string): Buffer => {
  const [host = '', port = ''] = address.split(':');
  const bytes = Buffer.alloc(2 + host.length + 4);
  bytes.writeInt16BE(host.length, 0);
  bytes.write(host, 2, 'latin1');
  bytes.writeInt32BE(Number(port), 2 + host.length);
  return bytes;
};

/** Puts other addresses where brokers name themselves, so that clients stay on this side of the proxy. */
export function readdress(answer: Buffer, addresses: ReadonlyMap<string, string>): Buffer {
  const changed = Buffer.from(answer);
  for (const [from, to] of addresses) {
    const [old, fresh] = [written(from), written(to)];
    if (old.length !== fresh.length) throw new Error(`${to} has to be as long as ${from}`);
    for (let at = changed.indexOf(old); at >= 0; at = changed.indexOf(old, at + 1)) fresh.copy(changed, at);
  }
  return changed;
}

/** Lowers what an answer to ApiVersions (up to version 2) says: error, then number, lowest and highest version of each request. */
export function limitVersions(answer: Buffer, highest: ReadonlyMap<number, number>): Buffer {
  const changed = Buffer.from(answer);
  const count = changed.readInt32BE(10);
  for (let entry = 0, at = 14; entry < count; entry += 1, at += 6) {
    const limit = highest.get(changed.readInt16BE(at));
    if (limit !== undefined) changed.writeInt16BE(limit, at + 4);
  }
  return changed;
}
