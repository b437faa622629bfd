import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf } from '../../../api/client.ts';
import { reachStep } from '../../../api/first-steps.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Actions } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { expiryOf, LIFETIMES, type Lifetime } from '../expiry.ts';
import { KeptOnce } from '../kept-once.tsx';
import styles from '../settings.module.css';
import { API_KEYS, nameFault } from './queries.ts';

/** A key of a workspace: its name and end, then the key itself, once. */
export function RequestKey({
  workspace,
  taken,
  suggested = '',
  onClose,
  onMade,
}: {
  readonly workspace: string;
  /** Names of the keys that are there. */
  readonly taken: readonly string[];
  readonly suggested?: string;
  /** Whether a key was made or not. */
  readonly onClose: () => void;
  readonly onMade?: (name: string) => void;
}): ReactNode {
  const [name, setName] = useState(suggested);
  const [lifetime, setLifetime] = useState<Lifetime>('never');
  const [isTried, setTried] = useState(false);
  const body = { name, ...expiryOf(lifetime) };
  const request = useMutation({
    mutationFn: () => bodyOf(api.POST(API_KEYS, { params: { path: { workspace } }, body })),
    async onSuccess() {
      reachStep(workspace, 'key');
      await queryClient.invalidateQueries({ queryKey: [API_KEYS] });
    },
  });
  const fault = nameFault(name, taken);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (fault === null && !request.isPending) request.mutate();
  };
  if (request.data) {
    return (
      <KeptOnce
        title={`The key ${request.data.name}`}
        what="the key"
        text={request.data.key}
        onDone={() => {
          onMade?.(name);
          onClose();
        }}
      >
        <p>
          The key is shown only now, because Carillon stores only its digest. Store it where your server reads its
          secrets, and send it as <code>Authorization: Bearer</code>.
        </p>
      </KeptOnce>
    );
  }
  return (
    <Dialog title="Request a key" isOpen onClose={onClose}>
      <form className={cls(styles.form)} onSubmit={submit}>
        <p>For a server that sends events to the workspace {workspace}.</p>
        <Field
          label="Name"
          value={name}
          onChange={setName}
          placeholder="backend"
          autoComplete="off"
          autoFocus
          isMono
          note="Name of the service that uses the key. a-z, 0-9 and -."
          fault={isTried ? fault : null}
        />
        <Select label="Expires" options={LIFETIMES} chosen={lifetime} onChoose={setLifetime} />
        {request.error && <Problem error={request.error} />}
        <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/api-keys`, body }} />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="main" isDisabled={request.isPending}>
            Request the key
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
