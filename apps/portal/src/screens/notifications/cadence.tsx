import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CadenceOfNotification } from '../cadence/notification-cadence.tsx';
import { NotificationFrame } from './notification-frame.tsx';

/** How often and when people are told. */
export function NotificationCadence(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n/cadence' });
  return (
    <NotificationFrame w={w} n={n}>
      {(draft) => <CadenceOfNotification draft={draft} />}
    </NotificationFrame>
  );
}
