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
  { id: 'sent', name: 'They were sent…' },
  { id: 'failed', name: 'They were not sent…' },
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
      lead="A provider took these and never answered. Nothing is sent again until somebody decides."
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
          A message is in doubt where its provider may have taken it and nobody can say so: the connection broke after
          the last word. It is not sent again by itself, since its reader might be told twice.
        </Empty>
      }
    />
  );
}
