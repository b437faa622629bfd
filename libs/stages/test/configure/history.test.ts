import { CHANGED_BY_OWNER, type ChangeOrigin, type ResourceRef } from '@carillon/domain/configuration';
import { changesOf, notification, ORDER_PAID, orderShop, workspaceOf, type Wish } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConfigurationView, publishConfiguration } from '../../src/index.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const REF: ResourceRef = { kind: 'notification', workspace: 'shop', name: 'order-paid' };
const BY_ANN: ChangeOrigin = {
  actor: { kind: 'person', id: 'per_ann' },
  origin: 'portal',
  message: 'Louder',
  requestId: 'req_1',
};

async function publish(by: ChangeOrigin, ...wishes: readonly Wish[]): Promise<number> {
  const { log, codecs, configuration, ids, clock } = topology.ports;
  const changes = changesOf(await configuration.refresh(), wishes);
  const readEverywhere = async () => undefined;
  return publishConfiguration(
    { log, codec: codecs.configuration, view: configuration, ids, clock, readEverywhere },
    changes,
    by,
  );
}

describe('the history of a configuration', () => {
  it('lists every state of a resource with its author, also after the resource is deleted', async () => {
    const first = await publish(CHANGED_BY_OWNER, ...orderShop());
    await publish(CHANGED_BY_OWNER, workspaceOf({ name: 'Shop' }, 'other'));
    const second = await publish(BY_ANN, notification('order-paid', { ...ORDER_PAID, name: 'Paid' }));
    const third = await publish(BY_ANN, notification('order-paid', null));
    const { history } = topology.ports.configuration;
    expect(
      history
        .statesOf(REF)
        .map(({ publication, resource }) => [
          publication.number,
          publication.by.origin,
          resource && (resource.body as { name?: string }).name,
        ]),
    ).toEqual([
      [first, 'cli', ORDER_PAID.name],
      [second, 'portal', 'Paid'],
      [third, 'portal', null],
    ]);
    expect(history.publication(second)).toMatchObject({ by: BY_ANN, refs: [REF] });
    expect(history.publications()).toHaveLength(4);
    expect(history.statesOf({ ...REF, name: 'never' })).toEqual([]);
  });

  it('excludes records that a conflict made void, and is the same in a process that starts later', async () => {
    await publish(CHANGED_BY_OWNER, ...orderShop());
    const { log, codecs, configuration, ids, clock } = topology.ports;
    const late = changesOf(configuration.current(), [notification('order-paid', { ...ORDER_PAID, name: 'Late' })]);
    await publish(BY_ANN, notification('order-paid', { ...ORDER_PAID, name: 'First' }));
    const ports = {
      log,
      codec: codecs.configuration,
      view: configuration,
      ids,
      clock,
      readEverywhere: async () => undefined,
    };
    await expect(publishConfiguration(ports, late, BY_ANN)).rejects.toMatchObject({ code: 'conflict' });
    expect(configuration.history.statesOf(REF)).toHaveLength(2);
    expect(configuration.history.publication(configuration.current().number)).toBeUndefined();
    const other = createConfigurationView(log, codecs.configuration, clock);
    await other.refresh();
    expect(other.history.publications()).toEqual(configuration.history.publications());
    expect(other.history.statesOf(REF)).toEqual(configuration.history.statesOf(REF));
  });
});
