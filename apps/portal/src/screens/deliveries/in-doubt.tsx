import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, type ReactNode } from 'react';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty } from '../../ui/answers.tsx';
import { lazyPart } from '../../ui/part.tsx';
import type { BulkAction } from './decisions.ts';
import { DeliveryScreen } from './deliveries.tsx';
import type { DeliverySearch } from './delivery-search.ts';

const Bulk = lazyPart(() => import('./bulk.tsx').then(({ Bulk: loaded }) => loaded));
const CHOICES: readonly { readonly id: BulkAction; readonly name: string }[] = [
  { id: 'sent', name: 'Mark all as sent…' },
  { id: 'failed', name: 'Mark all as not sent…' },
  { id: 'resend', name: 'Send all again…' },
];
const DOUBTFUL = { state: 'IN_DOUBT' } as const;

/** Messages of which nobody can say whether they were taken; a person decides about each. */
export function InDoubt(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/deliveries/in-doubt' });
  const { open } = useSearch({ from: '/workspaces/$w/deliveries/in-doubt' });
  const navigate = useNavigate({ from: '/workspaces/$w/deliveries/in-doubt' });
  const change = useCallback(
    ({ open: next }: DeliverySearch, replace = true) =>
      void navigate({ search: next === undefined ? {} : { open: next }, replace }),
    [navigate],
  );
  return (
    <DeliveryScreen
      title="In doubt"
      lead="We handed these messages to a provider and got no answer. They may have arrived, so none is sent again until you decide."
      workspace={w}
      search={{ ...DOUBTFUL, ...(open !== undefined && { open }) }}
      change={change}
      actions={[
        w !== EVERY_WORKSPACE && {
          name: 'All of them',
          options: CHOICES,
          renderDialog: (close, id) => {
            const action = CHOICES.find((one) => one.id === id)?.id;
            return action && <Bulk which={{ search: DOUBTFUL, workspace: w }} action={action} onClose={close} />;
          },
        },
      ]}
      empty={
        <Empty title="Nothing is in doubt">
          A message is in doubt when the connection broke before its provider answered: the message may have arrived.
          Carillon does not send the message again by itself, because the recipient could get it twice.
        </Empty>
      }
    />
  );
}
