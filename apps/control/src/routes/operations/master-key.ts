import { masterKeysBody, newMasterKey, renewedValuesBody, type MasterKeysBody } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';
import type { RotationState } from '@carillon/ports';
import type { FastifyRequest } from 'fastify';
import type { ControlPorts } from '../../ports.ts';
import { principalOf, refuseToken } from '../../access/principal.ts';
import { noBody, type ApiServer } from '../app.ts';

/** Owners only, as for backups: exchanging the master key decides who can read the secrets. */
const OWNERS = { permission: 'people' } as const;
const KEY_BYTES = 32;

/**
 * Refuses tokens, because a token is stolen more easily than a person is deceived, and whoever sets the master key can
 * lock everybody else out.
 */
const refuseTokens = (request: FastifyRequest): void =>
  refuseToken(principalOf(request), 'only a person, or the owner token, may rotate the master key');

export function masterKeyRoutes(app: ApiServer, { rotation }: Pick<ControlPorts, 'rotation'>): void {
  app.get(
    '/v1/master-key',
    {
      config: OWNERS,
      schema: {
        operationId: 'readMasterKeys',
        tags: ['Secrets'],
        summary: 'Which master keys count, and what rests under them; fingerprints, never a key',
        response: { 200: masterKeysBody },
      },
    },
    async () => show(await rotation.state()),
  );

  app.post(
    '/v1/master-key/rotate',
    {
      config: { ...OWNERS, audit: 'secret.rotate', problems: ['conflict', 'forbidden'] },
      schema: {
        operationId: 'rotateMasterKey',
        tags: ['Secrets'],
        summary: 'Activates a new master key beside the old one. Continues an interrupted rotation',
        body: newMasterKey.nullish(),
        response: { 200: masterKeysBody },
      },
    },
    async (request) => {
      refuseTokens(request);
      return show(await rotation.begin(keyIn(request.body?.master_key)));
    },
  );

  app.post(
    '/v1/master-key/renew-values',
    {
      config: { ...OWNERS, audit: 'secret.rotate', problems: ['conflict', 'forbidden'] },
      schema: {
        operationId: 'renewSecretValues',
        tags: ['Secrets'],
        summary: 'Encrypts every stored secret again under new data keys. Continues an interrupted run',
        body: noBody,
        response: { 200: renewedValuesBody },
      },
    },
    async (request) => {
      refuseTokens(request);
      const { renewed, state } = await rotation.renewValues();
      return { ...show(state), renewed };
    },
  );

  app.post(
    '/v1/master-key/finish',
    {
      config: { ...OWNERS, audit: 'secret.rotate', problems: ['conflict', 'forbidden'] },
      schema: {
        operationId: 'finishMasterKey',
        tags: ['Secrets'],
        summary: 'Refuses the old master key from now on; restart every role with the new one before',
        body: noBody,
        response: { 200: masterKeysBody },
      },
    },
    async (request) => {
      refuseTokens(request);
      return show(await rotation.finish());
    },
  );

  app.post(
    '/v1/master-key/cancel',
    {
      config: { ...OWNERS, audit: 'secret.rotate', problems: ['conflict', 'forbidden'] },
      schema: {
        operationId: 'cancelMasterKey',
        tags: ['Secrets'],
        summary: 'Refuses the new master key, as if no rotation had begun',
        body: noBody,
        response: { 200: masterKeysBody },
      },
    },
    async (request) => {
      refuseTokens(request);
      return show(await rotation.cancel());
    },
  );
}

/** Never repeated, whatever it is. */
function keyIn(text: string | undefined): Uint8Array | null {
  if (text === undefined) return null;
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, /^[0-9a-f]{64}$/i.test(trimmed) ? 'hex' : 'base64');
  if (key.length === KEY_BYTES) return key;
  throw new CarillonError(
    'invalid_request',
    'master_key: expected 32 bytes as hex or base64; make one with: openssl rand -hex 32',
    { pointer: '/master_key' },
  );
}

const show = (state: RotationState): MasterKeysBody => ({
  source: state.source,
  master_keys: state.masterKeys.map(({ id, held, starts, dataKeys, alone }) => ({
    fingerprint: id,
    held,
    starts,
    data_keys: dataKeys,
    alone,
  })),
  data_keys: state.dataKeys,
  values: state.values,
  values_behind: state.valuesBehind,
  unreadable: state.unreadable.map((one) => ({ ...one })),
});
