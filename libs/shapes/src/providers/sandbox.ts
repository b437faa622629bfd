import { said, sender } from '../shape-parts.ts';
import { CHANNEL_NAMES } from '../values.ts';
import { defineProvider } from './provider.ts';

/** Writes at the same time, per process. */
const CONCURRENCY = 16;

export const sandbox = defineProvider({
  kind: 'sandbox',
  title: 'Inbox of this deployment',
  summary: 'Shows messages of any channel on the Inbox page and sends nothing.',
  description: 'Keeps messages in the built-in inbox; nothing leaves the machine.',
  channels: CHANNEL_NAMES,
  keys: {
    from: said(sender.exactOptional(), {
      description: 'Sender of messages whose template names none.',
      form: {
        label: 'Sender',
        placeholder: 'Shop <shop@example.com>',
        note: 'Used when the template sets no sender.',
      },
    }),
  },
  concurrency: () => CONCURRENCY,
  sendingSecrets: () => [],
});
