import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem, StatusBody } from '@carillon/contracts';
import { messageOf } from '@carillon/kernel';
import { ENDPOINTS_FILE, OWNER_TOKEN_FILE } from './data-files.ts';
import { CommandError, UsageError } from './failure.ts';
import { environment } from './config.ts';

/** Options that every command takes. */
export type CommonOptions = {
  readonly json?: boolean;
  readonly url?: string;
  readonly dataDir?: string;
  readonly workspace?: string;
};

type Query = Readonly<Record<string, string | number | undefined>>;

/** The management API, as commands use it. Every failure is a CommandError with what to do. */
export type Client = {
  readonly url: string;
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  delete<T>(path: string): Promise<T>;
  status(): Promise<StatusBody>;
  /** The workspace that the options name, or the only one there is. */
  workspace(): Promise<string>;
};

const readTrimmed = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
};

export const dataFolder = (options: CommonOptions): string =>
  options.dataDir ?? environment['CARILLON_DATA_DIR'] ?? './carillon-data';

/** By --url or CARILLON_URL with CARILLON_TOKEN, else by what a running `carillon up` left in the data folder. */
export function connect(options: CommonOptions): Client {
  const folder = dataFolder(options);
  const endpoints = readTrimmed(join(folder, ENDPOINTS_FILE));
  const named = options.url ?? environment['CARILLON_URL'];
  const url = named ?? (endpoints ? (JSON.parse(endpoints) as { control: string }).control : undefined);
  const token = environment['CARILLON_TOKEN'] ?? readTrimmed(join(folder, OWNER_TOKEN_FILE));
  if (!url) {
    throw new UsageError(
      `no data folder at ${folder}: start Carillon here (npm start), name the folder with --data-dir, or the server with --url`,
    );
  }
  if (!token) throw new UsageError(`no token: set CARILLON_TOKEN, or name the data folder with --data-dir`);
  return createClient(url.replace(/\/$/, ''), token, options);
}

function createClient(url: string, token: string, options: CommonOptions): Client {
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${url}${path}`, init).catch((error: unknown) => {
      const why = error instanceof Error && error.cause ? messageOf(error.cause) : messageOf(error);
      throw new CommandError(`nobody answers at ${url} (${why}): is Carillon running?`);
    });
    const text = await answer.text();
    const parsed: unknown = text === '' ? undefined : JSON.parse(text);
    if (answer.ok) return parsed as T;
    const problem = parsed as Problem;
    throw new CommandError(problem?.detail ?? `${url}${path} answered ${answer.status}`, problem);
  }

  const withQuery = (path: string, query: Query = {}): string => {
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, String(value)])).toString();
    return text === '' ? path : `${path}?${text}`;
  };

  const client: Client = {
    url,
    get: (path, query) => call('GET', withQuery(path, query)),
    post: (path, body = {}) => call('POST', path, body),
    delete: (path) => call('DELETE', path),
    status: () => client.get('/v1/status'),
    async workspace() {
      if (options.workspace !== undefined) return options.workspace;
      const { workspaces } = await client.status();
      const [only] = workspaces;
      if (only !== undefined && workspaces.length === 1) return only;
      if (only === undefined) throw new UsageError('there is no workspace yet: carillon apply -f DIR makes one');
      throw new UsageError(`name the workspace with --workspace: ${workspaces.join(', ')}`);
    },
  };
  return client;
}

export const seg = encodeURIComponent;
