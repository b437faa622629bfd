import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, CircleUser, Ellipsis } from 'lucide-react';
import { useContext, type ReactNode } from 'react';
import { statusQuery } from '../api/status.ts';
import { placesIn } from '../screens/list.ts';
import { Menu } from '../ui/menu.tsx';
import { changeSettings, useSettings, type Theme } from '../ui/settings.ts';
import { WorkspaceZone } from '../ui/zone.ts';
import { EVERY_WORKSPACE } from './last-workspace.ts';
import { useSignOut } from './sign-out.tsx';
import { useWorkspace } from './use-workspace.ts';

/** Goes to the same screen of another workspace. */
export function WorkspaceMenu(): ReactNode {
  const { data } = useQuery(statusQuery);
  const names = data?.workspaces ?? [];
  const current = useWorkspace();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const here = placesIn('main', 'build').find(({ path }) => pathname === path.replace('$w', current))?.path;
  const every = { id: EVERY_WORKSPACE, name: 'All workspaces' };
  const choices = [...(names.length === 1 ? [] : [every]), ...names.map((name) => ({ id: name, name }))];
  const shown = current === EVERY_WORKSPACE ? every.name : current;
  return (
    <Menu
      label={`Workspace: ${shown}`}
      trigger={
        <>
          <span>{shown}</span>
          <ChevronsUpDown size={16} aria-hidden />
        </>
      }
      choices={choices}
      chosen={current}
      onChoose={(w) => void navigate({ to: here ?? '/workspaces/$w', params: { w } })}
    />
  );
}

/** On a phone: every screen that the bar has no room for. */
export function MoreMenu({ workspace }: { readonly workspace: string }): ReactNode {
  const navigate = useNavigate();
  const screens = placesIn('ask', 'build', 'deployment');
  return (
    <Menu
      label="More screens"
      trigger={
        <>
          <Ellipsis size={16} aria-hidden />
          <span>More</span>
        </>
      }
      choices={screens.map(({ path, place }) => ({ id: path, name: place.name }))}
      onChoose={(id) => {
        const screen = screens.find(({ path }) => path === id);
        if (screen) void navigate({ to: screen.path, params: { w: workspace } });
      }}
    />
  );
}

const THEMES: Readonly<Record<Theme, string>> = { system: 'Like the system', light: 'Light', dark: 'Dark' };

/** How the portal looks to this browser, and leaving it. */
export function AccountMenu({ onKeys }: { readonly onKeys: () => void }): ReactNode {
  const { theme, isUtc, letters } = useSettings();
  const zone = useContext(WorkspaceZone);
  const signOut = useSignOut();
  const look = (Object.keys(THEMES) as Theme[]).map((one) => ({
    id: `theme-${one}`,
    name: `Theme: ${THEMES[one].toLowerCase()}`,
    ...(one === theme && { note: 'now' }),
  }));
  return (
    <>
      <Menu
        label="Appearance, shortcuts and sign out"
        trigger={<CircleUser size={16} aria-hidden />}
        choices={[
          ...look,
          { id: 'zone', name: isUtc ? `Show times of ${zone}` : 'Show times in UTC' },
          { id: 'letters', name: letters ? 'Turn single-letter keys off' : 'Turn single-letter keys on' },
          { id: 'keys', name: 'Keyboard shortcuts', ...(letters && { note: '?' }) },
          { id: 'docs', name: 'Documentation' },
          { id: 'api', name: 'API reference' },
          { id: 'sign-out', name: 'Sign out' },
        ]}
        onChoose={(id) => {
          if (id === 'keys') onKeys();
          else if (id === 'docs') location.assign('/docs');
          else if (id === 'api') location.assign('/docs/api');
          else if (id === 'sign-out') signOut.begin();
          else if (id === 'letters') changeSettings({ letters: !letters });
          else if (id === 'zone') changeSettings({ isUtc: !isUtc });
          else changeSettings({ theme: id.slice('theme-'.length) as Theme });
        }}
      />
      {signOut.question}
    </>
  );
}
