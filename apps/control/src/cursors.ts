import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { CarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ControlConfig, ControlPorts } from './ports.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_CHARACTERS = 4000;

export type Cursors = {
  /** Seals a cursor into an opaque text that is only valid for this place. */
  seal(cursor: string, place: string): string;
  /** Opens a cursor sealed for this place. Throws `invalid_request` for any other text. */
  open(text: string, place: string): string;
};

/**
 * Cursors of a deployment: every process of it opens what another one sealed. They end with the owner token. Sealed, not only signed, for
 * what a store makes its cursors of may be an address.
 */
export function createCursors(
  { ownerToken }: Pick<ControlConfig, 'ownerToken'>,
  { ids }: Pick<ControlPorts, 'ids'>,
): Cursors {
  // Made when it is first needed: the description of the API is made without any ports.
  let made: Buffer | null = null;
  const key = (): Buffer => (made ??= createHash('sha256').update(ids.keyed('cursors', ownerToken)).digest());
  return {
    seal(cursor, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key(), nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(cursor, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(text, place) {
      const bytes = Buffer.from(text, 'base64url');
      if (text.length > MAX_CHARACTERS || bytes.length <= NONCE_BYTES + TAG_BYTES) throw notOurs();
      const [nonce, tag] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)];
      const cipher = createDecipheriv(CIPHER, key(), nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(Buffer.from(place)).setAuthTag(tag);
      try {
        return cipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + cipher.final('utf8');
      } catch {
        throw notOurs();
      }
    },
  };
}

const notOurs = (): CarillonError =>
  new CarillonError(
    'invalid_request',
    'cursor: not the `next` of a page of this list with these filters; start without a cursor',
    { pointer: '/cursor' },
  );

/**
 * Encrypts the cursors of all lists that are added later. A cursor is valid only for the list, workspace and filters
 * that it was made for. A list is a route that takes `cursor` and returns `items` or `people` with `next`. Routes that
 * return parts of one body make their own cursors.
 */
export function sealCursors(app: FastifyInstance, cursors: Cursors): void {
  app.addHook('preValidation', async (request) => {
    if (!isList(request)) return;
    const query = request.query as Readonly<Record<string, unknown>>;
    const { cursor } = query;
    if (cursor === undefined) return;
    if (typeof cursor !== 'string') throw notOurs();
    request.query = { ...query, cursor: cursors.open(cursor, placeOf(request)) };
  });
  app.addHook('preSerialization', async (request, _reply, payload) => {
    if (!isList(request) || payload === null || typeof payload !== 'object') return payload;
    const seal = (part: object): object => {
      const { next } = part as { readonly next?: unknown };
      return typeof next === 'string' ? { ...part, next: cursors.seal(next, placeOf(request)) } : part;
    };
    const { people } = payload as { readonly people?: unknown };
    const sealed = seal(payload);
    return typeof people === 'object' && people !== null ? { ...sealed, people: seal(people) } : sealed;
  });
}

function isList({ routeOptions }: FastifyRequest): boolean {
  const { querystring, response } = (routeOptions.schema ?? {}) as {
    readonly querystring?: unknown;
    readonly response?: Readonly<Record<string, unknown>>;
  };
  const answer = response?.['200'];
  if (!(querystring instanceof z.ZodObject && answer instanceof z.ZodObject)) return false;
  return 'cursor' in querystring.shape && ('items' in answer.shape || 'people' in answer.shape);
}

/** Returns the request without its page. The order of filters makes no difference. */
function placeOf(request: FastifyRequest): string {
  const { searchParams } = new URL(request.url, 'http://localhost');
  const filters = [...searchParams]
    .filter(([name]) => name !== 'cursor' && name !== 'limit')
    .map((one) => one.join('='));
  return JSON.stringify([request.routeOptions.url, request.params, filters.toSorted()]);
}
