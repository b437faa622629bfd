import { afterAll, beforeAll } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import { planResources } from '../src/resources/plan-resources.ts';
import type { Control } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';
import { MAIL, openResourceFixture, ORDERS, PAID, SHOP, type ResourceFixture } from './resource-fixture.ts';

export type Answer = {
  readonly status: number;
  readonly etag: string;
  readonly body: Readonly<Record<string, unknown>>;
};
export type Headers = Readonly<Record<string, string>>;

/** A shop in memory with the routes of the management API over it. */
export type DraftFixture = {
  fixture: ResourceFixture;
  control: Control;
  /** Asks as somebody with these permissions. */
  ask(method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object, headers?: Headers): Promise<Answer>;
  as(name: string, permissions?: readonly Permission[], workspace?: string): Promise<DraftFixture['ask']>;
  /** Publishes a body as `apply` does, by nobody of the drafts. */
  apply(
    kind: 'notification' | 'template' | 'partial' | 'stream' | 'integration' | 'workspace',
    name: string,
    body: unknown,
    workspace?: string,
  ): Promise<number>;
};

export function useDrafts(): DraftFixture {
  const under = {} as DraftFixture;
  beforeAll(async () => {
    under.fixture = await openResourceFixture();
    under.as = async (name, permissions = ['read', 'configure'], workspace) => {
      const { control } = await openControl(accessOf(personWith(name, permissions, workspace)), under.fixture.ports);
      under.control ??= control;
      return async (method, url, payload, headers = {}) => {
        const whole = url.startsWith('/') ? url : `/v1/workspaces/shop/${url}`;
        const answer = await control.app.inject({ method, url: whole, headers, ...(payload && { payload }) });
        return { status: answer.statusCode, etag: answer.headers.etag ?? '', body: answer.json() };
      };
    };
    under.ask = await under.as('ada');
    under.apply = async (kind, name, body, workspace = 'shop') => {
      const request = { put: [{ ref: { kind, workspace, name }, body }], remove: [] };
      const { faults, record } = await planResources(request, under.fixture.ports);
      if (faults.length > 0) throw new Error(JSON.stringify(faults));
      await under.fixture.topology.publish(...record);
      return under.fixture.ports.configuration.current().number;
    };
    await under.apply('workspace', '', SHOP);
    await under.apply('stream', 'orders', ORDERS);
    await under.apply('template', 'order-paid', MAIL);
    await under.apply('notification', 'order-paid', PAID);
  });
  afterAll(() => under.fixture.close());
  return under;
}
