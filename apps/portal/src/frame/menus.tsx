import { useMutation, useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { ChevronsUpDown, CircleUser } from 'lucide-react';
import type { ReactNode } from 'react';
import { api, bodyOf } from '../api/client.ts';
import { statusQuery } from '../api/status.ts';
import { Menu } from '../ui/menu.tsx';
import { changeSettings, useSettings, type Theme } from '../ui/settings.ts';
import { say } from '../ui/notices.ts';
import { EVERY_WORKSPACE } from './last-workspace.ts';
import { BUILD_PLACES, PLACES } from './places.ts';
import { useWorkspace } from './use-workspace.ts';

/** Goes to the same screen of another workspace. */
export function WorkspaceMenu(): ReactNode {
  const { data } = useQuery(statusQuery);
  const names = data?.workspaces ?? [];
  const current = useWorkspace();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const here = [...PLACES, ...BUILD_PLACES].find(({ to }) => pathname === to.replace('$w', current))?.to;
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

/** Nothing that was typed here stays in the browser's tab. */
function forgetTab(): void {
  try {
    sessionStorage.clear();
  } catch {
    // A browser that lets nothing be kept has kept nothing.
  }
}

const THEMES: Readonly<Record<Theme, string>> = { system: 'Like the system', light: 'Light', dark: 'Dark' };

/** How the portal looks to this browser, and leaving it. */
export function AccountMenu({ onKeys }: { readonly onKeys: () => void }): ReactNode {
  const { theme, zone, letters } = useSettings();
  const signOut = useMutation({
    async mutationFn() {
      // What was typed a moment ago is theirs, and stays on the server.
      const { saveAllDrafts } = await import('../api/use-draft.ts');
      await saveAllDrafts();
      return bodyOf(api.DELETE('/v1/session'));
    },
    onSuccess() {
      forgetTab();
      // Loaded anew: whoever comes next finds nothing of what this page had read.
      location.assign('/sign-in');
    },
    onError: (error) => say(error.message),
  });
  const look = (Object.keys(THEMES) as Theme[]).map((one) => ({
    id: `theme-${one}`,
    name: `Theme: ${THEMES[one].toLowerCase()}`,
    ...(one === theme && { note: 'now' }),
  }));
  return (
    <Menu
      label="Look, keys and sign out"
      trigger={<CircleUser size={16} aria-hidden />}
      choices={[
        ...look,
        { id: 'zone', name: zone === 'mine' ? 'Show times in UTC' : 'Show times of my zone' },
        { id: 'letters', name: letters ? 'Turn single-letter keys off' : 'Turn single-letter keys on' },
        { id: 'keys', name: 'Keys', ...(letters && { note: '?' }) },
        { id: 'docs', name: 'Reference of the API' },
        { id: 'sign-out', name: 'Sign out' },
      ]}
      onChoose={(id) => {
        if (id === 'keys') onKeys();
        else if (id === 'docs') location.assign('/docs');
        else if (id === 'sign-out') signOut.mutate();
        else if (id === 'letters') changeSettings({ letters: !letters });
        else if (id === 'zone') changeSettings({ zone: zone === 'mine' ? 'utc' : 'mine' });
        else changeSettings({ theme: id.slice('theme-'.length) as Theme });
      }}
    />
  );
}
