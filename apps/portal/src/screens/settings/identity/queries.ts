import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../../api/client.ts';

export type ApiKey = Schemas['ApiKey'];
export type JwtProvider = Schemas['JwtProvider'];
export type Step = Schemas['Checks']['steps'][number];

export const API_KEYS = '/v1/workspaces/{workspace}/api-keys';
export const apiKeysQuery = (workspace: string) =>
  queryOptions({
    queryKey: [API_KEYS, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(API_KEYS, { params: { path: { workspace } }, signal })),
  });

export const JWT_PROVIDERS = '/v1/workspaces/{workspace}/jwt-providers';
export const jwtProvidersQuery = (workspace: string) =>
  queryOptions({
    queryKey: [JWT_PROVIDERS, workspace],
    queryFn: ({ signal }) => bodyOf(api.GET(JWT_PROVIDERS, { params: { path: { workspace } }, signal })),
  });

/** Names of keys, providers and other resources. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What is wrong with a name; null: nothing. `taken`: those that are there. */
export function nameFault(name: string, taken: readonly string[]): string | null {
  if (name === '') return 'Enter a name.';
  if (!NAME.test(name)) return 'Use a-z, 0-9 and -, such as backend-2.';
  return taken.includes(name) ? `The name ${name} is already in use. Enter another name.` : null;
}
