import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { reachStep } from '../../api/first-steps.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { spread } from './subscribed-rules.ts';
import { sendEvent, sendingCall } from './sending.ts';
import { SentAs } from './sent-as.tsx';
import styles from './streams.module.css';

/** An event to write, or the proposed one, sent as whoever looks at it, without a key. */
export function SendEvent({
  workspace,
  path,
  proposed,
}: {
  readonly workspace: string;
  readonly path: string;
  /** JSON text; null: it is not known yet. */
  readonly proposed: string | null;
}): ReactNode {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? (proposed === null ? '' : spread(proposed));
  const off = useMay('configure', workspace);
  const send = useMutation({
    mutationFn: () => sendEvent(workspace, path, text),
    onSuccess() {
      reachStep(workspace, 'event');
      void queryClient.invalidateQueries({ queryKey: ['/v1/workspaces/{workspace}/events', workspace] });
    },
  });
  const isReady = text.trim() !== '' && !send.isPending && off === null;
  return (
    <Card title="Send an event">
      {proposed === null && typed === null ? (
        <Loading what="an event" rows={3} />
      ) : (
        <CodeField
          label="Event"
          language="json"
          value={text}
          onChange={setTyped}
          minLines={4}
          isReadOnly={off !== null}
          onRun={() => isReady && send.mutate()}
        />
      )}
      <Actions>
        <Button off={off} isDisabled={text.trim() === '' || send.isPending} onPress={() => send.mutate()}>
          Send this event now
        </Button>
        <span className={cls(styles.note)}>
          Sent in your name, without a key. The event is evaluated like any other, and real people are notified.
        </span>
      </Actions>
      {send.error && <Problem error={send.error} />}
      {send.data && <SentAs workspace={workspace} id={send.data.id} />}
      <Curl call={sendingCall(workspace, path, text)} />
    </Card>
  );
}
