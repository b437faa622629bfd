import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem, StatusBody } from '@carillon/contracts';
import { messageOf } from '@carillon/kernel';
import { ENDPOINTS_FILE, OWNER_TOKEN_FILE } from './data-files.ts';
import { CommandError, UsageError } from './failure.ts';
import { environment } from './config.ts';
import { runnable } from './runnable.ts';

/** Stands for all visible workspaces in URLs of the management API. */
const EVERY_WORKSPACE = '-';

/** Options that every command takes. */
export type CommonOptions = {
  readonly json?: boolean;
  readonly url?: string;
  readonly dataDir?: string;
  readonly workspace?: string;
};

type Query = Readonly<Record<string, string | number | undefined>>;

/** The management API, as commands use it. Every failure is a CommandError with what to do. */
/** A page of a collection. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next: string | null };

export type Client = {
  readonly url: string;
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  delete<T>(path: string, headers?: Readonly<Record<string, string>>): Promise<T>;
  /** Sends rows of a CSV file. */
  postCsv<T>(path: string, csv: string, query?: Query): Promise<T>;
  /** Streams a response body in chunks. Rejects if the connection breaks off. */
  download(path: string, query?: Query): Promise<AsyncIterable<Uint8Array>>;
  status(): Promise<StatusBody>;
  /** Returns the workspace to write to: from the options or CARILLON_WORKSPACE, else the only one. */
  workspace(): Promise<string>;
  /** The workspace that the options or CARILLON_WORKSPACE name, if any. */
  readonly named: string | undefined;
  /** The workspace that a command reads, by `--workspace` or CARILLON_WORKSPACE. `-`: all workspaces that the caller may see. */
  readonly reach: string;
  /** Workspace for resources with an id: from the options, else all. */
  readonly anywhere: string;
  /** Whether what is read may be of several workspaces, so that people want to see of which. */
  isWide(): Promise<boolean>;
  /** Time zone of the workspace that is read. Resolves to UTC if there are several, and never rejects. */
  zone(): Promise<string>;
};

const readTrimmed = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
};

export const dataFolder = (options: CommonOptions): string =>
  options.dataDir || environment['CARILLON_DATA_DIR'] || './carillon-data';

/** The workspace that the options name, else that of the shell. */
export const namedWorkspace = ({ workspace }: CommonOptions): string | undefined =>
  workspace ?? (environment['CARILLON_WORKSPACE'] || undefined);

/**
 * Connects with --url or CARILLON_URL and CARILLON_TOKEN, else with the address that a running `carillon up` left in
 * the data folder.
 */
export function connect(options: CommonOptions): Client {
  const folder = dataFolder(options);
  const here = controlOf(folder);
  const named = options.url || environment['CARILLON_URL'] || undefined;
  const url = (named ?? here)?.replace(/\/+$/, '');
  if (!url) {
    throw new UsageError(
      `no data folder at ${folder}: start Carillon here (npm start), name the folder with --data-dir, or the server with --url`,
    );
  }
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError(`--url (CARILLON_URL) takes an address such as http://127.0.0.1:7401, found ${url}`);
  }
  // The token of a folder that nobody named is for the server of that folder alone.
  const folderIsMeant = named === undefined || options.dataDir !== undefined || url === here;
  const token =
    environment['CARILLON_TOKEN'] || (folderIsMeant ? readTrimmed(join(folder, OWNER_TOKEN_FILE)) : undefined);
  if (!token) throw new UsageError(`no token for ${url}: set CARILLON_TOKEN, or name its data folder with --data-dir`);
  return createClient(url, token, options);
}

/** Where the process that holds or held this folder serves the management API. */
function controlOf(folder: string): string | undefined {
  const text = readTrimmed(join(folder, ENDPOINTS_FILE));
  if (text === undefined) return undefined;
  try {
    const { control } = JSON.parse(text) as { control?: unknown };
    if (typeof control === 'string') return control;
  } catch {
    // An invalid file causes the same error as below.
  }
  throw new CommandError(
    `${join(folder, ENDPOINTS_FILE)} does not say where the server is: start Carillon again, or use --url`,
  );
}

/**
 * Returns the JSON of a response, or undefined for an empty one. Other content means that another program has the port.
 */
export async function readAnswer(answer: Response, url: string): Promise<unknown> {
  const text = await answer.text();
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new CommandError(`${url} answered ${answer.status} with something that is not JSON: is this Carillon?`);
  }
}

/** Returns a problem whose `type` is a whole URL, so that a person can open it. */
export function linkedProblem(problem: Problem | undefined, url: string): Problem | undefined {
  const isLink = typeof problem?.type === 'string' && URL.canParse(problem.type, url);
  return isLink ? { ...problem, type: new URL(problem.type, url).href } : problem;
}

function createClient(url: string, token: string, options: CommonOptions): Client {
  type Sent = { readonly type: string; readonly text: string };

  /** The answer where it is a success, with its body still to be read. */
  async function ask(
    method: string,
    path: string,
    sent?: Sent,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: 'application/json', ...more };
    if (sent !== undefined) headers['content-type'] = sent.type;
    const init = { method, headers, ...(sent !== undefined && { body: sent.text }) };
    const answer = await fetch(`${url}${path}`, init).catch((error: unknown) => {
      const why = error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
      throw new CommandError(`no server answers at ${url} (${why}): is Carillon running?`);
    });
    if (answer.ok) return answer;
    const problem = linkedProblem((await readAnswer(answer, url)) as Problem | undefined, url);
    throw new CommandError(
      problem ? runnable(problem.detail, options) : `${url}${path} answered ${answer.status}`,
      problem,
    );
  }

  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    more?: Readonly<Record<string, string>>,
  ): Promise<T> {
    const sent = body === undefined ? undefined : { type: 'application/json', text: JSON.stringify(body) };
    return (await readAnswer(await ask(method, path, sent, more), url)) as T;
  }

  const withQuery = (path: string, query: Query = {}): string => {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString();
    return text === '' ? path : `${path}?${text}`;
  };

  const named = namedWorkspace(options);
  const client: Client = {
    url,
    named,
    reach: named ?? EVERY_WORKSPACE,
    anywhere: options.workspace ?? EVERY_WORKSPACE,
    async isWide() {
      if (named !== undefined) return false;
      const { workspaces } = await client.status();
      return workspaces.length > 1;
    },
    async zone() {
      try {
        const workspaces = named === undefined ? (await client.status()).workspaces : [named];
        const [only] = workspaces;
        if (only === undefined || workspaces.length > 1) return 'UTC';
        const settings = await client.get<{ readonly body: { readonly time_zone?: string } }>(
          `/v1/workspaces/${seg(only)}/settings`,
        );
        return settings.body.time_zone ?? 'UTC';
      } catch {
        return 'UTC';
      }
    },
    get: (path, query) => call('GET', withQuery(path, query)),
    post: (path, body = {}) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    delete: (path, headers) => call('DELETE', path, undefined, headers),
    async postCsv<T>(path: string, text: string, query?: Query): Promise<T> {
      return (await readAnswer(await ask('POST', withQuery(path, query), { type: 'text/csv', text }), url)) as T;
    },
    async download(path, query) {
      const { body } = await ask('GET', withQuery(path, query));
      if (!body) throw new CommandError(`${url}${path} sent an empty response: is this Carillon?`);
      return body;
    },
    status: () => client.get('/v1/status'),
    async workspace() {
      if (named !== undefined) return named;
      const { workspaces } = await client.status();
      const [only] = workspaces;
      if (only !== undefined && workspaces.length === 1) return only;
      if (only === undefined)
        throw new UsageError('there is no workspace yet: create one with npx carillon apply -f DIR');
      throw new UsageError(`name the workspace with --workspace or CARILLON_WORKSPACE: ${workspaces.join(', ')}`);
    },
  };
  return client;
}

export const seg = encodeURIComponent;
