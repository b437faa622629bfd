/** A page of the settings, under the group that it belongs to. */
export type SettingsPlace = {
  readonly name: string;
  readonly to: '/settings/identity/api-keys' | '/settings/identity/jwt-providers' | '/workspaces';
  /** What it is for, in one line. */
  readonly note: string;
};
export type SettingsGroup = {
  readonly name: string;
  /** Where the group itself leads; null: it only holds its pages together. */
  readonly to: '/settings/identity' | null;
  readonly places: readonly SettingsPlace[];
};

export const SETTINGS: readonly SettingsGroup[] = [
  {
    name: 'Identity & Authentication',
    to: '/settings/identity',
    places: [
      { name: 'API Keys', to: '/settings/identity/api-keys', note: 'What your servers send events with' },
      {
        name: 'JWT Providers',
        to: '/settings/identity/jwt-providers',
        note: 'Whose tokens your apps and browsers send events with',
      },
    ],
  },
  {
    name: 'Deployment',
    to: null,
    places: [{ name: 'Workspaces', to: '/workspaces', note: 'All that you may see' }],
  },
];
