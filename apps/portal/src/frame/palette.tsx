import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { statusQuery } from '../api/status.ts';
import { PLACES, placesIn, screensWith } from '../screens/list.ts';
import { notificationsQuery } from '../screens/notifications/queries.ts';
import { templatesQuery } from '../screens/templates/queries.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Choices } from '../ui/choices.tsx';
import { changeSettings } from '../ui/settings.ts';
import { findId, isLikeId } from './find-id.ts';
import { EVERY_WORKSPACE } from './last-workspace.ts';
import { useWorkspace } from './use-workspace.ts';

type Command = { readonly id: string; readonly name: string; readonly note?: string; readonly run: () => void };

const ACTIONS = screensWith('action');
const IN_NAVIGATION: ReadonlySet<string> = new Set(PLACES.map(({ path }) => path));

const themeCommands = (onClose: () => void): readonly Command[] =>
  (['system', 'light', 'dark'] as const).map((theme) => ({
    id: `theme ${theme}`,
    name: `Theme: ${theme === 'system' ? 'like the system' : theme}`,
    note: 'do',
    run: () => {
      changeSettings({ theme });
      onClose();
    },
  }));

/** Goes to a screen, a workspace or a resource by its name, does something, or finds an event or a delivery by its id, without the mouse. */
export function Palette({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const workspace = useWorkspace();
  const { data } = useQuery(statusQuery);
  const go = (to: Promise<void>): void => {
    void to;
    onClose();
  };

  const isOne = workspace !== EVERY_WORKSPACE;
  const isSound = words.trim() !== '';
  // The names of a workspace are loaded once the user types.
  const notifications = useQuery({ ...notificationsQuery(workspace), enabled: isOne && isSound });
  const templates = useQuery({ ...templatesQuery(workspace), enabled: isOne && isSound });
  const named: readonly Command[] = [
    ...(notifications.data?.items ?? []).map(({ name, body }) => ({
      id: `notification ${name}`,
      name: body.name ?? name,
      note: 'notification',
      run: () => go(navigate({ to: '/workspaces/$w/notifications/$n', params: { w: workspace, n: name } })),
    })),
    ...(templates.data?.items ?? []).map(({ name }) => ({
      id: `template ${name}`,
      name,
      note: 'template',
      run: () => go(navigate({ to: '/workspaces/$w/templates/$t', params: { w: workspace, t: name } })),
    })),
  ];
  const found = findId(words);
  const commands: readonly Command[] = found
    ? [
        {
          id: found.id,
          name: `Story of this ${found.kind}`,
          run: () =>
            go(
              found.kind === 'event'
                ? navigate({ to: '/workspaces/$w/events/$id', params: { w: EVERY_WORKSPACE, id: found.id } })
                : navigate({
                    to: '/workspaces/$w/deliveries',
                    params: { w: EVERY_WORKSPACE },
                    search: { open: found.id },
                  }),
            ),
        },
      ]
    : [
        ...placesIn('main', 'ask', 'build').map(({ path, place }) => ({
          id: path,
          name: place.name,
          ...(place.key !== undefined && { note: `g ${place.key}` }),
          run: () => go(navigate({ to: path, params: { w: workspace } })),
        })),
        // Creating, publishing and promoting need one workspace, so the view of all workspaces leaves them out.
        ...ACTIONS.filter(({ action }) => isOne || action.isOfOne !== true).map(({ path, action }) => ({
          id: action.name,
          name: action.name,
          note: 'do',
          run: () => go(navigate({ to: path, params: { w: workspace }, search: { ...action.search } })),
        })),
        ...(isSound ? themeCommands(onClose) : []),
        ...placesIn('deployment').map(({ path, place }) => ({
          id: path,
          name: place.name,
          run: () => go(navigate({ to: path, params: { w: workspace } })),
        })),
        ...screensWith('settings')
          .filter(({ path }) => !IN_NAVIGATION.has(path))
          .map(({ path, settings }) => ({
            id: path,
            name: settings.name,
            note: 'settings',
            run: () => go(navigate({ to: path })),
          })),
        ...named,
        ...(data?.workspaces ?? []).map((w) => ({
          id: `workspace ${w}`,
          name: `Workspace ${w}`,
          run: () => go(navigate({ to: '/workspaces/$w/deliveries', params: { w } })),
        })),
      ].filter(({ name }) => name.toLowerCase().includes(words.trim().toLowerCase()));
  const chosen = commands[Math.min(at, commands.length - 1)];

  function hear(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && commands.length > 0) {
      event.preventDefault();
      setAt((now) => (Math.min(now, commands.length - 1) + step + commands.length) % commands.length);
    }
    if (event.key === 'Enter' && chosen) {
      event.preventDefault();
      chosen.run();
    }
  }
  const fault =
    found === null && isLikeId(words) ? 'An id begins with evt_ or dlv_ and has 26 letters and digits after it.' : null;
  return (
    <Dialog title="Find a screen, a command or an id" isOpen onClose={onClose}>
      <div onKeyDown={hear}>
        <Field
          label="Screen, action, name, or an id"
          placeholder="evt_… or dlv_…"
          autoFocus
          autoComplete="off"
          value={words}
          onChange={(next) => {
            setWords(next);
            setAt(0);
          }}
          fault={fault}
        />
      </div>
      <Choices
        label="Matches"
        choices={commands}
        chosen={chosen?.id ?? null}
        onChoose={(id) => commands.find((one) => one.id === id)?.run()}
      />
    </Dialog>
  );
}
