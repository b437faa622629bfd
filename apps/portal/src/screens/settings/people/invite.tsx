import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../../api/client.ts';
import { meQuery } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Actions } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { Checkbox } from '../../../ui/toggle.tsx';
import { KeptOnce } from '../kept-once.tsx';
import styles from '../settings.module.css';
import { INVITATIONS, type Role } from './queries.ts';
import { RoleTicks } from './roles.tsx';

const MAILED: Readonly<Record<Schemas['NewInvitation']['mailed'], string>> = {
  sent: 'A mail with this link is on its way.',
  no_account: 'No mail was sent, because the deployment has no email account. Give them the link yourself.',
  no_portal_url: 'No mail was sent, because portal_url is not set in carillon.yaml. Give them the link yourself.',
  failed: 'The mail could not be sent. Give them the link yourself.',
};

/** Somebody who gets a link that counts once, within seven days. */
export function Invite({
  mayMakeOwners,
  onClose,
}: {
  readonly mayMakeOwners: boolean;
  readonly onClose: () => void;
}): ReactNode {
  const { data: me } = useQuery(meQuery);
  const mine = (me?.workspaces ?? [])
    .filter(({ permissions }) => permissions.includes('people'))
    .map(({ workspace }) => workspace);
  const [email, setEmail] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [roles, setRoles] = useState<readonly Role[]>(['viewer']);
  const [isOwner, setOwner] = useState(false);
  const [isTried, setTried] = useState(false);
  const workspace = chosen ?? mine[0] ?? null;
  const memberships = isOwner || workspace === null ? [] : roles.map((role) => ({ workspace, role }));
  const body = { email: email.trim(), memberships, owner: isOwner };
  const invite = useMutation({
    mutationFn: () => bodyOf(api.POST(INVITATIONS, { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [INVITATIONS] }),
  });
  if (invite.data) {
    return (
      <KeptOnce title={`The invitation of ${email.trim()}`} what="the link" text={invite.data.link} onDone={onClose}>
        <p>
          {MAILED[invite.data.mailed]} The link works once, within seven days, and is shown only now. The person who
          opens it gets the role.
        </p>
      </KeptOnce>
    );
  }
  const fault = /^[^\s@<>]+@[^\s@<>]+$/.test(email.trim()) ? null : 'Enter an address such as ada@example.com.';
  const roleFault = !isOwner && memberships.length === 0 ? 'Choose a role.' : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (fault === null && roleFault === null && !invite.isPending) invite.mutate();
  };
  return (
    <Dialog title="Invite" isOpen onClose={onClose}>
      <form className={cls(styles.form)} onSubmit={submit}>
        <Field
          label="Email"
          type="email"
          value={email}
          onChange={setEmail}
          autoComplete="off"
          autoFocus
          fault={isTried ? fault : null}
        />
        {mayMakeOwners && (
          <Checkbox isOn={isOwner} onChange={setOwner}>
            Owner of the whole deployment
          </Checkbox>
        )}
        {!isOwner && (
          <>
            <Select
              label="Workspace"
              options={mine.map((name) => ({ id: name, name }))}
              chosen={workspace}
              onChoose={setChosen}
              note="You can add more workspaces after they have joined."
              fault={isTried ? roleFault : null}
            />
            <RoleTicks legend="Roles (combined)" roles={roles} onChange={setRoles} />
          </>
        )}
        {invite.error && <Problem error={invite.error} />}
        <Curl call={{ method: 'POST', path: INVITATIONS, body }} />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="main" isDisabled={invite.isPending}>
            Invite
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
