import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { reloadConfiguration } from '../../api/use-draft.ts';
import { FaultList } from '../../faults/fault-list.tsx';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { say } from '../../ui/notices.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { counted, titleOf } from '../drafts/change-words.ts';
import { AsFiles } from '../drafts/as-file.tsx';
import { Fields } from '../drafts/fields.tsx';
import { rollBack, rollbackCall, rollbackQuery, type Change } from './queries.ts';
import styles from './versions.module.css';

/** What taking a resource back would change, before it does, and with what it refers to. */
export function Rollback({
  workspace,
  change,
  number,
  onClose,
}: {
  readonly workspace: string;
  readonly change: Change;
  /** Number of the configuration whose body is to count again. */
  readonly number: number;
  readonly onClose: () => void;
}): ReactNode {
  const [withReferences, setWithReferences] = useState(false);
  const [message, setMessage] = useState('');
  const wish = { ...change, workspace, number, withReferences };
  const { data, error, isPlaceholderData } = useQuery({
    ...rollbackQuery(wish),
    placeholderData: (before) => before,
  });
  const back = useMutation({
    mutationFn: () => rollBack(wish, data?.current ?? null, message),
    onSuccess({ new_number: made }) {
      say(
        made === null
          ? 'It is already like this. Nothing was changed.'
          : `${titleOf(change)} is the same as in configuration ${number} again. Published as configuration ${made}.`,
      );
      onClose();
    },
    onSettled: () => reloadConfiguration(workspace),
  });
  const plan = data?.plan;
  const isNothing = plan !== undefined && plan.faults.length === 0 && plan.changes.length === 0;
  return (
    <Dialog
      title={`Roll ${titleOf(change)} back?`}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            kind="main"
            isDisabled={!plan || isPlaceholderData || isNothing || plan.faults.length > 0 || back.isPending}
            onPress={() => back.mutate()}
          >
            Publish the old version
          </Button>
        </>
      }
    >
      {error && <Problem error={error} />}
      {!plan && !error && <Loading what="what it would change" rows={3} />}
      {plan && (
        <div className={cls(styles.plan)}>
          <p>
            Publishes the version of configuration {number} again, as a new version. The history stays complete. Ids and
            addresses stay, so nobody is notified twice.
          </p>
          {isNothing && <p>The published version is the same: there is nothing to roll back.</p>}
          <FaultList faults={plan.faults} isTitled />
          {plan.gone.length > 0 && (
            <Checkbox isOn={withReferences} onChange={setWithReferences}>
              Also restore what it needs and was removed: {plan.gone.map(titleOf).join(', ')}
            </Checkbox>
          )}
          {plan.changes.map((one) => (
            <section key={one.resource} aria-label={one.resource}>
              <h3>{one.resource}</h3>
              {one.note !== null && (
                <p>
                  <Sentence text={one.note} />
                </p>
              )}
              {one.told !== null && (
                <p>
                  {counted(one.told, 'person was', 'people were')} notified by it. Waiting messages to{' '}
                  {counted(one.waiting ?? 0, 'person', 'people')} will not be sent.
                </p>
              )}
              <Fields fields={one.fields} />
            </section>
          ))}
          {!isNothing && (
            <Field
              label="Reason"
              note="Optional, shown in the history."
              maxLength={500}
              value={message}
              onChange={setMessage}
            />
          )}
        </div>
      )}
      {back.error && <Problem error={back.error} />}
      {data && <Curl call={rollbackCall(wish, data.current, message)} />}
      {plan && plan.files.length > 0 && <AsFiles files={plan.files} />}
    </Dialog>
  );
}
