import { readsSource, streamTable, type Configuration, type EventStream } from '@carillon/domain/configuration';
import { CarillonError, similarTo, type Instant, type JsonObject } from '@carillon/kernel';
import { findApiKey } from './api-keys.ts';
import type { Permit } from './admission-control.ts';
import type { GatewayPorts } from './ports.ts';
import { unauthorizedBy } from './unauthorized.ts';
import { findToken, isToken } from './tokens.ts';

/** Result of the checks on credential, path and stream: the request may append to the stream. */
export type Admission = {
  readonly stream: EventStream;
  /** Kind and name of the credential, for the record's header. */
  readonly principal: string;
  /** Claims of the token. Null for an API key. */
  readonly claims: JsonObject | null;
  /** Public id of the API key. Null for a token and a signature. */
  readonly keyId: string | null;
  /** The request was signed with the stream's `webhook_secret`. */
  readonly isSigned: boolean;
};

/** Path and credentials of a request. */
export type Asked = {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly now: Instant;
  /** Called before a token is verified, which takes time that strangers share; throws `overloaded`. */
  readonly hold: () => Pick<Permit, 'release'>;
};

type AdmissionPorts = Pick<GatewayPorts, 'apiKeys' | 'tokens' | 'ids'>;

/**
 * Checks credential, path and stream, in this order. For a wrong credential, or one of another workspace, the response
 * is always the same, so that outsiders cannot discover paths. Only the holder of a token signed by a provider of the
 * workspace learns what is wrong with it. A key is checked synchronously; a token may need a wait.
 */
export function admit(
  configuration: Configuration,
  { path, authorization, now, hold }: Asked,
  ports: AdmissionPorts,
): Admission | Promise<Admission> {
  const presented = /^bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  const stream = addressedStream(configuration, path);
  const workspace = stream?.workspace ?? path.split('/')[0] ?? '';
  if (presented !== undefined && isToken(presented)) {
    return admitToken(configuration, { workspace, path, stream }, { presented, hold }, ports);
  }
  const key = findApiKey(configuration, presented, ports.apiKeys, now);
  if (key?.ref.workspace !== workspace) throw unauthorizedBy(authorization);
  if (!stream) throw notFound(configuration, workspace, path);
  if (!stream.security.api_keys?.includes(key.ref.name)) throw wrongKind(stream, 'another API key');
  const keyId = key.body.key_id;
  return { stream, principal: `api_key:${key.ref.name}/${keyId}`, claims: null, keyId, isSigned: false };
}

/** Returns the stream at a path. A stream that reads a source has no address. */
export function addressedStream(configuration: Configuration, path: string): EventStream | undefined {
  const stream = streamTable(configuration).streams.get(path);
  return stream !== undefined && !readsSource(stream) ? stream : undefined;
}

async function admitToken(
  configuration: Configuration,
  {
    workspace,
    path,
    stream,
  }: { readonly workspace: string; readonly path: string; readonly stream?: EventStream | undefined },
  { presented, hold }: Pick<Asked, 'hold'> & { readonly presented: string },
  { tokens, ids }: AdmissionPorts,
): Promise<Admission> {
  const permit = hold();
  const finding = findToken(configuration, workspace, stream, presented, tokens);
  const token = await finding.finally(() => permit.release());
  if (!stream) throw notFound(configuration, workspace, path);
  if (stream.security.jwt_provider !== token.provider) throw wrongKind(stream, 'a token of another provider');
  const { sub } = token.claims;
  // The name of a person does not stand in the log in clear.
  const who = typeof sub === 'string' ? `/${ids.keyed('subject', workspace, token.provider, sub)}` : '';
  return {
    stream,
    principal: `jwt_provider:${token.provider}${who}`,
    claims: token.claims,
    keyId: null,
    isSigned: false,
  };
}

/** Names the nearest stream of the workspace: the caller has a credential of it. */
function notFound(configuration: Configuration, workspace: string, path: string): CarillonError {
  const endOf = (one: string): string => one.slice(one.indexOf('/') + 1);
  const streams = [...streamTable(configuration).streams.values()].filter(
    (one) => one.workspace === workspace && !readsSource(one),
  );
  const near = similarTo(
    endOf(path),
    streams.map((one) => endOf(one.path)),
  );
  const hint =
    near === null ? 'The portal and `carillon export` show the paths.' : `Did you mean ${workspace}/${near}?`;
  return new CarillonError('not_found', `This workspace has no stream at this path. ${hint}`);
}

function wrongKind({ security }: EventStream, presented: string): CarillonError {
  const keysOrTokens = security.jwt_provider === undefined ? 'certain API keys' : 'tokens of a certain JWT provider';
  const takes =
    security.webhook_secret === undefined ? keysOrTokens : 'requests that are signed with its webhook_secret';
  return new CarillonError(
    'forbidden',
    `This stream takes ${takes}, and the request carries ${presented} or another kind of credential. Add it to the stream's security, or send another.`,
  );
}
