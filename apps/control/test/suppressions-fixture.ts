import { CHANGED_BY_OWNER } from '@carillon/domain/configuration';
import type { Suppression, SuppressionList } from '@carillon/ports';
import { publishConfiguration } from '@carillon/stages';
import { changesOf, givenIds, orderShop, type Wish } from '@carillon/testing/given';
import type { ControlPorts } from '../src/index.ts';
import { accessOf, openControl, personWith } from './control-fixture.ts';

type Answered = {
  readonly items: readonly {
    readonly source: string;
    readonly channel: string;
    readonly address: string;
    readonly by: string | null;
  }[];
  readonly detail: string;
  readonly undo: string;
  readonly added: unknown;
  readonly still: readonly { readonly source: string }[];
};
export const SHOP = '/v1/workspaces/shop/suppressions';

/** Shows what it seals, under a mark that takes the key of the deployment. */
export const signer: ControlPorts['undoSealer'] = {
  seal: (boundTo, text) => `${givenIds.keyed(...boundTo, text)}.${text}`,
  open(boundTo, sealed) {
    const [, mark = '', text = ''] = /^(\w+)\.(.*)$/s.exec(sealed) ?? [];
    return mark === givenIds.keyed(...boundTo, text) ? text : null;
  },
};

/** Two shops over this list, as somebody asks for it who operates. */
export async function openSuppressions(suppressions: SuppressionList) {
  const fixture = await openControl(accessOf(personWith('ann', ['read', 'bodies', 'operate'])), {
    suppressions,
    undoSealer: signer,
  });
  const { configuration, clock, log, codecs, control } = fixture;
  const workspace = (name: string): Wish => ({ ref: { kind: 'workspace', workspace: name, name: '' }, body: {} });
  const wishes = ['club', 'shop'].flatMap((name) => [workspace(name), ...orderShop(undefined, name)]);
  const ports = { log, codec: codecs.configuration, view: configuration, ids: givenIds, clock };
  const changes = changesOf(await configuration.refresh(), wishes);
  await publishConfiguration({ ...ports, readEverywhere: async () => undefined }, changes, CHANGED_BY_OWNER);
  const { address: url } = await control.listen();
  /** Over a connection: what is injected has no socket to end where its body is not read. */
  const call = async (method: 'GET' | 'POST', path: string, payload?: object | string, type = 'application/json') => {
    const isFile = typeof payload === 'string' || payload instanceof Buffer;
    const body = payload === undefined ? {} : { body: isFile ? payload : JSON.stringify(payload) };
    const headers = payload === undefined ? {} : { 'content-type': type };
    const answer = await fetch(`${url}${path}`, { method, headers, ...body });
    return { status: answer.status, body: (await answer.json()) as Answered };
  };
  return {
    call,
    get: (query: string) => call('GET', `${SHOP}${query}`),
    post: (path: string, body: object) => call('POST', `${SHOP}${path}`, body),
    importing: (csv: string, query = '') => call('POST', `${SHOP}/import${query}`, csv, 'text/csv'),
    /** Over a connection, as it is streamed. */
    exported: async (query = '', at = SHOP) => {
      const answer = await fetch(`${url}${at}/export${query}`);
      return { headers: Object.fromEntries(answer.headers), body: await answer.text() };
    },
    close: () => control.close(0),
  };
}

/** What a provider said of an address. */
export const entry = (address: string, more: Partial<Suppression> = {}): Suppression => ({
  workspace: 'shop',
  channel: 'email',
  address,
  source: 'hard_bounce',
  detail: '550 5.1.1 no such user',
  deliveryId: 'dlv_1',
  at: 1,
  ...more,
});

/** Of what was answered, the sources alone. */
export const sourcesOf = ({ body }: { readonly body: Answered }): readonly string[] =>
  body.items.map(({ source }) => source).toSorted();
