/** A page of the settings, under the group that it belongs to. */
export type SettingsPlace = {
  readonly name: string;
  readonly to:
    | '/settings/identity/api-keys'
    | '/settings/identity/jwt-providers'
    | '/settings/people'
    | '/settings/tokens'
    | '/settings/sign-in'
    | '/settings/profile'
    | '/settings/sessions'
    | '/settings/audit'
    | '/settings/secrets'
    | '/workspaces';
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
    name: 'People and access',
    to: null,
    places: [
      { name: 'People', to: '/settings/people', note: 'Who may do what, and invitations' },
      { name: 'Sign-in', to: '/settings/sign-in', note: 'By password, and at which identity providers' },
      { name: 'Tokens', to: '/settings/tokens', note: 'What programs call the management API with' },
    ],
  },
  {
    name: 'You',
    to: null,
    places: [
      { name: 'Profile', to: '/settings/profile', note: 'Name, address, password, authenticator' },
      { name: 'Sessions', to: '/settings/sessions', note: 'Where you are signed in' },
    ],
  },
  {
    name: 'Deployment',
    to: null,
    places: [
      { name: 'Workspaces', to: '/workspaces', note: 'All that you may see' },
      { name: 'Secrets', to: '/settings/secrets', note: 'Passwords of providers, by name and fingerprint' },
      { name: 'Audit', to: '/settings/audit', note: 'Who did what, and whether it still stands as it was written' },
    ],
  },
];
