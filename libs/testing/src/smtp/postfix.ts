import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCached } from '../services/cache/cache-entry.ts';
import { freePorts } from '../services/process/free-ports.ts';
import { untilFound } from './deadline.ts';
import { greets } from './greets.ts';
import { POSTFIX_RELEASE, postfixLibraries } from './postfix-release.ts';

export type Postfix = {
  readonly host: string;
  /** Where it takes mail from this machine. */
  readonly port: number;
  /** What it said so far. */
  log(): Promise<string>;
  stop(): Promise<void>;
};

export type PostfixOptions = {
  /** Where all mail goes that is not for `bounceDomain`. */
  readonly relayPort: number;
  /** Mail for this domain goes by LMTP to `lmtpPort`. */
  readonly bounceDomain: string;
  readonly lmtpPort: number;
};

/** Two accounts that every Debian has: whoever owns the queue, and the group that may put mail into it. */
const OWNERS = { mail: 'uucp', group: 'news' } as const;

/** All its services, none of them in a root folder of its own: service, type, private, unprivileged, chroot, wakeup, most, command. */
const SERVICES = [
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'rewrite unix - - n - - trivial-rewrite',
  ...['bounce', 'defer', 'trace'].map((name) => `${name} unix - - n - 0 bounce`),
  'verify unix - - n - 1 verify',
  ...['smtp', 'relay'].map((name) => `${name} unix - - n - - smtp`),
  ...['lmtp', 'error', 'discard'].map((name) => `${name} unix - - n - - ${name}`),
  'retry unix - - n - - error',
  'proxymap unix - - n - - proxymap',
  'anvil unix - - n - 1 anvil',
  'scache unix - - n - 1 scache',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'pickup unix n - n 60 1 pickup',
  'showq unix n - n - - showq',
  'flush unix n - n 1000? 0 flush',
  'postlog unix-dgram n - n - 1 postlogd',
];

/** The folders of queue and data, with the owners and modes that it insists on. */
async function layOut(folder: string): Promise<void> {
  const [mail, group] = await Promise.all([idIn('/etc/passwd', OWNERS.mail), idIn('/etc/group', OWNERS.group)]);
  await chmod(folder, 0o755);
  const queue = join(folder, 'queue');
  await mkdir(join(queue, 'pid'), { recursive: true });
  const own = [
    'active',
    'bounce',
    'corrupt',
    'defer',
    'deferred',
    'flush',
    'hold',
    'incoming',
    'private',
    'saved',
    'trace',
  ];
  for (const place of [...own.map((name) => join(queue, name)), join(folder, 'data')]) {
    await mkdir(place, { mode: 0o700 });
    await chown(place, mail, 0);
  }
  for (const [name, mode] of [
    ['maildrop', 0o730],
    ['public', 0o710],
  ] as const) {
    await mkdir(join(queue, name));
    await chown(join(queue, name), mail, group);
    await chmod(join(queue, name), mode);
  }
}

/** The number of an account or a group; throws where there is none. */
async function idIn(file: string, name: string): Promise<number> {
  const line = (await readFile(file, 'utf8')).split('\n').find((each) => each.startsWith(`${name}:`));
  if (line === undefined) throw new Error(`${file} has no ${name}`);
  return Number(line.split(':')[2]);
}

const mainConfiguration = (folder: string, root: string, options: PostfixOptions): string => `compatibility_level=3.6
maillog_file=${folder}/log
maillog_file_prefixes=${folder}
queue_directory=${folder}/queue
command_directory=${root}/usr/sbin
daemon_directory=${root}/usr/lib/postfix/sbin
shlib_directory=${root}/usr/lib/postfix
data_directory=${folder}/data
mail_owner=${OWNERS.mail}
setgid_group=${OWNERS.group}
myhostname=relay.test
mydestination=
local_recipient_maps=
inet_interfaces=127.0.0.1
inet_protocols=ipv4
relayhost=[127.0.0.1]:${options.relayPort}
transport_maps=inline:{ { ${options.bounceDomain} = lmtp:inet:127.0.0.1:${options.lmtpPort} } }
smtp_dns_support_level=disabled
smtp_host_lookup=native
smtpd_relay_restrictions=permit_mynetworks,reject
import_environment=MAIL_CONFIG LD_LIBRARY_PATH TZ PATH
`;

/**
 * Postfix on the loopback interface, from its package and not installed: relays to a server of the test, makes reports of what
 * that refuses, and hands those for one domain to an LMTP listener. Needs root, as its queue has an owner of its own.
 */
export async function startPostfix(options: PostfixOptions): Promise<Postfix> {
  const root = await ensureCached(POSTFIX_RELEASE);
  const folder = await mkdtemp(join(tmpdir(), 'postfix-'));
  const [port = 0] = await freePorts(1);
  await layOut(folder);
  const etc = join(folder, 'etc');
  await mkdir(etc);
  await writeFile(join(etc, 'main.cf'), mainConfiguration(folder, root, options));
  await writeFile(join(etc, 'master.cf'), [`127.0.0.1:${port} inet n - n - - smtpd`, ...SERVICES, ''].join('\n'));
  await writeFile(join(etc, 'dynamicmaps.cf'), '');
  const libraries = postfixLibraries(root);
  const server = spawn(join(root, 'usr/lib/postfix/sbin/master'), ['-d', '-c', etc], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, MAIL_CONFIG: etc, LD_LIBRARY_PATH: libraries },
  });
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const ended = once(server, 'exit');
  const running = (): boolean => server.exitCode === null && server.signalCode === null;
  const log = async (): Promise<string> => said + (await readFile(join(folder, 'log'), 'utf8').catch(() => ''));
  const stop = async (): Promise<void> => {
    if (running()) server.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilFound('Postfix greets', async () => {
      if (!running()) throw new Error(`Postfix ended:\n${await log()}`);
      return greets(port);
    });
  } catch (error) {
    const words = await log();
    await stop();
    throw new Error(`Postfix does not start:\n${words}`, { cause: error });
  }
  return { host: '127.0.0.1', port, log, stop };
}
