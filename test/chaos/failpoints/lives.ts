import { setTimeout as pause } from 'node:timers/promises';
import { untilFound, type Product } from '@carillon/testing';
import type { Post } from '../posts.ts';
import { WORKSPACE } from '../../harness/shop.ts';

/** The product across its lives, as clients and operators see it: what they say they say again until it is taken. */
export type Lives = {
  /** Says it until it is answered with 202; answers the id. */
  say(post: Post): Promise<string>;
  /** Asks the gateway until it answers with this status; answers the text. */
  reach(path: string, init: RequestInit, status: number): Promise<string>;
  /** Asks the management API until it answers with one of these codes. */
  manage<Body>(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    codes?: readonly number[],
  ): Promise<Body>;
};

/** Where it is reached, and what opens its management API. */
export type Doors = Pick<Product, 'gatewayUrl' | 'controlUrl' | 'token'>;

/** A delivery as the management API shows it. */
export type Shown = {
  readonly id: string;
  readonly state: string;
  readonly history?: readonly { readonly state: string }[];
};

const TAKEN_WITHIN = 120_000;
const TRY_AGAIN = 50;
const ANSWERED_WITHIN = 30_000;

/** `doors` resolves when it takes requests; rejects where it ended before. */
export function createLives(doors: () => Promise<Doors>): Lives {
  /** Undefined: the product is dead, or did not say what was to be heard. */
  async function ask(
    request: (product: Doors) => Promise<Response>,
    codes: readonly number[],
    read: (answer: Response) => Promise<unknown> = (answer) => answer.json(),
  ): Promise<unknown> {
    try {
      const answer = await request(await doors());
      if (codes.includes(answer.status)) return await read(answer);
      const text = await answer.text();
      if (answer.status < 500 && answer.status !== 429) throw new RefusedError(`refused: ${answer.status} ${text}`);
    } catch (error) {
      if (error instanceof RefusedError) throw error;
    }
    await pause(TRY_AGAIN);
    return undefined;
  }

  const send = (url: string, method: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
    fetch(url, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWERED_WITHIN),
    });

  return {
    async say({ path, headers, body, name }) {
      const taken = await untilFound(
        `202 for ${name}`,
        () => ask(({ gatewayUrl }) => send(`${gatewayUrl}${path}`, 'POST', headers, body), [202]),
        TAKEN_WITHIN,
      );
      return (taken as { id: string }).id;
    },
    async reach(path, init, status) {
      const own = (gatewayUrl: string): Promise<Response> =>
        fetch(`${gatewayUrl}${path}`, { ...init, signal: AbortSignal.timeout(ANSWERED_WITHIN) });
      const answered = await untilFound(
        `${status} for ${path.split('/', 2).join('/')}`,
        () =>
          ask(
            ({ gatewayUrl }) => own(gatewayUrl),
            [status],
            (answer) => answer.text(),
          ),
        TAKEN_WITHIN,
      );
      return answered as string;
    },
    async manage<Body>(
      method: 'GET' | 'POST' | 'PUT' | 'DELETE',
      path: string,
      body?: unknown,
      codes: readonly number[] = [200],
    ) {
      const answered = await untilFound(
        `${method} ${path}`,
        () =>
          ask(
            ({ controlUrl, token }) => send(`${controlUrl}${path}`, method, { authorization: `Bearer ${token}` }, body),
            codes,
          ),
        TAKEN_WITHIN,
      );
      return answered as Body;
    },
  };
}

/** The deliveries of an event, or to an address. */
export async function deliveriesOf(lives: Lives, filter: Readonly<Record<string, string>>): Promise<readonly Shown[]> {
  const path = `/v1/workspaces/${WORKSPACE}/deliveries?${new URLSearchParams(filter).toString()}`;
  return (await lives.manage<{ items: readonly Shown[] }>('GET', path)).items;
}

export const isOpen = ({ state }: Shown): boolean => state === 'WAITING' || state === 'SENDING';

class RefusedError extends Error {}
