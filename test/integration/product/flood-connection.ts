import { connect, type Socket } from 'node:net';

export type FloodAnswer = {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
};

/** Sends requests that are made already, and reads no more of the answers than a flood counts: cheaper than a client of HTTP. */
export type FloodConnection = {
  /** Whether it takes another request now. */
  hasRoom(): boolean;
  /** Rejects with the code of the error where the connection ends before the answer. */
  ask(request: string): Promise<FloodAnswer>;
};

/** A server of Node drops what comes on a connection after its thousandth request. */
const MAX_REQUESTS = 900;

/**
 * A connection on which so many requests may wait for their answers, opened by the first one, and anew by the next one after
 * it has ended.
 */
export function createFloodConnection({ hostname, port }: URL, pipelined: number): FloodConnection {
  let open: Line | null = null;

  function openLine(): Line {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const line: Line = { socket, sent: 0, waiting: [] };
    let received = '';
    let why = 'ECONNRESET';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      received += text;
      for (let answer = readAnswer(received); answer; answer = readAnswer(received)) {
        received = received.slice(answer.length);
        if (answer.closes) leave(line);
        line.waiting.shift()?.resolve(answer);
      }
      if (line.sent >= MAX_REQUESTS && line.waiting.length === 0) leave(line);
    });
    socket.on('end', () => leave(line));
    socket.on('error', (error) => {
      if ('code' in error) why = String(error.code);
    });
    socket.on('close', () => {
      leave(line);
      for (const { reject } of line.waiting.splice(0)) reject(new Error(why));
    });
    return line;
  }

  /** Nothing more is sent on it. */
  function leave(line: Line): void {
    line.socket.end();
    if (open === line) open = null;
  }

  return {
    hasRoom: () => open === null || (open.waiting.length < pipelined && open.sent < MAX_REQUESTS),
    ask(request) {
      open ??= openLine();
      open.sent += 1;
      const asked = Promise.withResolvers<FloodAnswer>();
      open.waiting.push(asked);
      open.socket.write(request, 'latin1');
      return asked.promise;
    },
  };
}

type Line = { readonly socket: Socket; sent: number; readonly waiting: PromiseWithResolvers<FloodAnswer>[] };

const END_OF_HEAD = '\r\n\r\n';

/** The first answer in the text and how long it is; null until it is whole. */
function readAnswer(text: string): (FloodAnswer & { readonly closes: boolean; readonly length: number }) | null {
  const headEnd = text.indexOf(END_OF_HEAD);
  if (headEnd < 0) return null;
  const head = text.slice(0, headEnd + 2);
  const begin = headEnd + END_OF_HEAD.length;
  const length = begin + Number(/\r\ncontent-length: *(\d+)\r/i.exec(head)?.[1]);
  if (Number.isNaN(length)) throw new Error(`an answer that does not tell its length: ${head}`);
  if (text.length < length) return null;
  return {
    status: Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3)),
    body: text.slice(begin, length),
    retryAfter: /\r\nretry-after: *([^\r]*)\r/i.exec(head)?.[1],
    closes: /\r\nconnection: *close\r/i.test(head),
    length,
  };
}
