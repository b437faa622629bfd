import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../services/process/free-ports.ts';
import { untilFound } from './deadline.ts';
import { greets } from './greets.ts';
import { type ParsedMail, parseMail } from './mail-parsing.ts';

export type OpenSmtpd = {
  readonly host: string;
  readonly port: number;
  /**
   * Returns the mails delivered to mailboxes. Delivery follows acceptance, so it waits until there are at least this
   * many.
   */
  readMail(atLeast?: number, within?: number): Promise<readonly ParsedMail[]>;
  stop(): Promise<void>;
};

const configuration = (port: number, mail: string): string =>
  `queue ttl 1h
table catchall { "@" = "nobody" }
listen on 127.0.0.1 port ${port} hostname mx.test
action "in" maildir "${mail}/%{dest:lowercase}" virtual <catchall>
match from any for any action "in"
`;

/**
 * Starts Debian's OpenSMTPD on the loopback interface with a mailbox for every address: a third-party server. Needs
 * root, and only one can run per machine, because queue and control socket have fixed paths.
 */
export async function startOpenSmtpd(program = '/usr/sbin/smtpd'): Promise<OpenSmtpd> {
  const folder = await mkdtemp(join(tmpdir(), 'opensmtpd-'));
  const mail = join(folder, 'mail');
  await mkdir(mail);
  // The mailboxes are made by an unprivileged user of the server's choice.
  await chmod(folder, 0o755);
  await chmod(mail, 0o1777);
  const [port = 0] = await freePorts(1);
  const config = join(folder, 'smtpd.conf');
  await writeFile(config, configuration(port, mail), { mode: 0o600 });

  const server = spawn(program, ['-d', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  server.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = once(server, 'exit');
  const running = (): boolean => server.exitCode === null && server.signalCode === null;
  const stop = async (): Promise<void> => {
    if (running()) server.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilFound('OpenSMTPD greets', () => {
      if (!running()) throw new Error(`OpenSMTPD ended:\n${log}`);
      return greets(port);
    });
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    host: '127.0.0.1',
    port,
    readMail: (atLeast = 1, within = 60_000) =>
      untilFound(
        `${atLeast} messages in mailboxes`,
        async () => {
          const files: string[] = [];
          for await (const file of glob(join(mail, '*', 'new', '*'))) files.push(file);
          if (files.length < atLeast) return undefined;
          return Promise.all(files.toSorted().map(async (file) => parseMail(await readFile(file))));
        },
        within,
      ),
    stop,
  };
}
