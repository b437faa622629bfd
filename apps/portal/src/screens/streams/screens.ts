import { Radio } from 'lucide-react';
import { keyLine, screen } from '../../screen.ts';

export const STREAM_KEYS = { title: 'Event stream', lines: [keyLine('Copy its URL', 'c')] };

export const streamScreens = [
  screen({
    path: '/workspaces/$w/streams',
    docs: '/docs/securing-a-stream',
    load: async () => (await import('./streams.tsx')).Streams,
    place: { in: 'build', name: 'Event streams', icon: Radio },
  }),
  screen({
    path: '/workspaces/$w/streams/$s',
    docs: '/docs/send-every-change',
    load: async () => (await import('./stream.tsx')).EventStreamPage,
    keys: [STREAM_KEYS],
  }),
] as const;
