import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useMay, useWho } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Actions } from '../../ui/page.tsx';
import { Panel } from '../../ui/split.tsx';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { removeSuppression, restoreSuppressions, SUPPRESSIONS } from './calls.ts';
import { sourceMeaning, sourceName, type Channel, type Source, type Suppression } from './entry-text.ts';
import styles from './entries.module.css';

/** One entry: who says it, why, and what else says the same of the address. */
export function SuppressionPanel({
  id,
  entry,
  isListRead,
  onClose,
}: {
  readonly id: string;
  readonly entry: Suppression | undefined;
  readonly isListRead: boolean;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <Panel id={id} title={<bdi>{entry?.address ?? 'Suppression'}</bdi>} onClose={onClose}>
      {entry ? (
        <Entry entry={entry} />
      ) : (
        isListRead && <p>This address is not in the list: it was removed, or a filter hides it.</p>
      )}
    </Panel>
  );
}

function Entry({ entry }: { readonly entry: Suppression }): ReactNode {
  const { workspace, channel, address, source, detail, by, delivery_id: delivery, at } = entry;
  const off = useMay('operate', workspace);
  const who = useWho(by);
  const [isAsked, setAsked] = useState(false);
  const body = { channel: channel as Channel, address, source: source as Source };
  const all = useQuery({
    queryKey: [SUPPRESSIONS, workspace, 'of address', channel, address],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET(SUPPRESSIONS, {
          params: { path: { workspace }, query: { channel: body.channel, address } },
          signal,
        }),
      ),
  });
  const others = (all.data?.items ?? []).filter((one) => one.source !== source);
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [SUPPRESSIONS] });
  const remove = useMutation({
    mutationFn: () => removeSuppression(workspace, body),
    onSuccess: ({ still, undo }) => {
      setAsked(false);
      say(
        still.length === 0
          ? `Messages are sent to ${address} again.`
          : `Removed. Still suppressed by: ${still.map((one) => sourceName(one.source)).join(', ')}.`,
        undoing(() => restoreSuppressions(workspace, undo), isOld),
      );
    },
    onSettled: isOld,
  });
  return (
    <>
      <p>
        Nothing is sent to this address by {channel}. {sourceMeaning(source)}
      </p>
      <Facts
        facts={[
          ['Source', sourceName(source)],
          ['Why', detail],
          ['Who', by === null ? null : who(by)],
          ['Since', <Time key="at" at={at} />],
          ['Workspace', workspace],
          [
            'Delivery',
            delivery === null ? null : (
              <Link key="delivery" to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ open: delivery }}>
                <Id>{delivery}</Id>
              </Link>
            ),
          ],
          ['Other sources', others.map((one) => sourceName(one.source)).join(', ')],
        ]}
      />
      {all.error && <Problem error={all.error} onRetry={() => void all.refetch()} />}
      <p>
        <Link
          to="/workspaces/$w/deliveries"
          params={{ w: workspace }}
          search={{ recipient: address, state: 'SUPPRESSED' }}
        >
          Messages held back from this address
        </Link>
      </p>
      <Actions>
        <Button off={off} onPress={() => setAsked(true)}>
          Remove…
        </Button>
      </Actions>
      <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/suppressions/remove`, body }} />
      <Dialog
        title={`Send to ${address} again?`}
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        foot={
          <>
            <Button onPress={() => setAsked(false)}>Cancel</Button>
            <Button kind="danger" isDisabled={remove.isPending} onPress={() => remove.mutate()}>
              Remove “{sourceName(source)}”
            </Button>
          </>
        }
      >
        <div className={cls(styles.form)}>
          <p>{sourceMeaning(source)}</p>
          <p>
            {others.length === 0
              ? 'No other source suppresses this address: messages are sent to it again from now on. Messages held back before are not sent.'
              : `It stays suppressed by ${others.map((one) => sourceName(one.source)).join(', ')}.`}
          </p>
          {remove.error && <Problem error={remove.error} />}
        </div>
      </Dialog>
    </>
  );
}
