import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { useLeft } from '../../ui/held-fault.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Problem } from '../../ui/answers.tsx';
import { Code } from '../../ui/text.tsx';
import { Lamp } from '../../ui/state.tsx';
import { say } from '../../ui/notices.ts';
import { secretsQuery, setSecret } from './queries.ts';
import styles from './setup.module.css';

/** So much of chance is in a secret that is made here, in bytes. */
const STRENGTH = 32;
const madeSecret = (): string =>
  [...crypto.getRandomValues(new Uint8Array(STRENGTH))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** A label in the middle of a sentence: `DKIM private key` stays, `Auth token` begins small. */
const inWords = (label: string): string =>
  /^[A-Z][a-z]/.test(label) ? label.charAt(0).toLowerCase() + label.slice(1) : label;

type Props = {
  readonly workspace: string;
  readonly label: string;
  /** Name of the secret; empty: none is named yet. */
  readonly name: string;
  /** What it would be called, where none is named. */
  readonly proposed: string;
  readonly note?: string | undefined;
  /** It is made here and pasted at the other side; else it comes from there. */
  readonly isOurs: boolean;
  readonly isLong: boolean;
  readonly fault: string | null;
  readonly onName: (name: string) => void;
};

/** A secret that a body names: which, whether it has a value, and setting one. A value is never shown again. */
export function SecretPart({
  workspace,
  label,
  name,
  proposed,
  note,
  isOurs,
  isLong,
  fault,
  onName,
}: Props): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const [isShown, leave] = useLeft();
  const off = useMay('configure', workspace);
  const { data } = useQuery(secretsQuery(workspace));
  const stored = data?.items.find((one) => one.name === name);
  return (
    <div role="group" aria-label={label} className={cls(styles.group)} onBlur={leave}>
      <span className={cls(styles.label)}>{label}</span>
      <div className={cls(styles.secret)}>
        <code>{name === '' ? proposed : name}</code>
        {data &&
          (stored ? (
            <Lamp tone="good">
              Set{stored.overridden ? ', and overridden by the environment' : `, fingerprint ${stored.fingerprint}`}
            </Lamp>
          ) : (
            <Lamp tone="held">No value is stored</Lamp>
          ))}
        <Button off={off} onPress={() => setAsking(true)}>
          {stored ? 'Set another value' : isOurs ? 'Make the secret' : `Set the ${inWords(label)}`}
        </Button>
      </div>
      {note !== undefined && <p className={cls(styles.note)}>{note}</p>}
      {isShown && fault !== null && <p className={cls(styles.faults)}>{fault}</p>}
      {isAsking && (
        <SecretDialog
          workspace={workspace}
          label={label}
          name={name === '' ? proposed : name}
          isOurs={isOurs}
          isLong={isLong}
          onSet={(said) => onName(said)}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  );
}

function SecretDialog({
  workspace,
  label,
  name: begun,
  isOurs,
  isLong,
  onSet,
  onClose,
}: Pick<Props, 'workspace' | 'label' | 'name' | 'isOurs' | 'isLong'> & {
  readonly onSet: (name: string) => void;
  readonly onClose: () => void;
}): ReactNode {
  const [name, setName] = useState(begun);
  const [value, setValue] = useState(() => (isOurs ? madeSecret() : ''));
  const [error, setError] = useState<Error | null>(null);
  const [isStored, setStored] = useState(false);
  const store = async (): Promise<void> => {
    try {
      await setSecret(workspace, name, value);
      onSet(name);
      setError(null);
      if (isOurs) setStored(true);
      else {
        say(`${name} is stored. Nobody can read it any more.`);
        onClose();
      }
    } catch (failure) {
      setError(failure as Error);
    }
  };
  if (isStored) {
    return (
      <Dialog
        title="Paste the secret at the platform now"
        isOpen
        isLocked
        onClose={onClose}
        foot={
          <Button kind="main" onPress={onClose}>
            Done
          </Button>
        }
      >
        <p>{name} is stored. It is shown only now. Later you can only replace it.</p>
        <Code text={value} what="the secret" />
      </Dialog>
    );
  }
  const isReady = /^[A-Z][A-Z0-9_]{0,63}$/.test(name) && value !== '';
  return (
    <Dialog
      title={isOurs ? 'Make the secret' : `Set the ${inWords(label)}`}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" isDisabled={!isReady} onPress={() => void store()}>
            Store the secret
          </Button>
        </>
      }
    >
      {error && <Problem error={error} />}
      <form
        className={cls(styles.form)}
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void store();
        }}
      >
        <Field
          label="Name of the secret"
          isMono
          value={name}
          onChange={setName}
          note="A-Z, 0-9 and _. Replaces the value that this name has now."
        />
        <Field
          label={isOurs ? 'Value (random)' : 'Value'}
          type={isOurs ? 'text' : 'password'}
          autoComplete="off"
          isMono
          autoFocus
          isLong={isLong}
          value={value}
          onChange={setValue}
          note="Stored encrypted. Used from the next message or connection on."
        />
        <Curl
          call={{
            method: 'PUT',
            path: `/v1/workspaces/${workspace}/secrets/${name}`,
            // What stands here is replaced by whoever pastes it; forgotten, it is refused and no secret is lost.
            body: { value: '' },
          }}
        />
      </form>
    </Dialog>
  );
}
