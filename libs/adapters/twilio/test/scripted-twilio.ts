import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export const ACCOUNT = `AC${'0'.repeat(32)}`;
export const SID = `SM${'1'.repeat(32)}`;

export type Received = {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  readonly authorization: string;
};
type Script = (response: ServerResponse, request: IncomingMessage) => void;

/** A server that speaks Twilio's HTTP and does what a test says. */
export async function startScriptedTwilio() {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  let script: Script = (response) => answer(201, { sid: SID, status: 'queued' })(response);
  let connections = 0;
  const server = createServer((request, response) => {
    void collect(request).then((body) => {
      received.push({
        method: request.method ?? '',
        path: request.url ?? '',
        form: new URLSearchParams(body),
        authorization: request.headers.authorization ?? '',
      });
      return script(response, request);
    });
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
    answers: (next: Script) => {
      script = next;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

export const answer =
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
