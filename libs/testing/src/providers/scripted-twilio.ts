import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export const TWILIO_ACCOUNT = `AC${'0'.repeat(32)}`;
export const TWILIO_SID = `SM${'1'.repeat(32)}`;

export type TwilioRequest = {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  readonly authorization: string;
  /** When its head came, in milliseconds. */
  readonly at: number;
  /** The caller's end of the connection: tells which process it was. */
  readonly port: number;
};
export type TwilioScript = (response: ServerResponse, received: TwilioRequest) => void;

export type ScriptedTwilio = Awaited<ReturnType<typeof startScriptedTwilio>>;

/** A server that speaks Twilio's HTTP and does what a test says. */
export async function startScriptedTwilio() {
  const received: TwilioRequest[] = [];
  const sockets = new Set<Socket>();
  let script: TwilioScript = answerTwilio(201, { sid: TWILIO_SID, status: 'queued' });
  let connections = 0;
  const server = createServer((request, response) => {
    const at = Date.now();
    void collect(request).then(
      (body) => {
        const one = {
          method: request.method ?? '',
          path: request.url ?? '',
          form: new URLSearchParams(body),
          authorization: request.headers.authorization ?? '',
          at,
          port: request.socket.remotePort ?? 0,
        };
        received.push(one);
        return script(response, one);
      },
      // The client was gone before all of it had come.
      () => undefined,
    );
  });
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    connections: () => connections,
    answers: (next: TwilioScript) => {
      script = next;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

export const answerTwilio =
  (status: number, body: object | string, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };

async function collect(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8') as AsyncIterable<string>) text += piece;
  return text;
}
