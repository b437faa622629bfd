import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Actions } from '../../../ui/page.tsx';
import { say, undoing } from '../../../ui/notices.ts';
import { Checkbox } from '../../../ui/toggle.tsx';
import styles from '../settings.module.css';
import { MEMBERS, PEOPLE, ROLES, type Role } from './queries.ts';

const ONE = `${MEMBERS}/{id}` as const;

/** Ticks for the roles of one workspace; several add up. */
export function RoleTicks({
  legend,
  roles,
  onChange,
}: {
  readonly legend: string;
  readonly roles: readonly Role[];
  readonly onChange: (roles: readonly Role[]) => void;
}): ReactNode {
  return (
    <fieldset className={cls(styles.set)}>
      <legend className={cls(styles.legend)}>{legend}</legend>
      {ROLES.map(({ id, note }) => (
        <Checkbox
          key={id}
          isOn={roles.includes(id)}
          onChange={(isOn) => onChange(isOn ? [...roles, id] : roles.filter((one) => one !== id))}
        >
          {id}: {note}
        </Checkbox>
      ))}
    </fieldset>
  );
}

/** Roles of somebody in a workspace; none: no member any more. */
export function MemberRoles({
  workspace,
  member: { person, name, roles: before },
  onClose,
}: {
  readonly workspace: string;
  readonly member: { readonly person: string; readonly name: string; readonly roles: readonly Role[] };
  readonly onClose: () => void;
}): ReactNode {
  const [roles, setRoles] = useState<readonly Role[]>(before);
  const params = { path: { workspace, id: person } };
  const give = async (wanted: readonly Role[], had: readonly Role[]): Promise<void> => {
    if (wanted.length > 0) await bodyOf(api.PUT(ONE, { params, body: { roles: [...wanted] } }));
    else if (had.length > 0) await bodyOf(api.DELETE(ONE, { params }));
  };
  const areOld = (): Promise<unknown> =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: [MEMBERS] }),
      queryClient.invalidateQueries({ queryKey: [PEOPLE] }),
    ]);
  const save = useMutation({
    mutationFn: () => give(roles, before),
    async onSuccess() {
      await areOld();
      say(
        `${name} is ${roles.join(', ') || 'not a member any more'} in ${workspace}.`,
        undoing(() => give(before, roles), areOld),
      );
      onClose();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending) save.mutate();
  };
  return (
    <Dialog title={`${name} in ${workspace}`} isOpen onClose={onClose}>
      <form className={cls(styles.form)} onSubmit={submit}>
        <RoleTicks legend="Roles (combined)" roles={roles} onChange={setRoles} />
        {roles.length === 0 && (
          <p>
            Without a role, {name} cannot see {workspace} any more.
          </p>
        )}
        {save.error && <Problem error={save.error} />}
        <Curl
          call={
            roles.length > 0
              ? { method: 'PUT', path: `/v1/workspaces/${workspace}/members/${person}`, body: { roles } }
              : { method: 'DELETE', path: `/v1/workspaces/${workspace}/members/${person}` }
          }
        />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="main" isDisabled={save.isPending}>
            Save the roles
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
