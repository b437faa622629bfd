/**
 * Runs one service in the background for `npm run services -- start`, until it gets SIGTERM. What is running stands in a
 * file that appears when it answers and goes when it is stopped. Arguments: the service, that file, the number of nodes.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  startConnect,
  startFerretDb,
  startKafka,
  startPostgres,
  startRegistry,
  type Service,
} from '@carillon/testing/services';
import { isServiceName, type ServiceName } from '@carillon/testing/services/needs';
import type { RunningService } from './services-state.ts';

type Started = { readonly service: Service; readonly address: string; readonly pids: readonly number[] };

async function start(name: ServiceName, nodes: 1 | 3): Promise<Started> {
  switch (name) {
    case 'kafka':
    case 'kafka39': {
      const service = await startKafka({ version: name === 'kafka' ? '4.3.1' : '3.9.2', nodes });
      return { service, address: service.brokers.join(','), pids: service.nodes.map(({ pid }) => pid) };
    }
    case 'debezium': {
      const kafka = await startKafka();
      const connect = await startConnect({ brokers: kafka.brokers });
      const stop = async (): Promise<void> => {
        await connect.stop();
        await kafka.stop();
      };
      return {
        service: { ...connect, stop },
        address: connect.url,
        pids: [connect.pid, ...kafka.nodes.map(({ pid }) => pid)],
      };
    }
    case 'mongodb': {
      const service = await startFerretDb();
      return { service, address: service.url, pids: Object.values(service.parts).map(({ pid }) => pid) };
    }
    case 'postgres': {
      const service = await startPostgres();
      return { service, address: service.url, pids: [service.pid] };
    }
    case 'registry': {
      const service = await startRegistry();
      return { service, address: service.url, pids: [service.pid] };
    }
  }
}

const [name = '', file = '', nodes] = process.argv.slice(2);
if (!isServiceName(name)) throw new Error(`no such service: ${name}`);
const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop());

const { service, address, pids } = await start(name, nodes === '3' ? 3 : 1);
const running: RunningService = { pid: process.pid, address, dataDir: service.dataDir, pids };
writeFileSync(`${file}.new`, JSON.stringify(running));
renameSync(`${file}.new`, file);

// A promise alone does not keep a process.
const awake = new AbortController();
const keeping = pause(2 ** 31 - 1, undefined, { signal: awake.signal }).catch(() => undefined);
await stopped;
await service.stop();
rmSync(file, { force: true });
awake.abort();
await keeping;
