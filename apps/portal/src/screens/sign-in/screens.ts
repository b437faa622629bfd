import { screen } from '../../screen.ts';

export const signInScreens = [
  screen({ path: '/welcome', load: async () => (await import('./welcome.tsx')).Welcome, isBare: true }),
  screen({ path: '/invitation', load: async () => (await import('./invitation.tsx')).Invitation, isBare: true }),
  screen({ path: '/confirm', load: async () => (await import('./confirm.tsx')).Confirm, isBare: true }),
  screen({ path: '/sign-in', load: async () => (await import('./sign-in.tsx')).SignIn, isBare: true }),
] as const;
