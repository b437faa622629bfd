import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  startInContainer,
  startKafka,
  startMongoDb,
  startPostgres,
  startRegistry,
  type Service,
} from '@carillon/testing/services';
import type { TestProject } from 'vitest/node';
import { buildPortal } from '../../tools/portal.ts';

/** What tests are told of a server. */
export type Addresses = {
  readonly kafka: { readonly brokers: readonly string[] };
  readonly mongodb: { readonly url: string };
  readonly postgres: { readonly url: string };
  readonly registry: { readonly url: string };
  /** The product in one process, with the demo. */
  readonly product: { readonly control: string; readonly gateway: string; readonly ownerToken: string };
};

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the servers of this run are asked for: shared-servers.ts. */
    readonly serversOfRun: string;
  }
}

/** In a container where an engine answers; who kills a server starts one of their own, which is a process of this machine. */
type Started = { readonly service: Pick<Service, 'stop'>; readonly addresses: Addresses[keyof Addresses] };

const START: Readonly<Record<keyof Addresses, () => Promise<Started>>> = {
  async kafka() {
    const container = await startInContainer('kafka');
    if (container) return { service: container, addresses: { brokers: [container.address] } };
    const service = await startKafka();
    return { service, addresses: { brokers: service.brokers } };
  },
  async mongodb() {
    const service = await startMongoDb();
    return { service, addresses: { url: service.url } };
  },
  async postgres() {
    const service = await startPostgres();
    return { service, addresses: { url: service.url } };
  },
  async registry() {
    const service = (await startInContainer('registry')) ?? (await startRegistry());
    return { service, addresses: { url: service.url } };
  },
  async product() {
    const { startDemo } = await import('../e2e/portal/support.ts');
    const demo = await startDemo();
    const { control, gateway, ownerToken } = demo;
    return { service: { stop: () => demo.stop() }, addresses: { control, gateway, ownerToken } };
  },
};
const isServer = (name: string): name is keyof Addresses => Object.hasOwn(START, name);

/**
 * vitest calls it once for a lane. The portal is built then, where its sources have changed. `GET /kafka` starts a broker when it is asked for the first time, and answers its
 * addresses; the same for `/mongodb`, `/postgres` and `/registry`. `GET /turns/<name>` begins its answer when whoever asked before has
 * ended the connection: a test holds its turn by reading on, and loses it when its process ends.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await buildPortal();
  const started = new Map<keyof Addresses, Promise<Started>>();
  const ends = new Map<string, Promise<void>>();
  const starting = (name: keyof Addresses): Promise<Started> => {
    const service = started.get(name) ?? START[name]();
    started.set(name, service);
    return service;
  };

  const server = createServer((request, response) => {
    const [, name = '', turn] = (request.url ?? '').split('/');
    if (isServer(name)) {
      starting(name).then(
        ({ addresses }) => response.end(JSON.stringify(addresses)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    } else if (name === 'turns' && turn) {
      const before = ends.get(turn) ?? Promise.resolve();
      const ended = new Promise<void>((resolve) => response.once('close', resolve));
      ends.set(
        turn,
        before.then(() => ended),
      );
      void before.then(() => response.writeHead(200).flushHeaders());
    } else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  project.provide('serversOfRun', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    const services = await Promise.allSettled(started.values());
    const running = services.flatMap((one) => (one.status === 'fulfilled' ? [one.value.service] : []));
    await Promise.all(running.map((service) => service.stop()));
  };
}
