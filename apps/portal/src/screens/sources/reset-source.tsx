import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Refusal } from '../../api/client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { say } from '../../ui/notices.ts';
import { Code, Facts } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { hasTopics } from '../integrations/integration-roles.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { resetCall, resetSource, type Source } from './queries.ts';

const CONTINUES: Readonly<Record<NonNullable<Source['continues_at']>, string>> = {
  slot: 'At the replication slot',
  now: 'Now, at a new publication and replication slot',
  oldest: 'At the oldest record of the topics',
};

const STARTS = [
  { id: 'oldest', name: CONTINUES.oldest },
  { id: 'end', name: 'At the end of the topics' },
] as const;

/** Asks for the reason of a reset, and shows the span of changes that it passes over. */
export function ResetSource({
  source,
  onClose,
}: {
  /** The newest state. The dialog shows the span from when it was opened until the server refuses it. */
  readonly source: Source;
  readonly onClose: () => void;
}): ReactNode {
  const { workspace, name } = source;
  const isLeaving = source.state === 'leaving';
  const [from, setFrom] = useState(source.read_until);
  const [reason, setReason] = useState('');
  const [isGone, setGone] = useState(false);
  const hasChoice = hasTopics(source);
  // A source that waits for a schema would meet the same record again.
  const starts = STARTS.filter(({ id }) => id === 'end' || source.span !== null);
  const [at, setAt] = useState<'oldest' | 'end'>(source.span === null ? 'end' : 'oldest');
  const body = { reason: reason.trim(), from, ...(hasChoice && { at }), ...(isLeaving && { gone: isGone }) };
  const reset = useMutation({
    mutationFn: () => resetSource(workspace, name, body),
    onSuccess() {
      say(isLeaving ? `The source ${name} is removed.` : `The source ${name} is being reset.`);
      onClose();
    },
    onError(error) {
      if (!(error instanceof Refusal && error.code === 'wrong_state')) return;
      say(`The source ${name} was reset by somebody else.`);
      onClose();
    },
  });
  const isMoved = reset.error instanceof Refusal && reset.error.code === 'conflict';
  if (isMoved && from !== source.read_until) setFrom(source.read_until);
  const isReady = body.reason !== '' && (!isLeaving || isGone) && !reset.isPending;
  const verb = isLeaving ? 'Remove the source' : 'Reset the source';
  return (
    <Dialog
      title={isLeaving ? `Remove the source ${name}?` : `Reset the source ${name}?`}
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="danger" isDisabled={!isReady} onPress={() => reset.mutate()}>
            {verb}
          </Button>
        </>
      }
    >
      <p>
        <Sentence text={source.sentence} />
      </p>
      {hasChoice && <RadioGroup label="Continue" options={starts} chosen={at} onChoose={setAt} />}
      <p role="status">{hasChoice && at === 'end' ? source.span_at_end : source.span}</p>
      {isLeaving ? (
        <Leaving source={source} isGone={isGone} onGone={setGone} />
      ) : (
        <Facts
          facts={[
            ['Read until', from === null ? 'Nothing was read' : <Time key="from" at={from} />],
            ['Continues', source.continues_at === null || hasChoice ? null : CONTINUES[source.continues_at]],
            ['Streams', source.streams.join(', ')],
          ]}
        />
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) reset.mutate();
        }}
      >
        <Field
          label="Reason"
          note="The audit log keeps the reason, your name and the range of lost changes."
          maxLength={500}
          autoFocus
          value={reason}
          onChange={setReason}
        />
      </form>
      {isMoved && (
        <p role="alert">
          More changes were lost since you opened this dialog. Check the range above, then confirm again.
        </p>
      )}
      {reset.error && !isMoved && <Problem error={reset.error} />}
      <Curl call={resetCall(workspace, name, body)} />
    </Dialog>
  );
}

function Leaving({
  source,
  isGone,
  onGone,
}: {
  readonly source: Source;
  readonly isGone: boolean;
  readonly onGone: (isGone: boolean) => void;
}): ReactNode {
  return (
    <>
      {source.fix !== null && <Code text={source.fix} what="the SQL that drops the slot" />}
      <Checkbox isOn={isGone} onChange={onGone}>
        The replication slot is dropped, or the database no longer exists
      </Checkbox>
    </>
  );
}
