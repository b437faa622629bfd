import type { SettingsPlace } from '../../screen.ts';
import { screensWith, type ScreenWith } from '../list.ts';

type Group = {
  readonly name: SettingsPlace['group'];
  /** Where the heading leads. */
  readonly to?: '/settings/identity';
};

const GROUPS: readonly Group[] = [
  { name: 'Identity & Authentication', to: '/settings/identity' },
  { name: 'People and access' },
  { name: 'You' },
  { name: 'Deployment' },
];

/** The groups of the settings with their screens. */
export const SETTINGS: readonly (Group & { readonly screens: readonly ScreenWith<'settings'>[] })[] = GROUPS.map(
  (group) => ({
    ...group,
    screens: screensWith('settings').filter(({ settings }) => settings.group === group.name),
  }),
);
