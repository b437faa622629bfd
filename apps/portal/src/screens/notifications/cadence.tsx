import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card } from '../../ui/page.tsx';
import { Facts } from '../../ui/text.tsx';
import { valueLines } from '../drafts/change-words.ts';
import { NotificationFrame } from './notification-frame.tsx';

/** When people are told. */
export function NotificationCadence(): ReactNode {
  const { w, n } = useParams({ from: '/workspaces/$w/notifications/$n/cadence' });
  return (
    <NotificationFrame w={w} n={n}>
      {({ body: { cadence } }) => (
        <Card title="Cadence">
          {cadence === undefined ? (
            <p>No limit, no quiet hours: every message goes out at once.</p>
          ) : (
            <Facts
              facts={Object.entries(cadence).map(([key, value]) => [
                key.replaceAll('_', ' '),
                valueLines(typeof value === 'string' ? value : JSON.stringify(value)).join(', '),
              ])}
            />
          )}
        </Card>
      )}
    </NotificationFrame>
  );
}
