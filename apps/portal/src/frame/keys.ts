import { COMMAND_KEY } from './command-key.ts';
import { keyLine as line, type KeyGroup, type KeyLine } from '../screen.ts';
import { PLACES, screensWith } from '../screens/list.ts';

/** Groups of several screens that have the same title are one group, with each line once. */
function mergeGroups(groups: readonly KeyGroup[]): readonly KeyGroup[] {
  const merged = new Map<string, Map<string, KeyLine>>();
  for (const { title, lines } of groups) {
    const known = merged.get(title) ?? new Map<string, KeyLine>();
    for (const one of lines) known.set(one.what, one);
    merged.set(title, known);
  }
  return [...merged].map(([title, lines]) => ({ title, lines: [...lines.values()] }));
}

const groupsOfScreens = mergeGroups(screensWith('keys').flatMap(({ keys }) => keys));

/** Every key of the portal, first those that count on every screen. */
export const KEY_GROUPS: readonly KeyGroup[] = [
  {
    title: 'On every screen',
    lines: [
      line('Go to a screen, or find an event or a delivery by its id', COMMAND_KEY, 'K'),
      line('Search on this screen', '/'),
      ...PLACES.flatMap(({ place }) => (place.key !== undefined ? [line(place.name, 'g', place.key)] : [])),
      line('Undo the last action, while its notice shows', 'z'),
      line('Close', 'Esc'),
      line('Show these shortcuts', '?'),
    ],
  },
  {
    title: 'Lists',
    lines: [
      line('Next and previous row; arrows, Home and End too', 'j', 'k'),
      line('Open', 'Enter'),
      line('Choose a row; with Shift, all rows up to it', 'x'),
    ],
  },
  ...groupsOfScreens,
];
