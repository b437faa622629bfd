import { setTimeout as pause } from 'node:timers/promises';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunBody } from '@carillon/contracts';
import { startProduct, type Product } from '@carillon/testing';
import { DATABASE_FILE, folderWithEvents } from '../filled-folders.ts';
import { configure, STREAM_PATH, type Files } from '../product.ts';
import { EVENTS, QUIET_FILES } from './edited-rules.ts';

const LOOK_INTERVAL_MS = 20;
const KEY = 'bench';
const STREAM: Files = { 'workspaces/shop/streams/orders.yaml': `security: { api_keys: [${KEY}] }\n` };

/** `carillon up` over a log of events, and what starts runs in it. */
export type ProductWithEvents = {
  readonly product: Product;
  readonly dataDir: string;
  readonly eventsUrl: string;
  /** Headers that the stream asks for. */
  readonly headers: Readonly<Record<string, string>>;
  /** MiB of the write-ahead log beside the data file. */
  walMiB(): number;
  get<Body>(path: string): Promise<Body>;
  startRun(edit: Files): Promise<RunBody>;
  /** Resolves when `isReached` is true for a run. Throws if the run failed. */
  runUntil(id: string, isReached: (run: RunBody) => boolean): Promise<RunBody>;
  cancel(run: RunBody): Promise<void>;
  stop(): Promise<void>;
};

export const isEnded = ({ ended_at }: RunBody): boolean => ended_at !== null;

/** Starts the product over a copy of the log, with a rule that runs edit, and with these files. */
export async function startWithEvents(
  files: Files = {},
  env: Readonly<Record<string, string>> = {},
): Promise<ProductWithEvents> {
  const folder = await folderWithEvents(EVENTS);
  const product = await startProduct({ dataDir: folder.path, cwd: folder.path, env });
  const stop = async (): Promise<void> => {
    await product.kill('SIGTERM');
    await folder.remove();
  };
  // The folder has the key that its stream had when it was filled.
  const headers = await configure(product, { ...QUIET_FILES, ...files, ...STREAM }, KEY).catch(async (error) => {
    await stop();
    throw error;
  });

  async function ask<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await fetch(`${product.controlUrl}/v1/workspaces/shop/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${product.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === '' ? null : JSON.parse(text)) as Body;
  }

  return {
    product,
    dataDir: folder.path,
    eventsUrl: `${product.gatewayUrl}${STREAM_PATH}`,
    headers,
    walMiB: () => statSync(join(folder.path, `${DATABASE_FILE}-wal`)).size / 2 ** 20,
    get: (path) => ask('GET', path),
    startRun: (edit) => ask('POST', 'runs', { folder: { files: edit, prune: false } }),
    async runUntil(id, isReached) {
      for (;;) {
        const run = await ask<RunBody>('GET', `runs/${id}`);
        if (isReached(run)) return run;
        if (isEnded(run)) throw new Error(`run ${id} ended as ${run.state}: ${run.reason?.detail}`);
        await pause(LOOK_INTERVAL_MS);
      }
    },
    async cancel(run) {
      await ask('POST', `jobs/${run.job}/cancel`).catch(() => undefined);
    },
    stop,
  };
}
