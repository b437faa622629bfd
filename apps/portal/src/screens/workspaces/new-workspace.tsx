import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions } from '../../ui/page.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { say } from '../../ui/notices.ts';
import {
  makeWorkspace,
  makingCall,
  nameFault,
  refusedFields,
  testBodyOf,
  testNameOf,
  type Known,
  type Settings,
} from './make-workspace.ts';
import { SettingsFields } from './settings-fields.tsx';
import { ownZone } from './time-zones.ts';
import styles from './workspaces.module.css';

/** Makes a workspace, or a test environment of one. Nothing is there that could fire yet, so that it counts at once; it leads to its overview. */
export function NewWorkspace({
  live,
  taken,
  onClose,
}: {
  /** What the test environment is for; null: a workspace that people will rely on. */
  readonly live: Known | null;
  readonly taken: readonly string[];
  readonly onClose: () => void;
}): ReactNode {
  const [name, setName] = useState(() => (live ? testNameOf(live.workspace, taken) : ''));
  const [body, setBody] = useState<Settings>(() => (live ? testBodyOf(live) : { time_zone: ownZone() }));
  const [isCopied, setIsCopied] = useState(true);
  const navigate = useNavigate();
  // It belongs to no workspace yet.
  const off = useMay(live ? 'people' : 'configure', null);
  const make = useMutation({
    mutationFn: () => makeWorkspace(name, body),
    async onSuccess() {
      await navigate({ to: live && isCopied ? '/workspaces/$w/copy' : '/workspaces/$w', params: { w: name } });
      say(
        live ? `${name} is created as a test environment of ${live.workspace}.` : `The workspace ${name} is created.`,
      );
    },
  });
  const { fields, rest } = refusedFields(make.error, name);
  const fault = nameFault(name, taken);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (off === null && name !== '' && fault === null && !make.isPending) make.mutate();
  };
  return (
    <Dialog title={live ? `New test environment of ${live.workspace}` : 'New workspace'} isOpen onClose={onClose}>
      <form className={cls(styles.form)} onSubmit={submit}>
        {live ? (
          <p>
            A workspace for trying things out. <b>Messages stay in the inbox of Carillon</b> until somebody allows real
            accounts in its settings. It starts with the settings of {live.workspace}, and changes made in it can be
            promoted to {live.workspace}.
          </p>
        ) : (
          <p>
            A workspace has its own notifications, keys, people and history, separate from all others. It starts empty,
            and its overview leads to the first message.
          </p>
        )}
        <Field
          label="Name"
          isMono
          autoFocus
          autoComplete="off"
          value={name}
          onChange={(next) => {
            setName(next);
            make.reset();
          }}
          fault={fault ?? fields['']}
          note="Small letters, digits and hyphens. Used in files and links; it cannot be changed."
        />
        <SettingsFields
          body={body}
          workspace={name}
          faultOf={(path) => fields[path]}
          onChange={(change) => {
            setBody(change);
            make.reset();
          }}
        />
        {live && (
          <Checkbox isOn={isCopied} onChange={setIsCopied}>
            Start with a copy of {live.workspace}
          </Checkbox>
        )}
        {rest && <Problem error={rest} />}
        <Curl call={makingCall(name, body)} />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" type="submit" off={off} isDisabled={name === '' || fault !== null || make.isPending}>
            {live ? 'Make the test environment' : 'Make the workspace'}
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
