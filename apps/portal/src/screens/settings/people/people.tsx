import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { useMay } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { Curl } from '../../../ui/curl.tsx';
import { Actions, PageBody, Quiet, Row, Rows } from '../../../ui/page.tsx';
import { say } from '../../../ui/notices.ts';
import { Lamp } from '../../../ui/state.tsx';
import { IfAllowed, useUnseen } from '../../../ui/if-allowed.tsx';
import { SettingsHead } from '../settings-head.tsx';
import { usePickedWorkspace } from '../use-picked-workspace.ts';
import { NoWorkspace, WorkspacePicker } from '../workspace-picker.tsx';
import { Invitations } from './invitations.tsx';
import { Invite } from './invite.tsx';
import { PersonDialog } from './person-dialog.tsx';
import { membersQuery, PEOPLE, peopleQuery, type Person } from './queries.ts';
import { MemberRoles } from './roles.tsx';

/** Who may do what: all people for owners of the deployment, those of their workspace for owners of one. */
export function People(): ReactNode {
  const offAll = useMay('people', null);
  const offSome = useMay('people', '-');
  const unseen = useUnseen();
  const [isInviting, setInviting] = useState(false);
  return (
    <>
      <SettingsHead title="People" lead="Who may do what. A new role works from the next request of a person.">
        <Button kind="main" off={offSome} onPress={() => setInviting(true)}>
          Invite
        </Button>
      </SettingsHead>
      <PageBody>
        <IfAllowed {...unseen}>
          {offAll === null ? <Everybody /> : <Members />}
          {offSome === null && <Invitations />}
        </IfAllowed>
      </PageBody>
      {isInviting && <Invite mayMakeOwners={offAll === null} onClose={() => setInviting(false)} />}
    </>
  );
}

const rolesOf = ({ owner, memberships }: Person): string => {
  const words = memberships.map(({ workspace, role }) => `${role} of ${workspace}`);
  return [...(owner ? ['owner of the deployment'] : []), ...words].join(', ') || 'no role, so no permissions';
};

function Everybody(): ReactNode {
  const { data, error, refetch } = useQuery(peopleQuery);
  const [open, setOpen] = useState<string | null>(null);
  const chosen = data?.items.find(({ id }) => id === open);
  const owners = data?.items.filter(({ owner, state }) => owner && state === 'active').length;
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="people" rows={4} />}
      {owners === 1 && (
        <p>
          There is one owner of the deployment. Add a second owner, who can help if the first one loses phone and
          password.
        </p>
      )}
      {data && data.items.length > 0 && (
        <Rows label="People">
          {data.items.map((person) => (
            <Row key={person.id}>
              <div>
                <h2>{person.name}</h2>
                <Quiet>
                  {person.email ?? 'no address'} · {rolesOf(person)} ·{' '}
                  {person.totp ? 'with an authenticator' : person.has_password ? 'only a password' : 'no password yet'}
                </Quiet>
              </div>
              {person.unconfirmed_email !== null && <Unconfirmed person={person.id} email={person.unconfirmed_email} />}
              {person.state === 'disabled' && <Lamp tone="held">Disabled</Lamp>}
              <Actions>
                <Button onPress={() => setOpen(person.id)} aria-label={`Change ${person.name}`}>
                  Change
                </Button>
              </Actions>
            </Row>
          ))}
        </Rows>
      )}
      <Curl call={{ method: 'GET', path: PEOPLE }} />
      {chosen && <PersonDialog person={chosen} onClose={() => setOpen(null)} />}
    </>
  );
}

/** A new address that nobody has proved, and the button by which an owner does. */
function Unconfirmed({ person, email }: { readonly person: string; readonly email: string }): ReactNode {
  const confirm = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/v1/people/{id}/confirm-address', { params: { path: { id: person } }, body: { email } })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: peopleQuery.queryKey });
      say(`${email} is confirmed.`);
    },
  });
  return (
    <>
      <Lamp tone="held">Unconfirmed: {email}</Lamp>
      {confirm.error && <Problem error={confirm.error} />}
      <Actions>
        <Button isDisabled={confirm.isPending} onPress={() => confirm.mutate()} aria-label={`Confirm ${email}`}>
          Confirm address
        </Button>
      </Actions>
      <Curl call={{ method: 'POST', path: `/v1/people/${person}/confirm-address`, body: { email } }} />
    </>
  );
}

/** For owners of workspaces: their members, with their roles there. */
function Members(): ReactNode {
  const { workspace: wanted } = useSearch({ from: '/settings/people' });
  const picked = usePickedWorkspace(wanted);
  const { workspace } = picked;
  const off = useMay('people', workspace ?? '-');
  return (
    <>
      <NoWorkspace picked={picked} />
      {workspace !== null && (
        <>
          <WorkspacePicker workspace={workspace} all={picked.all} />
          <IfAllowed what="its members" reason={off}>
            <MemberList workspace={workspace} />
          </IfAllowed>
        </>
      )}
    </>
  );
}

function MemberList({ workspace }: { readonly workspace: string }): ReactNode {
  const { data, error, refetch } = useQuery(membersQuery(workspace));
  const [open, setOpen] = useState<string | null>(null);
  const chosen = data?.items.find(({ person }) => person === open);
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="members" rows={3} />}
      {data?.items.length === 0 && (
        <Empty title="Nobody has a role here">Owners of the deployment can do everything without a role here.</Empty>
      )}
      {data && data.items.length > 0 && (
        <Rows label="Members">
          {data.items.map(({ person, name, email, unconfirmed_email, roles }) => (
            <Row key={person}>
              <div>
                <h2>{name}</h2>
                <Quiet>
                  {email ?? 'no address'}
                  {unconfirmed_email !== null && ` (unconfirmed: ${unconfirmed_email})`} · {roles.join(', ')}
                </Quiet>
              </div>
              <Actions>
                <Button onPress={() => setOpen(person)} aria-label={`Change the roles of ${name}`}>
                  Change roles
                </Button>
              </Actions>
            </Row>
          ))}
        </Rows>
      )}
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/members` }} />
      {chosen && <MemberRoles workspace={workspace} member={chosen} onClose={() => setOpen(null)} />}
    </>
  );
}
