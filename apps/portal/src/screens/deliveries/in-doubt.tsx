import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, type ReactNode } from 'react';
import { Empty } from '../../ui/answers.tsx';
import { DeliveryScreen } from './deliveries.tsx';
import type { DeliverySearch } from './delivery-search.ts';

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
      search={{ state: 'IN_DOUBT', ...(open !== undefined && { open }) }}
      change={change}
      empty={
        <Empty title="Nothing is in doubt">
          A message is in doubt where its provider may have taken it and nobody can say so: the connection broke after
          the last word. It is not sent again by itself, since its reader might be told twice.
        </Empty>
      }
    />
  );
}
