import { COMMAND_KEY } from './command-key.ts';
import { PLACES } from './places.ts';

/** Keys that are pressed together or one after the other, and what they do. */
export type KeyLine = { readonly keys: readonly string[]; readonly what: string };
export type KeyGroup = { readonly title: string; readonly lines: readonly KeyLine[] };

const line = (what: string, ...keys: readonly string[]): KeyLine => ({ keys, what });

/** Every key of the portal, first those that count on every screen. */
export const KEY_GROUPS: readonly KeyGroup[] = [
  {
    title: 'Everywhere',
    lines: [
      line('Go to a screen, or find an event or a delivery by its id', COMMAND_KEY, 'K'),
      line('Search on this screen', '/'),
      ...PLACES.map(({ name, key }) => line(name, 'g', key)),
      line('Undo what was just done, while it is told of', 'z'),
      line('Close', 'Esc'),
      line('These keys', '?'),
    ],
  },
  {
    title: 'Lists',
    lines: [
      line('Next and previous row; arrows, Home and End too', 'j', 'k'),
      line('Open', 'Enter'),
      line('Choose a row, with Shift all up to it', 'x'),
    ],
  },
  {
    title: 'Deliveries',
    lines: [
      line('Choose a state', 's'),
      line('Send again what is open, or chosen', 'R'),
      line('In doubt: it was sent', '1'),
      line('In doubt: it was not sent', '2'),
      line('In doubt: send again', '3'),
    ],
  },
  { title: 'Dead letters', lines: [line('Redrive what is open, or chosen', 'R')] },
  { title: 'Overview', lines: [line('An hour, a day or a week', 'r')] },
  {
    title: 'Notifications',
    lines: [line('New notification', 'n'), line('Of one: its tabs, from the left', '1', '…', '6')],
  },
  {
    title: 'Rule and template',
    lines: [
      line('Run the test bench, or save and draw the preview at once', COMMAND_KEY, 'Enter'),
      line('Save the draft', COMMAND_KEY, 'S'),
      line('Review and publish', COMMAND_KEY, 'Shift', 'P'),
    ],
  },
  { title: 'Event stream', lines: [line('Copy its URL', 'c')] },
  {
    title: 'Inbox',
    lines: [line('HTML', 'h'), line('As on a phone', 'p'), line('Text', 't'), line('Source', 's')],
  },
  { title: 'Versions', lines: [line('Older', '['), line('Newer', ']')] },
];
