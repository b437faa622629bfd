import { useState, type ReactNode } from 'react';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import { useNow } from '../../../ui/now.ts';
import { Actions } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { Lamp } from '../../../ui/state.tsx';
import { Time } from '../../../ui/time.tsx';
import styles from '../settings.module.css';
import type { ApiKey } from './queries.ts';
import { RequestKey } from './request-key.tsx';
import { nextName, rotationOf } from './rotation.ts';

/** Takes an endpoint from one key to the next without an event that is refused: what is done shows by itself. */
export function RotateKey({
  workspace,
  old,
  keys,
  off,
  onOpen,
  onClose,
}: {
  readonly workspace: string;
  readonly old: ApiKey;
  readonly keys: readonly ApiKey[];
  readonly off: string | null;
  readonly onOpen: (open: { readonly kind: 'revoke'; readonly name: string }) => void;
  readonly onClose: () => void;
}): ReactNode {
  const now = useNow();
  const names = keys.map(({ name }) => name);
  const others = keys.filter(({ name, expired }) => name !== old.name && !expired);
  const guess = others.find(({ name }) => name.startsWith(`${old.name}-`)) ?? null;
  const [chosen, setChosen] = useState<string | null>(guess?.name ?? null);
  const [isRequesting, setRequesting] = useState(false);
  if (isRequesting) {
    return (
      <RequestKey
        workspace={workspace}
        taken={names}
        suggested={nextName(old.name, names)}
        onMade={setChosen}
        onClose={() => setRequesting(false)}
      />
    );
  }
  const next = others.find(({ name }) => name === chosen) ?? null;
  const { isTaken, missing, isDeployed, isUnused } = rotationOf(old, next, now);
  return (
    <Dialog
      title={`Rotate ${old.name}`}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Close</Button>
          <Button
            kind="danger"
            off={off ?? (isUnused ? null : 'The old key was used in the last 24 hours.')}
            onPress={() => onOpen({ kind: 'revoke', name: old.name })}
          >
            Revoke {old.name}
          </Button>
        </>
      }
    >
      <p>Both keys are accepted for a while, so that no event is refused.</p>
      <ol className={cls(styles.steps)}>
        <Step name="Add" isDone={next !== null}>
          {others.length > 0 && (
            <Select
              label="The new key"
              options={others.map(({ name }) => ({ id: name, name }))}
              chosen={chosen}
              onChoose={setChosen}
            />
          )}
          <Actions>
            <Button off={off} onPress={() => setRequesting(true)}>
              Request a key
            </Button>
          </Actions>
        </Step>
        <Step name="Select" isDone={isTaken}>
          {next === null
            ? 'At Secure your endpoint of each notification that accepts the old key, select the new one too, and publish.'
            : missing.length > 0
              ? `Not yet accepted by ${missing.join(', ')}. Select ${next.name} there too, and publish.`
              : `All notifications that accept ${old.name} accept ${next.name} too.`}
        </Step>
        <Step name="Deploy" isDone={isDeployed}>
          Give your servers the new key.{' '}
          {next?.last_used_at ? (
            <>
              This key was last used <Time at={next.last_used_at} />.
            </>
          ) : (
            'It was not used yet.'
          )}
        </Step>
        <Step name="Wait" isDone={isUnused}>
          Wait until the old key is unused for 24 hours.{' '}
          {old.last_used_at === null ? (
            'It was never used.'
          ) : (
            <>
              This key was last used <Time at={old.last_used_at} />.
            </>
          )}
        </Step>
      </ol>
    </Dialog>
  );
}

function Step({
  name,
  isDone,
  children,
}: {
  readonly name: string;
  readonly isDone: boolean;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <li className={cls(styles.step)}>
      <Lamp tone={isDone ? 'good' : 'wait'}>{name}</Lamp>
      <div className={cls(styles.form)}>{children}</div>
    </li>
  );
}
