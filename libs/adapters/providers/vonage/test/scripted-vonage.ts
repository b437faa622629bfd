import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AddressInfo, Socket } from 'node:net';

export const APPLICATION = '78d335fa-323d-4114-9c3d-d6f0d48968cf';
export const MESSAGE = 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab';
export const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const PRIVATE_KEY = KEYS.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;

export type VonageRequest = {
  readonly method: string;
  readonly path: string;
  readonly message: Readonly<Record<string, unknown>>;
  readonly authorization: string;
};
export type VonageScript = (response: ServerResponse, received: VonageRequest) => void;

export const answer =
  (status: number, body: object | string, headers: Readonly<Record<string, string>> = {}): VonageScript =>
  (response) => {
    const written = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(written);
  };

/** The body of an error as the Messages API sends it. */
export const problem = (code: string, detail = 'Vonage says why') => ({
  type: `https://developer.vonage.com/api-errors/messages#${code}`,
  title: 'Error',
  detail,
  instance: 'bf0ca0bf927b3b52e3cb03217e1a1ddf',
});

/** A server that speaks the Messages API and answers as a test says. */
export async function startScriptedVonage() {
  const received: VonageRequest[] = [];
  const sockets = new Set<Socket>();
  let script: VonageScript = answer(202, { message_uuid: MESSAGE });
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const message = JSON.parse(body) as VonageRequest['message'];
      const { method = '', url = '', headers } = request;
      const one = { method, path: url, message, authorization: headers.authorization ?? '' };
      received.push(one);
      script(response, one);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answers: (next: VonageScript) => {
      script = next;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The `Authorization` header of a callback, signed as Vonage signs it. */
export function signedByVonage(
  body: string,
  secret: string,
  at: number,
  { claims = {}, algorithm = 'HS256' }: { readonly claims?: object; readonly algorithm?: string } = {},
): string {
  const all = {
    iat: Math.floor(at / 1000),
    jti: 'c5ba8f24-1a14-4c10-bfdf-3fbe8ce511b5',
    iss: 'Vonage',
    payload_hash: createHash('sha256').update(body).digest('hex'),
    api_key: 'a1b2c3d4',
    application_id: APPLICATION,
    ...claims,
  };
  const signed = `${part({ alg: algorithm, typ: 'JWT' })}.${part(all)}`;
  return `Bearer ${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
