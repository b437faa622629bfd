import { afterAll, beforeAll } from 'vitest';
import type { Permission } from '../src/access/permission.ts';
import { planResources } from '../src/resources/plan-resources.ts';
import type { Control } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-ground.ts';
import { MAIL, openResourceGround, ORDERS, PAID, SHOP, type ResourceGround } from './resource-ground.ts';

export type Answer = {
  readonly status: number;
  readonly etag: string;
  readonly body: Readonly<Record<string, unknown>>;
};
export type Headers = Readonly<Record<string, string>>;

/** A shop in memory with the routes of the management API over it. */
export type DraftGround = {
  ground: ResourceGround;
  control: Control;
  /** Asks as somebody with these permissions. */
  ask(method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string, payload?: object, headers?: Headers): Promise<Answer>;
  as(name: string, permissions?: readonly Permission[], workspace?: string): Promise<DraftGround['ask']>;
  /** Publishes a body as `apply` does, by nobody of the drafts. */
  apply(
    kind: 'notification' | 'template' | 'partial' | 'stream' | 'workspace',
    name: string,
    body: unknown,
    workspace?: string,
  ): Promise<number>;
};

export function useDrafts(): DraftGround {
  const under = {} as DraftGround;
  beforeAll(async () => {
    under.ground = await openResourceGround();
    under.as = async (name, permissions = ['read', 'configure'], workspace) => {
      const { control } = await openControl(accessOf(personWith(name, permissions, workspace)), under.ground.ports);
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
      const { faults, record } = await planResources(request, under.ground.ports);
      if (faults.length > 0) throw new Error(JSON.stringify(faults));
      await under.ground.topology.publish(...record);
      return under.ground.ports.configuration.current().number;
    };
    await under.apply('workspace', '', SHOP);
    await under.apply('stream', 'orders', ORDERS);
    await under.apply('template', 'order-paid', MAIL);
    await under.apply('notification', 'order-paid', PAID);
  });
  afterAll(() => under.ground.close());
  return under;
}
