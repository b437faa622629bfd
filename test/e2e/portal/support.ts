import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PROGRAM, untilFound } from '@carillon/testing';
import { chromium, type Browser, type Page } from 'playwright-core';
import { PROGRAMS } from '../../support/programs.ts';

const READY_WITHIN = 120_000;

/**
 * Opens a browser, which ends with this process at the latest. It listens to no signal: Playwright takes its listeners off when the
 * last browser of the process closes, and the shared one closes never.
 */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    executablePath: PROGRAMS.chromium.path,
    timeout: READY_WITHIN,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // Whatever a page asks of another machine stays on this one.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  });

let shared: Promise<Browser> | undefined;

/** Returns the browser of this process, which all files of a worker share. A file closes what it opened with {@link closeContexts}. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser();
  return shared;
}

/** Closes all contexts of the shared browser. The files of a worker run one after the other, so all are of this file. */
export async function closeContexts(): Promise<void> {
  const browser = await shared;
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
}

/** How many times slower than it is the page's processor shall be. */
const SLOWED = Number(process.env['PORTAL_SLOWED'] ?? 1);
/** How many milliseconds later everything that the page asks for shall reach the server. */
const DELAYED = Number(process.env['PORTAL_DELAYED'] ?? 0);

/** Makes a page as slow as the environment wants it: what reads the page before it is ready fails then. */
export async function hinder(page: Page): Promise<void> {
  if (SLOWED > 1) {
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWED });
  }
  if (DELAYED === 0) return;
  await page.route('**', async (route) => {
    await pause(DELAYED);
    // The page may be gone by now.
    await route.fallback().catch(() => undefined);
  });
}

/** A product that other files of this run use at the same time: a file changes and reads workspaces of its own only. */
export type SharedDemo = {
  readonly control: string;
  readonly gateway: string;
  readonly ownerToken: string;
  /** Asks the management API as its owner. */
  ask<T>(path: string, body?: object): Promise<T>;
  /**
   * Reads the messages in the sandbox of a workspace, or of all, with their bodies, newest first. Reads each by its id, because
   * a list has no bodies.
   */
  inbox<T>(workspace?: string): Promise<readonly T[]>;
  /** Makes a key of a workspace that may send events. */
  makeKey(workspace: string, name: string): Promise<string>;
  /** Puts files into force, next to what is there. */
  apply(files: Readonly<Record<string, string>>): Promise<void>;
  /** Sends an event; answers its id. */
  send(stream: string, key: string, event: object): Promise<string>;
};

/** A deployment that a test looks at through its portal. */
export type Demo = SharedDemo & { readonly welcome: string; stop(): Promise<void> };

type Addresses = { readonly control: string; readonly gateway: string; readonly welcome: string };

/** What a test asks of a deployment whose addresses and owner are known. */
export function demoAt({ control, gateway }: Omit<Addresses, 'welcome'>, ownerToken: string): SharedDemo {
  const ask = async <T>(path: string, body?: object): Promise<T> => {
    const answer = await fetch(`${control}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${ownerToken}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  };
  return {
    control,
    gateway,
    ownerToken,
    ask,
    async inbox<T>(workspace?: string) {
      const at = workspace === undefined ? '/v1/inbox' : `/v1/workspaces/${workspace}/inbox`;
      type Listed = { readonly items: readonly { readonly id: string }[] };
      const { items } = await ask<Listed>(`${at}?limit=100`);
      return Promise.all(items.map(({ id }) => ask<T>(`/v1/inbox/${id}`)));
    },
    async makeKey(workspace, name) {
      const { key } = await ask<{ key: string }>(`/v1/workspaces/${workspace}/api-keys`, {
        name,
        new_workspace: true,
      });
      return key;
    },
    async apply(files) {
      const { faults } = await ask<{ faults: readonly object[] }>('/v1/configuration/apply', { files });
      if (faults.length > 0) throw new Error(JSON.stringify(faults));
    },
    async send(stream, key, event) {
      // A busy machine may keep the gateway from its configuration for a moment: nothing was taken, and clients come again.
      return untilFound('the gateway has read its configuration', async () => {
        const answer = await fetch(`${gateway}/events/${stream}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(event),
        });
        const text = await answer.text();
        const { id, code } = JSON.parse(text) as { id?: string; code?: string };
        if (id === undefined && code !== 'configuration_stale') throw new Error(`${stream}: ${answer.status} ${text}`);
        return id;
      });
    },
  };
}

/** A demo in one process, which can be killed and come back at the same addresses. */
export type RestartedDemo = Demo & {
  kill(): Promise<void>;
  comeBack(): Promise<void>;
};

/** The product as a person starts it, with the demo, in a folder of its own. */
export async function startDemo(): Promise<RestartedDemo & { readonly dataDir: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-portal-'));
  const start = (gatewayPort: string, controlPort: string): ChildProcess =>
    spawn(
      process.execPath,
      [PROGRAM, 'up', '--demo', '--gateway-port', gatewayPort, '--control-port', controlPort, '--json'],
      {
        cwd: folder,
        // The account of the workspace in trouble is a mail server of this machine. What was compiled once is compiled for all.
        env: {
          NO_COLOR: '1',
          CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1',
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
  let child = start('0', '0');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill(signal);
    await ended;
  };
  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const addresses = await readAddresses(child);
    const ownerToken = (await readFile(join(folder, 'carillon-data/owner-token'), 'utf8')).trim();
    return {
      ...demoAt(addresses, ownerToken),
      welcome: addresses.welcome,
      stop,
      dataDir: join(folder, 'carillon-data'),
      kill: () => end('SIGKILL'),
      async comeBack() {
        child = start(new URL(addresses.gateway).port, new URL(addresses.control).port);
        await readAddresses(child);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The JSON that `up --json` prints once everything listens. */
function readAddresses(child: ChildProcess): Promise<Addresses> {
  return new Promise((settle, fail) => {
    let printed = '';
    let complaints = '';
    const timer = setTimeout(() => fail(new Error(`not up in time: ${complaints}`)), READY_WITHIN);
    child.once('exit', () => fail(new Error(`it ended: ${complaints}`)));
    child.stderr?.on('data', (chunk: Buffer) => void (complaints += chunk.toString()));
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      if (!printed.trimEnd().endsWith('}')) return;
      clearTimeout(timer);
      settle(JSON.parse(printed) as Addresses);
    });
  });
}
