import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { ROLES_WITH } from '../../../apps/control/src/access/permission.ts';
import { DOCS_FOLDER, PORTAL_FOLDER } from '../../../apps/cli/src/shipped-files.ts';
import { SECURITY_HEADERS } from '../../../apps/control/src/access/guard.ts';
import { servePages } from '../../../apps/control/src/pages/pages.ts';

import { readApiDocument, type Asked, type Operation, type OperationName } from './api-document.ts';

/** A call that the portal made. */
export type Call = Asked & { readonly operation: OperationName; readonly headers: FastifyRequest['headers'] };

/** A response that is no plain success. */
export class Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  constructor(status: number, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** Returns a refusal of the API. `more` are further fields of its body, except `retry-after`, which is a header. */
export function problem(status: number, code: string, detail: string, more: object = {}): Reply {
  const type = `/docs/errors#${code}`;
  const { 'retry-after': after, ...fields } = more as { readonly 'retry-after'?: string };
  const body = { type, title: 'Refused', status, detail, code, request_id: 'req_1', ...fields };
  return new Reply(status, body, after === undefined ? {} : { 'retry-after': after });
}

/** The body of a success, a {@link Reply}, or a function that returns one of them for a call. */
export type Answer = object | ((call: Call) => object);

/** The role of the person who is signed in: of the workspaces, or owner of the deployment. */
export type ScriptedRole = 'deployment owner' | 'owner' | 'editor' | 'operator' | 'viewer';

export type ScriptedApi = {
  readonly url: string;
  /** Answers all calls of this operation until the end of the test. A later answer takes the place of an earlier one. */
  readonly answer: (operation: OperationName, answer: Answer) => void;
  /** Drops the answer of the test, so that the example of the document counts again. */
  readonly forget: (operation: OperationName) => void;
  /** Returns a copy of the example that the document gives, to be changed. */
  readonly example: (operation: OperationName) => Readonly<Record<string, unknown>>;
  /** Holds back the answers to this operation. Returns what lets them go. */
  readonly hold: (operation: OperationName) => () => void;
  /** Calls of this operation since the test began, oldest first. */
  readonly calls: (operation: OperationName) => readonly Call[];
  /** Tells the open streams of changes that a row is new or changed. */
  readonly push: (topic: string, row: object) => void;
  /** Signs a person in who has this role in these workspaces. Defaults to the owner of the deployment. */
  readonly signIn: (role: ScriptedRole, workspaces?: readonly string[]) => void;
  /** Forgets answers and calls. Returns what was wrong with calls and answers since. */
  readonly reset: () => readonly string[];
};

/** Address of a page of this origin without scripts. */
export const EMPTY_PAGE = '/empty';

const LIVE: OperationName = 'GET /v1/workspaces/{workspace}/live';
const ME: OperationName = 'GET /v1/me';
const PERMISSIONS = Object.entries(ROLES_WITH);

let shared: Promise<ScriptedApi> | undefined;

/** Returns the scripted API of this process, and starts it first if needed. */
export function sharedScriptedApi(): Promise<ScriptedApi> {
  shared ??= startScriptedApi();
  return shared;
}

async function startScriptedApi(): Promise<ScriptedApi> {
  const operations = readApiDocument();
  const answers = new Map<OperationName, Answer>();
  const held = new Map<OperationName, Promise<void>>();
  const calls: Call[] = [];
  const faults: string[] = [];
  const streams = new Set<FastifyReply>();

  const find = (method: string, path: string): { operation: Operation; params: Asked['params'] } | null => {
    for (const operation of operations) {
      const params = operation.name.startsWith(`${method} `) ? operation.match(path) : null;
      if (params) return { operation, params };
    }
    return null;
  };
  const named = (name: OperationName): Operation => {
    const operation = operations.find((one) => one.name === name);
    if (!operation) throw new Error(`the document has no operation ${name}`);
    return operation;
  };

  function resultOf(operation: Operation, call: Call): Reply {
    const answer = answers.get(operation.name);
    if (answer === undefined && !operation.name.startsWith('GET ')) {
      faults.push(`${operation.name}: the test has no answer for it`);
      return problem(500, 'internal', 'The test has no answer for this call.');
    }
    const given = answer ?? (() => operation.example() as object);
    const result: unknown = typeof given === 'function' ? (given as (call: Call) => object)(call) : given;
    return result instanceof Reply ? result : new Reply(operation.success, result);
  }

  const app = fastify({ forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', async (_request, reply) => void reply.headers(SECURITY_HEADERS));
  app.all('/v1/*', async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url, 'http://scripted');
    const found = find(request.method, pathname);
    if (!found) {
      faults.push(`${request.method} ${pathname}: the document has no such operation`);
      return reply.code(404).send();
    }
    const { operation, params } = found;
    const call = { ...askedOf(request, params, searchParams), operation: operation.name, headers: request.headers };
    calls.push(call);
    const tell = (about: readonly string[]): void =>
      void faults.push(...about.map((one) => `${operation.name}: ${one}`));
    tell(operation.checkRequest(call));
    await held.get(operation.name);
    if (operation.name === LIVE && !answers.has(LIVE)) return openStream(reply, streams);
    const { status, body, headers } = resultOf(operation, call);
    const type = status < 400 ? operation.contentTypeOf(status) : 'application/problem+json';
    tell(operation.checkResponse(status, type, body));
    reply.code(status).headers(headers);
    if (body === undefined) return reply.send();
    return reply.type(type).send(typeof body === 'string' ? body : JSON.stringify(body));
  });
  app.get(EMPTY_PAGE, (_request, reply) => reply.type('text/html').send(''));
  servePages(app, { portalFolder: PORTAL_FOLDER, docsFolder: DOCS_FOLDER }, { who: async () => null }, () => '');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  // The process ends with its tests, not with this server.
  app.server.unref();

  return {
    url,
    answer: (name, answer) => void answers.set(named(name).name, answer),
    forget: (name) => void answers.delete(named(name).name),
    example: (name) => named(name).example() as Readonly<Record<string, unknown>>,
    hold(name) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(named(name).name, promise);
      return () => {
        held.delete(name);
        resolve();
      };
    },
    calls: (name) => calls.filter(({ operation }) => operation === named(name).name),
    push(topic, row) {
      for (const stream of streams) stream.raw.write(`event: ${topic}\nid: 2\ndata: ${JSON.stringify(row)}\n\n`);
    },
    signIn: (role, workspaces = ['shop']) =>
      void answers.set(ME, meOf(named(ME).example() as object, role, workspaces)),
    reset() {
      answers.clear();
      held.clear();
      calls.length = 0;
      for (const stream of streams) stream.raw.destroy();
      return faults.splice(0);
    },
  };
}

function askedOf({ headers, body }: FastifyRequest, params: Asked['params'], query: URLSearchParams): Asked {
  const [contentType = ''] = (headers['content-type'] ?? '').split(';');
  const text = typeof body === 'string' && body !== '' ? body : undefined;
  return {
    params,
    query,
    contentType,
    body: text !== undefined && contentType.endsWith('json') ? JSON.parse(text) : text,
  };
}

/** A stream of changes that stays open and tells none until the test pushes one. */
function openStream(reply: FastifyReply, streams: Set<FastifyReply>): FastifyReply {
  reply.hijack();
  reply.raw.writeHead(200, { ...SECURITY_HEADERS, 'content-type': 'text/event-stream' });
  reply.raw.write('event: open\nid: 1\ndata: {}\n\n');
  streams.add(reply);
  reply.raw.once('close', () => streams.delete(reply));
  return reply;
}

function meOf(example: object, role: ScriptedRole, workspaces: readonly string[]): object {
  const owns = role === 'deployment owner';
  const permissions = PERMISSIONS.filter(([, roles]) => owns || roles.some((one) => one === role)).map(
    ([name]) => name,
  );
  return {
    ...example,
    owner: owns,
    permissions: owns ? permissions : [],
    workspaces: workspaces.map((workspace) => ({ workspace, permissions })),
    roles_with: PERMISSIONS.map(([permission, roles]) => ({ permission, roles })),
  };
}
