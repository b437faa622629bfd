import { join } from 'node:path';
import { createServiceFolder, freePorts } from '@carillon/testing/services';
import { startHttpPeer, type HttpTarget } from '../../http/target.ts';
import { type QueueServer, startPostgreSql, startRedis } from './servers.ts';

type QueueProgram = {
  readonly name: string;
  readonly file: string;
  readonly database: string;
  readonly startServer: () => Promise<QueueServer>;
  /** How the program is told of its server. */
  readonly place: (server: QueueServer) => string;
};

async function startQueue(
  { name, file, database, startServer, place }: QueueProgram,
  smtpPort: number,
  connections: number,
): Promise<HttpTarget> {
  const server = await startServer();
  try {
    const [port = 0] = await freePorts(1);
    const log = join(await createServiceFolder(name), 'log');
    const args = [join(import.meta.dirname, file), String(port), place(server), String(smtpPort), String(connections)];
    const target = await startHttpPeer({ name, command: process.execPath, args, port, log, stored: null });
    return {
      ...target,
      processes: { ...target.processes, [database]: server.pid },
      async stop() {
        await target.stop();
        await server.stop();
      },
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** A mail for each event: pg-boss on PostgreSQL. */
export const startPgBoss = (smtpPort: number, connections: number): Promise<HttpTarget> =>
  startQueue(
    {
      name: 'pg-boss',
      file: 'pg-boss.ts',
      database: 'PostgreSQL',
      startServer: startPostgreSql,
      place: ({ url }) => url,
    },
    smtpPort,
    connections,
  );

/** A mail for each event: BullMQ on Redis. */
export const startBullMq = (smtpPort: number, connections: number): Promise<HttpTarget> =>
  startQueue(
    {
      name: 'bullmq',
      file: 'bullmq.ts',
      database: 'Redis',
      startServer: startRedis,
      place: ({ port }) => String(port),
    },
    smtpPort,
    connections,
  );
