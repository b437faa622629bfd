import { connect } from 'node:net';

/** One answer, as it came over the wire. */
export type Answer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export type Exchange = {
  readonly answers: readonly Answer[];
  /** All bytes that came, as latin-1. */
  readonly raw: string;
  /** Milliseconds until the server closed the connection. */
  readonly took: number;
  /** `closed`: by the server; `late`: it still stood at the time limit. */
  readonly end: 'closed' | 'late';
  /** Why nobody could talk to it at all; null: somebody could. */
  readonly refused: string | null;
};

export type ExchangeOptions = {
  readonly port: number;
  readonly bytes: Uint8Array;
  readonly limit: number;
  /** After so many milliseconds the client ends its side; left out, it waits for the server. */
  readonly leavesAfter?: number;
  /** The server speaks first, as mail servers do. */
  readonly greeted?: boolean;
};

/** Sends bytes over a connection of its own, whatever they are, and collects what comes back until the server closes it. */
export function exchange({ port, bytes, limit, leavesAfter, greeted = false }: ExchangeOptions): Promise<Exchange> {
  const begun = performance.now();
  const chunks: Buffer[] = [];
  let refused: string | null = null;
  let end: Exchange['end'] = 'closed';
  return new Promise((settle) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const late = setTimeout(() => {
      end = 'late';
      socket.destroy();
    }, limit);
    let leaving: NodeJS.Timeout | undefined;
    const leave = (): void => {
      if (leavesAfter !== undefined) leaving = setTimeout(() => socket.end(), leavesAfter);
    };
    const say = (): void => {
      socket.write(bytes);
      leave();
    };
    socket.on('data', (chunk: Buffer) => {
      if (greeted && chunks.length === 0) say();
      chunks.push(chunk);
    });
    // The server has said all it will: so has the client.
    socket.on('end', () => socket.end());
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server that has answered need not read the rest.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') refused = error.code ?? error.message;
    });
    socket.on('close', () => {
      clearTimeout(late);
      clearTimeout(leaving);
      const raw = Buffer.concat(chunks).toString('latin1');
      settle({ answers: readAnswers(raw), raw, took: performance.now() - begun, end, refused });
    });
    if (!greeted) say();
  });
}

/** Answers one after the other. What is no HTTP becomes an answer with status 0, which no judge lets through. */
export function readAnswers(raw: string): readonly Answer[] {
  const answers: Answer[] = [];
  let rest = raw;
  while (rest !== '') {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [statusLine = '', ...lines] = rest.slice(0, Math.max(0, headEnd)).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(statusLine)?.[1] ?? 0);
    if (status === 0) return [...answers, { status: 0, headers: new Map(), body: rest }];
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const after = rest.slice(headEnd + 4);
    const { body, left } = bodyOf(status, headers, after);
    if (status >= 200) answers.push({ status, headers, body });
    rest = left;
  }
  return answers;
}

type Cut = { readonly body: string; readonly left: string };

function bodyOf(status: number, headers: ReadonlyMap<string, string>, after: string): Cut {
  if (status < 200 || status === 204 || status === 304) return { body: '', left: after };
  if (headers.get('transfer-encoding') === 'chunked') return chunked(after);
  const length = headers.get('content-length');
  // An answer to HEAD names the length of a body that does not follow.
  if (length === undefined || after.startsWith('HTTP/1.1 ')) return { body: '', left: after };
  return { body: after.slice(0, Number(length)), left: after.slice(Number(length)) };
}

function chunked(text: string): Cut {
  let body = '';
  let at = 0;
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (lineEnd < 0 || Number.isNaN(size)) return { body, left: '' };
    if (size === 0) return { body, left: text.slice(lineEnd + 4) };
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 4 + size;
  }
}
