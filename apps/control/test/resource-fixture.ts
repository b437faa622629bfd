import { givenExpressions, givenMjml, givenTemplates } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import type { ControlPorts } from '../src/index.ts';

/** A deployment in memory with everything that planning and publishing take. */
export type ResourceFixture = {
  readonly topology: Topology;
  readonly ports: ControlPorts;
  close(): Promise<void>;
};

export async function openResourceFixture(): Promise<ResourceFixture> {
  const topology = await openTopology({ partitions: 1 });
  const [templates, mjml] = [givenTemplates(), givenMjml()];
  const secrets = { locate: async () => 'unset' as const, get: async () => undefined, resolve: async () => null };
  const { drafts, people } = topology.data;
  const own = {
    drafts,
    people,
    expressions: givenExpressions,
    templates,
    mjml,
    secrets,
    readEverywhere: async () => undefined,
  };
  return {
    topology,
    ports: { ...topology.ports, ...own } as unknown as ControlPorts,
    async close() {
      await topology.close();
      await templates.close();
      await mjml.close();
    },
  };
}

/** Bodies of a shop in which one notification is sent by mail. */
export const SHOP = { name: 'Shop' };
export const MAIL = { email: { subject: 'Order {{ order_id }} is paid', text: 'Thank you.' } };
export const ORDERS = { key: 'event.order_id', security: { api_keys: ['backend'] } };
export const PAID = {
  channels: { email: { template: 'order-paid' } },
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "paid"',
      recipients: { from: 'event', to: { email: 'event.email' }, unique_id: 'event.order_id' },
    },
  },
};
