import { Bell } from 'lucide-react';
import { keyLine, screen, textOf } from '../../screen.ts';
import { VERSION_KEYS } from '../versions/screens.ts';

const PATH = '/workspaces/$w/notifications';

export const notificationScreens = [
  screen({
    path: PATH,
    docs: '/docs/portal-rules',
    search: (words) => textOf(words, 'new', 'stream'),
    load: async () => (await import('./notifications.tsx')).Notifications,
    place: { in: 'main', name: 'Notifications', icon: Bell, key: 'n' },
    action: { name: 'New notification', search: { new: 'yes' }, isOfOne: true },
    keys: [
      {
        title: 'Notifications',
        lines: [keyLine('New notification', 'n'), keyLine('In a notification: its tabs, from the left', '1', '…', '6')],
      },
    ],
  }),
  screen({
    path: `${PATH}/$n`,
    docs: '/docs/portal-rules',
    load: async () => (await import('./overview.tsx')).NotificationOverview,
  }),
  screen({
    path: `${PATH}/$n/rules`,
    docs: '/docs/portal-rules',
    load: async () => (await import('./rules.tsx')).NotificationRules,
  }),
  screen({
    path: `${PATH}/$n/channels`,
    docs: '/docs/channels',
    load: async () => (await import('./channels.tsx')).NotificationChannels,
  }),
  screen({
    path: `${PATH}/$n/cadence`,
    docs: '/docs/cadence',
    load: async () => (await import('./cadence.tsx')).NotificationCadence,
  }),
  screen({
    path: `${PATH}/$n/secure`,
    docs: '/docs/securing-a-stream',
    load: async () => (await import('./secure.tsx')).NotificationSecure,
  }),
  screen({
    path: `${PATH}/$n/versions`,
    docs: '/docs/versions',
    search: (words) => textOf(words, 'from', 'to'),
    load: async () => (await import('./versions.tsx')).NotificationVersions,
    keys: [VERSION_KEYS],
  }),
] as const;
