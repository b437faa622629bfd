import { selfSigned } from '@carillon/testing';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { Agent, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import type { ServiceAccount } from '../src/index.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const ACCOUNT: ServiceAccount = {
  project_id: 'demo-app',
  client_email: 'push@demo-app.iam.gserviceaccount.com',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
};
export const KEY_FILE = JSON.stringify({ type: 'service_account', ...ACCOUNT });

export type Received = { readonly path: string; readonly authorization: string; readonly body: string };
export type Script = (stream: ServerHttp2Stream, received: Received) => void;

/** A server that speaks FCM's HTTP/2 over TLS, and one that gives access tokens in the place of Google's. */
export async function startScriptedFcm() {
  const { cert, key } = selfSigned('localhost');
  const received: Received[] = [];
  const sessions = new Set<ServerHttp2Session>();
  let script: Script = (stream) => answer(200, { name: 'projects/demo-app/messages/1' })(stream);
  let opened = 0;
  const server = createSecureServer({ cert, key });
  server.on('session', (session) => {
    opened += 1;
    sessions.add(session);
    session.on('error', () => undefined).once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    void collect(stream).then((body) => {
      const one = { path: headers[':path'] ?? '', authorization: headers.authorization ?? '', body };
      received.push(one);
      return script(stream, one);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const tokens = await startTokenServer();
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    trusted: [cert],
    received,
    tokens,
    sessions: () => opened,
    answers: (next: Script) => {
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

export const answer =
  (status: number, body: object | string, headers: Readonly<Record<string, string>> = {}) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': status, 'content-type': 'application/json', ...headers });
    stream.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

async function startTokenServer() {
  const { cert, key } = selfSigned('oauth2.googleapis.com');
  let asked = 0;
  let status = 200;
  const server = createServer({ cert, key }, (request, response) => {
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
  // Google's library knows one host for tokens, so the way there is turned aside.
  const agent = new Agent();
  agent.createConnection = () => connect({ host: '127.0.0.1', port, servername: 'oauth2.googleapis.com', ca: [cert] });
  return {
    agent,
    asked: () => asked,
    answers: (next: number) => {
      status = next;
    },
    stop: async () => {
      agent.destroy();
      server.closeAllConnections();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
}

async function collect(stream: ServerHttp2Stream): Promise<string> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) text += piece;
  return text;
}
