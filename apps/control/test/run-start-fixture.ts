import type { RunBody } from '@carillon/contracts';
import { createDirectWire, createMemoryStores } from '@carillon/testing/memory';
import { beforeAll, beforeEach } from 'vitest';
import type { RunChild } from '../src/index.ts';
import { accessOf, openControl, personWith, plainSealer } from './control-fixture.ts';
import { useDrafts, type DraftFixture, type Headers } from './draft-fixture.ts';
import { MAIL, ORDERS, SHOP } from './resource-fixture.ts';

const openStores = () => createMemoryStores().connect(createDirectWire());
type Started = { readonly status: number; readonly body: RunBody; readonly text: string };

/** Starts runs over a shop with one event, as an operator. */
export type RunStarts = {
  /** The drafts of the shop. */
  readonly under: DraftFixture;
  stores: ReturnType<typeof openStores>;
  start(body: object, headers?: Headers): Promise<Started>;
  /** Starts a run whose edit is a folder: the shop without its notification, and `files`. */
  fold(files: object, prune?: boolean): Promise<Started>;
};

export const yaml = (body: object): string => JSON.stringify(body);
const FILES = {
  'workspaces/shop/workspace.yaml': yaml(SHOP),
  'workspaces/shop/streams/orders.yaml': yaml(ORDERS),
  'workspaces/shop/templates/order-paid/email.yaml': yaml({ subject: MAIL.email.subject }),
  'workspaces/shop/templates/order-paid/email.txt': MAIL.email.text,
};

/** `prepare` publishes more before the event comes. */
export function useRunStarts(prepare: (under: DraftFixture) => Promise<unknown> = async () => undefined): RunStarts {
  const under = useDrafts();
  const starts = { under } as RunStarts;
  beforeAll(async () => {
    await prepare(under);
    await under.fixture.topology.event({ order_id: 'A-1' });
    under.fixture.topology.clock.pass(1_000);
  });
  // Each test has stores of its own: a workspace may have five runs that have not ended.
  beforeEach(async () => {
    starts.stores = openStores();
    const { control } = await openControl(accessOf(personWith('olga', ['read', 'operate'], 'shop')), {
      ...under.fixture.ports,
      jobs: starts.stores.jobs,
      runs: starts.stores.runs,
      idempotency: starts.stores.idempotency,
      answerSealer: plainSealer,
      runChild: {} as RunChild,
    });
    starts.start = async (payload, headers = {}) => {
      const answer = await control.app.inject({ method: 'POST', url: '/v1/workspaces/shop/runs', headers, payload });
      return { status: answer.statusCode, body: answer.json(), text: answer.body };
    };
    starts.fold = (files, prune = false) => starts.start({ folder: { files: { ...FILES, ...files }, prune } });
  });
  return starts;
}
