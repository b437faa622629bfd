import { spawn } from 'node:child_process';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { cli, PROGRAM, untilFound } from '@carillon/testing';
import type { Home } from './places.ts';

/*
 * What the chapters share: the product as a process of its own, and the `carillon` command as a person would call it.
 * Nothing in here knows the product from the inside.
 */

const DEMO = resolve(import.meta.dirname, '../../docs/examples/demo');

/** On a cluster the first start makes ten topics and all collections; on a machine at its limit that takes a while. */
const START_WITHIN = 180_000;

/** What a command printed, and how it ended. */
export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** The order of the demo: the body of the curl line that the first screen prints. */
export const ORDER = {
  order_id: 'A-1001',
  status: 'paid',
  total: 120,
  customer: { name: 'Ada', email: 'ada@example.com' },
};

export type Message = {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string | null;
  readonly text: string | null;
};
export type Delivery = {
  readonly id: string;
  readonly state: string;
  readonly reason: string;
  readonly to: string | null;
  readonly unique_id: string;
  readonly event_id: string;
  readonly duplicate_of: string | null;
  readonly attempts: readonly unknown[];
};

export type Carillon = {
  /** Where it was started. */
  readonly home: Home;
  readonly folder: string;
  readonly control: string;
  readonly events: string;
  /** The demo's API key, shown once by the first start. */
  readonly key: string;
  readonly pid: number;
  /** Everything that the start printed. */
  readonly screen: string;
  /** Runs `carillon <args>` in the folder; `input` goes to its standard input. */
  command(args: readonly string[], input?: string): Promise<Ended>;
  /** The same with --json, read. It has to succeed. */
  ask<T>(args: readonly string[]): Promise<T>;
  /** Starts a command that goes on printing (--follow); answers what it has printed so far, and ends it. */
  watch(args: readonly string[]): { out(): string; end(): void };
  /** Posts an event as a client would; answers the id. */
  send(event: unknown, headers?: Readonly<Record<string, string>>): Promise<string>;
  /** Posts anything, anywhere; answers what came back. */
  post(stream: string, body: string, headers: Readonly<Record<string, string>>): Promise<Answer>;
  /** The inbox, newest first. */
  inbox(): Promise<readonly Message[]>;
  /** Asks until the event was judged, and answers what `carillon trace` prints then. */
  trace(id: string): Promise<string>;
  /** Asks until some delivery of the event is in this state. */
  delivery(eventId: string, state: string): Promise<Delivery>;
  /** Changes one file of the demo: the text `from`, which must be there, becomes `to`. */
  edit(file: string, from: string, to: string): Promise<void>;
  /** Writes into the demo's carillon.yaml that mail goes to an SMTP server on this port; `apply` puts it into force. */
  sendThrough(port: number): Promise<void>;
  /** `carillon apply -f carillon-demo`, which has to succeed. */
  apply(): Promise<string>;
  /** SIGTERM, as a service manager would; answers the exit code. */
  stop(): Promise<number | null>;
  /** The same, and takes the place away. */
  leave(): Promise<void>;
};
export type Answer = { readonly status: number; readonly body: Record<string, unknown> };

export const ORDER_PAID = 'carillon-demo/workspaces/shop/notifications/order-paid.yaml';
export const DEPLOYMENT = 'carillon-demo/carillon.yaml';

/** Settings of the person who runs the tests must not reach what they see here. */
function environment({ settings }: Home): NodeJS.ProcessEnv {
  const mine = Object.entries(process.env).filter(([name]) => !/^(CARILLON|OTEL|VITEST|NODE_OPTIONS)/.test(name));
  return { ...Object.fromEntries(mine), NO_COLOR: '1', ...settings };
}

/** Runs one command of `carillon` to its end. */
export async function run(home: Home, args: readonly string[], input = ''): Promise<Ended> {
  const { code, stdout, stderr } = await cli(args, { cwd: home.folder, env: home.settings, input });
  return { code, out: stdout, err: stderr };
}

/** What a chapter meets: the product with the demo in it, started by it or before it. */
type Serving = Pick<Carillon, 'home' | 'control' | 'events' | 'key' | 'pid' | 'screen' | 'stop'>;

/** `carillon up --demo`, which is `npm start`, on free ports. Answers when it has printed its screen. */
async function startProcess(
  home: Home,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Serving> {
  const { folder } = home;
  const ports = ['--gateway-port', '0', '--control-port', '0'];
  const child = spawn(process.execPath, [PROGRAM, 'up', '--demo', ...ports, ...args], {
    cwd: folder,
    env: { ...environment(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const seen: { out: string; err: string; code: number | null | undefined } = { out: '', err: '', code: undefined };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (seen.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (seen.err += text));
  // It must not outlive the test runner.
  const end = (): boolean => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('close', (code) => {
    process.removeListener('exit', end);
    seen.code = code;
  });
  const screen = await untilFound(
    'the first screen is printed',
    () => {
      if (seen.code !== undefined) throw new Error(`carillon up ended with ${seen.code}: ${seen.err}`);
      return seen.out.includes('  Events ') && seen.out.endsWith('\n\n') ? seen.out : undefined;
    },
    START_WITHIN,
  );
  const found = (pattern: RegExp): string => pattern.exec(screen)?.[1] ?? '';
  return {
    home,
    control: found(/Portal +(\S+)/),
    events: found(/Events +(http:\/\/[^/\s]+\/events)/),
    key: found(/API key +(cln_\w+)/),
    pid: child.pid ?? 0,
    screen,
    stop: () => {
      child.kill('SIGTERM');
      return untilFound('the process ends', () => seen.code);
    },
  };
}

/** Puts the demo into a product that serves already, as its first start would. Whoever started it ends it. */
async function settleIn(home: Home, { control, events }: NonNullable<Home['serving']>): Promise<Serving> {
  const done = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(home, args);
    if (code !== 0) throw new Error(`carillon ${args.join(' ')} ended with ${code}: ${out}${err}`);
    return out;
  };
  await cp(DEMO, join(home.folder, 'carillon-demo'), { recursive: true });
  const key = /cln_\w+/.exec(await done('api-key', 'create', 'backend', '--workspace', 'shop'))?.[0] ?? '';
  const applied = await done('apply', '-f', 'carillon-demo');
  // Roles that started at the same moment have written there, too.
  const demoNumber = Number(/applied as configuration (\d+)/.exec(applied)?.[1]);
  return { home: { ...home, demoNumber }, control, events, key, pid: 0, screen: '', stop: async () => null };
}

/** The product with the demo in it, on free ports where it does not serve there already. */
export async function startCarillon(
  home: Home,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Carillon> {
  const { folder } = home;
  const serving = home.serving ? await settleIn(home, home.serving) : await startProcess(home, args, env);
  const { control, events, key, stop } = serving;

  const ask = async <T>(command: readonly string[]): Promise<T> => {
    const { code, out, err } = await run(home, [...command, '--json']);
    if (code !== 0) throw new Error(`carillon ${command.join(' ')} ended with ${code}: ${out}${err}`);
    return JSON.parse(out) as T;
  };
  const owner = async (path: string): Promise<Response> => {
    const given = home.settings['CARILLON_TOKEN'];
    const token = given ?? (await readFile(join(folder, 'carillon-data/owner-token'), 'utf8')).trim();
    return fetch(`${control}${path}`, { headers: { authorization: `Bearer ${token}` } });
  };
  const post: Carillon['post'] = async (stream, body, headers) => {
    const answer = await fetch(`${events}/${stream}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  return {
    ...serving,
    folder,
    command: (command, input) => run(home, command, input),
    ask,
    post,
    watch(watched) {
      const watcher = spawn(process.execPath, [PROGRAM, ...watched], {
        cwd: folder,
        env: environment(home),
        stdio: 'pipe',
      });
      let out = '';
      watcher.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
      return { out: () => out, end: () => void watcher.kill('SIGTERM') };
    },
    async send(event, headers = {}) {
      // A busy machine may keep the gateway from its configuration for a moment: nothing was taken, and clients come again.
      const sent = await untilFound('the gateway has read its configuration', async () => {
        const answer = await post('shop/orders', JSON.stringify(event), { authorization: `Bearer ${key}`, ...headers });
        return answer.body['code'] === 'configuration_stale' ? undefined : answer;
      });
      if (sent.status !== 202) throw new Error(`${sent.status}: ${String(sent.body['detail'])}`);
      return String(sent.body['id']);
    },
    async inbox() {
      const answer = await owner('/v1/inbox');
      const { items } = (await answer.json()) as { items: { id: string }[] };
      // Lists have no bodies: each message is read by its id.
      return Promise.all(items.map(async ({ id }) => (await (await owner(`/v1/inbox/${id}`)).json()) as Message));
    },
    async trace(id) {
      await untilFound(`${id} was judged`, async () => {
        const answer = await owner(`/v1/workspaces/shop/events/${id}/trace`);
        const { steps = [] } = (await answer.json()) as { steps?: { step: string; text: string }[] };
        return (
          steps.some(({ step, text }) => step === 'evaluation' && !text.startsWith('not evaluated yet')) || undefined
        );
      });
      return (await run(home, ['trace', id])).out;
    },
    delivery: (eventId, state) =>
      untilFound(`a delivery of ${eventId} is ${state}`, async () => {
        const answer = await owner(`/v1/workspaces/shop/deliveries?event=${eventId}`);
        return ((await answer.json()) as { items: Delivery[] }).items.find((one) => one.state === state);
      }),
    async sendThrough(port) {
      await writeFile(
        join(folder, DEPLOYMENT),
        [
          'backend: embedded',
          'accounts:',
          `  email: { kind: smtp, host: 127.0.0.1, port: ${port}, tls: none, from: Shop <shop@example.com> }`,
          '',
        ].join('\n'),
      );
    },
    async apply() {
      const { code, out } = await run(home, ['apply', '-f', 'carillon-demo']);
      if (code !== 0) throw new Error(out);
      return out;
    },
    async edit(file, from, to) {
      const text = await readFile(join(folder, file), 'utf8');
      if (!text.includes(from)) throw new Error(`${file} does not hold ${JSON.stringify(from)}`);
      await writeFile(
        join(folder, file),
        text.replace(from, () => to),
      );
    },
    async leave() {
      await stop();
      await home.leave();
    },
  };
}
