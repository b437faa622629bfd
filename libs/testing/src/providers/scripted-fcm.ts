import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { selfSigned } from '../smtp/self-signed.ts';

export type FcmRequest = {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
  /** When its head came, in milliseconds. */
  readonly at: number;
  /** The caller's end of the connection: tells which process it was. */
  readonly port: number;
};
export type FcmScript = (stream: ServerHttp2Stream, received: FcmRequest) => void;

/** A key pair for a service account takes a while to make, and none of it is secret. */
let made: string | undefined;
const privateKey = (): string =>
  (made ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString());

export type ScriptedFcm = Awaited<ReturnType<typeof startScriptedFcm>>;

/** A server that speaks FCM's HTTP/2 over TLS, with a second one that issues access tokens like Google's. */
export async function startScriptedFcm() {
  const { cert, key } = selfSigned('localhost');
  const received: FcmRequest[] = [];
  const sessions = new Set<ServerHttp2Session>();
  let script: FcmScript = answerFcm(200, { name: 'projects/demo-app/messages/1' });
  let opened = 0;
  const server = createSecureServer({ cert, key, allowHTTP1: true });
  // firebase-admin sends a single message over HTTP/1.1. HTTP/2 requests arrive as streams below.
  server.on('request', (request, response) => {
    if (request.httpVersionMajor > 1) return;
    const at = Date.now();
    void collect(request).then((body) => {
      const { authorization = '' } = request.headers;
      received.push({ path: request.url, authorization, body, at, port: request.socket.remotePort ?? 0 });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ name: 'projects/demo-app/messages/1' }));
    });
  });
  server.on('session', (session) => {
    opened += 1;
    sessions.add(session);
    session.on('error', () => undefined).once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    const at = Date.now();
    const port = stream.session?.socket.remotePort ?? 0;
    stream.on('error', () => undefined);
    void collect(stream).then(
      (body) => {
        const one = { path: headers[':path'] ?? '', authorization: headers.authorization ?? '', body, at, port };
        received.push(one);
        return script(stream, one);
      },
      // The client was gone before all of it had come.
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tokens = await startTokenServer();
  const account = {
    project_id: 'demo-app',
    client_email: 'push@demo-app.iam.gserviceaccount.com',
    private_key: privateKey(),
    token_uri: tokens.url,
  };
  return {
    /** Uses a certificate that only the given clients trust. */
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    trusted: [cert],
    /** The fields of the key file, and the file. */
    account,
    keyFile: JSON.stringify({ type: 'service_account', ...account }),
    received,
    tokens,
    sessions: () => opened,
    answers: (next: FcmScript) => {
      script = next;
    },
    goAway: (lastStream: number) => {
      for (const session of sessions) session.goaway(0, lastStream);
    },
    stop: async () => {
      for (const session of sessions) session.destroy();
      await Promise.all([new Promise((done) => server.close(done)), tokens.stop()]);
    },
  };
}

export const answerFcm =
  (status: number, body: object | string, headers: Readonly<Record<string, string>> = {}) =>
  (stream: ServerHttp2Stream): void => {
    if (stream.destroyed) return;
    stream.respond({ ':status': status, 'content-type': 'application/json', ...headers });
    stream.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** FCM's own error response, with its code in a typed detail. */
export const fcmError = (status: number, errorCode: string, headers: Readonly<Record<string, string>> = {}) =>
  answerFcm(
    status,
    {
      error: {
        status: 'X',
        message: 'said FCM',
        details: [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }],
      },
    },
    headers,
  );

async function startTokenServer() {
  let asked = 0;
  let status = 200;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1;
      const body =
        status === 200
          ? { access_token: `token-${asked}`, expires_in: 3600, token_type: 'Bearer' }
          : { error: 'invalid_grant', error_description: 'account not found' };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/token`,
    asked: () => asked,
    answers: (next: number) => {
      status = next;
    },
    stop: async () => {
      server.closeAllConnections();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
}

async function collect(stream: Readable): Promise<string> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) text += piece;
  return text;
}
