import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { meQuery } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Actions } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { say } from '../../../ui/notices.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import styles from '../settings.module.css';
import { PEOPLE, type Person } from './queries.ts';
import { MemberRoles } from './roles.tsx';

const ONE = `${PEOPLE}/{id}` as const;
type Change = { readonly state?: 'active' | 'disabled'; readonly owner?: boolean };
type Open = 'remove' | 'credentials' | { readonly workspace: string } | null;

const again = () => queryClient.invalidateQueries({ queryKey: [PEOPLE] });

/** What an owner of the deployment can do about somebody. */
export function PersonDialog({
  person,
  onClose,
}: {
  readonly person: Person;
  readonly onClose: () => void;
}): ReactNode {
  const { id, name, state, owner, memberships } = person;
  const { data: me } = useQuery(meQuery);
  const [open, setOpen] = useState<Open>(null);
  const params = { path: { id } };
  const change = useMutation({
    mutationFn: (body: Change) => bodyOf(api.PUT(ONE, { params, body })),
    onSuccess: () => say(`${name} is changed.`),
    onSettled: again,
  });
  const remove = useMutation({
    mutationFn: () => bodyOf(api.DELETE(ONE, { params })),
    async onSuccess() {
      await again();
      say(`${name} is removed.`);
      onClose();
    },
  });
  const reset = useMutation({
    mutationFn: () => bodyOf(api.DELETE(`${ONE}/credentials`, { params })),
    async onSuccess() {
      await again();
      say(`Password and authenticator of ${name} are removed. All their sessions have ended.`);
      setOpen(null);
    },
  });
  const close = (): void => setOpen(null);
  if (open === 'remove') {
    return (
      <Confirm
        title={`Remove ${name}?`}
        verb={`Remove ${name}`}
        call={{ method: 'DELETE', path: `${PEOPLE}/${id}` }}
        error={remove.error}
        isPending={remove.isPending}
        typed={name}
        onDo={() => remove.mutate()}
        onClose={close}
      >
        Deletes name, address, password and sessions. Their actions stay in the audit, as “removed person”.
      </Confirm>
    );
  }
  if (open === 'credentials') {
    return (
      <Confirm
        title={`Remove password and authenticator of ${name}?`}
        verb="Remove them"
        call={{ method: 'DELETE', path: `${PEOPLE}/${id}/credentials` }}
        error={reset.error}
        isPending={reset.isPending}
        onDo={() => reset.mutate()}
        onClose={close}
      >
        For a person who lost password or authenticator. All sessions of the person end, and a new link is needed to
        sign in.
      </Confirm>
    );
  }
  if (open !== null) {
    const roles = memberships.filter(({ workspace }) => workspace === open.workspace).map(({ role }) => role);
    return <MemberRoles workspace={open.workspace} member={{ person: id, name, roles }} onClose={close} />;
  }
  const isMe = me?.person?.id === id;
  const disabled = state === 'disabled';
  return (
    <Dialog title={name} isOpen onClose={onClose} foot={<Button onPress={onClose}>Close</Button>}>
      <div className={cls(styles.form)}>
        <Select
          label="Roles in a workspace"
          placeholder="Choose a workspace"
          options={(me?.workspaces ?? []).map(({ workspace }) => {
            const note = memberships
              .filter((one) => one.workspace === workspace)
              .map(({ role }) => role)
              .join(', ');
            return { id: workspace, name: workspace, note: note || 'none' };
          })}
          chosen={null}
          onChoose={(workspace) => setOpen({ workspace })}
        />
        {change.error && <Problem error={change.error} />}
        <Actions>
          <Button
            off={disabled ? 'A disabled person cannot own the deployment.' : null}
            isDisabled={change.isPending}
            onPress={() => change.mutate({ owner: !owner })}
          >
            {owner ? 'No longer owner of the deployment' : 'Make owner of the deployment'}
          </Button>
          <Button
            off={isMe ? 'You cannot disable yourself.' : null}
            isDisabled={change.isPending}
            onPress={() => change.mutate({ state: disabled ? 'active' : 'disabled' })}
          >
            {disabled ? 'Enable' : 'Disable'}
          </Button>
          <Button kind="danger" onPress={() => setOpen('credentials')}>
            Remove password and authenticator
          </Button>
          <Button
            kind="danger"
            off={isMe ? 'You cannot remove yourself. Ask another owner.' : null}
            onPress={() => setOpen('remove')}
          >
            Remove
          </Button>
        </Actions>
        <Curl call={{ method: 'PUT', path: `${PEOPLE}/${id}`, body: { state: disabled ? 'active' : 'disabled' } }} />
      </div>
    </Dialog>
  );
}
