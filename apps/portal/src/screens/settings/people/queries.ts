import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../../api/client.ts';
import { wholeList } from '../../../api/whole-list.ts';

export type Person = Schemas['PersonAccount'];
export type Role = Person['memberships'][number]['role'];
export type Member = {
  readonly person: string;
  readonly name: string;
  readonly email: string | null;
  readonly roles: readonly Role[];
};

export const PEOPLE = '/v1/people';
export const MEMBERS = '/v1/workspaces/{workspace}/members';
export const INVITATIONS = '/v1/invitations';

export const peopleQuery = queryOptions({
  queryKey: [PEOPLE],
  queryFn: ({ signal }) => wholeList((query) => bodyOf(api.GET(PEOPLE, { params: { query }, signal }))),
});
export const membersQuery = (workspace: string) =>
  queryOptions({
    queryKey: [MEMBERS, workspace],
    queryFn: ({ signal }) =>
      wholeList((query) => bodyOf(api.GET(MEMBERS, { params: { path: { workspace }, query }, signal }))),
  });

/** What each role is for, in a line. */
export const ROLES: readonly { readonly id: Role; readonly note: string }[] = [
  { id: 'owner', note: 'everything in the workspace, including people and keys' },
  { id: 'editor', note: 'changes and publishes, but decides nothing about single messages' },
  { id: 'operator', note: 'decides about single messages and sees the audit, but changes nothing' },
  { id: 'viewer', note: 'sees what happens, with addresses masked' },
];
